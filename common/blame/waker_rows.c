#include "common/blame/waker_rows.h"

#include <stdlib.h>

#include "common/base/array.h"

bool waker_rows_add(struct waker_rows *r, struct slice name, uint64_t ns)
{
	uint32_t at;

	if (!intern_add(&r->names, name, &at) || !grow_array(&r->rows, &r->cap, at, sizeof(*r->rows)))
		return false;
	r->rows[at].waits++;
	r->rows[at].longest = ns > r->rows[at].longest ? ns : r->rows[at].longest;
	return true;
}

struct waker_row waker_rows_find(const struct waker_rows *r, struct slice name)
{
	uint32_t at;

	return intern_find(&r->names, name, &at) ? r->rows[at] : (struct waker_row){ 0 };
}

void waker_rows_release(struct waker_rows *r)
{
	intern_release(&r->names);
	free(r->rows);
	*r = (struct waker_rows){ 0 };
}
