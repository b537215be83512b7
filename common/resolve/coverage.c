#include "common/resolve/coverage.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/array.h"
#include "common/base/intern.h"

void coverage_release(struct coverage *t)
{
	intern_release(&t->where);
	intern_release(&t->by_path);
	free(t->counts);
	free(t->sorted);
	buf_release(&t->scratch);
	*t = (struct coverage){ 0 };
}

bool coverage_add(struct coverage *t, const struct coverage_count *add)
{
	struct coverage_count *c;
	struct slice key;
	uint32_t id, dummy;

	buf_clear(&t->scratch);
	buf_bytes(&t->scratch, add->why.p, add->why.n);
	buf_byte(&t->scratch, 0);
	buf_bytes(&t->scratch, add->where.p, add->where.n);
	if (t->scratch.failed || !intern_add(&t->where, buf_view(&t->scratch), &id) ||
	    !grow_array(&t->counts, &t->cap, id, sizeof(*t->counts)))
		return false;
	key = intern_get(&t->where, id);
	c = &t->counts[id];
	c->why = (struct slice){ key.p, add->why.n };
	c->where = (struct slice){ key.p + add->why.n + 1, key.n - add->why.n - 1 };
	c->named += add->named;
	c->unnamed += add->unnamed;
	c->by_path |= add->by_path;
	return !add->by_path || intern_add(&t->by_path, add->where, &dummy);
}

static int by_unnamed(const void *a, const void *b)
{
	const struct coverage_count *x = a, *y = b;
	size_t n = x->where.n < y->where.n ? x->where.n : y->where.n;
	int by;

	if (x->unnamed != y->unnamed)
		return x->unnamed > y->unnamed ? -1 : 1;
	by = memcmp(x->where.p, y->where.p, n);
	if (!by)
		by = x->where.n < y->where.n ? -1 : x->where.n > y->where.n;
	return by ? by : strcmp((const char *)x->why.p, (const char *)y->why.p);
}

const struct coverage_count *coverage_sorted(struct coverage *t, size_t *n)
{
	static const struct coverage_count nothing;

	*n = t->where.n;
	if (t->where.n == 0)
		return &nothing;
	free(t->sorted);
	t->sorted = malloc(t->where.n * sizeof(*t->sorted));
	if (!t->sorted)
		return NULL;
	memcpy(t->sorted, t->counts, t->where.n * sizeof(*t->sorted));
	qsort(t->sorted, t->where.n, sizeof(*t->sorted), by_unnamed);
	return t->sorted;
}

size_t coverage_by_path(const struct coverage *t)
{
	return t->by_path.n;
}
