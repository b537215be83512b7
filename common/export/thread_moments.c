#include "common/export/thread_moments.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/capture/capture.h"

bool thread_moments_timed(const struct traces *s)
{
	return s->unit && slice_is(traces_get(s, s->unit), "ns");
}

uint64_t thread_moments_begin(const struct traces *s, const struct traces_moment *m)
{
	return s->owners[m->owner].wait && thread_moments_timed(s) ? m->time - m->weight : m->time;
}

const char *thread_moments_frame(uint32_t wait)
{
	static const char *const names[CAPTURE_WAITS] = {
		[CAPTURE_SLEEPS] = "[sleeping]",
		[CAPTURE_UNINTERRUPTIBLE] = "[uninterruptible]",
		[CAPTURE_QUEUED] = "[waiting for a CPU]",
		[CAPTURE_THROTTLED] = "[throttled]",
	};

	return wait < CAPTURE_WAITS ? names[wait] : NULL;
}

struct slice thread_moments_wait(uint32_t wait)
{
	const char *frame = thread_moments_frame(wait);

	return frame ? (struct slice){ (const uint8_t *)frame + 1, strlen(frame) - 2 } : slice_of("running");
}

static int order_of(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_threads(const struct traces *s, const struct thread_moments_thread *x,
			   const struct thread_moments_thread *y)
{
	int order = x->host == y->host ? 0 : slice_compare(traces_get(s, x->host), traces_get(s, y->host));

	if (order == 0)
		order = order_of(x->pid, y->pid);
	return order ? order : order_of(x->tid, y->tid);
}

static struct thread_moments_thread thread_of(const struct traces_owner *o)
{
	return (struct thread_moments_thread){ .pid = o->pid, .tid = o->tid, .host = o->host };
}

static int by_thread(const struct traces *s, uint32_t a, uint32_t b)
{
	struct thread_moments_thread x = thread_of(&s->owners[a]), y = thread_of(&s->owners[b]);

	return compare_threads(s, &x, &y);
}

/* Moments at one time are in an order that depends on their contents alone. */
static int by_time(const void *a, const void *b, void *context)
{
	const struct traces_moment *x = a, *y = b;
	const struct traces *s = context;
	int order = by_thread(s, x->owner, y->owner);

	if (order == 0)
		order = order_of(thread_moments_begin(s, x), thread_moments_begin(s, y));
	if (order == 0)
		order = order_of(x->time, y->time);
	if (order == 0)
		order = order_of(x->owner, y->owner);
	if (order == 0)
		order = order_of(x->node, y->node);
	return order ? order : order_of(x->weight, y->weight);
}

static bool add_thread(struct thread_moments *t, const struct traces *s, size_t at)
{
	if (!grow_array(&t->threads, &t->cap, t->n, sizeof(*t->threads)))
		return false;
	t->threads[t->n] = thread_of(&s->owners[s->moments[at].owner]);
	t->threads[t->n++].first = at;
	return true;
}

static bool find_threads(struct thread_moments *t, const struct traces *s)
{
	for (size_t i = 0; i < s->n_moments; i++) {
		const struct traces_moment *m = &s->moments[i];
		uint64_t begin = thread_moments_begin(s, m);

		if ((i == 0 || by_thread(s, s->moments[i - 1].owner, m->owner) != 0) && !add_thread(t, s, i))
			return false;
		t->threads[t->n - 1].end = i + 1;
		t->threads[t->n - 1].comm = s->owners[m->owner].comm;
		t->start = i == 0 || begin < t->start ? begin : t->start;
		t->end = m->time > t->end ? m->time : t->end;
	}
	return true;
}

static void name_processes(struct thread_moments *t)
{
	for (size_t first = 0, i = 0; first < t->n; first = i) {
		uint32_t name = t->threads[first].comm;

		for (i = first; i < t->n && t->threads[i].pid == t->threads[first].pid &&
				t->threads[i].host == t->threads[first].host;
		     i++) {
			if (t->threads[i].tid == t->threads[i].pid)
				name = t->threads[i].comm;
		}
		for (size_t k = first; k < i; k++)
			t->threads[k].process = name;
	}
}

bool thread_moments_init(struct thread_moments *t, struct traces *s)
{
	*t = (struct thread_moments){ 0 };
	if (s->n_moments)
		qsort_r(s->moments, s->n_moments, sizeof(*s->moments), by_time, s);
	if (!find_threads(t, s))
		return false;
	name_processes(t);
	return true;
}

size_t thread_moments_find(const struct thread_moments *t, const struct traces *s, uint32_t host,
			   uint64_t pid, uint64_t tid)
{
	struct thread_moments_thread wanted = { .pid = pid, .tid = tid, .host = host };
	size_t low = 0, high = t->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (compare_threads(s, &t->threads[mid], &wanted) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low < t->n && compare_threads(s, &t->threads[low], &wanted) == 0 ? low : t->n;
}

void thread_moments_release(struct thread_moments *t)
{
	free(t->threads);
	*t = (struct thread_moments){ 0 };
}
