#include "cmd/cprof-record/spaces.h"

#include <stdlib.h>

#include "common/unwind/host.h"

enum { STALE_MOST = 256 };

#define MILLISECOND 1000000ull
#define YOUNG (100 * MILLISECOND)
#define CALM_LEAST (1000 * MILLISECOND)
#define CALM_MOST (30000 * MILLISECOND)

void spaces_release(struct spaces *s)
{
	free(s->dirty);
	buf_release(&s->complaint);
}

/* Files that hold code someone linked; what else is executable is anonymous to us. */
static bool is_image(const struct exe *x)
{
	return x->path.n && (slice_is(x->path, "[vdso]") ||
			     (x->path.p[0] == '/' && x->path.n > 1 && x->path.p[1] != '/' &&
			      (x->inode || x->build_id.n)));
}

static bool append(struct unwind_mapping *to, size_t n, const struct map *m, uint32_t number)
{
	if (n && number == 0 && to[n - 1].file == 0 && to[n - 1].end == m->start) {
		to[n - 1].end = m->end; /* a JIT compiler's many */
		return false;
	}
	to[n] = (struct unwind_mapping){ m->start, m->end, m->offset, number, 0 };
	return true;
}

/* The mappings as the walk reads them. False without memory. */
static bool make_view(struct spaces *s, struct proc *p)
{
	struct space *sp = &p->space;
	struct unwind_mapping *view;

	if (sp->view && sp->version == p->version)
		return true;
	view = realloc(sp->view, (maps_count(&p->maps) + 1) * sizeof(*view));
	if (!view)
		return false;
	sp->view = view;
	sp->version = p->version;
	sp->n = 0;
	for (const struct map *m = maps_from(&p->maps, 0); m; m = maps_from(&p->maps, m->end)) {
		bool image = m->file && is_image(&s->procs->exes[m->file - 1]);

		sp->n += append(view, sp->n, m, image ? tables_number(s->tables, m->file - 1) : 0);
	}
	sp->too_many = sp->n > UNWIND_SPACE_MAPPINGS;
	if (sp->too_many && !s->said_many)
		buf_printf(&s->complaint, "process %u has %zu executable mappings; of those behind the first %d no stack is whole",
			   p->pid, sp->n, UNWIND_SPACE_MAPPINGS);
	s->said_many = s->said_many || sp->too_many;
	return true;
}

static void want(struct spaces *s, struct proc *p)
{
	if (!s->engine->ops->tell) /* there is nobody to be told */
		return;
	p->space.wanted = true;
	if (p->space.dirty || !grow_array(&s->dirty, &s->cap, s->n, sizeof(*s->dirty)))
		return;
	p->space.dirty = true;
	s->dirty[s->n++] = p;
}

/* The state that goes along, of the frame that is the last one of out. False: there is none. */
static bool take_state(struct unwind_host *h, const struct sample_head *head, struct user_stack *out)
{
	const uint64_t *addresses = (const void *)(head + 1);
	const struct sample_state *state;

	if (!head->has_state)
		return false;
	state = (const void *)(addresses + (head->kernel_n > 0 ? head->kernel_n : 0) + (head->user_n > 0 ? head->user_n : 0));
	if (state->at >= (uint32_t)out->n)
		return false;
	memcpy(h->walk.regs, state->regs, sizeof(h->walk.regs));
	h->walk.exact = state->exact;
	h->walk.inner = state->inner;
	h->walk.bx_known = state->bx_known;
	h->walk.unchecked = state->unchecked;
	h->stack_at = state->regs[UNWIND_RSP];
	h->stack = (struct slice){ (const uint8_t *)(state + 1), head->stack_n };
	out->n = (int)state->at + 1;
	return true;
}

/*
 * WALK_ASK: it waits for a table. For so long after it was sampled, whatever it waits for: where new files come
 * faster than tables are made, what is behind it in the queue must not become ever more.
 */
static int step(struct spaces *s, struct proc *p, struct unwind_host *h, uint64_t sampled)
{
	int end = unwind_host_step(h);

	if (end == WALK_ASK) {
		const struct map *m = maps_find(&p->maps, h->walk.regs[UNWIND_RIP] - !h->walk.exact);
		uint64_t now = host_mono_ns();

		if (m && tables_want(s->tables, p, m, now) && now - sampled < TABLES_PATIENCE && !s->hurry)
			return WALK_ASK;
		end = unwind_host_step(h);
		s->late += end == WALK_ASK;
	}
	return end == WALK_ASK ? WALK_NO_TABLE : end == WALK_UNREADABLE && h->beyond && h->stack.n ? ROOT_COPY : end;
}

/* False: it waits for a table. */
static bool go_on(struct spaces *s, struct proc *p, const struct sample_head *head, struct user_stack *out, int most)
{
	struct unwind_host h = { .store = s->tables->store };
	int end;

	if (!make_view(s, p) || !take_state(&h, head, out)) {
		return true;
	}
	h.mappings = p->space.view;
	h.n_mappings = p->space.n;
	while ((end = step(s, p, &h, head->time)) == WALK_ON) {
		if (out->n >= most) {
			end = WALK_DEPTH;
			break;
		}
		out->addresses[out->n++] = h.walk.regs[UNWIND_RIP] | (h.walk.exact ? SAMPLE_EXACT : 0);
	}
	if (end == WALK_ASK)
		return false;
	s->finished++;
	if (end == WALK_NO_MAPPING && p->space.too_many)
		end = WALK_BUDGET;
	/* All mappings are known here: what was taken for a return address, with no code there, was none. */
	if (end == WALK_NO_MAPPING && out->n > 1 && !s->lost) {
		out->n--;
		end = WALK_BROKEN;
	}
	out->end = end;
	return true;
}

/* How many frames were found by what was true then; more than there are: the end, too. */
static int trusted(const struct proc *p, const struct sample_head *head, const struct user_stack *stack)
{
	const struct space *sp = &p->space;
	int good = stack->n + 1;

	if (head->generation < sp->first || head->generation > sp->told.generation)
		return 1; /* that of another image, before an exec: the address itself is right */
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

/* Which tables are in use, for when some must go. */
static void touch(struct spaces *s, const struct proc *p, const struct user_stack *stack, uint64_t now)
{
	const struct map *m = NULL;

	for (int i = 0; i < stack->n; i++) {
		uint64_t at = (stack->addresses[i] & ~SAMPLE_EXACT) - (i > 0);

		if (m && at >= m->start && at < m->end)
			continue;
		m = maps_find(&p->maps, at);
		if (m && m->file)
			tables_touch(s->tables, s->procs->exes[m->file - 1].table, now);
	}
}

bool spaces_finish(struct spaces *s, struct proc *p, const struct sample_head *head, struct user_stack *out)
{
	int most = (int)s->engine->options->depth;
	int good;

	if (!p->space.wanted)
		want(s, p);
	good = head->generation ? trusted(p, head, out) : out->n + 1;
	if (head->deferred && good >= out->n) {
		if (!go_on(s, p, head, out, most))
			return false;
	} else if (good <= out->n) {
		out->n = good;
		out->end = WALK_NO_MAPPING;
	}
	out->end = out->end == WALK_ASK ? WALK_NO_TABLE : out->end & ~WALK_UNSURE;
	touch(s, p, out, head->time);
	return true;
}

/* Once for each range: libraries come and go at the same places. */
static bool is_noted(struct space *sp, const struct map *m)
{
	for (size_t i = 0; i < sp->n_stale; i++) {
		struct stale *x = &sp->stale[i];

		if (x->start <= m->start && x->end >= m->end) {
			x->generation = sp->told.generation;
			return true;
		}
	}
	return false;
}

/* A change of what the program knows: from here on its word of this range is not true. */
static void note_stale(struct space *sp, const struct map *m)
{
	if (is_noted(sp, m))
		return;
	if (sp->n_stale == STALE_MOST) { /* so many that it had better be told again first */
		sp->stale[0] = (struct stale){ 0, UINT64_MAX, sp->told.generation };
		sp->n_stale = 1;
	} else if (grow_array(&sp->stale, &sp->cap_stale, sp->n_stale, sizeof(*sp->stale))) {
		sp->stale[sp->n_stale++] = (struct stale){ m->start, m->end, sp->told.generation };
	} else {
		sp->first = UINT32_MAX; /* trust none until it is told */
	}
}

/* Does this mapping make untrue what the program was told last? Where it knew nothing it asks. */
static bool contradicts(const struct spaces *s, const struct space *sp, const struct map *m)
{
	const struct unwind_mapping *told =
		store_shard(s->tables->store, STORE_MAPPINGS, sp->told.first / UNWIND_SHARD_MAPPINGS);
	uint32_t number = m->file ? s->procs->exes[m->file - 1].table : 0;
	size_t low = 0, high = sp->told.n;

	if (!told || high == 0)
		return false;
	told += sp->told.first % UNWIND_SHARD_MAPPINGS;
	while (low < high) {
		size_t mid = (low + high) / 2;

		if (told[mid].end <= m->start)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < sp->told.n && told[low].start < m->end; low++) {
		if (told[low].file != number || (number && told[low].offset - told[low].start != m->offset - m->start))
			return true;
	}
	return false;
}

void spaces_mapped(struct spaces *s, struct proc *p, const struct map *m)
{
	struct space *sp = &p->space;

	if (!sp->wanted)
		return;
	if (contradicts(s, sp, m)) {
		note_stale(sp, m);
		sp->changed = host_mono_ns();
		if (sp->in_program) /* again */
			sp->calm = sp->calm < CALM_LEAST ? CALM_LEAST : sp->calm < CALM_MOST ? 2 * sp->calm : CALM_MOST;
	}
	want(s, p);
}

/*
 * Until it is told again, all stacks of this process are left to us. What it was told stays where it is: samples that
 * were walked by it may still come.
 */
static void untell(struct spaces *s, struct proc *p)
{
	if (p->space.in_program)
		s->engine->ops->tell(s->engine, p->pid, NULL);
	p->space.in_program = false;
}

/* The program has copied its parent's entry, or will be told with the others. */
void spaces_forked(struct spaces *s, struct proc *parent, struct proc *child)
{
	const struct space *from = &parent->space;

	if (!from->wanted || !from->told.generation)
		return;
	child->space.told = (struct unwind_space){ .generation = from->told.generation };
	child->space.first = from->first;
	for (size_t i = 0; i < from->n_stale; i++) {
		struct map m = { .start = from->stale[i].start, .end = from->stale[i].end };

		note_stale(&child->space, &m);
		if (child->space.n_stale)
			child->space.stale[child->space.n_stale - 1].generation = from->stale[i].generation;
	}
	want(s, child);
}

/* What was stale in the generation before the last one is of no sample that could still come. */
static void forget_stale(struct space *sp, uint32_t before)
{
	size_t n = 0;

	for (size_t i = 0; i < sp->n_stale; i++)
		if (sp->stale[i].generation >= before)
			sp->stale[n++] = sp->stale[i];
	sp->n_stale = n;
}

static void tell(struct spaces *s, struct proc *p, uint64_t now)
{
	struct space *sp = &p->space;
	struct unwind_space old = sp->told;

	if (p->dead || procs_find(s->procs, p->pid) != p || !make_view(s, p))
		return;
	if (sp->too_many || store_map(s->tables->store, sp->view, sp->n, &sp->told) != STORE_LOADED) {
		s->refused++;
		sp->told = old;
		return;
	}
	if (!sp->first || sp->first == UINT32_MAX)
		sp->first = old.generation && sp->first != UINT32_MAX ? old.generation : sp->told.generation;
	store_unmap(s->tables->store, &old, now);
	forget_stale(sp, old.generation);
	sp->in_program = s->engine->ops->tell(s->engine, p->pid, &sp->told);
	s->refused += !sp->in_program;
}

/*
 * Who has just been forked will most often execute something else at once, and what the program were told of
 * the old image then would be taken for the new one's. Till then a child has its parent's.
 */
void spaces_tell(struct spaces *s)
{
	uint64_t now = host_mono_ns();
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		struct proc *p = s->dirty[i];

		if (!p->dead && ((p->via == VIA_FORK && now - p->time < YOUNG) || now - p->space.changed < p->space.calm)) {
			untell(s, p);
			s->dirty[n++] = p;
			continue;
		}
		p->space.dirty = false;
		tell(s, p, now);
	}
	s->n = n;
}

static void drop_dirty(struct spaces *s, const struct proc *p)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->dirty[i] == p) {
			s->dirty[i] = s->dirty[--s->n];
			return;
		}
	}
}

void spaces_gone(struct spaces *s, struct proc *p, uint64_t now)
{
	if (p->space.dirty)
		drop_dirty(s, p);
	if (p->space.told.generation)
		store_unmap(s->tables->store, &p->space.told, now);
	/* Also where we did not tell of it: it may have its parent's, or those of the image that it had before. */
	if (s->engine->ops->tell && procs_find(s->procs, p->pid) == p)
		s->engine->ops->tell(s->engine, p->pid, NULL);
}
