#include "common/blame/lock_sums.h"

#include <stdlib.h>

#include "common/base/array.h"

void lock_sums_init(struct lock_sums *s)
{
	*s = (struct lock_sums){ .n_locks = 0 };
	intern_init(&s->names);
	intern_init(&s->lock_keys);
	intern_init(&s->part_keys);
}

void lock_sums_release(struct lock_sums *s)
{
	intern_release(&s->names);
	intern_release(&s->lock_keys);
	intern_release(&s->part_keys);
	free(s->locks);
	free(s->parts);
	*s = (struct lock_sums){ .n_locks = 0 };
}

uint32_t lock_sums_wait(struct lock_sums *s, struct slice name, enum lock_kind kind, uint64_t ns)
{
	uint32_t at, text;
	struct lock_sum *l;

	if (!intern_add(&s->names, name, &text) || !intern_add(&s->lock_keys, name, &at) ||
	    !grow_array(&s->locks, &s->cap_locks, at, sizeof(*s->locks))) {
		s->failed = true;
		return UINT32_MAX;
	}
	l = &s->locks[at];
	if (at == s->n_locks) {
		*l = (struct lock_sum){ .name = text, .kind = (uint8_t)kind };
		s->n_locks++;
	}
	l->waits++;
	l->ns += ns;
	l->longest = ns > l->longest ? ns : l->longest;
	return at;
}

uint32_t lock_sums_find(const struct lock_sums *s, struct slice name)
{
	uint32_t at;

	return intern_find(&s->lock_keys, name, &at) ? at : UINT32_MAX;
}

void lock_sums_part(struct lock_sums *s, uint32_t lock, enum lock_part_kind kind, struct slice name,
		    uint64_t ns)
{
	uint32_t at, key[3] = { lock, kind, 0 };

	if (lock == UINT32_MAX || !ns)
		return;
	if (!intern_add(&s->names, name, &key[2]) ||
	    !intern_add(&s->part_keys, (struct slice){ (const uint8_t *)key, sizeof(key) }, &at) ||
	    !grow_array(&s->parts, &s->cap_parts, at, sizeof(*s->parts))) {
		s->failed = true;
		return;
	}
	if (at == s->n_parts) {
		s->parts[s->n_parts++] = (struct lock_part){ lock, key[2], (uint8_t)kind, 0 };
		s->locks[lock].counts[kind]++;
	}
	s->parts[at].ns += ns;
}

static int compare_ns(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_parts(const void *a, const void *b)
{
	const struct lock_part *x = a, *y = b;

	return x->lock != y->lock   ? compare_ns(x->lock, y->lock)
	       : x->kind != y->kind ? compare_ns(x->kind, y->kind)
	       : x->ns != y->ns	    ? compare_ns(y->ns, x->ns)
				    : compare_ns(x->name, y->name);
}

static int compare_locks(const void *a, const void *b)
{
	const struct lock_sum *x = a, *y = b;
	bool known_x = x->kind != LOCK_FUTEX, known_y = y->kind != LOCK_FUTEX;

	return known_x != known_y ? compare_ns(known_y, known_x)
	       : x->ns != y->ns	  ? compare_ns(y->ns, x->ns)
				  : compare_ns(x->name, y->name);
}

void lock_sums_sort(struct lock_sums *s)
{
	size_t at = 0;

	if (s->n_parts)
		qsort(s->parts, s->n_parts, sizeof(*s->parts), compare_parts);
	for (size_t i = 0; i < s->n_locks; i++) {
		s->locks[i].first = at;
		while (at < s->n_parts && s->parts[at].lock == i)
			at++;
		s->locks[i].end = at;
	}
	if (s->n_locks)
		qsort(s->locks, s->n_locks, sizeof(*s->locks), compare_locks);
}
