/*
 * Merges a language's frames into the machine's stack. Each call of the interpreter's loop has a frame in the
 * machine's stack. The outermost language frame that this call runs is marked LANG_ENTRY.
 */
#include <string.h>

#include "bpf/sample.h"
#include "cmd/cprof-record/lang/runtimes.h"
#include "common/capture/capture.h"
#include "common/lang/python.h"
#include "common/stream/record.h"

/* A merge goes from the root to the leaf, and writes the result from its end to its start. */
struct merge {
	const struct runtimes *r;
	const struct lang_image *image;
	const struct proc *p;
	bool compiled; /* compiled code counts as the loop */
	uint64_t bias;
	const uint64_t *frames; /* leaf first */
	int left; /* frames that are not placed yet: the first ones */
	bool stale; /* the first one's position is old: the code of PHP's JIT compiler does not keep it */
	uint64_t *to;
	int at; /* the result is from here to the end */
};

/* Ranges from here on are parts of the loop that have frames of their own, on top of the loop's. */
static int first_called(const struct lang_image *image)
{
	uint32_t called = image->language == LANG_PYTHON ? image->at[PY_LOOP_CALLED] : 0;

	return called ? (int)called - 1 : LANG_LOOPS;
}

/* Returns the range of the loop that the frame is in, or LANG_LOOPS. */
static int find_loop(const struct merge *m, uint64_t address)
{
	uint64_t at = stack_run_address(address) - m->bias;

	for (int i = 0; i < LANG_LOOPS; i++) {
		if (at >= m->image->loops[i].start && at < m->image->loops[i].end)
			return i;
	}
	return LANG_LOOPS;
}

static bool is_loop(const struct merge *m, uint64_t address)
{
	return find_loop(m, address) < first_called(m->image) ||
	       (m->compiled && runtimes_is_memory(m->p, address));
}

static bool is_part(const struct merge *m, uint64_t address)
{
	int i = find_loop(m, address);

	return i < LANG_LOOPS && i >= first_called(m->image);
}

/* Is this code that a JIT compiler has made? */
static bool is_made(const struct runtimes *r, const struct proc *p, uint64_t address)
{
	const struct map *m = maps_find(&p->maps, stack_run_address(address));
	struct slice path;

	if (!m || !m->file)
		return m != NULL;
	path = r->procs->exes[m->file - 1].path;
	return path.n && path.p[0] == '/' && !capture_path_is_file(path);
}

/* Places the next frame. */
static void put_frame(struct merge *m)
{
	uint64_t frame = m->frames[--m->left];

	if ((frame & ~(LANG_ENTRY | LANG_STACK)) == 0) /* a call of the loop that has no frame */
		return;
	if ((uint32_t)frame && !script_functions_has(&m->r->functions, (uint32_t)frame))
		frame = (uint64_t)LANG_LOST << LANG_POSITION_SHIFT;
	if ((uint32_t)frame == 0) /* a state, without its language */
		frame |= (uint64_t)m->image->language << (LANG_POSITION_SHIFT + STACK_LANG_STATE_BITS);
	else if (m->left == 0 && m->stale)
		frame &= ~((uint64_t)LANG_POSITION_MOST << LANG_POSITION_SHIFT);
	if (m->at > 0)
		m->to[--m->at] = STACK_LANG | (frame & ~(LANG_ENTRY | LANG_STACK));
}

/* Places the frames of one call of the loop: up to the next one, towards the leaf, that begins a call. */
static void place_run(struct merge *m)
{
	bool first = true;

	for (; m->left > 0 && (first || !(m->frames[m->left - 1] & LANG_ENTRY)); first = false)
		put_frame(m);
}

/*
 * Places the frames outside of the innermost machine stack.
 * The caller's machine frames are on another one, unseen.
 */
static void place_outer_stacks(struct merge *m)
{
	int inner = 0;

	while (inner < m->left && !(m->frames[inner] & LANG_STACK))
		inner++;
	while (m->left > inner + 1)
		put_frame(m);
}

/* Counts the frames that begin a call. Those at the root do in any case. */
static int count_runs(const struct merge *m)
{
	int n = 0;

	for (int i = 0; i < m->left; i++)
		n += i == m->left - 1 || (m->frames[i] & LANG_ENTRY) != 0;
	return n;
}

static int count_loops(const struct merge *m, const struct user_stack *out)
{
	int n = 0;

	for (int i = 0; i < out->n; i++)
		n += is_loop(m, out->addresses[i]);
	return n;
}

/*
 * Is the outer end of this stack missing?
 * A walk that frame pointers guide ends in made code as if it were the root.
 */
static bool is_cut(const struct runtimes *r, const struct proc *p, const struct user_stack *out)
{
	return (out->end != ROOT_COMPLETE && out->end != ROOT_FP_END) ||
	       (out->n > 0 && is_made(r, p, out->addresses[out->n - 1]));
}

/* Calls by call probes say nothing of the machine's frames: all of them come first, from the root on. */
static void put_calls(const uint64_t *frames, int n, struct user_stack *out)
{
	memcpy(out->addresses + out->n, frames, (size_t)n * sizeof(*frames));
	out->n += n;
}

/*
 * From the root on, each frame of the loop takes the frames of one call. A stack whose outer end is missing
 * is aligned at the leaf: the calls that have no loop come first. So do all calls if the file does not show
 * its loop, because the leaf is then right. A call that has just begun has a loop, but no frame of its own.
 */
void runtimes_merge(const struct runtimes *r, const struct proc *p, const uint64_t *frames, int n,
		    uint64_t time, struct user_stack *out)
{
	struct merge m = { .r = r, .frames = frames, .left = n < LANG_FRAMES ? n : LANG_FRAMES };
	uint64_t missing, merged[SAMPLE_DEPTH_MAX + LANG_FRAMES];
	int loops, runs;

	if (r->options->calls && m.left > 0 && (frames[0] & LANG_BY_PROBE)) {
		put_calls(frames, m.left, out);
		return;
	}
	if (!p->lang.image || !(r->options->languages >> r->images[p->lang.image - 1].language & 1))
		return;
	if (lang_is_walked(r->images[p->lang.image - 1].language)) {
		runtimes_put_marks(r, p, frames, m.left, time, out);
		return;
	}
	if (!r->images[p->lang.image - 1].loops[0].end && n == 0)
		return;
	m.p = p;
	m.image = &r->images[p->lang.image - 1];
	m.bias = p->lang.bias;
	loops = count_loops(&m, out);
	if (m.left == 0 && loops == 0)
		return;
	if (m.left == 0) {
		missing = (uint64_t)runtimes_missing_state(r, p, time) << LANG_POSITION_SHIFT | LANG_ENTRY;
		m.frames = &missing;
		m.left = 1;
	}
	m.to = merged;
	m.at = SAMPLE_DEPTH_MAX + LANG_FRAMES;
	m.stale = m.image->language == LANG_PHP && out->n > 0 && is_made(r, p, out->addresses[0]);
	place_outer_stacks(&m);
	runs = count_runs(&m);
	if (runs > loops && m.image->language == LANG_RUBY) {
		/*
		 * YJIT's code calls no function of its own for a method of Ruby:
		 * it is as the loop, one frame for a call
		 */
		m.compiled = true;
		loops = count_loops(&m, out);
	}
	if (!m.image->loops[0].end || is_cut(r, p, out)) {
		for (; runs > loops; runs--)
			place_run(&m);
	}
	for (int i = out->n; i-- > 0;) {
		if (is_part(&m, out->addresses[i]))
			continue;
		m.to[--m.at] = out->addresses[i];
		if (is_loop(&m, out->addresses[i]))
			place_run(&m);
	}
	while (m.left > 0)
		put_frame(&m);
	out->n = SAMPLE_DEPTH_MAX + LANG_FRAMES - m.at;
	memcpy(out->addresses, merged + m.at, (size_t)out->n * sizeof(*merged));
}
