#include "common/unwind/golang.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/base/le.h"
#include "common/go/gopclntab.h"

#define NOWHERE UINT64_MAX

enum {
	RETURN = 8, /* bytes of a return address */
	FRAME = 16, /* with a saved rbp below it */
	CODE_BYTES = 1 << 14,
	CODE_MAX = ELF_PART_MAX, /* bytes of code examined: a file may be sparse, and claim any size */
	RUNS_MAX = 1 << 24,
	TRIES_MAX = 4,       /* frames of one function that are searched for a saved rbp */
	PROLOGUE_MAX = 80,
	SCANNED_MAX = 4096,  /* bytes of one function that are searched for writes of rsp */
	RBP_ENCODED = 5,     /* in instructions */
};

/* Effects of the runtime's own functions on the stack. */
enum conduct {
	CALLED,    /* like any other */
	OUTERMOST, /* nothing called it, or nothing visible */
	RETURNS,   /* runs on another stack for a while; so do all that the table marks as writing rsp */
	SYSTEM,    /* systemstack: the same; before Go 1.21, without a frame, it hides its caller */
	CALLS_C,   /* asmcgocall: the same; without a frame, its caller is skipped */
	LEAVES,    /* switches to another stack for good, which ends there */
	JUMPS,     /* switches to a stack whose innermost frame is another function's */
	FEIGNS,    /* makes another stack look as if it had been called there; but there is no rbp */
	SIGRETURN, /* a signal handler returns to it */
	LABEL,     /* its first byte is on stacks as a return address */
};

static const struct {
	const char *name;
	enum conduct conduct;
} known[] = {
	{ "runtime.goexit", OUTERMOST },
	{ "runtime.mstart", OUTERMOST },
	{ "runtime.rt0_go", OUTERMOST },
	{ "_rt0_amd64_linux", OUTERMOST },
	{ "_rt0_amd64", OUTERMOST },
	{ "runtime.mcall", LEAVES },
	{ "runtime.morestack", LEAVES },
	{ "runtime.clone", LEAVES },
	{ "runtime.gogo", JUMPS },
	{ "gogo", JUMPS },
	{ "runtime.systemstack", SYSTEM },
	{ "runtime.asmcgocall", CALLS_C },
	{ "runtime.nanotime", RETURNS },
	{ "runtime.nanotime1", RETURNS },
	{ "runtime.walltime", RETURNS },
	{ "runtime.walltime1", RETURNS },
	{ "time.now", RETURNS },
	{ "runtime.callCgoMmap", RETURNS },
	{ "runtime.callCgoMunmap", RETURNS },
	{ "runtime.callCgoSigaction", RETURNS },
	{ "runtime.sigfwd", RETURNS },
	{ "racecall", RETURNS },
	{ "runtime.cgocallback", FEIGNS },
	{ "runtime.cgocallback_gofunc", FEIGNS },
	{ "runtime.sigreturn", SIGRETURN },
	{ "runtime.sigreturn__sigaction", SIGRETURN },
	{ "runtime.systemstack_switch", LABEL },
};

/* The file's code, a piece at a time: functions are read in order. */
struct code {
	int fd;
	uint64_t at, left;
	size_t n;
	uint8_t bytes[CODE_BYTES];
};

struct reader {
	struct spans *s;
	struct code_map map;
	struct code code;
	size_t runs;
};

/* A function between table and spans. */
struct function {
	struct go_function go;
	enum conduct conduct;
	uint64_t offset;        /* file offset of go.start */
	uint64_t saved;         /* from here on rbp is at CFA + saved_at, while that is not below rsp */
	int64_t saved_at;
	unsigned int early;     /* bytes before go.start at which its span begins */
	uint64_t based;         /* rbp is set to rsp here; NOWHERE: never, or as in any frame */
	int64_t base;           /* CFA is rbp + base then; 0: unknown */
	uint64_t popped;        /* the return address has been popped here, */
	uint8_t popped_to;      /* into this register */
	uint64_t moved, back;   /* after the first and the last write of rsp; NOWHERE: there is none */
};

/* Returns code of the function from this address on, at most *n bytes; sets *n to their number. */
static const uint8_t *code_at(struct reader *r, const struct function *fn, uint64_t vaddr, size_t *n)
{
	struct code *c = &r->code;
	uint64_t at = fn->offset + (vaddr - fn->go.start);

	if (*n > fn->go.end - vaddr)
		*n = (size_t)(fn->go.end - vaddr);
	if (at < c->at || at + *n > c->at + c->n) {
		ssize_t got = c->left < sizeof(c->bytes) ? 0 : pread(c->fd, c->bytes, sizeof(c->bytes), (off_t)at);

		c->at = at;
		c->n = got > 0 ? (size_t)got : 0;
		c->left -= c->n;
	}
	if (*n > c->n - (size_t)(at - c->at))
		*n = c->n - (size_t)(at - c->at);
	return c->bytes + (at - c->at);
}

/* Decodes mov %reg,disp(%rsp). Returns its length, or 0. */
static size_t store_on_stack(const uint8_t *p, size_t n, unsigned int *reg, int64_t *disp)
{
	unsigned int mod;

	if (n < 8 || (p[0] & 0xfb) != 0x48 || p[1] != 0x89 || (p[2] & 7) != 4 || p[3] != 0x24)
		return 0;
	mod = p[2] >> 6;
	*reg = (p[2] >> 3 & 7) | (p[0] & 4) << 1;
	*disp = mod == 0 ? 0 : mod == 1 ? (int8_t)p[4] : (int32_t)le32_load(p + 4);
	return mod == 0 ? 4 : mod == 1 ? 5 : mod == 2 ? 8 : 0;
}

/*
 * Finds the save of rbp, where the depth has become d's. Since Go 1.21 it was just pushed; before, and in
 * functions called by C, it is among the registers stored next.
 */
static bool find_save(struct reader *r, struct function *fn, const struct go_depths *d, int64_t rise)
{
	uint64_t before = d->start - fn->go.start < 1 ? 0 : 1;
	size_t n = PROLOGUE_MAX, at = (size_t)before, length;
	const uint8_t *p = code_at(r, fn, d->start - before, &n);
	unsigned int reg;
	int64_t disp;

	if (n < before + 3)
		return false;
	/* push %rbp; then mov %rsp,%rbp, unless the push is the first instruction (%r13's ends the same) */
	if (before && p[0] == 0x55 && rise == 8 &&
	    (d->start == fn->go.start + 1 || (p[1] == 0x48 && p[2] == 0x89 && p[3] == 0xe5))) {
		fn->saved = d->start;
		fn->saved_at = -((int64_t)d->depth + RETURN);
		return true;
	}
	at += p[at] == 0xfc; /* cld */
	while ((length = store_on_stack(p + at, n - at, &reg, &disp)) != 0) {
		at += length;
		if (reg == RBP_ENCODED) {
			/* A slot outside of the frame is not ours. */
			if (disp < 0 || disp > (int64_t)d->depth - 8)
				return false;
			fn->saved = d->start - before + at;
			fn->saved_at = disp - ((int64_t)d->depth + RETURN);
			return true;
		}
	}
	return false;
}

/* vfork pops its return address, because the child will overwrite the stack: pop %r8 to %r15. */
static void find_pop(struct reader *r, struct function *fn, const struct go_depths *d)
{
	size_t n = 2;
	const uint8_t *p = d->start - fn->go.start < n ? NULL : code_at(r, fn, d->start - n, &n);

	if (!p || n < 2 || p[0] != 0x41 || p[1] < 0x58 || p[1] > 0x5f)
		return;
	fn->popped = d->start;
	fn->popped_to = (uint8_t)(p[1] - 0x58 + 8);
}

/* Decodes a write of rsp other than push, pop or the addition of a constant. Returns its length, or 0. */
static size_t move_of_rsp(const uint8_t *p, size_t n)
{
	unsigned int mod, rm;

	if (n < 8 || (p[0] & 0xf8) != 0x48)
		return 0;
	mod = p[2] >> 6;
	rm = p[2] & 7;
	if (p[1] == 0x89 && !(p[0] & 1) && mod == 3 && rm == 4) /* mov %reg,%rsp */
		return 3;
	if (p[1] == 0x83 && p[0] == 0x48 && p[2] == 0xe4) /* and $-16,%rsp */
		return 4;
	if ((p[1] != 0x8b && p[1] != 0x8d) || (p[0] & 4) || (p[2] >> 3 & 7) != 4)
		return 0;
	/* mov memory,%rsp or mov %reg,%rsp; lea memory,%rsp, but not lea n(%rsp),%rsp */
	if (p[1] == 0x8d && (mod == 3 || (rm == 4 && p[3] == 0x24)))
		return 0;
	return 3 + (mod != 3 && rm == 4) + (mod == 1 ? 1 : mod == 2 || (mod == 0 && rm == 5) ? 4 : 0);
}

/* Finds the writes of rsp, and where rbp was set to rsp before the first. */
static void find_moves(struct reader *r, struct function *fn)
{
	size_t n = SCANNED_MAX, length;
	const uint8_t *p = code_at(r, fn, fn->go.start, &n);

	for (size_t i = 0; i < n; i += length ? length : 1) {
		length = move_of_rsp(p + i, n - i);
		if (!length) {
			if (fn->moved == NOWHERE && n - i >= 3 && p[i] == 0x48 && p[i + 1] == 0x89 && p[i + 2] == 0xe5)
				fn->based = fn->go.start + i;
			continue;
		}
		fn->back = fn->go.start + i + length;
		if (fn->moved == NOWHERE)
			fn->moved = fn->back;
	}
}

static enum conduct conduct_of(const struct go_function *go)
{
	struct slice name = go->name;

	if (name.n > 5 && memcmp(name.p + name.n - 5, ".abi0", 5) == 0)
		name.n -= 5;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (slice_is(name, known[i].name))
			return known[i].conduct;
	}
	return go->moves_rsp ? RETURNS : CALLED;
}

static void put_span(struct reader *r, const struct function *fn, uint64_t start, uint64_t end,
		     const struct unwind_rule *rule)
{
	spans_add(r->s, SPAN_GO, fn->offset + start - fn->go.start, fn->offset + end - fn->go.start, rule);
}

/* Returns true if rbp is in its slot, and the slot is still in the frame. */
static bool is_saved(const struct function *fn, uint64_t at, int32_t depth)
{
	return at >= fn->saved && fn->saved_at + depth + RETURN >= 0;
}

/* Returns the rule for an address at which rsp may be on another stack. */
static struct unwind_rule rule_moved(const struct function *fn, uint64_t at, int32_t depth)
{
	struct unwind_rule rule = { .kind = UNWIND_SWITCH, .cfa = (int32_t)fn->base, .bp = UNWIND_AT_CFA, .bp_at = -FRAME,
				    .bx = UNWIND_LOST };

	if (fn->conduct == LEAVES)
		return (struct unwind_rule){ .kind = UNWIND_STOP };
	/* there is a caller, but it cannot be found */
	if (fn->conduct == JUMPS || (fn->conduct == SYSTEM && fn->saved == NOWHERE))
		return (struct unwind_rule){ .kind = UNWIND_BAD };
	if (fn->conduct == FEIGNS)
		return (struct unwind_rule){ .kind = UNWIND_CFA_RSP, .cfa = depth + RETURN, .bp = UNWIND_LOST,
					     .bx = UNWIND_LOST };
	if (fn->conduct == CALLS_C && fn->saved == NOWHERE) {
		rule.cfa = FRAME;
		return rule;
	}
	if (fn->base == 0)
		return (struct unwind_rule){ .kind = UNWIND_GAP };
	if (is_saved(fn, at, depth)) {
		rule.bp_at = (int32_t)fn->saved_at;
	} else {
		rule.bp = UNWIND_LOST;
		rule.bp_at = 0;
	}
	return rule;
}

/*
 * Returns true if rsp is on another stack: from its first write to its last. With a frame, only until that is
 * taken down: the code after it belongs to the function's middle.
 */
static bool is_moved(const struct function *fn, const struct go_depths *d, uint64_t at)
{
	if (at < fn->moved)
		return false;
	if (fn->conduct == LEAVES || fn->conduct == JUMPS || fn->back == fn->moved)
		return true;
	if (fn->saved == NOWHERE)
		return at < fn->back;
	return is_saved(fn, at, d->depth) && (d->start >= fn->back || d->end < fn->back || at < fn->back);
}

static struct unwind_rule rule_at(const struct function *fn, const struct go_depths *d, uint64_t at)
{
	struct unwind_rule rule = { .kind = UNWIND_CFA_RSP, .cfa = d->depth + RETURN, .bx = UNWIND_LOST };

	if (is_moved(fn, d, at))
		return rule_moved(fn, at, d->depth);
	if (d->depth == -RETURN && d->start == fn->popped)
		return (struct unwind_rule){ .kind = UNWIND_RA_REG, .reg = fn->popped_to, .bx = UNWIND_LOST };
	if (d->depth < 0)
		return (struct unwind_rule){ .kind = UNWIND_BAD };
	if (is_saved(fn, at, d->depth)) {
		rule.bp = UNWIND_AT_CFA;
		rule.bp_at = (int32_t)fn->saved_at;
	}
	return rule;
}

/* Adds the spans of one depth, cut where more than the depth changes. */
static void put_depth(struct reader *r, const struct function *fn, const struct go_depths *d)
{
	const uint64_t cuts[] = { fn->saved, fn->moved, fn->back };
	uint64_t at = d->start;

	while (at < d->end) {
		struct unwind_rule rule = rule_at(fn, d, at);
		uint64_t end = d->end;

		for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++)
			end = cuts[i] > at && cuts[i] < end ? cuts[i] : end;
		put_span(r, fn, at, end, &rule);
		at = end;
	}
}

/* Finds the base of CFA by rbp in a function that moves rsp. */
static void find_base(struct function *fn, const struct go_depths *d)
{
	if (fn->base == 0 && fn->saved != NOWHERE && fn->saved_at == -FRAME)
		fn->base = FRAME;
	if (fn->based >= d->start && fn->based < d->end)
		fn->base = d->depth + RETURN;
}

static void put_depths(struct reader *r, const struct gopclntab *t, struct function *fn)
{
	static const struct unwind_rule bad = { .kind = UNWIND_BAD };
	struct go_depths d;
	int32_t before = 0;
	unsigned int tries = 0;

	go_depths_begin(t, &fn->go, &d);
	while (r->runs < RUNS_MAX && go_depths_next(&d)) {
		r->runs++;
		if (fn->saved == NOWHERE && d.depth > before && tries++ < TRIES_MAX)
			find_save(r, fn, &d, (int64_t)d.depth - before);
		if (d.depth == -RETURN && before == 0 && tries++ < TRIES_MAX)
			find_pop(r, fn, &d);
		find_base(fn, &d);
		put_depth(r, fn, &d);
		before = d.depth;
	}
	if (d.damaged)
		put_span(r, fn, d.end, fn->go.end, &bad);
}

static void put_function(struct reader *r, const struct gopclntab *t, struct function *fn)
{
	static const struct unwind_rule stop = { .kind = UNWIND_STOP }, signal = { .kind = UNWIND_SIGNAL };
	static const struct unwind_rule entry = { .kind = UNWIND_CFA_RSP, .cfa = RETURN, .bx = UNWIND_LOST };

	if (fn->conduct == OUTERMOST) {
		put_span(r, fn, fn->go.start, fn->go.end, &stop);
		return;
	}
	if (fn->conduct == SIGRETURN) {
		put_span(r, fn, fn->go.start - fn->early, fn->go.end, &signal);
		return;
	}
	if (fn->conduct == LABEL)
		put_span(r, fn, fn->go.start - fn->early, fn->go.start, &entry);
	if (fn->conduct != CALLED && fn->conduct != LABEL)
		find_moves(r, fn);
	put_depths(r, t, fn);
}

/* Return addresses are looked up one byte before, so a span begins early if its first byte is one. */
static void begin_early(struct function *before, struct function *fn)
{
	if ((fn->conduct != SIGRETURN && fn->conduct != LABEL) || before->go.end != fn->go.start ||
	    before->go.end - before->go.start < 2 || before->offset + (fn->go.start - before->go.start) != fn->offset)
		return;
	before->go.end--;
	fn->early = 1;
}

/* Reads the next function that is in the file's code. Clears *good if an entry is out of order or invalid. */
static bool next_function(struct reader *r, const struct gopclntab *t, size_t *i, uint64_t least, struct function *fn,
			  bool *good)
{
	while (*i < t->n) {
		uint64_t left;

		*fn = (struct function){ .saved = NOWHERE, .based = NOWHERE, .moved = NOWHERE, .back = NOWHERE,
				       .popped = NOWHERE };
		if (!gopclntab_function(t, (*i)++, &fn->go) || fn->go.start < least) {
			*good = false;
			continue;
		}
		if (!code_map_offset(&r->map, fn->go.start, &fn->offset, &left))
			continue;
		if (fn->go.end - fn->go.start > left)
			fn->go.end = fn->go.start + left;
		fn->conduct = conduct_of(&fn->go);
		return true;
	}
	return false;
}

static bool put_functions(struct reader *r, const struct gopclntab *t)
{
	struct function fn, next;
	bool good = true, more;
	size_t i = 0;

	more = next_function(r, t, &i, 0, &fn, &good);
	while (more && !r->s->failed && !r->s->too_large) {
		more = next_function(r, t, &i, fn.go.end, &next, &good);
		if (more)
			begin_early(&fn, &next);
		put_function(r, t, &fn);
		fn = next;
	}
	return good && r->runs < RUNS_MAX;
}

bool golang_spans(const struct elf_file *f, struct spans *s)
{
	struct reader *r = calloc(1, sizeof(*r));
	struct gopclntab t = { 0 };
	bool good = true;

	if (!r || !code_map_init(&r->map, f)) {
		free(r);
		s->failed = true;
		return true;
	}
	r->s = s;
	r->code.fd = f->fd;
	r->code.left = CODE_MAX;
	switch (gopclntab_open(f, &r->map, &t)) {
	case GOPCLNTAB_FOUND:
		good = put_functions(r, &t);
		break;
	case GOPCLNTAB_NONE:
		break;
	case GOPCLNTAB_DAMAGED:
		good = false;
		break;
	case GOPCLNTAB_NO_MEMORY:
		s->failed = true;
		break;
	}
	gopclntab_close(&t);
	code_map_release(&r->map);
	free(r);
	return good;
}
