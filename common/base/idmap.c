#include "common/base/idmap.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/hash.h"

enum { SLOTS_MIN = 64, SPARSE = 16 }; /* SPARSE: slots for each entry of a map whose memory is not kept */

void idmap_init(struct idmap *m)
{
	*m = (struct idmap){ 0 };
}

void idmap_release(struct idmap *m)
{
	free(m->keys);
	free(m->values);
	idmap_init(m);
}

void idmap_clear(struct idmap *m)
{
	if (m->mask >= SLOTS_MIN && m->n < m->mask / SPARSE) {
		idmap_release(m);
		return;
	}
	if (m->values)
		memset(m->values, 0, (m->mask + 1) * sizeof(*m->values));
	m->n = 0;
}

static size_t idmap_slot(const struct idmap *m, uint64_t key)
{
	size_t at = hash_u64(key) & m->mask;

	while (m->values[at] && m->keys[at] != key)
		at = (at + 1) & m->mask;
	return at;
}

bool idmap_find(const struct idmap *m, uint64_t key, uint32_t *value)
{
	size_t at;

	if (m->n == 0)
		return false;
	at = idmap_slot(m, key);
	if (!m->values[at])
		return false;
	*value = m->values[at] - 1;
	return true;
}

static bool idmap_rehash(struct idmap *m, size_t slots)
{
	struct idmap bigger = { .mask = slots - 1, .n = m->n };

	bigger.keys = malloc(slots * sizeof(*bigger.keys));
	bigger.values = calloc(slots, sizeof(*bigger.values));
	if (!bigger.keys || !bigger.values) {
		idmap_release(&bigger);
		return false;
	}
	for (size_t i = 0; m->values && i <= m->mask; i++) {
		if (m->values[i]) {
			size_t at = idmap_slot(&bigger, m->keys[i]);

			bigger.keys[at] = m->keys[i];
			bigger.values[at] = m->values[i];
		}
	}
	free(m->keys);
	free(m->values);
	*m = bigger;
	return true;
}

bool idmap_set(struct idmap *m, uint64_t key, uint32_t value)
{
	size_t at;

	if (!m->values || m->n * 4 >= (m->mask + 1) * 3) {
		if (!idmap_rehash(m, m->values ? (m->mask + 1) * 2 : SLOTS_MIN))
			return false;
	}
	at = idmap_slot(m, key);
	if (!m->values[at])
		m->n++;
	m->keys[at] = key;
	m->values[at] = value + 1;
	return true;
}

/* Open addressing without tombstones: later entries move back into the hole if their probe would pass it. */
void idmap_remove(struct idmap *m, uint64_t key)
{
	size_t hole, at;

	if (m->n == 0)
		return;
	hole = idmap_slot(m, key);
	if (!m->values[hole])
		return;
	m->n--;
	for (at = (hole + 1) & m->mask; m->values[at]; at = (at + 1) & m->mask) {
		size_t home = hash_u64(m->keys[at]) & m->mask;

		if (((at - home) & m->mask) < ((at - hole) & m->mask))
			continue;
		m->keys[hole] = m->keys[at];
		m->values[hole] = m->values[at];
		hole = at;
	}
	m->values[hole] = 0;
}
