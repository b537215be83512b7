#include "common/capture/meta.h"

#include "common/base/idmap.h"
#include "common/base/intern.h"
#include "common/capture/capture_internal.h"

const char capture_no_memory[] = "out of memory";

const char *meta_apply(struct capture *c, const struct record_meta *r)
{
	uint32_t key, value;

	if (!text_add(c, r->key, &key) || !text_add(c, r->value, &value) || !idmap_set(&c->meta, key, value))
		return capture_no_memory;
	if (slice_is(r->key, "start-realtime-ns")) /* it is asked for at each sample */
		c->realtime = slice_decimal(r->value);
	else if (slice_is(r->key, "start-monotonic-ns"))
		c->monotonic = slice_decimal(r->value);
	return NULL;
}

struct slice capture_meta(const struct capture *c, const char *key)
{
	uint32_t id, value;

	if (!intern_find(&c->texts, slice_of(key), &id) || !idmap_find(&c->meta, id, &value))
		return (struct slice){ NULL, 0 };
	return capture_text(c, value);
}

uint64_t capture_meta_number(const struct capture *c, const char *key)
{
	return slice_decimal(capture_meta(c, key));
}

uint64_t capture_realtime(const struct capture *c, uint64_t time)
{
	uint64_t realtime = c->realtime, monotonic = c->monotonic;

	return realtime && monotonic && time < INT64_MAX && realtime + time >= monotonic ? realtime + time - monotonic : 0;
}
