#include "common/unwind/code.h"

#include <stdlib.h>

#include "common/base/buf.h"
#include "common/unwind/insn.h"

enum { ENTRY_DEPTH = 8, DEPTH_MAX = 1 << 26, RSP = 4, RBP = 5 };

/* A function that is being followed. */
struct flow {
	struct slice code;
	struct code_state *states; /* before the instruction at each byte, if one begins there */
	uint8_t *lengths;          /* its length, 0 for none */
	uint32_t *todo;            /* bytes whose state has changed */
	uint8_t *waiting;          /* is this byte in todo? */
	size_t n_todo;
	/* Jumps to addresses from tables: what all that are not at the end of a frame agree on. */
	struct code_state jumps;
	bool guesses;              /* following what such a jump may lead to */
	bool failed;               /* a guess contradicts what is known */
};

/* In reached: */
enum { REACHED = 1, GUESSED = 2 };

static bool is_depth(int64_t depth)
{
	return depth >= ENTRY_DEPTH && depth <= DEPTH_MAX;
}

/* Forgets a saved rbp below rsp, which the next signal or call overwrites. */
static void set_depth(struct code_state *s, int64_t depth)
{
	s->depth = is_depth(depth) ? (int32_t)depth : 0;
	if (s->depth && s->saved > s->depth)
		s->saved = 0;
}

/* rbp has another value now. */
static void lose_rbp(struct code_state *s)
{
	s->rbp = CODE_RBP_OTHER;
	s->rbp_at = 0;
}

/* rbp is loaded from CFA - at. */
static void load_rbp(struct code_state *s, int64_t at)
{
	lose_rbp(s);
	if (at && at == s->saved)
		s->rbp = CODE_RBP_CALLERS;
}

static void push(struct code_state *s, uint8_t reg)
{
	if (s->depth)
		set_depth(s, (int64_t)s->depth + 8);
	if (reg == RBP && s->rbp == CODE_RBP_CALLERS && !s->saved)
		s->saved = s->depth;
}

static void pop(struct code_state *s, uint8_t reg)
{
	if (reg == RBP)
		load_rbp(s, s->depth);
	if (s->depth)
		set_depth(s, (int64_t)s->depth - 8);
}

/* rsp becomes rbp + value. */
static void rsp_from_rbp(struct code_state *s, int64_t value)
{
	set_depth(s, s->rbp == CODE_RBP_FRAME ? s->rbp_at - value : 0);
}

/* Changes the state as the instruction does. */
static void apply(struct code_state *s, const struct insn *i)
{
	int64_t at = s->depth ? s->depth - i->value : 0;

	switch (i->kind) {
	case INSN_PUSH:
		push(s, i->reg);
		break;
	case INSN_POP:
		pop(s, i->reg);
		break;
	case INSN_ADD_RSP:
		set_depth(s, at);
		break;
	case INSN_RSP_FROM_RBP:
		rsp_from_rbp(s, i->value);
		break;
	case INSN_RBP_FROM_RSP:
		lose_rbp(s);
		if (at >= 0 && s->depth && at <= DEPTH_MAX) {
			s->rbp = CODE_RBP_FRAME;
			s->rbp_at = (int32_t)at;
		}
		break;
	case INSN_STORE_RBP:
		if (s->rbp == CODE_RBP_CALLERS && !s->saved && at > ENTRY_DEPTH && at <= s->depth)
			s->saved = (int32_t)at;
		break;
	case INSN_LOAD_RBP:
		load_rbp(s, at);
		break;
	case INSN_LEAVE:
		rsp_from_rbp(s, 0);
		pop(s, RBP);
		break;
	case INSN_RBP_LOST:
		lose_rbp(s);
		break;
	case INSN_RSP_LOST:
		s->depth = 0;
		break;
	default:
		break;
	}
}

/* Returns true if something is known that a rule needs: the path is worth following. */
static bool is_useful(const struct code_state *s)
{
	return s->depth || s->rbp == CODE_RBP_FRAME;
}

static bool is_same(const struct code_state *a, const struct code_state *b)
{
	return a->depth == b->depth && a->saved == b->saved && a->rbp == b->rbp && a->rbp_at == b->rbp_at;
}

/*
 * A path reaches this byte: keeps of its state what all paths before agree on. A path of which nothing is known
 * counts, too.
 */
static void arrive(struct flow *f, uint64_t at, const struct code_state *s)
{
	struct code_state *here, before;

	if (at >= f->code.n)
		return;
	here = &f->states[at];
	before = *here;
	if (!here->reached) {
		*here = *s;
		here->reached = f->guesses ? GUESSED : REACHED;
	} else if (f->guesses && here->reached == REACHED) {
		f->failed |= !is_same(here, s);
		return;
	} else {
		if (here->depth != s->depth)
			here->depth = 0;
		if (here->saved != s->saved)
			here->saved = 0;
		if (here->rbp != s->rbp || here->rbp_at != s->rbp_at)
			lose_rbp(here);
		if (memcmp(here, &before, sizeof(before)) == 0)
			return;
	}
	if (!f->waiting[at]) {
		f->waiting[at] = true;
		f->todo[f->n_todo++] = (uint32_t)at;
	}
}

/* Follows the instruction at this byte to those after it. */
static void follow(struct flow *f, uint32_t at)
{
	static const struct code_state entry = { .depth = ENTRY_DEPTH };
	struct code_state s = f->states[at];
	uint64_t next, target;
	struct insn i;

	f->lengths[at] = 0;
	if (!insn_decode((struct slice){ f->code.p + at, f->code.n - at }, &i)) {
		f->failed = true;
		return;
	}
	f->lengths[at] = i.length;
	next = (uint64_t)at + i.length;
	target = i.has_target ? next + (uint64_t)i.value : UINT64_MAX;
	apply(&s, &i);
	/* A call to the next instruction is one for its address, which stays on the stack. */
	if (i.kind == INSN_CALL && target == next)
		return;
	if (i.kind == INSN_CALL)
		arrive(f, target, &entry);
	else
		arrive(f, target, &s);
	if (i.kind != INSN_JUMP && i.kind != INSN_RETURN && i.kind != INSN_STOP)
		arrive(f, next, &s);
}

static bool add_row(struct code_rows *rows, size_t first, uint32_t start, uint32_t end, const struct code_state *state)
{
	struct code_row *last = rows->n > first ? &rows->items[rows->n - 1] : NULL;

	if (last && last->end == start && is_same(&last->state, state)) {
		last->end = end;
		return true;
	}
	if (!extend_array(&rows->items, &rows->cap, rows->n, sizeof(*rows->items)))
		return false;
	rows->items[rows->n++] = (struct code_row){ start, end, *state };
	return true;
}

static bool add_rows(const struct flow *f, struct code_rows *rows)
{
	uint32_t n = (uint32_t)f->code.n, end;
	size_t first = rows->n;

	for (uint32_t at = 0; at < n; at++) {
		if (!f->lengths[at] || !is_useful(&f->states[at]))
			continue;
		/* Jumps into an instruction (over a lock prefix) are rare: the inner one has the rest of its bytes. */
		for (end = at + 1; end < at + f->lengths[at] && !f->lengths[end]; end++)
			;
		if (!add_row(rows, first, at, end, &f->states[at]))
			return false;
	}
	return true;
}

static void follow_all(struct flow *f)
{
	/* Each change at a byte loses one of three facts, so this ends. */
	while (f->n_todo) {
		uint32_t at = f->todo[--f->n_todo];

		f->waiting[at] = false;
		follow(f, at);
	}
}

/* Finds what all jumps through tables agree on. Returns false if there is none. */
static bool find_jumps(struct flow *f)
{
	bool found = false;
	struct insn i;

	for (uint32_t at = 0; at < f->code.n; at++) {
		const struct code_state *s = &f->states[at];

		if (!f->lengths[at] || !insn_decode((struct slice){ f->code.p + at, f->code.n - at }, &i) ||
		    i.kind != INSN_JUMP || i.has_target)
			continue;
		if (!found || (f->jumps.depth == ENTRY_DEPTH && s->depth != ENTRY_DEPTH))
			f->jumps = *s;
		else if (!is_same(&f->jumps, s) && s->depth != ENTRY_DEPTH)
			return false;
		found = true;
	}
	return found && is_useful(&f->jumps);
}

/* Returns the bytes of padding here: of instructions that do nothing, or trap. */
static uint32_t count_padding(const struct flow *f, uint32_t at)
{
	const uint8_t *p = f->code.p + at;
	size_t n = f->code.n - at, prefixes = 0;
	struct insn i;

	if (!insn_decode((struct slice){ p, n }, &i))
		return 0;
	while (p[prefixes] == 0x66 || p[prefixes] == 0x2e)
		prefixes++;
	if (p[prefixes] == 0x90 || p[prefixes] == 0xcc || (p[prefixes] == 0x0f && p[prefixes + 1] == 0x1f))
		return i.length;
	return 0;
}

/*
 * Follows code that no path reaches, after the end of another: the function's jumps through tables must lead there.
 * Gives it all up if that leads to known code with another state, or to what is not code.
 */
static void follow_guesses(struct flow *f)
{
	uint32_t next;

	if (!find_jumps(f))
		return;
	f->guesses = true;
	f->failed = false;
	for (uint32_t at = 0; at < f->code.n && !f->failed; at = next) {
		next = at + f->lengths[at];
		if (next > at)
			continue;
		next = at + count_padding(f, at);
		if (next > at)
			continue;
		arrive(f, at, &f->jumps);
		follow_all(f);
		next = at + (f->lengths[at] ? f->lengths[at] : 1);
	}
	for (uint32_t at = 0; f->failed && at < f->code.n; at++) {
		if (f->states[at].reached == GUESSED)
			f->lengths[at] = 0;
	}
}

bool code_rows(struct slice function, struct code_rows *rows)
{
	static const struct code_state entry = { .depth = ENTRY_DEPTH };
	struct flow f = { .code = function };
	bool good;

	if (function.n == 0 || function.n > CODE_FUNCTION_MAX)
		return true;
	f.states = calloc(function.n, sizeof(*f.states));
	f.todo = malloc(function.n * sizeof(*f.todo));
	f.lengths = calloc(function.n, 1);
	f.waiting = calloc(function.n, 1);
	good = f.states && f.todo && f.lengths && f.waiting;
	if (good)
		arrive(&f, 0, &entry);
	if (good) {
		follow_all(&f);
		follow_guesses(&f);
	}
	good = good && add_rows(&f, rows);
	free(f.states);
	free(f.todo);
	free(f.lengths);
	free(f.waiting);
	return good;
}

void code_rows_release(struct code_rows *rows)
{
	free(rows->items);
	*rows = (struct code_rows){ 0 };
}

bool code_rule(const struct code_state *state, struct unwind_rule *rule)
{
	*rule = (struct unwind_rule){ 0 };
	/* By rbp if there is a choice: some calls pop their arguments (V8's), so rsp is not what it was before them. */
	if (state->rbp == CODE_RBP_FRAME)
		*rule = (struct unwind_rule){ .kind = UNWIND_CFA_RBP, .cfa = state->rbp_at };
	else if (state->depth)
		*rule = (struct unwind_rule){ .kind = UNWIND_CFA_RSP, .cfa = state->depth };
	else
		return false;
	if (state->rbp != CODE_RBP_CALLERS) {
		rule->bp = state->saved ? UNWIND_AT_CFA : UNWIND_LOST;
		rule->bp_at = -state->saved;
	}
	return true;
}
