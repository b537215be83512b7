#include "common/export/collect_sums.h"

#include <inttypes.h>

#include "common/base/array.h"
#include "common/base/intern.h"
#include "common/blame/blame_write.h"
#include "common/profile/sanitize.h"

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

bool collect_slept(struct collect *c, uint64_t thread, uint32_t key, uint64_t weight, size_t moment)
{
	if (!grow_array(&c->slept, &c->cap_slept, thread, sizeof(*c->slept)))
		return false;
	c->slept[thread] = (struct collect_slept){ weight, moment, key + 1 };
	return true;
}

bool collect_woken(struct collect *c, const struct record_woken *r)
{
	struct collect_slept *s = r->thread < c->cap_slept ? &c->slept[r->thread] : NULL;
	struct collect_key key;
	uint64_t part, whole;
	uint32_t id;

	if (!s || !s->key || !r->slept)
		return true;
	memcpy(&key, intern_get(&c->keys, s->key - 1).p, sizeof(key));
	key.waker = r->waker ? WAKER_THREAD + (uint32_t)r->waker
			     : WAKER_NOT + (uint32_t)(r->by < WOKEN_BYS ? r->by : WOKEN_BY_UNKNOWN);
	part = r->slept < s->weight ? r->slept : s->weight;
	whole = part == s->weight;
	if (!collect_add_key(c, &key, whole, part, &id))
		return false;
	c->by_key[s->key - 1].weight -= part;
	c->by_key[s->key - 1].samples -= whole;
	if (s->moment)
		c->moments[s->moment - 1].key = id;
	s->key = 0;
	return true;
}

bool collect_waker(struct collect *c, uint32_t waker, struct traces_owner *owner)
{
	const struct capture_thread *t = NULL;

	if (waker >= WAKER_THREAD)
		t = &c->capture.threads[waker - WAKER_THREAD];
	if (!waker)
		return true;
	buf_clear(&c->text);
	if (t && t->comm)
		sanitize_append(&c->text, capture_text(&c->capture, t->comm));
	if (t) {
		owner->waker_pid = c->capture.processes[t->process].pid;
		owner->waker_tid = t->tid;
		buf_printf(&c->text, "-%" PRIu64 "/%" PRIu64, owner->waker_pid, owner->waker_tid);
	} else {
		buf_text(&c->text, blame_name_of_by(waker - WAKER_NOT));
	}
	return !c->text.failed && traces_text(c->s, buf_view(&c->text), &owner->waker);
}
