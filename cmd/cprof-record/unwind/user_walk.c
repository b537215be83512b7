#include "cmd/cprof-record/unwind/user_walk.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/search.h"
#include "common/walk/host_walk.h"

enum { STALE_MOST = 256,
       PUBLISH_SHARE = 100, /* to publish a process may take one part in 100 of the time */
       KERNEL_WALKS = 64 }; /* stacks that are finished here before the walk is loaded into the kernel */

#define MILLISECOND 1000000ull
#define YOUNG (100 * MILLISECOND)
#define LASTING (1000 * MILLISECOND) /* a process is published if the program cannot walk it, or when it is this old */
#define CALM_LEAST (1000 * MILLISECOND)
#define CALM_MOST (30000 * MILLISECOND)
#define KERNEL_WALKS_AFTER (3000 * MILLISECOND) /* or this long after the first one */

void user_walk_release(struct user_walk *s)
{
	free(s->dirty);
	buf_release(&s->complaint);
}

/* Is it a file of linked code? All other executable memory counts as anonymous. */
static bool is_image(const struct exe *x)
{
	return x->path.n && (slice_is(x->path, "[vdso]") ||
			     (x->path.p[0] == '/' && x->path.n > 1 && x->path.p[1] != '/' &&
			      (x->inode || x->build_id.n)));
}

/* Returns the mapping as the walk reads it. In memory without a file, "file offsets" are addresses. */
static struct unwind_mapping place_mapping(struct user_walk *s, const struct space *sp, const struct map *m)
{
	struct unwind_mapping to = { m->start, m->end, m->start, 0, 0 };

	if (m->file && is_image(&s->procs->exes[m->file - 1])) {
		to.offset = m->offset;
		to.file = table_cache_number(s->tables, m->file - 1);
	} else if (!sp->language && m->start < sp->jit_end && m->end > sp->jit_start) {
		to.file = sp->jit_table;
	}
	return to;
}

static bool append_mapping(struct unwind_mapping *to, size_t n, const struct unwind_mapping *m)
{
	struct unwind_mapping *last = n ? &to[n - 1] : NULL;

	if (last && last->end == m->start && last->file == m->file && last->offset == last->start &&
	    m->offset == m->start) {
		last->end = m->end; /* a JIT compiler makes many */
		return false;
	}
	to[n] = *m;
	return true;
}

/*
 * Makes the mappings in the form that the program reads; *n may be one more than it can search. Returns NULL
 * if out of memory. The caller frees them.
 */
static struct unwind_mapping *make_view(struct user_walk *s, struct proc *p, size_t *n)
{
	size_t most = maps_count(&p->maps);
	struct unwind_mapping *view;

	if (most > UNWIND_SPACE_MAPPINGS)
		most = UNWIND_SPACE_MAPPINGS + 1;
	view = malloc((most + 1) * sizeof(*view));
	*n = 0;
	for (const struct map *m = maps_from(&p->maps, 0); view && m && *n <= UNWIND_SPACE_MAPPINGS;
	     m = maps_from(&p->maps, m->end)) {
		const struct unwind_mapping next = place_mapping(s, &p->space, m);

		*n += append_mapping(view, *n, &next);
	}
	return view;
}

static void mark_dirty(struct user_walk *s, struct proc *p)
{
	if (!s->engine->ops->publish) /* there is no program to publish to */
		return;
	p->space.wanted = true;
	if (p->space.dirty || !grow_array(&s->dirty, &s->cap, s->n, sizeof(*s->dirty)))
		return;
	p->space.dirty = true;
	s->dirty[s->n++] = p;
}

void user_walk_language(struct user_walk *s, struct proc *p, uint32_t language)
{
	if (p->space.language == language)
		return;
	p->space.language = language;
	s->asked = s->asked || language; /* the program that walks the language goes on where the walk ends */
	if (p->space.wanted || language)
		mark_dirty(s, p);
}

void user_walk_jit(struct user_walk *s, struct proc *p, uint32_t number, uint64_t start, uint64_t end,
		   uint64_t now)
{
	struct space *sp = &p->space;

	if (sp->jit_table != sp->jit_published)
		store_forget(s->tables->store, sp->jit_table, now);
	sp->jit_table = number;
	sp->jit_start = number ? start : 0;
	sp->jit_end = number ? end : 0;
	mark_dirty(s, p);
}

/* The program has the mappings as they are now: a table that they do not name any more can go. */
static void forget_old_jit(struct user_walk *s, struct space *sp, uint64_t now)
{
	if (sp->jit_published != sp->jit_table)
		store_forget(s->tables->store, sp->jit_published, now);
	sp->jit_published = sp->jit_table;
}

/* Returns the state that the sample carries, or NULL. */
static const struct sample_state *state_of(const struct sample_head *head)
{
	const uint64_t *addresses = (const void *)(head + 1);

	if (!head->has_state)
		return NULL;
	return (const void *)(addresses + (head->kernel_n > 0 ? head->kernel_n : 0) + (head->user_n > 0 ? head->user_n : 0));
}

/* Takes the state that the sample carries; its frame becomes the last one of out. False: there is none. */
static bool take_state(struct unwind_host *h, const struct sample_head *head, struct user_stack *out)
{
	const struct sample_state *state = state_of(head);

	if (!state || state->at >= (uint32_t)out->n)
		return false;
	memcpy(h->walk.regs, state->regs, sizeof(h->walk.regs));
	h->walk.exact = state->exact;
	h->walk.inner = state->inner;
	h->walk.bx_known = state->bx_known;
	h->walk.unchecked = state->unchecked;
	h->stack_at = state->regs[UNWIND_RSP];
	h->stack = (struct slice){ (const uint8_t *)(state + 1), head->stack_n };
	out->n = (int)state->at + 1;
	out->finished = (int)state->at;
	return true;
}

/* Makes a step. WALK_ASK: it waits for a table. */
static int step_walk(struct user_walk *s, struct proc *p, struct unwind_host *h)
{
	int end = unwind_host_step(h);

	if (end == WALK_ASK) {
		const struct map *m = maps_find(&p->maps, h->walk.regs[UNWIND_RIP] - !h->walk.exact);

		if (m && table_cache_want(s->tables, p, m, host_mono_ns()) && !s->dont_wait)
			return WALK_ASK;
		end = unwind_host_step(h);
		s->late += end == WALK_ASK;
	}
	return end == WALK_ASK ? WALK_NO_TABLE : end == WALK_UNREADABLE && h->beyond && h->stack.n ? ROOT_COPY : end;
}

/*
 * Publishes the file that the program met in this process's memory and does not know. Its mapping must be the
 * one that is known here: the program may have seen a later one.
 */
static void publish_file(struct user_walk *s, const struct proc *p, const struct sample_state *state)
{
	const struct unwind_live *met = &state->unknown;
	const struct map *m = met->id.inode ? maps_find(&p->maps, met->start) : NULL;
	uint32_t number = m && m->file ? s->procs->exes[m->file - 1].table : 0;
	struct unwind_file_known known = { number, number ? store_file_load(s->tables->store, number) : 0 };

	if (number && m->start == met->start && m->end == met->end && m->offset == met->offset &&
	    store_state(s->tables->store, number) != UNWIND_FILE_ASK)
		s->engine->ops->publish_file(s->engine, &met->id, &known);
}

struct walked {
	struct user_walk *s;
	struct proc *p;
};

/* Searches the tree: an array of tens of thousands would be made again for each change. */
static bool find_place(void *arg, uint64_t address, struct unwind_mapping *out)
{
	const struct walked *w = arg;
	const struct map *m = maps_find(&w->p->maps, address);

	if (m)
		*out = place_mapping(w->s, &w->p->space, m);
	return m != NULL;
}

/* Continues the walk to its end. False: it waits for a table. */
static bool finish_walk(struct user_walk *s, struct proc *p, const struct sample_head *head, struct user_stack *out, int most)
{
	struct walked walked = { s, p };
	struct unwind_host h = { .store = s->tables->store, .find = find_place, .find_arg = &walked };
	int end;

	if (!take_state(&h, head, out))
		return true;
	while (out->fps[out->n - 1] = (uint32_t)h.walk.regs[UNWIND_RBP],
	       (end = step_walk(s, p, &h)) == WALK_ON) {
		if (out->n >= most) {
			end = WALK_DEPTH;
			break;
		}
		out->addresses[out->n++] = h.walk.regs[UNWIND_RIP] | (h.walk.exact ? SAMPLE_EXACT : 0);
	}
	if (end == WALK_ASK)
		return false;
	s->finished++;
	if (s->engine->ops->publish_file)
		publish_file(s, p, state_of(head));
	/* If all mappings are known, an address without code was not a return address. */
	if (end == WALK_NO_MAPPING && out->n > 1 && proc_is_whole(p, s->procs->lost)) {
		out->n--;
		end = WALK_BROKEN;
	}
	out->end = end;
	return true;
}

/*
 * Returns how many frames were found with mappings that were valid then. A result of n + 1 means that the end
 * is valid too.
 */
static int count_trusted(const struct proc *p, const struct sample_head *head, const struct user_stack *stack)
{
	const struct space *sp = &p->space;
	int good = stack->n + 1;

	if (head->generation < sp->first || head->generation > sp->published.generation)
		return 1; /* another image's, before an exec: only the address itself is right */
	for (size_t i = 0; i < sp->n_stale; i++) {
		const struct stale *x = &sp->stale[i];

		for (int k = 0; x->generation >= head->generation && k + 1 < good; k++) {
			uint64_t at = (stack->addresses[k] & ~SAMPLE_EXACT) - !(stack->addresses[k] & SAMPLE_EXACT);

			if (at >= x->start && at < x->end)
				good = k + 1;
		}
	}
	return good;
}

/* Notes which tables are in use, for when some must be evicted. */
static void touch_tables(struct user_walk *s, const struct proc *p, const struct user_stack *stack, uint64_t now)
{
	const struct map *m = NULL;

	for (int i = 0; i < stack->n; i++) {
		uint64_t at = (stack->addresses[i] & ~SAMPLE_EXACT) - (i > 0);

		if (m && at >= m->start && at < m->end)
			continue;
		m = maps_find(&p->maps, at);
		if (m && m->file)
			table_cache_touch(s->tables, s->procs->exes[m->file - 1].table, now);
	}
}

bool user_walk_finish(struct user_walk *s, struct proc *p, const struct sample_head *head, struct user_stack *out)
{
	int most = (int)s->engine->options->depth;
	int good;

	if (!p->space.wanted && (head->deferred || head->time - p->time > LASTING))
		mark_dirty(s, p);
	good = head->generation ? count_trusted(p, head, out) : out->n + 1;
	if (head->deferred && good >= out->n) {
		if (!finish_walk(s, p, head, out, most))
			return false;
	} else if (good <= out->n) {
		out->n = good;
		out->end = WALK_NO_MAPPING;
	}
	out->end = out->end == WALK_ASK || out->end == WALK_LANG ? WALK_NO_TABLE : out->end & ~WALK_UNSURE;
	s->asked = s->asked || out->end == ROOT_COPY; /* the kernel has the whole stack */
	touch_tables(s, p, out, head->time);
	return true;
}

/* Each range is noted once: libraries come and go at the same addresses. */
static bool is_noted(struct space *sp, const struct map *m)
{
	for (size_t i = 0; i < sp->n_stale; i++) {
		struct stale *x = &sp->stale[i];

		if (x->start <= m->start && x->end >= m->end) {
			x->generation = sp->published.generation;
			return true;
		}
	}
	return false;
}

/* Notes that the program's knowledge of this range is out of date from here on. */
static void note_stale(struct space *sp, const struct map *m)
{
	if (is_noted(sp, m))
		return;
	if (sp->n_stale == STALE_MOST) { /* so many that the process must be published again first */
		sp->stale[0] = (struct stale){ 0, UINT64_MAX, sp->published.generation };
		sp->n_stale = 1;
	} else if (grow_array(&sp->stale, &sp->cap_stale, sp->n_stale, sizeof(*sp->stale))) {
		sp->stale[sp->n_stale++] = (struct stale){ m->start, m->end, sp->published.generation };
	} else {
		sp->first = UINT32_MAX; /* trust none until it is published */
	}
}

/* Does this mapping contradict the last published ones? Where the program knows nothing, it asks anyway. */
static bool contradicts_published(const struct user_walk *s, const struct space *sp, const struct map *m)
{
	const struct unwind_mapping *known =
		store_shard(s->tables->store, STORE_MAPPINGS, sp->published.first / UNWIND_SHARD_MAPPINGS);
	uint32_t number = m->file ? s->procs->exes[m->file - 1].table : 0;
	size_t low;

	if (!known || sp->published.n == 0)
		return false;
	known += sp->published.first % UNWIND_SHARD_MAPPINGS;
	low = SEARCH_COUNT(sp->published.n, mid, known[mid].end <= m->start);
	for (; low < sp->published.n && known[low].start < m->end; low++) {
		if (number == 0 && known[low].file == sp->jit_published)
			continue; /* rules of JIT code are not believed without a call anyway */
		if (known[low].file != number ||
		    (number && known[low].offset - known[low].start != m->offset - m->start))
			return true;
	}
	return false;
}

void user_walk_mapped(struct user_walk *s, struct proc *p, const struct map *m)
{
	struct space *sp = &p->space;

	if (!sp->wanted)
		return;
	if (contradicts_published(s, sp, m)) {
		note_stale(sp, m);
		sp->changed = host_mono_ns();
		if (sp->in_program) /* again */
			sp->calm = sp->calm < CALM_LEAST ? CALM_LEAST : sp->calm < CALM_MOST ? 2 * sp->calm : CALM_MOST;
	}
	mark_dirty(s, p);
}

/*
 * Until the process is published again, the program leaves all of its stacks to user space. The mappings
 * published before stay in the store: samples that were walked by them may still come.
 */
static void withdraw_proc(struct user_walk *s, struct proc *p)
{
	if (p->space.in_program)
		s->engine->ops->publish(s->engine, p->pid, NULL);
	p->space.in_program = false;
}

/* The program has copied the parent's entry; otherwise the child is published with the others. */
void user_walk_forked(struct user_walk *s, struct proc *parent, struct proc *child)
{
	const struct space *from = &parent->space;

	if (!from->wanted || !from->published.generation)
		return;
	child->space.published = (struct unwind_space){ .generation = from->published.generation };
	child->space.first = from->first;
	child->space.language = from->language;
	for (size_t i = 0; i < from->n_stale; i++) {
		struct map m = { .start = from->stale[i].start, .end = from->stale[i].end };

		note_stale(&child->space, &m);
		if (child->space.n_stale)
			child->space.stale[child->space.n_stale - 1].generation = from->stale[i].generation;
	}
	mark_dirty(s, child);
}

/* Drops ranges that were stale before that generation: no sample of older ones can still come. */
static void forget_stale(struct space *sp, uint32_t before)
{
	size_t n = 0;

	for (size_t i = 0; i < sp->n_stale; i++)
		if (sp->stale[i].generation >= before)
			sp->stale[n++] = sp->stale[i];
	sp->n_stale = n;
}

static void note_many(struct user_walk *s, const struct proc *p, size_t n)
{
	if (n <= UNWIND_SPACE_MAPPINGS || s->said_many)
		return;
	s->said_many = true;
	buf_printf(&s->complaint,
		   "process %u has more than %d executable mappings: its stacks are finished in "
		   "user space",
		   p->pid, UNWIND_SPACE_MAPPINGS);
}

static void publish_proc(struct user_walk *s, struct proc *p, uint64_t now)
{
	struct space *sp = &p->space;
	struct unwind_space old = sp->published;
	struct unwind_mapping *view;
	enum store_loaded stored;
	size_t n;

	if (p->dead || procs_find(s->procs, p->pid) != p || !(view = make_view(s, p, &n)))
		return;
	note_many(s, p, n);
	stored = store_map(s->tables->store, view, n, &sp->published);
	free(view);
	if (stored != STORE_LOADED) {
		s->refused++;
		sp->published = old;
		return;
	}
	if (!sp->first || sp->first == UINT32_MAX)
		sp->first = old.generation && sp->first != UINT32_MAX ? old.generation :
									sp->published.generation;
	store_unmap(s->tables->store, &old, now);
	forget_stale(sp, old.generation);
	sp->published.lang = sp->language;
	sp->in_program = s->engine->ops->publish(s->engine, p->pid, &sp->published);
	s->refused += !sp->in_program;
	forget_old_jit(s, sp, now);
}

/* To publish tens of thousands of mappings takes milliseconds, and a process can change them all the time. */
static void publish_in_turn(struct user_walk *s, struct proc *p, uint64_t now)
{
	uint64_t before = host_cpu_ns();

	publish_proc(s, p, now);
	p->space.due = now + (host_cpu_ns() - before) * PUBLISH_SHARE;
}

/*
 * Loading the walk takes the kernel as long as it takes to finish some 500 stacks here. So it is loaded once
 * there were enough, and a short recording of a quiet machine does without.
 */
static bool is_walking(struct user_walk *s, uint64_t now)
{
	if (s->engine->walks || s->tried)
		return s->engine->walks;
	if (s->finished == 0 && !s->asked)
		return false;
	s->since = s->since ? s->since : now;
	if (s->finished < KERNEL_WALKS && now - s->since < KERNEL_WALKS_AFTER && !s->asked)
		return false;
	s->tried = true;
	return s->engine->ops->walk(s->engine, &s->complaint);
}

/*
 * A new child will most often call exec at once, and the program would then take the published mappings of
 * the old image for those of the new one. Until then a child has its parent's mappings.
 */
void user_walk_publish(struct user_walk *s)
{
	uint64_t now = host_mono_ns();
	size_t n = 0;

	if (s->n == 0 || !is_walking(s, now))
		return;
	for (size_t i = 0; i < s->n; i++) {
		struct proc *p = s->dirty[i];

		if (!p->dead && ((p->via == VIA_FORK && now - p->time < YOUNG) || now - p->space.changed < p->space.calm)) {
			withdraw_proc(s, p);
			s->dirty[n++] = p;
			continue;
		}
		if (now < p->space.due) {
			s->dirty[n++] = p;
			continue;
		}
		p->space.dirty = false;
		publish_in_turn(s, p, now);
	}
	s->n = n;
}

static void drop_dirty(struct user_walk *s, const struct proc *p)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->dirty[i] == p) {
			s->dirty[i] = s->dirty[--s->n];
			return;
		}
	}
}

void user_walk_gone(struct user_walk *s, struct proc *p, uint64_t now)
{
	if (p->space.dirty)
		drop_dirty(s, p);
	if (p->space.published.generation)
		store_unmap(s->tables->store, &p->space.published, now);
	forget_old_jit(s, &p->space, now);
	store_forget(s->tables->store, p->space.jit_table, now);
	p->space.jit_table = p->space.jit_published = 0;
	/* Even if it was not published: the program may have its parent's mappings, or its old image's. */
	if (s->engine->ops->publish && procs_find(s->procs, p->pid) == p)
		s->engine->ops->publish(s->engine, p->pid, NULL);
}
