#include "common/base/intern.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/hash.h"

enum { SLOTS_MIN = 64, CHUNK_MIN = 4096, CHUNK_MAX = 1 << 20 };

void intern_init(struct intern *t)
{
	*t = (struct intern){ 0 };
}

void intern_release(struct intern *t)
{
	uint8_t *chunk = t->chunk;

	while (chunk) {
		uint8_t *before;

		memcpy(&before, chunk, sizeof(before));
		free(chunk);
		chunk = before;
	}
	free(t->items);
	free(t->slots);
	intern_init(t);
}

static uint32_t tag_of(struct slice s)
{
	return (uint32_t)(hash_bytes(s.p, s.n) >> 32);
}

static bool intern_rehash(struct intern *t, size_t slots)
{
	struct intern_slot *slot = calloc(slots, sizeof(*slot));

	if (!slot)
		return false;
	for (size_t i = 0; t->slots && i <= t->mask; i++) {
		size_t at = t->slots[i].tag & (slots - 1);

		if (!t->slots[i].id)
			continue;
		while (slot[at].id)
			at = (at + 1) & (slots - 1);
		slot[at] = t->slots[i];
	}
	free(t->slots);
	t->slots = slot;
	t->mask = slots - 1;
	return true;
}

static uint8_t *intern_store(struct intern *t, struct slice s)
{
	uint8_t *p;

	if (t->chunk_cap - t->chunk_used < s.n + 1) {
		size_t cap = t->chunk_cap * 2;

		if (cap < CHUNK_MIN)
			cap = CHUNK_MIN;
		if (cap > CHUNK_MAX)
			cap = CHUNK_MAX;
		if (cap < s.n + 1 + sizeof(p))
			cap = s.n + 1 + sizeof(p);
		p = malloc(cap);
		if (!p)
			return NULL;
		memcpy(p, &t->chunk, sizeof(t->chunk));
		t->chunk = p;
		t->chunk_cap = cap;
		t->chunk_used = sizeof(t->chunk);
	}
	p = t->chunk + t->chunk_used;
	if (s.n)
		memcpy(p, s.p, s.n);
	p[s.n] = '\0';
	t->chunk_used += s.n + 1;
	return p;
}

/* Returns the slot of s, or the empty slot for it. The tag alone gives the first slot to probe. */
static size_t find_slot(const struct intern *t, struct slice s, uint32_t tag)
{
	size_t at = tag & t->mask;

	while (t->slots[at].id) {
		if (t->slots[at].tag == tag && slice_equal(t->items[t->slots[at].id - 1], s))
			break;
		at = (at + 1) & t->mask;
	}
	return at;
}

bool intern_find(const struct intern *t, struct slice s, uint32_t *id)
{
	size_t at;

	if (t->n == 0)
		return false;
	at = find_slot(t, s, tag_of(s));
	if (!t->slots[at].id)
		return false;
	*id = t->slots[at].id - 1;
	return true;
}

static bool intern_add_tagged(struct intern *t, struct slice s, uint32_t tag, uint32_t *id)
{
	uint8_t *copy;
	size_t at;

	if (!t->slots || t->n * 4 >= (t->mask + 1) * 3) {
		if (!intern_rehash(t, t->slots ? (t->mask + 1) * 2 : SLOTS_MIN))
			return false;
	}
	at = find_slot(t, s, tag);
	if (t->slots[at].id) {
		*id = t->slots[at].id - 1;
		return true;
	}
	if (t->n >= UINT32_MAX - 1 || !grow_array(&t->items, &t->cap, t->n, sizeof(*t->items)))
		return false;
	copy = intern_store(t, s);
	if (!copy)
		return false;
	*id = (uint32_t)t->n;
	t->items[t->n++] = (struct slice){ copy, s.n };
	t->slots[at] = (struct intern_slot){ *id + 1, tag };
	t->bytes += s.n + 1;
	return true;
}

bool intern_add(struct intern *t, struct slice s, uint32_t *id)
{
	return intern_add_tagged(t, s, tag_of(s), id);
}

/* Each pass prefetches the memory that the next one reads: the slot, the item, its bytes. */
static void intern_fetch(const struct intern *t, const struct slice *s, size_t n, uint32_t *tags)
{
	for (size_t i = 0; i < n; i++) {
		tags[i] = tag_of(s[i]);
		__builtin_prefetch(&t->slots[tags[i] & t->mask]);
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t slot = t->slots[tags[i] & t->mask].id;

		__builtin_prefetch(slot ? &t->items[slot - 1] : NULL);
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t slot = t->slots[tags[i] & t->mask].id;

		__builtin_prefetch(slot ? t->items[slot - 1].p : NULL);
	}
}

bool intern_add_many(struct intern *t, const struct slice *s, size_t n, uint32_t *ids)
{
	enum { BATCH = 32 };
	uint32_t tags[BATCH];

	if (!t->slots && !intern_rehash(t, SLOTS_MIN))
		return false;
	for (size_t i = 0, batch; i < n; i += batch) {
		batch = n - i < BATCH ? n - i : BATCH;
		intern_fetch(t, s + i, batch, tags);
		for (size_t k = 0; k < batch; k++) {
			if (!intern_add_tagged(t, s[i + k], tags[k], &ids[i + k]))
				return false;
		}
	}
	return true;
}

struct slice intern_get(const struct intern *t, uint32_t id)
{
	return t->items[id];
}
