#include "common/resolve/unread.h"

#include <stdlib.h>

#include "common/base/buf.h"

bool unread_add(struct unread *u, struct slice path, const struct lines_unread *add)
{
	size_t n = u->paths.n;
	uint32_t id;

	if (add->n == 0)
		return true;
	if (!intern_add(&u->paths, path, &id) || !grow_array(&u->items, &u->cap, id, sizeof(*u->items)))
		return false;
	if (id == n)
		u->items[id] = *add;
	return true;
}

size_t unread_count(const struct unread *u)
{
	return u->paths.n;
}

const struct lines_unread *unread_get(const struct unread *u, size_t i, struct slice *path)
{
	*path = intern_get(&u->paths, (uint32_t)i);
	return &u->items[i];
}

void unread_release(struct unread *u)
{
	intern_release(&u->paths);
	free(u->items);
	*u = (struct unread){ 0 };
}
