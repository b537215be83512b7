#include "common/locate/unread.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/intern.h"

bool unread_add(struct unread *u, struct slice path, size_t sections, const char *why)
{
	size_t n = u->paths.n;
	uint32_t id;

	if (!intern_add(&u->paths, path, &id) || !grow_array(&u->items, &u->cap, id, sizeof(*u->items)))
		return false;
	if (id == n)
		u->items[id] = (struct unread_file){ intern_get(&u->paths, id), sections, 0, why };
	return true;
}

bool unread_units(struct unread *u, struct slice path, size_t n, const char *why)
{
	uint32_t id;

	if (!unread_add(u, path, 0, why) || !intern_find(&u->paths, path, &id))
		return false;
	u->items[id].units = n;
	return true;
}

size_t unread_count(const struct unread *u)
{
	return u->paths.n;
}

const struct unread_file *unread_get(const struct unread *u, size_t i)
{
	return &u->items[i];
}

void unread_release(struct unread *u)
{
	intern_release(&u->paths);
	free(u->items);
	*u = (struct unread){ 0 };
}
