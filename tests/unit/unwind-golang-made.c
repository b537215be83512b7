/*
 * Checks handmade Go tables, in layouts that no installed compiler writes, sound and damaged. TAP.
 *
 *	unwind-golang-made [N]		also tries N random changes of each
 *	unwind-golang-made write MAGIC	writes the file of the version with this first byte (tests/fuzz/corpus)
 */
#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/le.h"
#include "tests/lib/fuzz.h"
#include "tests/unit/unwind-golang.h"

enum {
	TEXT = 0x401000, CODE_AT = 0x100, CODE_N = 0x200, DATA = 0x602000, DATA_AT = 0x400,
	NO_TEXT = 1,     /* the header does not say where the text is: Go 1.26 */
	NO_SECTIONS = 2,
	RELOCATED = 4,   /* addresses are in .rela.dyn only: position-independent programs */
	STRANGE = 8,     /* a magic number of the future */
	DISORDER = 16,   /* the second function is before the first */
	ENDLESS = 32,    /* a number that does not end within 64 bits */
	STANDING = 64,   /* depths that never advance */
	MANY = 128,      /* more functions than there is room for */
	RUN = 256,       /* depths go on after the function's end */
};

struct version {
	const char *name;
	uint8_t magic;
	unsigned int field;     /* bytes of an address in functab */
	unsigned int skipped;   /* missing words of the header: all but the first, or the text */
	unsigned int flag_at;
};

static const struct version versions[] = {
	{ "Go 1.2", 0xfb, 8, 7, 0 },
	{ "Go 1.16", 0xfa, 8, 1, 41 },
	{ "Go 1.18", 0xf0, 4, 0, 37 },
	{ "Go 1.20", 0xf1, 4, 0, 41 },
};

/* Functions in the order of the code: their bytes, depths as pairs of depth and length. */
static const struct {
	const char *name;
	uint32_t start;
	uint8_t code[40];
	int depths[12]; /* ends with length 0 */
	uint8_t flag;
} functions[] = {
	/* sub $0x18,%rsp; mov %rbp,0x10(%rsp); lea 0x10(%rsp),%rbp; ... */
	{ "main.stored", 0x00, { 0x48, 0x83, 0xec, 0x18, 0x48, 0x89, 0x6c, 0x24, 0x10, 0x48, 0x8d, 0x6c, 0x24, 0x10 },
	  { 0, 4, 24, 0x2c, 0, 1 }, 0 },
	/* push %rbp; mov %rsp,%rbp; sub $0x10,%rsp; ... */
	{ "main.pushed", 0x40, { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10 }, { 0, 1, 8, 7, 24, 0x10, 8, 1, 0, 1 }, 0 },
	/* push %r13; mov %rsp,%rax; a NOFRAME function: no rbp */
	{ "main.pushes", 0x60, { 0x41, 0x55, 0x48, 0x89, 0xe0 }, { 0, 2, 8, 8, 0, 1 }, 4 },
	/* nop; call */
	{ "runtime.goexit", 0x80, { 0x90, 0xe8, 0, 0, 0, 0, 0x90 }, { 0, 7 }, 5 },
	{ "main.unknown", 0xa0, { 0xc3 }, { 0 }, 4 },
	/* mov $15,%rax; syscall */
	{ "runtime.sigreturn", 0xc0, { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 }, { 0, 9 }, 4 },
	/* nop; mov 0x38(%rdx),%rsp; call *%rdi; mov 0x38(%rax),%rsp; ret */
	{ "runtime.systemstack.abi0", 0xe0, { 0x90, 0x48, 0x8b, 0x62, 0x38, 0xff, 0xd7, 0x48, 0x8b, 0x60, 0x38, 0xc3 },
	  { 0, 12 }, 6 },
	/* push %rbp; mov %rsp,%rbp; mov %rsp,%r12; and $-16,%rsp; call *%rax; mov %r12,%rsp; pop %rbp; ret */
	{ "runtime.sigfwd", 0x100, { 0x55, 0x48, 0x89, 0xe5, 0x49, 0x89, 0xe4, 0x48, 0x83, 0xe4, 0xf0, 0xff, 0xd0, 0x4c,
				     0x89, 0xe4, 0x5d, 0xc3 },
	  { 0, 1, 8, 16, 0, 1 }, 6 },
	/* nop; mov 0x38(%r14),%rsp; call *%r12 */
	{ "runtime.mcall", 0x120, { 0x90, 0x49, 0x8b, 0x66, 0x38, 0x41, 0xff, 0xd4 }, { 0, 8 }, 6 },
	/* pop %r12; syscall; push %r12; ret */
	{ "syscall.rawVforkSyscall", 0x140, { 0x41, 0x5c, 0x0f, 0x05, 0x41, 0x54, 0xc3 }, { 0, 2, -8, 4, 0, 1 }, 4 },
	/* nop; mov 0x38(%rsi),%rsp; and $-16,%rsp; call *%rax; mov %rsi,%rsp; ret */
	{ "runtime.asmcgocall.abi0", 0x160, { 0x90, 0x48, 0x8b, 0x66, 0x38, 0x48, 0x83, 0xe4, 0xf0, 0xff, 0xd0, 0x48, 0x89,
					      0xf4, 0xc3 }, { 0, 15 }, 6 },
	{ "runtime.systemstack_switch", 0x180, { 0xc3 }, { 0, 1 }, 4 },
};

enum { FUNCTIONS = sizeof(functions) / sizeof(functions[0]), END = 0x1a0 };

/* The expected rules. */
static const struct {
	uint32_t start, end;
	struct unwind_rule rule;
} expected[] = {
	{ 0x00, 0x04, { .kind = UNWIND_CFA_RSP, .cfa = 8 } },
	{ 0x04, 0x09, { .kind = UNWIND_CFA_RSP, .cfa = 32 } },
	{ 0x09, 0x30, { .kind = UNWIND_CFA_RSP, .cfa = 32, .bp = UNWIND_AT_CFA, .bp_at = -16 } },
	{ 0x30, 0x31, { .kind = UNWIND_CFA_RSP, .cfa = 8 } },
	{ 0x40, 0x41, { .kind = UNWIND_CFA_RSP, .cfa = 8 } },
	{ 0x41, 0x48, { .kind = UNWIND_CFA_RSP, .cfa = 16, .bp = UNWIND_AT_CFA, .bp_at = -16 } },
	{ 0x48, 0x58, { .kind = UNWIND_CFA_RSP, .cfa = 32, .bp = UNWIND_AT_CFA, .bp_at = -16 } },
	{ 0x58, 0x59, { .kind = UNWIND_CFA_RSP, .cfa = 16, .bp = UNWIND_AT_CFA, .bp_at = -16 } },
	{ 0x59, 0x5a, { .kind = UNWIND_CFA_RSP, .cfa = 8 } },
	{ 0x60, 0x62, { .kind = UNWIND_CFA_RSP, .cfa = 8 } },
	{ 0x62, 0x6a, { .kind = UNWIND_CFA_RSP, .cfa = 16 } },
	{ 0x6a, 0x6b, { .kind = UNWIND_CFA_RSP, .cfa = 8 } },
	{ 0x80, 0xa0, { .kind = UNWIND_STOP } },
	{ 0xbf, 0xe0, { .kind = UNWIND_SIGNAL } },
	{ 0xe0, 0xe5, { .kind = UNWIND_CFA_RSP, .cfa = 8 } },
	{ 0xe5, 0xeb, { .kind = UNWIND_BAD } },
	{ 0xeb, 0xec, { .kind = UNWIND_CFA_RSP, .cfa = 8 } },
	{ 0x100, 0x101, { .kind = UNWIND_CFA_RSP, .cfa = 8 } },
	{ 0x101, 0x10b, { .kind = UNWIND_CFA_RSP, .cfa = 16, .bp = UNWIND_AT_CFA, .bp_at = -16 } },
	{ 0x10b, 0x110, { .kind = UNWIND_SWITCH, .cfa = 16, .bp = UNWIND_AT_CFA, .bp_at = -16 } },
	{ 0x110, 0x111, { .kind = UNWIND_CFA_RSP, .cfa = 16, .bp = UNWIND_AT_CFA, .bp_at = -16 } },
	{ 0x111, 0x112, { .kind = UNWIND_CFA_RSP, .cfa = 8 } },
	{ 0x120, 0x125, { .kind = UNWIND_CFA_RSP, .cfa = 8 } },
	{ 0x125, 0x128, { .kind = UNWIND_STOP } },
	{ 0x140, 0x142, { .kind = UNWIND_CFA_RSP, .cfa = 8 } },
	{ 0x142, 0x146, { .kind = UNWIND_RA_REG, .reg = 12, .cfa = 0 } },
	{ 0x146, 0x147, { .kind = UNWIND_CFA_RSP, .cfa = 8 } },
	{ 0x160, 0x165, { .kind = UNWIND_CFA_RSP, .cfa = 8 } },
	{ 0x165, 0x16e, { .kind = UNWIND_SWITCH, .cfa = 16, .bp = UNWIND_AT_CFA, .bp_at = -16 } },
	{ 0x16e, 0x16f, { .kind = UNWIND_CFA_RSP, .cfa = 8 } },
	{ 0x17f, 0x181, { .kind = UNWIND_CFA_RSP, .cfa = 8 } },
};

static void put_word(struct buf *b, uint64_t v, unsigned int bytes)
{
	uint8_t p[8];

	le64_store(p, v);
	buf_bytes(b, p, bytes);
}

static void put_zeroes(struct buf *b, size_t to)
{
	while (b->n < to && !b->failed)
		buf_byte(b, 0);
}

static void put_depths(struct buf *b, size_t i, unsigned int how)
{
	int before = -1;

	for (const int *d = functions[i].depths; d[1]; d += 2) {
		buf_varint(b, zigzag((int64_t)d[0] - before));
		if ((how & ENDLESS) && i == 0 && d[0] == 24) {
			for (int k = 0; k < 12; k++)
				buf_byte(b, 0x80);
		}
		buf_varint(b, (how & STANDING) && i == 0 && d[0] == 24 ? 0 : (how & RUN) && i == 0 ? 0x80 : (uint64_t)d[1]);
		before = d[0];
	}
	buf_byte(b, 0);
}

/* Writes a record; in the oldest layout offsets count from the table's start. */
static void put_record(struct buf *b, const struct version *v, size_t i, uint32_t name, uint32_t depths)
{
	size_t at = b->n;

	put_word(b, functions[i].start + (v->field == 8 ? TEXT : 0), v->field);
	put_word(b, name, 4);
	put_word(b, 0, 8);
	put_word(b, depths, 4);
	put_zeroes(b, at + (v->flag_at ? v->flag_at : v->field + 28));
	buf_byte(b, v->flag_at ? functions[i].flag : 0);
	put_zeroes(b, (b->n + 7) & ~(size_t)7);
}

/* Appends functab to b; the records begin after it. */
static void put_functab(struct buf *b, const struct version *v, const uint32_t *records, unsigned int how)
{
	uint64_t base = v->field == 8 ? TEXT : 0;

	for (size_t i = 0; i <= FUNCTIONS; i++) {
		size_t k = (how & DISORDER) && i < 2 ? 1 - i : i;
		uint64_t address = base + (k < FUNCTIONS ? functions[k].start : END);

		put_word(b, (how & RELOCATED) && v->field == 8 ? 0 : address, v->field);
		if (i < FUNCTIONS)
			put_word(b, records[k], v->field);
	}
}

/* Writes the table. */
static void put_table(struct buf *b, const struct version *v, unsigned int how)
{
	bool old = v->skipped == 7;
	size_t header = 8 + 8 * (8 - v->skipped), names_at, values_at, records_at, functab_n = (FUNCTIONS * 2 + 1) * v->field;
	uint32_t names[FUNCTIONS], depths[FUNCTIONS], records[FUNCTIONS];
	struct buf text = { 0 }, values = { 0 }, recs = { 0 };
	uint64_t words[8];

	/* The position of each part is known once the ones before are complete. */
	for (size_t i = 0; i < FUNCTIONS; i++) {
		names[i] = (uint32_t)text.n;
		buf_bytes(&text, functions[i].name, strlen(functions[i].name) + 1);
	}
	buf_byte(&values, 0);
	for (size_t i = 0; i < FUNCTIONS; i++) {
		depths[i] = functions[i].depths[1] ? (uint32_t)values.n : 0;
		put_depths(&values, i, how);
	}
	names_at = header + (old ? functab_n : 0);
	values_at = names_at + text.n;
	records_at = (values_at + values.n + 7) & ~(size_t)7;
	for (size_t i = 0; i < FUNCTIONS; i++) {
		records[i] = (uint32_t)((old ? records_at : functab_n) + recs.n);
		put_record(&recs, v, i, names[i] + (old ? (uint32_t)names_at : 0),
			   depths[i] ? depths[i] + (old ? (uint32_t)values_at : 0) : 0);
	}
	buf_bytes(b, (uint8_t[]){ (how & STRANGE) ? 0xe0 : v->magic, 0xff, 0xff, 0xff, 0, 0, 1, 8 }, 8);
	memcpy(words, (uint64_t[]){ (how & MANY) ? UINT64_MAX / 8 : FUNCTIONS, 0, (how & (NO_TEXT | RELOCATED)) ? 0 : TEXT,
				    names_at, 0, 0, values_at, records_at }, sizeof(words));
	for (size_t i = 0; i < 8 - v->skipped; i++)
		put_word(b, words[i + (i >= 2 ? v->skipped : 0)], 8);
	if (old)
		put_functab(b, v, records, how);
	buf_bytes(b, text.p, text.n);
	buf_bytes(b, values.p, values.n);
	put_zeroes(b, records_at);
	if (!old)
		put_functab(b, v, records, how);
	buf_bytes(b, recs.p, recs.n);
	buf_release(&text);
	buf_release(&values);
	buf_release(&recs);
}

static void put_relocation(struct buf *b, uint64_t where, uint64_t what)
{
	put_word(b, where, 8);
	put_word(b, R_X86_64_RELATIVE, 8);
	put_word(b, what, 8);
}

/* Writes relocations for the addresses that the loader fills in: functab's, or the text's. */
static void put_relocations(struct buf *b, const struct version *v)
{
	size_t functab = v->skipped == 7 ? 16 : 0;

	if (v->field == 4) {
		put_relocation(b, DATA + 24, TEXT);
		return;
	}
	if (!functab) {
		struct buf table = { 0 };

		put_table(&table, v, 0);
		functab = (size_t)le64_load(table.p + 8 + 8 * 6);
		buf_release(&table);
	}
	for (size_t i = 0; i <= FUNCTIONS; i++)
		put_relocation(b, DATA + functab + i * 16, TEXT + (i < FUNCTIONS ? functions[i].start : END));
}

static void put_section(struct buf *b, uint32_t name, uint32_t type, uint64_t vaddr, uint64_t offset, uint64_t n)
{
	put_word(b, name, 4);
	put_word(b, type, 4);
	put_word(b, 2, 8);
	put_word(b, vaddr, 8);
	put_word(b, offset, 8);
	put_word(b, n, 8);
	put_word(b, 0, 8);
	put_word(b, 8, 8);
	put_word(b, type == SHT_RELA ? 24 : 0, 8);
}

static void put_segment(struct buf *b, uint32_t flags, uint64_t offset, uint64_t vaddr, uint64_t n)
{
	put_word(b, PT_LOAD, 4);
	put_word(b, flags, 4);
	for (unsigned int i = 0; i < 6; i++)
		put_word(b, (uint64_t[]){ offset, vaddr, vaddr, n, n, 0x1000 }[i], 8);
}

static void put_code(struct buf *b)
{
	uint8_t code[CODE_N];

	memset(code, 0xcc, sizeof(code));
	for (size_t i = 0; i < FUNCTIONS; i++)
		memcpy(code + functions[i].start, functions[i].code,
		       i + 1 < FUNCTIONS && functions[i + 1].start - functions[i].start < 40 ? 32 : 40);
	buf_bytes(b, code, sizeof(code));
}

/* Writes a file: header, two segments, the code, the table, relocations, sections. */
static void put_file(struct buf *b, const struct version *v, unsigned int how)
{
	static const char names[] = "\0.text\0.gopclntab\0.rela.dyn\0.shstrtab";
	struct buf table = { 0 }, rela = { 0 };
	size_t rela_at, names_at, sections_at;
	bool sections = !(how & NO_SECTIONS);

	put_table(&table, v, how);
	if (how & RELOCATED)
		put_relocations(&rela, v);
	rela_at = (DATA_AT + table.n + 7) & ~(size_t)7;
	names_at = rela_at + rela.n;
	sections_at = (names_at + sizeof(names) + 7) & ~(size_t)7;
	buf_bytes(b, "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0", 16);
	put_word(b, ET_EXEC | EM_X86_64 << 16, 4);
	put_word(b, 1, 4);
	put_word(b, TEXT, 8);
	put_word(b, 64, 8);
	put_word(b, sections ? sections_at : 0, 8);
	put_word(b, 64ull << 32 | 56ull << 48, 8); /* flags; sizes of the header and of a segment's */
	put_word(b, 2 | (sections ? 64ull << 16 | 5ull << 32 | 4ull << 48 : 0), 8);
	put_zeroes(b, 64);
	put_segment(b, PF_R | PF_X, CODE_AT, TEXT, CODE_N);
	put_segment(b, PF_R, DATA_AT, DATA, table.n);
	put_zeroes(b, CODE_AT);
	put_code(b);
	put_zeroes(b, DATA_AT);
	buf_bytes(b, table.p, table.n);
	put_zeroes(b, rela_at);
	buf_bytes(b, rela.p, rela.n);
	buf_bytes(b, names, sizeof(names));
	put_zeroes(b, sections_at);
	put_section(b, 0, SHT_NULL, 0, 0, 0);
	put_section(b, 1, SHT_PROGBITS, TEXT, CODE_AT, CODE_N);
	put_section(b, 7, SHT_PROGBITS, DATA, DATA_AT, table.n);
	put_section(b, 18, rela.n ? SHT_RELA : SHT_NULL, 0, rela_at, rela.n);
	put_section(b, 28, SHT_STRTAB, 0, names_at, sizeof(names));
	buf_release(&table);
	buf_release(&rela);
}

/* Reads the file's spans; returns false if it is not an ELF file. */
static bool read_bytes(struct table *t, struct slice bytes)
{
	*t = (struct table){ 0 };
	if (elf_open_bytes(bytes, &t->f) != ELF_OPENED)
		return false;
	t->good = golang_spans(t->f, &t->s);
	return true;
}

static bool rule_is(const struct unwind_rule *a, struct unwind_rule b)
{
	if (a->kind >= UNWIND_CFA_RSP && a->kind != UNWIND_SIGNAL) /* a frame */
		b.bx = UNWIND_LOST;
	return memcmp(a, &b, sizeof(b)) == 0;
}

/* Returns whether everything from function number first on is as expected. */
static bool is_expected(const struct table *t, size_t first)
{
	size_t n = sizeof(expected) / sizeof(expected[0]), k = 0;

	for (size_t i = 0; i < n; i++) {
		const struct span *s;

		if (expected[i].start < functions[first].start)
			continue;
		for (; k < t->s.n && t->s.items[k].start < CODE_AT + expected[i].start; k++)
			;
		s = &t->s.items[k];
		if (k == t->s.n || s->start != CODE_AT + expected[i].start ||
		    span_end(s) != CODE_AT + expected[i].end ||
		    !rule_is(&t->s.rules[s->rule], expected[i].rule)) {
			printf("# %x: not as expected\n", expected[i].start);
			return false;
		}
		k++;
	}
	return first > 0 || t->s.n == n;
}

/* Checks spans of any bytes: they are in order, within the code, and have rules. */
static bool is_sane(const struct table *t)
{
	uint64_t least = 0;

	for (size_t i = 0; i < t->s.n; i++) {
		const struct span *s = &t->s.items[i];

		if (s->start < least || span_end(s) <= s->start || s->rule >= t->s.n_rules)
			return false;
		least = span_end(s);
	}
	return !t->s.failed;
}

static const struct span *span_at(const struct table *t, uint32_t at)
{
	return table_find(t, CODE_AT + at);
}

static bool kind_at(const struct table *t, uint32_t at, enum unwind_kind kind)
{
	const struct span *s = span_at(t, at);

	return s && t->s.rules[s->rule].kind == kind;
}

static void check_made(const struct version *v, unsigned int how, const char *what, bool (*holds)(const struct table *))
{
	struct buf b = { 0 };
	struct table t;
	char line[128];

	put_file(&b, v, how);
	snprintf(line, sizeof(line), "%s: %s", v->name, what);
	if (!read_bytes(&t, buf_view(&b))) {
		check(false, line);
	} else {
		check(is_sane(&t) && holds(&t), line);
		table_close(&t);
	}
	buf_release(&b);
}

static bool all(const struct table *t)
{
	return t->good && is_expected(t, 0);
}

static bool nothing(const struct table *t)
{
	return t->good && t->s.n == 0;
}

static bool refused(const struct table *t)
{
	return !t->good && t->s.n == 0;
}

/* Checks that the first function is lost from its second depth on, and no other suffers. */
static bool first_is_bad(const struct table *t)
{
	return t->good && kind_at(t, 0, UNWIND_CFA_RSP) && kind_at(t, 4, UNWIND_BAD) && kind_at(t, 0x3f, UNWIND_BAD) &&
	       is_expected(t, 1);
}

/* The first two may be missing, because main.pushed's end is not after its start; the rest is there. */
static bool rest_is_there(const struct table *t)
{
	return !t->good && is_expected(t, 2);
}

static bool ends_in_time(const struct table *t)
{
	/* The second function's first rule is the same: one span. */
	return t->good && kind_at(t, 0x3f, UNWIND_CFA_RSP) && span_end(span_at(t, 0x40)) == CODE_AT + 0x41 &&
	       is_expected(t, 2);
}

/* Sets each byte of the table and of the headers to values likely to break the reader; tries each length. */
static bool survives(const struct version *v, unsigned int how)
{
	static const uint8_t values[] = { 0, 0x80, 0xff };
	struct buf b = { 0 };
	struct table t;
	bool sane = true;

	put_file(&b, v, how);
	for (size_t at = 0; at < b.n && !b.failed; at = at == 64 + 2 * 56 ? DATA_AT : at + 1) {
		uint8_t was = b.p[at];

		for (size_t i = 0; i < sizeof(values); i++) {
			b.p[at] = values[i];
			if (read_bytes(&t, buf_view(&b))) {
				sane &= is_sane(&t);
				table_close(&t);
			}
		}
		b.p[at] = was;
	}
	for (size_t n = CODE_AT; n < b.n; n += n < DATA_AT ? 64 : 1) {
		if (read_bytes(&t, (struct slice){ b.p, n })) {
			sane &= is_sane(&t);
			table_close(&t);
		}
	}
	sane &= !b.failed;
	buf_release(&b);
	return sane;
}

/* Makes random changes. */
static bool survives_random(const struct version *v, unsigned int how, size_t times)
{
	static uint8_t bytes[1 << 15];
	struct buf b = { 0 };
	struct table t;
	bool sane = true;

	put_file(&b, v, how);
	for (size_t k = 0; k < times && b.n <= sizeof(bytes); k++) {
		size_t n = b.n - DATA_AT;

		memcpy(bytes, b.p, b.n);
		for (uint64_t c = 1 + random_below(6); c > 0 && n > 0; c--)
			n = fuzz_change(bytes + DATA_AT, n, sizeof(bytes) - DATA_AT);
		if (read_bytes(&t, (struct slice){ bytes, DATA_AT + n })) {
			sane &= is_sane(&t);
			table_close(&t);
		}
	}
	buf_release(&b);
	return sane;
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct table t;

	if (read_bytes(&t, (struct slice){ p, n })) {
		if (!is_sane(&t))
			abort();
		table_close(&t);
	}
	return 0;
}

#ifndef FUZZING
static void check_version(const struct version *v, size_t times)
{
	char line[128];

	check_made(v, 0, "each function's rules", all);
	check_made(v, NO_SECTIONS, "found without section headers", all);
	check_made(v, RELOCATED, "addresses that the loader fills in", all);
	if (v->field == 4) {
		check_made(v, NO_TEXT, "without the text's address", all);
		check_made(v, NO_TEXT | NO_SECTIONS, "without the text's address and section headers", all);
	}
	check_made(v, STRANGE, "an unknown version is passed over", nothing);
	check_made(v, MANY, "more functions than bytes", refused);
	check_made(v, DISORDER, "functions in disorder", rest_is_there);
	check_made(v, ENDLESS, "an endless number", first_is_bad);
	check_made(v, STANDING, "depths that hold nowhere", first_is_bad);
	check_made(v, RUN, "depths go on behind the end", ends_in_time);
	snprintf(line, sizeof(line), "%s: any byte may be any, and any length", v->name);
	check(survives(v, 0) && survives(v, RELOCATED) && survives(v, NO_SECTIONS), line);
	if (times) {
		snprintf(line, sizeof(line), "%s: %zu random changes", v->name, times);
		check(survives_random(v, 0, times) && survives_random(v, NO_SECTIONS, times), line);
	}
}

/* MAGIC in hexadecimal. */
static int write_file(unsigned long magic)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		if (versions[i].magic == magic)
			put_file(&b, &versions[i], 0);
	}
	fwrite(b.p, 1, b.n, stdout);
	buf_release(&b);
	return fflush(stdout) != 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "write") == 0)
		return write_file(strtoul(argv[2], NULL, 16));
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		check_version(&versions[i], argc > 1 ? strtoul(argv[1], NULL, 10) : 0);
	return checks_done();
}
#endif
