#include "common/unwind/insn.h"

enum { RAX = 0, RSP = 4, RBP = 5, NO_BASE = 0x80, RIP_BASE = 0x81 };

/* An opcode's form. The registers that it writes are general ones; vector registers are of no interest. */
enum {
	N = 1,       /* known */
	M = 2 | N,   /* ModRM follows */
	B = 4 | N,   /* an immediate byte */
	Z = 8 | N,   /* an immediate of four bytes, or two with the prefix 0x66 */
	R = 16 | M,  /* writes the register that ModRM.reg names */
	W = 32 | M,  /* writes the register that ModRM.rm names, if it names one */
	Y = 64,      /* those are bytes: without REX, 4 to 7 are the second bytes of 0 to 3 */
	V = 128 | M, /* writes the register that VEX.vvvv names */
};

/* Zero is refused: invalid in 64-bit mode, privileged, or too rare to be worth a line. Prefixes are not here. */
static const uint8_t one_byte[256] = {
#define ALU(at) [at] = W | Y, [(at) + 1] = W, [(at) + 2] = R | Y, [(at) + 3] = R, [(at) + 4] = B, [(at) + 5] = Z
	ALU(0x00), ALU(0x08), ALU(0x10), ALU(0x18), ALU(0x20), ALU(0x28), ALU(0x30),
#undef ALU
	[0x38] = M, [0x39] = M, [0x3a] = M, [0x3b] = M, [0x3c] = B, [0x3d] = Z, /* cmp */
	[0x50 ... 0x5f] = N, /* push, pop */
	[0x63] = R, [0x68] = Z, [0x69] = R | Z, [0x6a] = B, [0x6b] = R | B,
	[0x70 ... 0x7f] = B, /* jcc */
	[0x80] = W | Y | B, [0x81] = W | Z, [0x83] = W | B,
	[0x84] = M, [0x85] = M, /* test */
	[0x86] = R | W | Y, [0x87] = R | W, /* xchg */
	[0x88] = W | Y, [0x89] = W, [0x8a] = R | Y, [0x8b] = R, [0x8c] = W, [0x8d] = R, [0x8f] = M,
	[0x90 ... 0x99] = N, [0x9b ... 0x9f] = N,
	[0xa0 ... 0xa7] = N, [0xa8] = B, [0xa9] = Z, [0xaa ... 0xaf] = N,
	[0xb0 ... 0xb7] = B, [0xb8 ... 0xbf] = N, /* mov: its immediate has the size of the operand */
	[0xc0] = W | Y | B, [0xc1] = W | B, [0xc2] = N, [0xc3] = N, [0xc6] = W | Y | B, [0xc7] = W | Z,
	[0xc8] = N, [0xc9] = N, [0xcc] = N,
	[0xd0] = W | Y, [0xd1] = W, [0xd2] = W | Y, [0xd3] = W, [0xd7] = N,
	[0xd8 ... 0xdf] = M, /* x87 */
	[0xe0 ... 0xe3] = B, [0xe8] = N, [0xe9] = N, [0xeb] = B,
	[0xf4] = N, [0xf5] = N, [0xf6] = W | Y, [0xf7] = W, [0xf8 ... 0xf9] = N, [0xfc ... 0xfd] = N,
	[0xfe] = W | Y, [0xff] = W,
};

/* After 0x0f. */
static const uint8_t two_bytes[256] = {
	[0x01] = W, [0x05] = N, [0x0b] = N, [0x0d] = M,
	[0x10 ... 0x17] = M, [0x18 ... 0x1d] = M, [0x1e] = W, [0x1f] = M,
	[0x28 ... 0x2b] = M, [0x2c] = R, [0x2d] = R, [0x2e] = M, [0x2f] = M,
	[0x31] = N,
	[0x40 ... 0x4f] = R, /* cmov */
	[0x50] = R, [0x51 ... 0x6f] = M, [0x70 ... 0x73] = M | B, [0x74 ... 0x76] = M, [0x77] = N,
	[0x7c ... 0x7d] = M, [0x7e] = W, [0x7f] = M,
	[0x80 ... 0x8f] = N, /* jcc */
	[0x90 ... 0x9f] = W | Y, [0xa2] = N, [0xa3] = M, [0xa4] = W | B, [0xa5] = W,
	[0xab] = W, [0xac] = W | B, [0xad] = W, [0xae] = W, [0xaf] = R,
	[0xb0] = W | Y, [0xb1] = W, [0xb3] = W, [0xb6 ... 0xb8] = R, [0xb9] = M, [0xba] = W | B, [0xbb] = W,
	[0xbc ... 0xbf] = R,
	[0xc0] = R | W | Y, [0xc1] = R | W, [0xc2] = M | B, [0xc3] = M, [0xc4] = M | B, [0xc5] = R | B, [0xc6] = M | B,
	[0xc7] = W, [0xc8 ... 0xcf] = N, /* bswap */
	[0xd0 ... 0xd6] = M, [0xd7] = R, [0xd8 ... 0xff] = M,
};

struct decoder {
	const uint8_t *p, *end;
	bool op16, addr32, segment, f2, f3;
	bool has_rex, wide; /* REX; its W */
	uint8_t r, x, b;    /* its R, X, B, each 0 or 8 */
	uint8_t map;        /* 0: one byte; 1: 0x0f; 2: 0x0f 0x38; 3: 0x0f 0x3a; further ones of EVEX */
	bool vector;        /* VEX or EVEX */
	bool evex;
	uint8_t vvvv;
	uint8_t opcode, form;
	bool memory;
	uint8_t mod, reg, rm, base;
	bool has_index;
	int64_t displacement, immediate;
};

/* Takes a little-endian integer of n bytes, sign-extended. */
static bool take(struct decoder *d, unsigned int n, int64_t *value)
{
	uint64_t v = 0;

	if ((size_t)(d->end - d->p) < n)
		return false;
	for (unsigned int i = 0; i < n; i++)
		v |= (uint64_t)*d->p++ << (8 * i);
	if (n > 0 && n < 8 && v >> (8 * n - 1))
		v |= ~0ULL << (8 * n);
	*value = (int64_t)v;
	return true;
}

static bool take_byte(struct decoder *d, uint8_t *byte)
{
	if (d->p == d->end)
		return false;
	*byte = *d->p++;
	return true;
}

/* Takes prefixes, REX, and the byte after them. */
static bool take_prefixes(struct decoder *d, uint8_t *byte)
{
	for (;;) {
		if (!take_byte(d, byte))
			return false;
		switch (*byte) {
		case 0x66: d->op16 = true; break;
		case 0x67: d->addr32 = true; break;
		case 0x64: case 0x65: d->segment = true; break;
		case 0xf2: d->f2 = true; break;
		case 0xf3: d->f3 = true; break;
		case 0x26: case 0x2e: case 0x36: case 0x3e: case 0xf0: break;
		default:
			if (*byte >> 4 != 4)
				return true;
			d->has_rex = true;
			d->wide = *byte & 8;
			d->r = (uint8_t)((*byte & 4) << 1);
			d->x = (uint8_t)((*byte & 2) << 2);
			d->b = (uint8_t)((*byte & 1) << 3);
			return take_byte(d, byte);
		}
	}
}

/* VEX and EVEX: what the vector instructions of each map have besides ModRM. pp: 1 is 0x66, 2 is 0xf3, 3 is 0xf2. */
static uint8_t vector_form(const struct decoder *d, uint8_t pp)
{
	uint8_t op = d->opcode;

	switch (d->map) {
	case 1:
	case 5: /* EVEX's for half-precision numbers, the same where it writes general registers */
		if (op == 0x77)
			return d->evex ? 0 : N;
		if (op == 0x2c || op == 0x2d || op == 0x50 || op == 0x93 || op == 0xd7 ||
		    (d->evex && (op == 0x78 || op == 0x79) && pp >= 2))
			return R;
		if (op == 0xc5)
			return R | B;
		if (op == 0x7e && pp == 1)
			return W;
		return (op >= 0x70 && op <= 0x73) || op == 0xc2 || op == 0xc4 || op == 0xc6 ? M | B : M;
	case 2:
		if (op == 0xf2 || op == 0xf5 || op == 0xf7 || op >> 4 == 0xe)
			return R;
		return op == 0xf6 ? R | V : op == 0xf3 ? V : M;
	case 3:
		return op >= 0x14 && op <= 0x17 ? W | B : op == 0xf0 ? R | B : M | B;
	case 6:
		return M;
	case 8: /* and the next two are AMD's XOP */
		return M | B;
	case 9:
		return op == 0x01 || op == 0x02 ? V : op == 0x12 ? W : M;
	case 10:
		return R | Z;
	default: /* APX's map 4, and others to come */
		return 0;
	}
}

/* Takes the prefix bytes after 0xc4, 0xc5, 0x62 or 0x8f, and the opcode. All its bits for registers are inverted. */
static bool take_vector(struct decoder *d, uint8_t first)
{
	uint8_t a, b, c = 0;

	if (d->has_rex || d->op16 || d->f2 || d->f3 || !take_byte(d, &a))
		return false;
	d->vector = true;
	d->evex = first == 0x62;
	d->map = 1;
	b = a;
	if (first != 0xc5) {
		d->map = a & (d->evex ? 7 : 31);
		d->x = a & 0x40 ? 0 : 8;
		d->b = a & 0x20 ? 0 : 8;
		if (!take_byte(d, &b) || (d->evex && (a & 8 || !(b & 4) || !take_byte(d, &c))))
			return false;
	}
	d->r = a & 0x80 ? 0 : 8;
	d->vvvv = ~b >> 3 & 15;
	if (!take_byte(d, &d->opcode) || (first == 0x8f) != (d->map >= 8) || (first == 0xc4 && (d->map < 1 || d->map > 3)))
		return false;
	d->form = vector_form(d, b & 3);
	return true;
}

static bool take_opcode(struct decoder *d)
{
	uint8_t byte;

	if (!take_prefixes(d, &byte))
		return false;
	/* 0x8f is XOP if the byte that would be pop's ModRM names a map. */
	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62 || (byte == 0x8f && d->p < d->end && *d->p & 0x18))
		return take_vector(d, byte);
	if (byte != 0x0f) {
		d->opcode = byte;
		d->form = one_byte[byte];
		return true;
	}
	if (!take_byte(d, &d->opcode))
		return false;
	d->map = d->opcode == 0x38 ? 2 : d->opcode == 0x3a ? 3 : 1;
	d->form = two_bytes[d->opcode];
	if (d->map > 1) {
		if (!take_byte(d, &d->opcode))
			return false;
		if (d->map == 3)
			d->form = d->opcode >= 0x14 && d->opcode <= 0x17 ? W | B : M | B;
		else /* movbe, crc32, adcx, adox */
			d->form = d->opcode == 0xf0 || d->opcode == 0xf1 || d->opcode == 0xf6 ? R : M;
	}
	return true;
}

/* Takes ModRM, SIB and the displacement. */
static bool take_modrm(struct decoder *d)
{
	static const uint8_t sizes[4] = { 0, 1, 4, 0 };
	uint8_t byte, sib, size;

	if (!take_byte(d, &byte))
		return false;
	d->mod = byte >> 6;
	d->reg = (byte >> 3 & 7) | d->r;
	d->rm = (byte & 7) | d->b;
	d->memory = d->mod != 3;
	if (!d->memory)
		return true;
	size = sizes[d->mod];
	d->base = d->rm;
	if ((byte & 7) == 4) {
		if (!take_byte(d, &sib))
			return false;
		d->base = (sib & 7) | d->b;
		d->has_index = ((sib >> 3 & 7) | d->x) != 4;
		if ((sib & 7) == 5 && d->mod == 0) {
			d->base = NO_BASE;
			size = 4;
		}
	} else if ((byte & 7) == 5 && d->mod == 0) {
		d->base = RIP_BASE;
		size = 4;
	}
	return take(d, size, &d->displacement);
}

/* Returns the bytes of the immediate. */
static unsigned int immediate_size(const struct decoder *d)
{
	unsigned int full = d->op16 && !d->wide ? 2 : 4, size = 0;
	uint8_t op = d->opcode, group = d->reg & 7;

	if ((d->form & B) == B)
		size += 1;
	if ((d->form & Z) == Z)
		size += full;
	if (d->map == 1 && !d->vector && op >> 4 == 8)
		return 4;
	if (d->map != 0)
		return size;
	if (op >= 0xb8 && op <= 0xbf)
		return d->wide ? 8 : full;
	if (op >= 0xa0 && op <= 0xa3)
		return d->addr32 ? 4 : 8;
	if ((op == 0xf6 || op == 0xf7) && group < 2)
		return op == 0xf6 ? 1 : full;
	if (op == 0xe8 || op == 0xe9)
		return 4;
	return op == 0xc2 ? 2 : op == 0xc8 ? 3 : size;
}

/* Returns true for an operand of 64 bits in plain addresses of the stack's segment. */
static bool is_plain(const struct decoder *d)
{
	return d->wide && !d->op16 && !d->addr32 && !d->segment && !d->f2 && !d->f3;
}

/* add, sub, mov and lea between rsp and rbp: sets the kind if it is one of these. */
static bool find_move(const struct decoder *d, struct insn *i)
{
	uint8_t group = d->reg & 7, to = d->reg, from = d->rm;
	bool on_rsp = d->memory && d->base == RSP && !d->has_index;

	if (d->map != 0 || !is_plain(d))
		return false;
	switch (d->opcode) {
	case 0x81:
	case 0x83:
		if (d->memory || d->rm != RSP || (group != 0 && group != 5))
			return false;
		i->kind = INSN_ADD_RSP;
		i->value = group == 0 ? d->immediate : -d->immediate;
		return true;
	case 0x89:
		to = d->rm;
		from = d->reg;
		/* fall through */
	case 0x8b:
		i->value = d->displacement;
		if (!d->memory && to + from == RSP + RBP && (to == RSP || to == RBP))
			i->kind = to == RSP ? INSN_RSP_FROM_RBP : INSN_RBP_FROM_RSP;
		else if (on_rsp && d->reg == RBP)
			i->kind = d->opcode == 0x89 ? INSN_STORE_RBP : INSN_LOAD_RBP;
		else
			return false;
		return true;
	case 0x8d:
		i->value = d->displacement;
		if (on_rsp && (d->reg == RSP || d->reg == RBP))
			i->kind = d->reg == RSP ? INSN_ADD_RSP : INSN_RBP_FROM_RSP;
		else if (d->memory && d->base == RBP && !d->has_index && d->reg == RSP)
			i->kind = INSN_RSP_FROM_RBP;
		else
			return false;
		return true;
	default:
		return false;
	}
}

static void set_jump(const struct decoder *d, struct insn *i, enum insn_kind kind)
{
	i->kind = kind;
	i->has_target = true;
	i->value = d->immediate;
}

static void set_stack(const struct decoder *d, struct insn *i, enum insn_kind kind, unsigned int reg)
{
	/* With 0x66 two bytes move, and the stack is no longer aligned. */
	i->kind = d->op16 || (kind == INSN_POP && reg == RSP) ? INSN_RSP_LOST : kind;
	i->reg = (uint8_t)reg;
}

/* The groups of 0xff, and pop. Returns false if the instruction is refused. */
static bool find_group(const struct decoder *d, struct insn *i)
{
	uint8_t group = d->reg & 7;

	switch (d->opcode) {
	case 0x8f:
		set_stack(d, i, INSN_POP, d->memory ? INSN_NO_REG : d->rm);
		return group == 0;
	case 0xc6:
	case 0xc7:
	case 0xfe:
		return group == 0 || (group == 1 && d->opcode == 0xfe);
	case 0xff:
		if (group == 2 || group == 4)
			i->kind = group == 2 ? INSN_CALL : INSN_JUMP;
		else if (group == 6)
			set_stack(d, i, INSN_PUSH, d->memory ? INSN_NO_REG : d->rm);
		return group != 3 && group != 5 && group != 7;
	default:
		return true;
	}
}

/* Sets the kind of an instruction of one byte that is about the stack or the flow. */
static bool find_one_byte(const struct decoder *d, struct insn *i)
{
	uint8_t op = d->opcode;

	if (op >= 0x50 && op <= 0x5f)
		set_stack(d, i, op < 0x58 ? INSN_PUSH : INSN_POP, (op & 7) | d->b);
	else if (op == 0x68 || op == 0x6a || op == 0x9c)
		set_stack(d, i, INSN_PUSH, INSN_NO_REG);
	else if (op == 0x9d)
		set_stack(d, i, INSN_POP, INSN_NO_REG);
	else if (op >> 4 == 7 || (op >= 0xe0 && op <= 0xe3))
		set_jump(d, i, INSN_BRANCH);
	else if (op == 0xe8)
		set_jump(d, i, INSN_CALL);
	else if (op == 0xe9 || op == 0xeb)
		set_jump(d, i, INSN_JUMP);
	else if (op == 0xc2 || op == 0xc3)
		i->kind = INSN_RETURN;
	else if (op == 0xc9)
		set_stack(d, i, INSN_LEAVE, RBP);
	else if (op == 0xc8) /* enter: no compiler and no one else writes it */
		i->kind = INSN_RSP_LOST;
	else if (op == 0xcc || op == 0xf4)
		i->kind = INSN_STOP;
	else
		return find_group(d, i);
	/* Processors disagree on near jumps with 0x66, unless REX.W overrides it. */
	return !(i->has_target && d->op16 && !d->wide);
}

static void note_write(const struct decoder *d, struct insn *i, unsigned int reg)
{
	if ((d->form & Y) && !d->has_rex && !d->vector)
		reg &= 3;
	if (reg == RSP)
		i->kind = INSN_RSP_LOST;
	else if (reg == RBP && i->kind != INSN_RSP_LOST)
		i->kind = INSN_RBP_LOST;
}

/* Finds writes to rsp and rbp that have no kind of their own. */
static void find_writes(const struct decoder *d, struct insn *i)
{
	uint8_t op = d->opcode, group = d->reg & 7;
	bool byte_group = d->map == 0 && (op == 0xf6 || op == 0xf7);
	bool reads = d->map == 0 && (op == 0x80 || op == 0x81 || op == 0x83) && group == 7; /* cmp */

	reads |= byte_group && (group < 2 || group > 3); /* test; mul and div write rax and rdx */
	reads |= d->map == 1 && !d->vector && op == 0xba && group == 4; /* bt */
	reads |= d->map == 1 && !d->vector && op == 0x7e && d->f3; /* movq between vector registers */
	if ((d->form & R) == R)
		note_write(d, i, d->reg);
	if ((d->form & W) == W && !d->memory && !reads)
		note_write(d, i, d->rm);
	if ((d->form & V) == V)
		note_write(d, i, d->vvvv);
	/* The register is in the opcode: xchg with rax, mov of an immediate, bswap. */
	if (d->map == 0 && ((op >= 0x91 && op <= 0x97) || (op >= 0xb8 && op <= 0xbf)))
		note_write(d, i, (op & 7) | d->b);
	if (d->map == 0 && op >= 0xb0 && op <= 0xb7)
		note_write(d, i, d->has_rex ? (op & 7) | d->b : op & 3);
	if (d->map == 1 && !d->vector && op >= 0xc8 && op <= 0xcf)
		note_write(d, i, (op & 7) | d->b);
}

bool insn_decode(struct slice code, struct insn *out)
{
	struct decoder d = { .p = code.p, .end = code.p + (code.n < INSN_BYTES_MAX ? code.n : INSN_BYTES_MAX) };

	*out = (struct insn){ .reg = INSN_NO_REG };
	if (!take_opcode(&d) || !(d.form & N) || ((d.form & M) == M && !take_modrm(&d)))
		return false;
	if (!take(&d, immediate_size(&d), &d.immediate))
		return false;
	out->length = (uint8_t)(d.p - code.p);
	if (find_move(&d, out))
		return true;
	if (d.map == 0 && !d.vector && !find_one_byte(&d, out))
		return false;
	if (d.map == 1 && !d.vector && d.opcode >> 4 == 8) {
		set_jump(&d, out, INSN_BRANCH);
		if (d.op16 && !d.wide)
			return false;
	}
	if (d.map == 1 && !d.vector && (d.opcode == 0x0b || d.opcode == 0xb9))
		out->kind = INSN_STOP; /* ud2, ud1 */
	if (out->kind == INSN_OTHER)
		find_writes(&d, out);
	return true;
}
