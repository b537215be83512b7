#include "common/blame/blame_write.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/base/array.h"
#include "common/blame/blame_locks.h"
#include "common/blame/lock_sums.h"
#include "common/blame/waker_rows.h"

/* A node of the caller's profile, and the length of the stack's text. */
struct at {
	uint32_t node;
	size_t bytes;
};

struct blame_writer {
	struct blame *b;
	struct at *nodes; /* by node of wall */
	struct at *links; /* by link */
	bool *needed;	  /* by node of wall, then by link */
	uint64_t *explained; /* by node of wall: the ns of its chains */
	uint64_t *written;
};

static bool push(struct blame *b, struct at *at, struct slice text)
{
	uint32_t label;

	at->bytes += text.n + (at->node != 0);
	return profile_label(b->p, text, &label) && profile_child(b->p, at->node, label, &at->node);
}

/* Returns the name "comm-pid/tid" as the view shows it. */
static struct slice shown_name(const struct view *v, struct slice name)
{
	size_t n = name.n;

	if (v->tid)
		return name;
	while (n && name.p[n - 1] != '/')
		n--;
	if (v->pid)
		return (struct slice){ name.p, n ? n - 1 : 0 };
	while (n && name.p[n - 1] != '-')
		n--;
	return (struct slice){ name.p, n ? n - 1 : 0 };
}

static bool push_waker(struct blame *b, struct at *at, uint32_t thread)
{
	struct slice name = shown_name(b->asked, profile_text(&b->wall, b->threads[thread].label));
	struct buf text = { 0 };
	bool good;

	buf_text(&text, "<- ");
	buf_bytes(&text, name.p, name.n);
	good = !text.failed && push(b, at, buf_view(&text));
	buf_release(&text);
	return good;
}

const char *blame_name_of_by(uint64_t by)
{
	static const char *const names[WOKEN_BYS] = {
		[WOKEN_BY_UNKNOWN] = "[waker not known]",
		[WOKEN_BY_TASK] = "[waker not known]",
		[WOKEN_BY_TIMER] = "[timer]",
		[WOKEN_BY_DISK] = "[disk]",
		[WOKEN_BY_NETWORK] = "[network]",
		[WOKEN_BY_INTERRUPT] = "[interrupt]",
		[WOKEN_BY_SOFTIRQ] = "[softirq]",
		[WOKEN_BY_IDLE] = "[idle task]",
		[WOKEN_BY_BRIEF] = "[short waits]",
	};

	return names[by < WOKEN_BYS ? by : WOKEN_BY_UNKNOWN];
}

/* Pushes the frames of a stack of wall, without those that say whose it is. */
static bool push_place(struct blame_writer *w, struct at *at, uint32_t place)
{
	const struct profile *wall = &w->b->wall;
	uint32_t depth = 0;

	for (uint32_t n = place; n; n = wall->nodes[n].parent)
		depth++;
	if (depth <= w->b->roots)
		return push(w->b, at, slice_of("[unknown]"));
	for (uint32_t i = w->b->roots; i < depth; i++) {
		uint32_t n = place;

		for (uint32_t up = depth - 1; up > i; up--)
			n = wall->nodes[n].parent;
		if (!push(w->b, at, profile_text(wall, wall->nodes[n].label)))
			return false;
	}
	return true;
}

uint32_t blame_count_outer(const struct blame *b, uint32_t node)
{
	uint32_t n = 0;

	while (n < b->roots && (node = b->wall.nodes[node].parent))
		n++;
	return n;
}

/* Makes the nodes for the stacks of wall that are shown. */
static bool make_nodes(struct blame_writer *w)
{
	const struct profile *wall = &w->b->wall;
	uint32_t names = w->b->roots - 1;

	for (size_t i = 1; i < wall->n; i++) {
		struct slice text = profile_text(wall, wall->nodes[i].label);
		uint32_t outer;

		if (!w->needed[i])
			continue;
		w->nodes[i] = w->nodes[wall->nodes[i].parent];
		outer = blame_count_outer(w->b, (uint32_t)i);
		if (outer < names && outer >= names - w->b->hidden)
			continue;
		if (!push(w->b, &w->nodes[i], outer == names ? shown_name(w->b->asked, text) : text))
			return false;
	}
	return true;
}

static bool push_link(struct blame_writer *w, const struct chain_link *l, struct at *at)
{
	switch ((enum chain_kind)l->kind) {
	case CHAIN_ROOT:
		*at = w->nodes[l->what];
		return true;
	case CHAIN_WAKER:
		return push_waker(w->b, at, l->what);
	case CHAIN_WAKING:
		return push_place(w, at, l->what) && push(w->b, at, slice_of("[waking]"));
	case CHAIN_SITE:
	case CHAIN_PART:
	case CHAIN_SHORT:
	case CHAIN_QUEUE:
		return push_place(w, at, l->what);
	case CHAIN_BY:
		return push(w->b, at, slice_of(blame_name_of_by(l->what)));
	case CHAIN_NOT_STARTED:
		return push(w->b, at, slice_of("[not started]"));
	case CHAIN_NOT_RECORDED:
		return push(w->b, at, slice_of("[not recorded]"));
	case CHAIN_TOO_DEEP:
		return push(w->b, at, slice_of("[too deep]"));
	default: /* CHAIN_RAN: the frames of its parts take its place */
		return true;
	}
}

/* Scales the ns of a chain if wall has less of this wait, because a part of it was lost. */
static uint64_t weigh(struct blame_writer *w, const struct chain_link *l)
{
	uint32_t place = w->b->chain.links[l->root].what;
	uint64_t whole = w->b->wall.nodes[place].self[0], explained = w->explained[place];
	uint64_t before = w->written[place], due = whole < explained ? whole : explained;

	w->written[place] += l->ns;
	return (uint64_t)((unsigned __int128)due * w->written[place] / explained) -
	       (uint64_t)((unsigned __int128)due * before / explained);
}

static bool write_links(struct blame_writer *w)
{
	const struct chain *c = &w->b->chain;

	for (size_t i = 0; i < c->n_links; i++) {
		const struct chain_link *l = &c->links[i];
		struct at at;

		if (!w->needed[w->b->wall.n + i])
			continue;
		w->links[i] = l->kind == CHAIN_ROOT ? (struct at){ 0 } : w->links[l->parent];
		if (!push_link(w, l, &w->links[i]))
			return false;
		at = w->links[i];
		if (l->kind == CHAIN_RAN && l->ns && !push(w->b, &at, slice_of("[running, not sampled]")))
			return false;
		if (l->ns && !profile_add_at(w->b->p, at.node, at.bytes, w->b->side, weigh(w, l)))
			return false;
	}
	return true;
}

/* Adds all that is not explained: running, queued, short waits, waits that have not ended. */
static bool write_rest(struct blame_writer *w)
{
	for (size_t i = 1; i < w->b->wall.n; i++) {
		uint64_t whole = w->b->wall.nodes[i].self[0], explained = w->explained[i];

		if (w->b->shown[i] && whole > explained &&
		    !profile_add_at(w->b->p, w->nodes[i].node, w->nodes[i].bytes, w->b->side,
				    whole - explained))
			return false;
	}
	return true;
}

/* Marks the stacks that have weight, with all above them. Returns false if the sum is too large. */
static bool mark(struct blame_writer *w)
{
	const struct profile *wall = &w->b->wall;
	const struct chain *c = &w->b->chain;

	for (size_t i = 0; i < c->n_links; i++) {
		if (c->links[i].ns)
			w->explained[c->links[c->links[i].root].what] += c->links[i].ns;
		for (uint32_t at = (uint32_t)i; c->links[i].ns && !w->needed[wall->n + at];
		     at = c->links[at].parent)
			w->needed[wall->n + at] = true;
	}
	for (size_t i = 1; i < wall->n; i++) {
		if (!w->b->shown[i] || !wall->nodes[i].self[0])
			continue;
		if (!profile_claim(w->b->p, w->b->side, wall->nodes[i].self[0]))
			return false;
		for (uint32_t at = (uint32_t)i; at && !w->needed[at]; at = wall->nodes[at].parent)
			w->needed[at] = true;
	}
	return true;
}

/* A row for each thread that ended waits, and for all else that did. */
static bool write_wakers(struct blame *b)
{
	for (size_t i = 0; i < b->n_spans; i++) {
		const struct chain_wait *wait = &b->spans[i].wait;
		bool thread = wait->by == WOKEN_BY_TASK && wait->waker != CHAIN_NO_THREAD;
		uint64_t ns = b->spans[i].to - b->spans[i].from;
		struct slice name = thread ? profile_text(&b->wall, b->threads[wait->waker].label)
					   : slice_of(blame_name_of_by(wait->by));
		struct at at = { 0 };

		if ((b->asked->wakers && !waker_rows_add(b->asked->wakers, name, ns)) ||
		    !push(b, &at, name) || !profile_claim(b->p, b->side, ns) ||
		    !profile_add_at(b->p, at.node, at.bytes, b->side, ns))
			return false;
	}
	return true;
}

static bool write_chains(struct blame *b)
{
	size_t nodes = b->wall.n, links = b->chain.n_links;
	struct blame_writer w = {
		.b = b,
		.nodes = calloc(nodes, sizeof(*w.nodes)),
		.links = calloc(links + 1, sizeof(*w.links)),
		.needed = calloc(nodes + links, sizeof(*w.needed)),
		.explained = calloc(nodes, sizeof(*w.explained)),
		.written = calloc(nodes, sizeof(*w.written)),
	};
	bool good = w.nodes && w.links && w.needed && w.explained && w.written &&
		    grow_array(&b->shown, &b->cap_shown, nodes, sizeof(*b->shown));

	good = good && mark(&w) && make_nodes(&w) && write_links(&w) && write_rest(&w);
	free(w.nodes);
	free(w.links);
	free(w.needed);
	free(w.explained);
	free(w.written);
	return good;
}

/* Makes the frames of a lock and its holder. */
static bool push_pair(struct blame *b, struct at *at, uint32_t pair)
{
	uint32_t holder = blame_locks_holder(b, pair);
	struct buf text = { 0 };
	bool good;

	buf_text(&text, holder == CHAIN_NO_THREAD ? "[holder not known]" : "held by ");
	if (holder != CHAIN_NO_THREAD) {
		struct slice name = shown_name(b->asked, profile_text(&b->wall, b->threads[holder].label));

		buf_bytes(&text, name.p, name.n);
	}
	good = !text.failed && push(b, at, blame_locks_name(b, pair)) && push(b, at, buf_view(&text));
	buf_release(&text);
	return good;
}

/* Adds the time of a link to its lock, by its innermost frame. */
static void sum_link(struct blame_writer *w, const struct chain_link *l, uint32_t node)
{
	struct lock_sums *sums = w->b->asked->locks;
	uint32_t pair = w->b->chain.links[l->root].what;

	if (sums)
		lock_sums_part(sums, lock_sums_find(sums, blame_locks_name(w->b, pair)), LOCK_MEANWHILE,
			       profile_text(w->b->p, w->b->p->nodes[node].label), l->ns);
}

static bool write_lock_links(struct blame_writer *w)
{
	const struct chain *c = &w->b->chain;

	for (size_t i = 0; i < c->n_links; i++) {
		const struct chain_link *l = &c->links[i];
		struct at at = l->kind == CHAIN_ROOT ? (struct at){ 0 } : w->links[l->parent];

		if (!(l->kind == CHAIN_ROOT ? push_pair(w->b, &at, l->what) : push_link(w, l, &at)))
			return false;
		w->links[i] = at;
		if (l->kind == CHAIN_RAN && l->ns && !push(w->b, &at, slice_of("[running, not sampled]")))
			return false;
		if (!l->ns)
			continue;
		sum_link(w, l, at.node);
		if (!profile_claim(w->b->p, w->b->side, l->ns) ||
		    !profile_add_at(w->b->p, at.node, at.bytes, w->b->side, l->ns))
			return false;
	}
	return true;
}

static bool write_locks(struct blame *b)
{
	struct blame_writer w = {
		.b = b,
		.links = calloc(b->chain.n_links + 1, sizeof(*w.links)),
	};
	bool good;

	blame_locks_sum(b);
	good = w.links && write_lock_links(&w) && !b->failed;
	free(w.links);
	return good && !(b->asked->locks && b->asked->locks->failed);
}

bool blame_write(struct blame *b)
{
	return b->asked->blame == BLAME_WAKERS	? write_wakers(b)
	       : b->asked->blame == BLAME_LOCKS ? write_locks(b)
						: write_chains(b);
}

