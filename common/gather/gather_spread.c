#include "common/gather/gather_spread.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/array.h"

enum { WAITED_KEPT = 4096 }; /* threads whose memory is kept for the next segment */

static uint32_t limit_slice(uint64_t slice)
{
	return slice < UINT32_MAX ? (uint32_t)slice : UINT32_MAX;
}

/* Weight over span nanoseconds, of which seen are divided so far. */
struct division {
	uint64_t weight, span, seen;
	struct gather_piece *pieces;
	size_t n;
};

static void add_piece(struct division *d, uint64_t slice, uint64_t whole, uint64_t ns)
{
	unsigned __int128 weight = d->weight;
	uint64_t before = (uint64_t)(weight * d->seen / d->span), upto;

	if (!ns)
		return;
	d->seen += ns;
	upto = (uint64_t)(weight * d->seen / d->span);
	if (upto > before)
		d->pieces[d->n++] = (struct gather_piece){ limit_slice(slice), limit_slice(whole > 1 ? whole : 0),
							   upto - before };
}

/*
 * Returns nanoseconds from a to b, maybe negative: slices that are aligned to the clock may begin before the
 * clock of the stream did.
 */
static int64_t between(uint64_t a, uint64_t b)
{
	return (int64_t)(b - a);
}

size_t gather_spread(const struct gather *g, uint64_t start, uint64_t end, uint64_t weight,
		     struct gather_piece pieces[GATHER_PIECES])
{
	uint64_t length = g->view->moment_ns, from, to, first, last;
	struct division d = { .weight = weight, .span = end - start, .pieces = pieces };

	if (start >= end || between(g->moment_base, end) <= 0) {
		pieces[0] = (struct gather_piece){ 0, 0, weight };
		return 1;
	}
	if (between(g->moment_base, start) < 0) {
		add_piece(&d, 0, 0, g->moment_base - start);
		start = g->moment_base;
	}
	from = start - g->moment_base;
	to = end - g->moment_base;
	first = (from + length - 1) / length; /* the first slice that begins inside */
	last = to / length;                   /* the first slice that does not end inside */
	if (last < first) {
		add_piece(&d, last, 0, to - from);
	} else {
		add_piece(&d, first - 1, 0, first * length - from);
		add_piece(&d, first, last - first, (last - first) * length);
		add_piece(&d, last, 0, to - last * length);
	}
	return d.n;
}

static struct gather_waited *waits_of(const struct gather *g, uint64_t thread)
{
	return thread < g->cap_waited ? &g->waited[thread] : NULL;
}

bool gather_spread_wait(struct gather *g, const struct record_sample *r)
{
	uint64_t start = r->time - (r->weight < r->time ? r->weight : r->time);
	struct gather_waited *w;

	if (!gather_spreads(g->view) || !capture_wait(&g->capture, r->event))
		return true;
	if (!grow_array(&g->waited, &g->cap_waited, (size_t)r->thread, sizeof(*g->waited)))
		return false;
	w = waits_of(g, r->thread);
	if (w->n && start < w->list[w->n - 1].end)
		start = w->list[w->n - 1].end;
	if (start >= r->time)
		return true;
	if (!grow_array(&w->list, &w->cap, w->n, sizeof(*w->list)))
		return false;
	w->list[w->n++] = (struct gather_wait){ start, r->time };
	return true;
}

void gather_spread_ran(struct gather *g, const struct record_ran *r)
{
	struct gather_waited *w = waits_of(g, r->thread);
	uint64_t start = r->time - (r->span < r->time ? r->span : r->time);

	if (!w)
		return;
	start = start > w->ran ? start : w->ran; /* spans that overlap make no sense, but may come */
	w->ran = r->time > w->ran ? r->time : w->ran;
	while (w->first < w->n && w->list[w->first].end <= start)
		w->first++;
	if (w->first <= w->n / 2)
		return;
	w->n -= w->first;
	memmove(w->list, w->list + w->first, w->n * sizeof(*w->list));
	w->first = 0;
}

bool gather_spread_gap(const struct gather *g, const struct record_ran *part, struct gather_gap *gap)
{
	const struct gather_waited *w = waits_of(g, part->thread);

	gap->start = gap->end;
	if (w && gap->next < w->first)
		gap->next = w->first;
	while (w && gap->next < w->n && w->list[gap->next].start <= gap->start) {
		if (w->list[gap->next].end > gap->start)
			gap->start = w->list[gap->next].end;
		gap->next++;
	}
	gap->end = part->time;
	if (w && gap->next < w->n && w->list[gap->next].start < part->time)
		gap->end = w->list[gap->next].start;
	return gap->start < gap->end;
}

uint64_t gather_spread_free(const struct gather *g, const struct record_ran *part)
{
	struct gather_gap gap = { .end = part->time - part->span };
	uint64_t free = 0;

	while (gather_spread_gap(g, part, &gap))
		free += gap.end - gap.start;
	return free;
}

/* Returns the time up to which the CPU's ticks with this outcome were reported. */
static uint64_t ticked_until(const struct gather *g, uint64_t cpu, uint64_t outcome)
{
	uint64_t until = cpu < g->cap_ticked ? g->ticked[cpu][outcome] : 0;

	until = until > g->capture.monotonic ? until : g->capture.monotonic;
	return between(g->moment_base, until) > 0 ? until : g->moment_base;
}

bool gather_spread_ticks(struct gather *g, const struct record_ledger *r)
{
	const struct capture *c = &g->capture;
	struct origin_ticks t = { .run = g->run, .outcome = (uint32_t)r->outcome };
	uint64_t before, from;

	if (!g->based || r->outcome >= OUTCOMES || r->cpu > UINT16_MAX)
		return true;
	before = r->cpu < c->n_ledger ? c->ledger[r->cpu][r->outcome] : 0;
	from = ticked_until(g, r->cpu, r->outcome);
	if (!grow_array(&g->ticked, &g->cap_ticked, (size_t)r->cpu, sizeof(*g->ticked)))
		return false;
	g->ticked[r->cpu][r->outcome] = r->time;
	if (r->count <= before)
		return true;
	t.count = r->count - before;
	t.slice = limit_slice((from - g->moment_base) / g->view->moment_ns);
	t.to = t.slice;
	if (between(from, r->time) > 0)
		t.to = limit_slice((r->time - g->moment_base) / g->view->moment_ns);
	return origins_tick(g->view->origins, &t);
}

static void release_waited(struct gather *g)
{
	for (size_t i = 0; i < g->cap_waited; i++)
		free(g->waited[i].list);
	free(g->waited);
	g->waited = NULL;
	g->cap_waited = 0;
}

void gather_spread_forget(struct gather *g)
{
	if (g->cap_waited > WAITED_KEPT)
		release_waited(g);
	for (size_t i = 0; i < g->cap_waited; i++)
		g->waited[i].first = g->waited[i].n = g->waited[i].ran = 0;
	clear_array(&g->ticked, &g->cap_ticked, sizeof(*g->ticked));
}

void gather_spread_release(struct gather *g)
{
	release_waited(g);
	free(g->ticked);
}
