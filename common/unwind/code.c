#include "common/unwind/code.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/unwind/insn.h"

enum { ENTRY_DEPTH = 8, DEPTH_MAX = 1 << 26, RBP = 5, FUNCTION_ALIGN = 16, STACK_ALIGN = 16 };

static const struct code_state at_entry = { .depth = ENTRY_DEPTH };

/* The state of a byte before a guess changed it. */
struct before {
	uint32_t at;
	struct code_state state;
};

/* Code that is being followed. */
struct flow {
	struct slice code;
	struct code_state *states; /* before the instruction at each byte, if one begins there */
	uint8_t *lengths;          /* its length, 0 for none */
	uint8_t *flags;
	uint32_t *pending;         /* bytes whose state has changed */
	size_t n_pending;
	bool guesses;              /* following bytes that may be code: they must not contradict known code */
	bool failed;               /* it did */
	bool needs_proof;          /* a guess must return, jump away or lead to known code: not only to calls of abort */
	bool proven;               /* it did */
	bool is_function;          /* the guess is a function, from its start */
	bool calls_aligned, calls_askew; /* rsp at its calls: a multiple of 16, as the ABI has it, or not */
	bool weakens;              /* known code keeps only those facts that hold after the guess, too */
	struct before *befores;    /* known code that the guess has weakened */
	size_t n_befores, cap_befores;
	bool no_memory;
	uint64_t left;             /* instructions that may still be followed: failed guesses take time */
	uint32_t *touched;         /* bytes that the guess reached first */
	size_t n_touched;
};

/* Visits of each byte, on average. Without guesses there are five at most. */
enum { VISITS = 8 };

/* In flags: */
enum {
	WAITING = 1, /* this byte is in pending */
	INSIDE = 2,  /* it is within an instruction that is known, not the first of its bytes */
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

/* Returns true if all that is known here holds by another path, too. */
static bool agrees(const struct code_state *here, const struct code_state *s)
{
	return (!here->depth || here->depth == s->depth) && (!here->saved || here->saved == s->saved) &&
	       (here->rbp == CODE_RBP_OTHER || (here->rbp == s->rbp && here->rbp_at == s->rbp_at));
}

/* Keeps of the state what holds in the other one, too. Returns true if that has changed it. */
static bool weaken_state(struct code_state *here, const struct code_state *s)
{
	const struct code_state before = *here;

	if (here->depth != s->depth)
		here->depth = 0;
	if (here->saved != s->saved)
		here->saved = 0;
	if (here->rbp != s->rbp || here->rbp_at != s->rbp_at)
		lose_rbp(here);
	return !is_same(here, &before);
}

/*
 * A guess reaches known code. The state may lose facts there if this guess may weaken it, but never the
 * depth. Returns true if it was weakened.
 */
static bool arrive_at_known(struct flow *f, uint32_t at, const struct code_state *s)
{
	struct code_state *here = &f->states[at];
	const struct before before = { at, *here };

	f->proven = true;
	f->failed |= !agrees(here, s) && (!f->weakens || (here->depth && here->depth != s->depth));
	if (f->failed || !f->weakens || !weaken_state(here, s))
		return false;
	f->no_memory |= !extend_array(&f->befores, &f->cap_befores, f->n_befores, sizeof(*f->befores));
	if (!f->no_memory)
		f->befores[f->n_befores++] = before;
	return !f->no_memory;
}

/*
 * A path reaches this byte: keeps of its state what all paths before agree on. A path of which nothing is known
 * counts, too.
 */
static void arrive(struct flow *f, uint64_t at, const struct code_state *s)
{
	struct code_state *here;

	if (at >= f->code.n)
		return;
	here = &f->states[at];
	if (f->guesses && f->flags[at] & INSIDE) {
		f->failed = true;
		return;
	}
	if (!here->reached) {
		*here = *s;
		here->reached = f->guesses ? GUESSED : REACHED;
		f->touched[f->n_touched++] = (uint32_t)at;
	} else if (f->guesses && here->reached == REACHED) {
		if (!arrive_at_known(f, (uint32_t)at, s))
			return;
	} else if (!weaken_state(here, s)) {
		return;
	}
	if (!(f->flags[at] & WAITING)) {
		f->flags[at] |= WAITING;
		f->pending[f->n_pending++] = (uint32_t)at;
	}
}

static bool ends_path(const struct insn *i)
{
	return i->kind == INSN_JUMP || i->kind == INSN_RETURN || i->kind == INSN_STOP;
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
	if (p[prefixes] == 0x90 || p[prefixes] == 0xcc || (p[prefixes] == 0x0f && p[prefixes + 1] == 0x1f) ||
	    (n > 1 && p[0] == 0 && p[1] == 0))
		return i.length;
	return 0;
}

/*
 * Returns true if the call that ends here is taken not to return: before padding, where a function may end. A
 * function that calls as the ABI has it, in a frame of its own, may do nothing else.
 */
static bool ends_by_call(struct flow *f, uint64_t next, const struct code_state *s)
{
	if (!f->guesses || next >= f->code.n || !count_padding(f, (uint32_t)next))
		return false;
	f->calls_aligned |= s->depth > ENTRY_DEPTH && s->depth % STACK_ALIGN == 0;
	return true;
}

/* Follows the instruction at this byte to those after it. */
static void follow(struct flow *f, uint32_t at)
{
	struct code_state s = f->states[at];
	uint64_t next, target;
	struct insn i;
	bool proven;

	f->lengths[at] = 0;
	if (!insn_decode((struct slice){ f->code.p + at, f->code.n - at }, &i)) {
		f->failed = true;
		return;
	}
	f->lengths[at] = i.length;
	next = (uint64_t)at + i.length;
	target = i.has_target ? next + (uint64_t)i.value : UINT64_MAX;
	f->failed |= i.kind == INSN_RETURN && s.depth != ENTRY_DEPTH;
	apply(&s, &i);
	/* A call to the next instruction is one for its address, which stays on the stack. */
	if (i.kind == INSN_CALL && target == next)
		return;
	f->proven |= i.kind == INSN_RETURN || (i.kind == INSN_JUMP && target >= f->code.n);
	f->failed |= f->needs_proof && !ends_path(&i) && next >= f->code.n;
	proven = f->proven;
	if (i.has_target)
		arrive(f, target, i.kind == INSN_CALL ? &at_entry : &s);
	if (i.kind == INSN_CALL) {
		f->proven = proven;
		f->calls_askew |= s.depth % STACK_ALIGN != 0;
	}
	if (!ends_path(&i) && !(i.kind == INSN_CALL && ends_by_call(f, next, &s)))
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

/* Undoes a guess that has failed. */
static void undo_guess(struct flow *f)
{
	for (size_t i = 0; i < f->n_touched; i++) {
		f->lengths[f->touched[i]] = 0;
		f->states[f->touched[i]] = (struct code_state){ 0 };
	}
	while (f->n_befores) {
		const struct before *b = &f->befores[--f->n_befores];

		f->states[b->at] = b->state;
	}
}

/*
 * Follows from a byte in this state. A guess fails, and is undone, if it leads into known code with another
 * state, to bytes that are not code, or to a return that does not find its address.
 */
static bool follow_from(struct flow *f, uint32_t start, const struct code_state *state)
{
	f->failed = f->proven = f->calls_aligned = f->calls_askew = false;
	f->n_touched = f->n_befores = 0;
	arrive(f, start, state);
	/* Each change at a byte loses one of three facts, so this ends. */
	while (f->n_pending) {
		uint32_t at = f->pending[--f->n_pending];

		f->flags[at] &= (uint8_t)~WAITING;
		f->failed |= !f->left;
		if (f->guesses && f->failed)
			continue;
		f->left--;
		follow(f, at);
	}
	f->proven |= f->is_function && f->calls_aligned && !f->calls_askew;
	f->failed |= f->no_memory || (f->needs_proof && !f->proven);
	if (f->guesses && f->failed) {
		undo_guess(f);
		return false;
	}
	for (size_t i = 0; i < f->n_touched; i++) {
		uint32_t at = f->touched[i];

		f->states[at].reached = REACHED;
		for (uint32_t k = 1; k < f->lengths[at]; k++)
			f->flags[at + k] |= INSIDE;
	}
	return !f->failed;
}

/* Finds what all jumps through tables agree on. Returns false if there is none. */
static bool find_jumps(const struct flow *f, struct code_state *jumps)
{
	bool found = false;
	struct insn i;

	for (uint32_t at = 0; at < f->code.n; at++) {
		const struct code_state *s = &f->states[at];

		if (!f->lengths[at] || !insn_decode((struct slice){ f->code.p + at, f->code.n - at }, &i) ||
		    i.kind != INSN_JUMP || i.has_target)
			continue;
		if (!found || (jumps->depth == ENTRY_DEPTH && s->depth != ENTRY_DEPTH))
			*jumps = *s;
		else if (!is_same(jumps, s) && s->depth != ENTRY_DEPTH)
			return false;
		found = true;
	}
	return found && is_useful(jumps);
}

/* Follows code that no path reaches: the function's jumps through tables must lead there. */
static void follow_tables(struct flow *f)
{
	struct code_state jumps;
	uint32_t next;

	if (!find_jumps(f, &jumps))
		return;
	f->guesses = true;
	for (uint32_t at = 0; at < f->code.n; at = next) {
		if (f->states[at].reached)
			next = at + (f->lengths[at] ? f->lengths[at] : 1);
		else if ((next = at + count_padding(f, at)) > at)
			continue;
		else if (follow_from(f, at, &jumps))
			next = at + f->lengths[at];
		else
			return;
	}
}

/*
 * Guesses the kind of code after the end of a path: a function, if it is aligned as these are, or a piece that the
 * function before jumps to through a table.
 */
static void guess_piece(struct flow *f, uint32_t at, bool aligned, const struct code_state *jump)
{
	f->is_function = aligned;
	if (aligned && follow_from(f, at, &at_entry))
		return;
	f->is_function = false;
	if (is_useful(jump) && follow_from(f, at, jump))
		return;
	if (!aligned)
		follow_from(f, at, &at_entry);
}

/* Goes through a region in order, and guesses at each piece that is not known yet. */
static void follow_region(struct flow *f, uint64_t address)
{
	struct code_state jump = { 0 };
	bool fresh = true;
	struct insn i;

	f->guesses = f->needs_proof = true;
	for (uint32_t at = 0, padding; at < f->code.n; at += i.length) {
		if (!f->lengths[at] && (padding = count_padding(f, at))) {
			i.length = (uint8_t)padding;
			fresh = true;
			continue;
		}
		if (!f->lengths[at] && fresh)
			guess_piece(f, at, (address + at) % FUNCTION_ALIGN == 0, &jump);
		if (!insn_decode((struct slice){ f->code.p + at, f->code.n - at }, &i)) {
			i = (struct insn){ .length = (uint8_t)(FUNCTION_ALIGN - (address + at) % FUNCTION_ALIGN) };
			fresh = true;
			continue;
		}
		if (f->lengths[at] && i.kind == INSN_JUMP && !i.has_target)
			jump = f->states[at];
		else if (f->lengths[at] && is_same(&f->states[at], &at_entry) && (address + at) % FUNCTION_ALIGN == 0)
			jump.depth = 0, jump.rbp = CODE_RBP_OTHER;
		fresh = ends_path(&i);
	}
}

/*
 * Follows the code after calls before padding. These return after all, to the head of a loop, if that code
 * leads to a return or to known code in a state that is right there.
 */
static void follow_loops(struct flow *f)
{
	struct code_state s;
	uint32_t next;
	struct insn i;

	f->is_function = false;
	f->weakens = true;
	for (uint32_t at = 0; at < f->code.n; at++) {
		next = at + f->lengths[at];
		if (!f->lengths[at] || next >= f->code.n || f->states[next].reached ||
		    !count_padding(f, next) ||
		    !insn_decode((struct slice){ f->code.p + at, f->code.n - at }, &i) || i.kind != INSN_CALL)
			continue;
		s = f->states[at];
		apply(&s, &i);
		if (is_useful(&s))
			follow_from(f, next, &s);
	}
}

static bool flow_init(struct flow *f, struct slice code)
{
	*f = (struct flow){ .code = code, .left = (uint64_t)code.n * VISITS };
	f->states = calloc(code.n, sizeof(*f->states));
	f->pending = malloc(code.n * sizeof(*f->pending));
	f->touched = malloc(code.n * sizeof(*f->touched));
	f->lengths = calloc(code.n, 1);
	f->flags = calloc(code.n, 1);
	return f->states && f->pending && f->touched && f->lengths && f->flags;
}

static void flow_release(struct flow *f)
{
	free(f->states);
	free(f->pending);
	free(f->touched);
	free(f->befores);
	free(f->lengths);
	free(f->flags);
}

bool code_rows(struct slice function, struct code_rows *rows)
{
	struct flow f;
	bool good;

	if (function.n == 0 || function.n > CODE_MAX)
		return true;
	good = flow_init(&f, function);
	if (good) {
		follow_from(&f, 0, &at_entry);
		follow_tables(&f);
		good = add_rows(&f, rows);
	}
	flow_release(&f);
	return good;
}

bool code_region_rows(struct slice region, uint64_t address, struct code_rows *rows)
{
	struct flow f;
	bool good;

	if (region.n == 0 || region.n > CODE_MAX)
		return true;
	good = flow_init(&f, region);
	if (good) {
		follow_region(&f, address);
		follow_loops(&f);
		good = !f.no_memory && add_rows(&f, rows);
	}
	flow_release(&f);
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
	/* By rbp if there is a choice: some calls pop their arguments (V8's), so rsp differs after them. */
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
