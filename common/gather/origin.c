#include "common/gather/origin.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/intern.h"

void origins_init(struct origins *o)
{
	*o = (struct origins){ 0 };
	intern_init(&o->keys);
}

void origins_release(struct origins *o)
{
	intern_release(&o->keys);
	free(o->list);
	free(o->starts);
	free(o->ticks);
	buf_release(&o->key);
	*o = (struct origins){ 0 };
}

/* Returns an origin whose texts point into the key; the key does not move. */
static struct origin from_key(struct slice key)
{
	struct cursor c = cursor_over(key.p, key.n);
	struct origin o = { 0 };

	(void)(cursor_slice(&c, &o.host) && cursor_slice(&c, &o.container) && cursor_slice(&c, &o.comm) && cursor_slice(&c, &o.labels) &&
	       cursor_varint(&c, &o.pid) && cursor_varint(&c, &o.tid) && cursor_varint(&c, &o.cpu));
	return o;
}

bool origins_add(struct origins *o, const struct origin *origin, uint32_t *number)
{
	size_t known = o->keys.n;

	buf_clear(&o->key);
	buf_slice(&o->key, origin->host);
	buf_slice(&o->key, origin->container);
	buf_slice(&o->key, origin->comm);
	buf_slice(&o->key, origin->labels);
	buf_varint(&o->key, origin->pid);
	buf_varint(&o->key, origin->tid);
	buf_varint(&o->key, origin->cpu);
	if (o->key.failed || !grow_array(&o->list, &o->cap, known + 1, sizeof(*o->list)) ||
	    !intern_add(&o->keys, buf_view(&o->key), number))
		return false;
	if (*number == known)
		o->list[known + 1] = from_key(intern_get(&o->keys, *number));
	++*number;
	return true;
}

const struct origin *origins_get(const struct origins *o, uint32_t number)
{
	return &o->list[number];
}

bool origins_start(struct origins *o, uint32_t run, uint64_t since_1970)
{
	if (!grow_array(&o->starts, &o->cap_starts, run, sizeof(*o->starts)))
		return false;
	o->starts[run] = since_1970;
	return true;
}

bool origins_tick(struct origins *o, const struct origin_ticks *ticks)
{
	if (!grow_array(&o->ticks, &o->cap_ticks, o->n_ticks, sizeof(*o->ticks)))
		return false;
	o->ticks[o->n_ticks++] = *ticks;
	return true;
}

uint64_t origins_time(const struct origins *o, uint32_t run, uint32_t slice, uint64_t length)
{
	uint64_t time = 0;

	if (run >= o->cap_starts || !o->starts[run] || __builtin_mul_overflow(slice, length, &time) ||
	    __builtin_add_overflow(time, o->starts[run], &time))
		return 0;
	return time;
}
