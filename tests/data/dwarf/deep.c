/* Calls inlined into calls, functions in several pieces, copies made for a constant, and their lines. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

INLINE uint32_t one(uint32_t x)
{
	return x * 2654435761u ^ x >> 7;
}

INLINE uint32_t two(uint32_t x)
{
	uint32_t y = one(x);

	if (y & 1)
		y = one(y + 3);
	return y;
}

INLINE uint32_t three(uint32_t x)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < (x & 3); i++)
		sum += two(x + i);
	return sum;
}

INLINE uint32_t four(uint32_t x) { return three(x) + three(x ^ 5); }
INLINE uint32_t five(uint32_t x) { return four(x) ^ four(x + 11); }

INLINE void fail_when(int bad, const char *why)
{
	if (__builtin_expect(bad, 0)) {
		fprintf(stderr, "deep: %s\n", why);
		abort();
	}
}

static __attribute__((noinline)) uint32_t table(const uint32_t *v, size_t n, unsigned int how)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		fail_when(v[i] == 0xdeadbeef, "beef");
		switch (how) {
		case 0: sum += five(v[i]); break;
		case 1: sum ^= four(v[i]); break;
		case 2: sum = sum << 3 | three(v[i]); break;
		case 3: sum -= two(v[i]); break;
		case 4: sum += one(sum); break;
		default: fail_when(how > 9, "how");
		}
	}
	return sum;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = one(*(const uint32_t *)a), y = one(*(const uint32_t *)b);

	return x < y ? -1 : x > y;
}

struct list {
	struct list *next;
	char name[24];
	uint32_t value;
};

static struct list *push(struct list *head, const char *name, uint32_t value)
{
	struct list *l = malloc(sizeof(*l));

	fail_when(!l, "memory");
	l->next = head;
	snprintf(l->name, sizeof(l->name), "%s-%u", name, value);
	l->value = value;
	return l;
}

static uint32_t sum_of(const struct list *l, uint32_t factor)
{
	return l ? l->value * factor + sum_of(l->next, factor) : 0;
}

int main(int argc, char **argv)
{
	uint32_t v[64], sum = 0;
	struct list *l = NULL;

	for (unsigned int i = 0; i < 64; i++)
		v[i] = five(i + (uint32_t)argc);
	qsort(v, 64, sizeof(v[0]), compare);
	for (unsigned int how = 0; how < 5; how++)
		sum += table(v, 64, how);
	for (int i = 0; i < argc; i++)
		l = push(l, argv[i], sum + (uint32_t)i);
	sum += sum_of(l, 3) + sum_of(l, 5);
	while (l) {
		struct list *next = l->next;

		free(l);
		l = next;
	}
	return printf("%u\n", sum) < 0;
}
