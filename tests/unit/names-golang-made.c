/*
 * Checks handmade Go tables with inlined calls, in layouts of other compilers, sound and damaged. TAP.
 *
 *	names-golang-made		checks them
 *	names-golang-made write NUMBER	writes the file of that layout
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/le.h"
#include "common/go/gonames.h"
#include "tests/lib/check.h"

enum {
	TEXT = 0x401000, TEXT_AT = 0x1000, TEXT_N = 0x100,
	DATA = 0x502000, DATA_AT = 0x2000, /* the table, the trees */
	TREES = 0x503000, TREES_AT = 0x3000,
	MODULE = 0x604008, MODULE_AT = 0x4008, MODULE_WORDS = 50,
	NO_SECTIONS = 1,
	NO_MODULE = 2,  /* nothing says where the trees are */
	CIRCLE = 4,     /* a call inside itself */
	FAR_PARENT = 8, /* a call after the function's end */
	FAR_UNIT = 32,  /* no such unit of files */
	NO_NAME = 64,   /* the name of a call is beyond the names */
	FAR_LIST = 128, /* lists beyond the values */
	MANY_LISTS = 256, /* more lists than there are bytes */
};

struct layout {
	const char *name;
	uint8_t magic;
	unsigned int field, end;       /* bytes of an address; of a record's fixed part */
	unsigned int list, data, entry; /* as in gotrees.h */
	unsigned int funcs;            /* the module's word */
	bool ends;                     /* with the table's end after it */
};

static const struct layout layouts[] = {
	{ "Go 1.13", 0xfb, 8, 40, 1, 2, 20, 0, false },
	{ "Go 1.15", 0xfb, 8, 40, 2, 4, 20, 0, false },
	{ "Go 1.16", 0xfa, 8, 44, 2, 3, 20, 0, false },
	{ "Go 1.18", 0xf0, 4, 40, 2, 3, 20, 38, false },
	{ "Go 1.20", 0xf1, 4, 44, 2, 3, 16, 40, false },
	{ "Go 1.26", 0xf1, 4, 44, 2, 3, 16, 40, true },
	{ "after Go 1.26", 0xf1, 4, 44, 2, 3, 16, 42, true },
};

enum { FUNCTIONS = 3, OUTER = 1, CALLS = 2 };

static const struct {
	const char *name;
	uint32_t start;
} functions[FUNCTIONS + 1] = { { "main.plain", 0 }, { "main.outer", 0x41 }, { "main.last", 0xa0 }, { NULL, 0xc0 } };

static const char *const calls[CALLS] = { "main.middle", "main.inner" };
static const char *const paths[] = { "/src/a.go", "/src/b.go" };

/* Pieces of main.outer: end, number of the call, file, line. */
static const struct {
	uint32_t to;
	int call, file, line;
} pieces[] = { { 8, -1, 0, 10 }, { 16, 0, 0, 20 }, { 48, 1, 1, 30 }, { 0x5f, -1, 0, 11 } };

/* Offsets of the instructions that are the calls' positions. */
static const uint32_t parents[CALLS] = { 4, 9 };

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

enum what { WHAT_CALL, WHAT_FILE, WHAT_LINE };

/* Writes a list of values; first: number of the first file. */
static uint32_t put_list(struct buf *b, enum what what, int first)
{
	uint32_t at = (uint32_t)b->n, from = 0;
	int before = -1;

	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		int v = what == WHAT_CALL ? pieces[i].call : what == WHAT_FILE ? pieces[i].file + first : pieces[i].line;
		bool again = i > 0 && v == before;

		if (again) { /* a difference of 0 would end the list: extends the piece before */
			b->n--;
			buf_varint(b, pieces[i].to - (i > 1 ? pieces[i - 2].to : 0));
		} else {
			buf_varint(b, zigzag((int64_t)v - before));
			buf_varint(b, pieces[i].to - from);
		}
		from = pieces[i].to;
		before = v;
	}
	buf_byte(b, 0);
	return at;
}

struct parts {
	struct buf names, units, paths, values, records;
	uint32_t name[FUNCTIONS], call[CALLS], record[FUNCTIONS], lists[3];
};

static void put_record(struct parts *p, const struct layout *l, size_t i, unsigned int how, size_t base,
		       uint64_t names_at, uint64_t values_at)
{
	struct buf *b = &p->records;
	bool outer = i == OUTER;
	uint64_t v = outer && (how & FAR_LIST) ? 1 << 24 : values_at;
	size_t at;

	put_zeroes(b, (b->n + 7) & ~(size_t)7);
	at = b->n;
	p->record[i] = (uint32_t)(base + at);
	put_word(b, functions[i].start + (l->field == 8 ? TEXT : 0), l->field);
	put_word(b, names_at + p->name[i], 4);
	put_word(b, 0, 8);
	put_word(b, 0, 4); /* depths */
	put_word(b, outer ? v + p->lists[WHAT_FILE] : 0, 4);
	put_word(b, outer ? v + p->lists[WHAT_LINE] : 0, 4);
	put_word(b, outer && (how & MANY_LISTS) ? UINT32_MAX : outer ? l->list + 1 : 0, 4);
	if (l->magic != 0xfb)
		put_word(b, (how & FAR_UNIT) ? UINT32_MAX - 3 : 1, 4); /* its files begin at index 1 */
	put_zeroes(b, at + l->end - 1);
	buf_byte(b, outer ? (uint8_t)(l->data + 1) : 0);
	if (!outer)
		return;
	for (unsigned int k = 0; k <= l->list; k++)
		put_word(b, k == l->list ? v + p->lists[WHAT_CALL] : 0, 4);
	if (l->field == 8 && (b->n & 4))
		put_word(b, 0, 4);
	for (unsigned int k = 0; k <= l->data; k++) {
		uint64_t none = l->field == 8 ? 0 : UINT32_MAX, tree = l->field == 8 ? TREES + 32 : 32;

		put_word(b, k == l->data ? tree : none, l->field);
	}
}

static void put_functab(struct buf *b, const struct layout *l, const struct parts *p)
{
	for (size_t i = 0; i <= FUNCTIONS; i++) {
		put_word(b, functions[i].start + (l->field == 8 ? TEXT : 0), l->field);
		if (i < FUNCTIONS)
			put_word(b, p->record[i], l->field);
	}
}

static uint32_t put_text(struct buf *b, const char *text)
{
	uint32_t at = (uint32_t)b->n;

	buf_bytes(b, text, strlen(text) + 1);
	return at;
}

static void make_parts(struct parts *p, const struct layout *l)
{
	memset(p, 0, sizeof(*p));
	put_text(&p->names, "none");
	for (size_t i = 0; i < FUNCTIONS; i++)
		p->name[i] = put_text(&p->names, functions[i].name);
	for (size_t i = 0; i < CALLS; i++)
		p->call[i] = put_text(&p->names, calls[i]);
	put_text(&p->paths, "none");
	put_word(&p->units, l->magic == 0xfb ? 3 : 0, 4); /* the number of files; or another unit's entry */
	for (size_t i = 0; i < 2; i++)
		put_word(&p->units, put_text(&p->paths, paths[i]), 4);
	buf_byte(&p->values, 0);
	p->lists[WHAT_CALL] = put_list(&p->values, WHAT_CALL, 0);
	p->lists[WHAT_FILE] = put_list(&p->values, WHAT_FILE, l->magic == 0xfb ? 1 : 0);
	p->lists[WHAT_LINE] = put_list(&p->values, WHAT_LINE, 0);
}

/* Writes the table and its parts; in the oldest layout offsets count from the table's start. */
static void put_table(struct buf *b, const struct layout *l, unsigned int how, struct parts *p)
{
	bool old = l->magic == 0xfb;
	size_t functab_n = (FUNCTIONS * 2 + 1) * l->field + (old ? 4 : 0);
	size_t header = old ? 16 : l->field == 8 ? 64 : 72;
	size_t names_at = header + (old ? functab_n : 0), units_at, paths_at, values_at, records_at;

	make_parts(p, l);
	units_at = (names_at + p->names.n + 3) & ~(size_t)3;
	paths_at = units_at + p->units.n;
	values_at = paths_at + p->paths.n;
	records_at = (values_at + p->values.n + 7) & ~(size_t)7;
	for (size_t i = 0; old && i < 2; i++)
		le32_store(p->units.p + 4 + 4 * i, le32_load(p->units.p + 4 + 4 * i) + (uint32_t)paths_at);
	if (!old) /* functab comes before the records, which count from it */
		put_zeroes(&p->records, (functab_n + 7) & ~(size_t)7);
	for (size_t i = 0; i < FUNCTIONS; i++)
		put_record(p, l, i, how, old ? records_at : 0, old ? names_at : 0, old ? values_at : 0);
	buf_bytes(b, (uint8_t[]){ l->magic, 0xff, 0xff, 0xff, 0, 0, 1, 8 }, 8);
	put_word(b, FUNCTIONS, 8);
	if (!old) {
		put_word(b, 2, 8);
		if (l->field == 4)
			put_word(b, TEXT, 8);
		for (size_t i = 0; i < 5; i++)
			put_word(b, (size_t[]){ names_at, units_at, paths_at, values_at, records_at }[i], 8);
	} else {
		put_functab(b, l, p);
		put_word(b, units_at, 4);
	}
	buf_bytes(b, p->names.p, p->names.n);
	put_zeroes(b, units_at);
	buf_bytes(b, p->units.p, p->units.n);
	buf_bytes(b, p->paths.p, p->paths.n);
	buf_bytes(b, p->values.p, p->values.n);
	put_zeroes(b, records_at);
	if (!old) {
		struct buf functab = { 0 };

		put_functab(&functab, l, p);
		memcpy(p->records.p, functab.p, functab.n);
		buf_release(&functab);
	}
	buf_bytes(b, p->records.p, p->records.n);
}

static void put_trees(struct buf *b, const struct layout *l, unsigned int how, const struct parts *p, size_t names_at)
{
	put_zeroes(b, TREES_AT + 32);
	for (size_t i = 0; i < CALLS; i++) {
		uint32_t name = (how & NO_NAME) && i ? 1 << 24 : (uint32_t)names_at + p->call[i];
		uint32_t parent = i && (how & CIRCLE) ? 20 : i && (how & FAR_PARENT) ? 0x5f : parents[i];

		put_zeroes(b, b->n + (l->entry == 16 ? 4 : 12));
		put_word(b, name, 4);
		put_word(b, parent, 4);
		put_word(b, 7, l->entry == 16 ? 4 : 0);
	}
}

static void put_section(struct buf *b, uint32_t name, uint32_t type, uint64_t vaddr, uint64_t offset, uint64_t n)
{
	put_word(b, name, 4);
	put_word(b, type, 4);
	for (size_t i = 0; i < 4; i++)
		put_word(b, (uint64_t[]){ 2, vaddr, offset, n }[i], 8);
	for (size_t i = 0; i < 3; i++)
		put_word(b, i == 1 ? 8 : 0, 8);
}

static void put_segment(struct buf *b, uint32_t flags, uint64_t offset, uint64_t vaddr, uint64_t n)
{
	put_word(b, PT_LOAD, 4);
	put_word(b, flags, 4);
	for (size_t i = 0; i < 6; i++)
		put_word(b, (uint64_t[]){ offset, vaddr, vaddr, n, n, 0x1000 }[i], 8);
}

static void put_module(struct buf *b, const struct layout *l, size_t names_at, size_t table_n)
{
	put_zeroes(b, MODULE_AT);
	for (unsigned int i = 0; i < MODULE_WORDS; i++) {
		uint64_t v = i == 0 ? DATA : i == 1 ? DATA + names_at : i == 22 ? TEXT : i == l->funcs ? TREES :
			     l->ends && i == l->funcs + 1 ? DATA + table_n : 0;

		put_word(b, v, 8);
	}
}

/* Writes a file: header, three segments, code, the table, trees, the module's data, sections. */
static void put_file(struct buf *b, const struct layout *l, unsigned int how)
{
	static const char names[] = "\0.text\0.gopclntab\0.shstrtab";
	bool sections = !(how & NO_SECTIONS);
	size_t names_at = l->magic == 0xfb ? 16 + (FUNCTIONS * 2 + 1) * 8 + 4 : l->field == 8 ? 64 : 72;
	size_t sections_at, strings_at;
	struct buf table = { 0 };
	struct parts p;

	put_table(&table, l, how, &p);
	buf_bytes(b, "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0", 16);
	put_word(b, ET_EXEC | EM_X86_64 << 16, 4);
	put_word(b, 1, 4);
	put_word(b, TEXT, 8);
	put_word(b, 64, 8);
	strings_at = MODULE_AT + MODULE_WORDS * 8;
	sections_at = (strings_at + sizeof(names) + 7) & ~(size_t)7;
	put_word(b, sections ? sections_at : 0, 8);
	put_word(b, 64ull << 32 | 56ull << 48, 8); /* flags; sizes of the header and of a segment's */
	put_word(b, 3 | (sections ? 64ull << 16 | 4ull << 32 | 3ull << 48 : 0), 8);
	put_segment(b, PF_R | PF_X, TEXT_AT, TEXT, TEXT_N);
	put_segment(b, PF_R, DATA_AT, DATA, 0x2000);
	put_segment(b, PF_R | PF_W, 0x4000, 0x604000, 8 + MODULE_WORDS * 8);
	put_zeroes(b, DATA_AT);
	buf_bytes(b, table.p, table.n);
	put_trees(b, l, how, &p, l->magic == 0xfb ? names_at : 0);
	if (!(how & NO_MODULE) && l->funcs)
		put_module(b, l, names_at, table.n);
	put_zeroes(b, strings_at);
	buf_bytes(b, names, sizeof(names));
	put_zeroes(b, sections_at);
	put_section(b, 0, SHT_NULL, 0, 0, 0);
	put_section(b, 1, SHT_PROGBITS, TEXT, TEXT_AT, TEXT_N);
	put_section(b, 7, SHT_PROGBITS, DATA, DATA_AT, table.n);
	put_section(b, 18, SHT_STRTAB, 0, strings_at, sizeof(names));
	for (size_t i = 0; i < 5; i++)
		buf_release((struct buf *[]){ &p.names, &p.units, &p.paths, &p.values, &p.records }[i]);
	buf_release(&table);
}

/* Formats the chain at an address as text, "main.outer a.go:10 > main.middle …". */
static void chain_at(const struct gonames *g, uint64_t vaddr, struct buf *out)
{
	struct goname_call c[GONAMES_DEPTH];
	size_t n = gonames_chain(g, vaddr, c);

	buf_clear(out);
	for (size_t i = 0; i < n; i++) {
		buf_text(out, i ? " > " : "");
		buf_bytes(out, c[i].name.p, c[i].name.n);
		if (c[i].line)
			buf_printf(out, " %.*s:%u", (int)c[i].file.n, (const char *)c[i].file.p, c[i].line);
	}
}

struct expected {
	uint32_t at;
	const char *chain;
};

static const struct expected sound[] = {
	{ 0x00, "main.plain" }, { 0x40, "main.plain" }, { 0xa0, "main.last" }, { 0xbf, "main.last" }, { 0xc0, "" },
	{ 0x41, "main.outer /src/a.go:10" },
	{ 0x48, "main.outer /src/a.go:10" },
	{ 0x49, "main.outer /src/a.go:10 > main.middle /src/a.go:20" },
	{ 0x51, "main.outer /src/a.go:10 > main.middle /src/a.go:20 > main.inner /src/b.go:30" },
	{ 0x70, "main.outer /src/a.go:10 > main.middle /src/a.go:20 > main.inner /src/b.go:30" },
	{ 0x71, "main.outer /src/a.go:11" }, { 0x9f, "main.outer /src/a.go:11" }, { 0 }
};
/* Damaged entries are left out; all others stay. */
static const struct expected alone[] = {
	{ 0x48, "main.outer /src/a.go:10" }, { 0x51, "main.outer /src/b.go:30" }, { 0 }
};
static const struct expected no_inner[] = {
	{ 0x49, "main.outer /src/a.go:10 > main.middle /src/a.go:20" }, { 0x51, "main.outer" },
	{ 0x71, "main.outer /src/a.go:11" }, { 0 }
};
static const struct expected no_files[] = {
	{ 0x48, "main.outer" }, { 0x51, "main.outer > main.middle > main.inner" }, { 0 }
};
static const struct expected no_lists[] = { { 0x48, "main.outer" }, { 0x51, "main.outer" }, { 0 } };

static bool holds(const struct layout *l, unsigned int how, const struct expected *e)
{
	struct buf b = { 0 }, got = { 0 };
	struct gonames *g = NULL;
	struct elf_file *f = NULL;
	bool good;

	put_file(&b, l, how);
	good = elf_open_bytes(buf_view(&b), &f) == ELF_OPENED && gonames_open(f, &g) && g;
	elf_close(f);
	for (size_t i = 0; good && e[i].chain; i++) {
		chain_at(g, TEXT + e[i].at, &got);
		if (!slice_is(buf_view(&got), e[i].chain)) {
			printf("# %x: got %s\n# want %s\n", e[i].at, buf_cstr(&got), e[i].chain);
			good = false;
		}
	}
	gonames_free(g);
	buf_release(&b);
	buf_release(&got);
	return good;
}

static void check_layout(const struct layout *l)
{
	static const struct {
		unsigned int how;
		const char *what;
		const struct expected *expected;
	} cases[] = {
		{ 0, "functions, calls and lines", sound },
		{ NO_SECTIONS, "the same without section headers", sound },
		{ CIRCLE, "a call inside itself", no_inner },
		{ FAR_PARENT, "a call behind the function's end", no_inner },
		{ NO_NAME, "a call without a name", no_inner },
		{ FAR_UNIT, "files beyond the last", no_files },
		{ FAR_LIST, "lists beyond the values", no_lists },
		{ MANY_LISTS, "more lists than bytes", alone },
		{ NO_MODULE, "nobody says where the trees are", alone },
	};
	char line[128];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if ((cases[i].how == NO_MODULE && !l->funcs) || (cases[i].how == FAR_UNIT && l->magic == 0xfb))
			continue;
		snprintf(line, sizeof(line), "%s: %s", l->name, cases[i].what);
		check(holds(l, cases[i].how, cases[i].expected), line);
	}
}

int main(int argc, char **argv)
{
	size_t n = sizeof(layouts) / sizeof(layouts[0]);

	if (argc == 3 && strcmp(argv[1], "write") == 0) {
		struct buf b = { 0 };

		put_file(&b, &layouts[strtoul(argv[2], NULL, 10) % n], 0);
		fwrite(b.p, 1, b.n, stdout);
		buf_release(&b);
		return fflush(stdout) != 0;
	}
	for (size_t i = 0; i < n; i++)
		check_layout(&layouts[i]);
	return checks_done();
}
