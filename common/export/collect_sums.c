#include "common/export/collect_sums.h"

#include "common/base/array.h"
#include "common/base/intern.h"

const char *collect_claim(struct collect *c, uint64_t weight)
{
	if (weight > INT64_MAX - c->s->claimed) /* output formats have 63 bits for a sum */
		return "the weights add up to more than 63 bits";
	c->s->claimed += weight;
	return NULL;
}

bool collect_add_key(struct collect *c, const struct collect_key *key, uint64_t samples, uint64_t weight,
		     uint32_t *id)
{
	if (!intern_add(&c->keys, (struct slice){ (const uint8_t *)key, sizeof(*key) }, id) ||
	    !grow_array(&c->by_key, &c->cap_by_key, *id, sizeof(*c->by_key)))
		return false;
	c->by_key[*id].samples += samples;
	c->by_key[*id].weight += weight;
	return true;
}
