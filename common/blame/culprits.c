#include "common/blame/culprits.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/search.h"

void culprits_release(struct culprits *c)
{
	free(c->samples);
	free(c->queues);
	free(c->found);
	*c = (struct culprits){ 0 };
}

void culprits_sample(struct culprits *c, const struct culprit_sample *s)
{
	if (grow_array(&c->samples, &c->cap_samples, c->n_samples, sizeof(*c->samples)))
		c->samples[c->n_samples++] = *s;
	else
		c->failed = true;
}

void culprits_queue(struct culprits *c, uint32_t cpu, uint32_t thread, uint64_t from, uint64_t to)
{
	if (from >= to)
		return;
	if (grow_array(&c->queues, &c->cap_queues, c->n_queues, sizeof(*c->queues)))
		c->queues[c->n_queues++] = (struct culprit_queue){ from, to, cpu, thread };
	else
		c->failed = true;
}

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_samples(const void *a, const void *b)
{
	const struct culprit_sample *x = a, *y = b;
	int by_cpu = compare(x->cpu, y->cpu);

	return by_cpu ? by_cpu : x->time != y->time ? compare(x->time, y->time) : compare(x->who, y->who);
}

static int compare_queues(const void *a, const void *b)
{
	const struct culprit_queue *x = a, *y = b;
	int by_thread = compare(x->thread, y->thread);

	return by_thread ? by_thread : compare(x->from, y->from);
}

static int compare_found(const void *a, const void *b)
{
	const struct culprit *x = a, *y = b;

	return compare(x->who, y->who);
}

static void add_found(struct culprits *c, uint32_t thread, uint32_t who, uint64_t ns, uint64_t count)
{
	if (grow_array(&c->found, &c->cap_found, c->n_found, sizeof(*c->found)))
		c->found[c->n_found++] = (struct culprit){ ns, count, thread, who };
	else
		c->failed = true;
}

/* Adds the samples on the queue's CPU meanwhile. The thread itself cannot have been one of them. */
static void look_at_queue(struct culprits *c, const struct culprit_queue *q)
{
	size_t i = SEARCH_COUNT(c->n_samples, at,
				c->samples[at].cpu < q->cpu ||
					(c->samples[at].cpu == q->cpu && c->samples[at].time < q->from));

	for (; i < c->n_samples && c->samples[i].cpu == q->cpu && c->samples[i].time < q->to; i++) {
		if (c->samples[i].thread != q->thread)
			add_found(c, q->thread, c->samples[i].who, c->samples[i].weight, 1);
	}
}

/*
 * The time that the samples stand for is known to about the square root of their number. Three times that is
 * more than chance.
 */
enum { BY_CHANCE = 3 };

/* Returns how much of the time the samples share: all of it, if they may stand for all of it. */
static uint64_t shared_time(uint64_t ns, uint64_t weight, uint64_t count)
{
	double each = (double)weight / (double)count, lacking = (double)ns - (double)weight;

	return lacking > BY_CHANCE * each * sqrt((double)ns / each) ? weight : ns;
}

/* Merges the samples found for one thread, from index first on, and lets them share the thread's time. */
static void share_time(struct culprits *c, size_t first, uint32_t thread, uint64_t ns)
{
	uint64_t all = 0, seen = 0, count = 0, shared;
	size_t n = first;

	if (c->n_found > first)
		qsort(c->found + first, c->n_found - first, sizeof(*c->found), compare_found);
	for (size_t i = first; i < c->n_found; i++) {
		all += c->found[i].ns;
		count += c->found[i].count;
		if (n > first && c->found[n - 1].who == c->found[i].who) {
			c->found[n - 1].ns += c->found[i].ns;
			c->found[n - 1].count += c->found[i].count;
		} else {
			c->found[n++] = c->found[i];
		}
	}
	c->n_found = n;
	if (!all) {
		c->n_found = first;
		add_found(c, thread, CULPRITS_NOBODY, ns, 0);
		return;
	}
	shared = shared_time(ns, all, count);
	for (size_t i = first; i < n; i++) {
		uint64_t before = (uint64_t)((unsigned __int128)shared * seen / all);

		seen += c->found[i].ns;
		c->found[i].ns = (uint64_t)((unsigned __int128)shared * seen / all) - before;
	}
	if (shared < ns)
		add_found(c, thread, CULPRITS_NOBODY, ns - shared, 0);
}

/*
 * Samples of threads with few of them count more. L. Kish, "Survey Sampling" (1965): as many of equal weight
 * as the square of the sum of weights over the sum of squares.
 */
static void count_hits(struct culprits *c)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < c->n_found; i++) {
		double ns = (double)c->found[i].ns;

		if (c->found[i].count) {
			sum += ns;
			squares += ns * ns / (double)c->found[i].count;
		}
	}
	c->hits = squares > 0 ? sum * sum / squares : 0;
}

void culprits_find(struct culprits *c)
{
	size_t first = 0;
	uint64_t ns = 0;

	if (c->n_samples)
		qsort(c->samples, c->n_samples, sizeof(*c->samples), compare_samples);
	if (c->n_queues)
		qsort(c->queues, c->n_queues, sizeof(*c->queues), compare_queues);
	for (size_t i = 0; i < c->n_queues; i++) {
		const struct culprit_queue *q = &c->queues[i];

		ns += q->to - q->from;
		look_at_queue(c, q);
		if (i + 1 < c->n_queues && c->queues[i + 1].thread == q->thread)
			continue;
		share_time(c, first, q->thread, ns);
		first = c->n_found;
		ns = 0;
	}
	count_hits(c);
}
