/*
 * Runs the walk on written cases: registers, stack, mappings and tables, and the expected frames.
 *
 *	unwind-walk FILE...	a TAP line for each case
 *	unwind-walk random N	N walks over noise: each ends, and stays within the memory it was given
 *
 * A case is lines of words; numbers are hexadecimal, but decimal after = in a row; # begins a comment:
 *
 *	case TEXT
 *	file NAME [none|refused|ask]	state of its table, otherwise its rows; ask: has them once asked for
 *	row NAME OFFSET KIND [KEY=N]...	from this file offset on; KIND and KEY as in common/unwind/rule.h
 *	map START END OFFSET NAME|-	executable memory, ascending; -: of no file
 *	regs NAME=VALUE...		those not given are bad0bad0bad0bad0
 *	stack ADDRESS WORD...		ascending; memory between lines is zero; all of it is the copy
 *	depth N				frames at most, 512 if not given
 *	frame PC [!]			leaf first; !: not a return address
 *	end WORD			as in cprof-fold
 */
#include <stdlib.h>
#include <string.h>

#include "common/stream/record.h"
#include "common/walk/host_walk.h"
#include "tests/lib/check.h"

enum { NAMED = 8, MAPPINGS = 64, ROWS = 256, FRAMES = 1024, STACK = 9 << 20, LINE = 1024 };

struct named {
	char name[32];
	enum unwind_file_state state;
	struct { uint32_t offset; struct unwind_rule rule; } rows[ROWS];
	size_t n;
	uint32_t number; /* in the store */
};

struct frame {
	uint64_t pc;
	bool exact;
};

enum { CODE = 16 };

struct unwind_case {
	char text[LINE], end[32];
	struct named files[NAMED];
	size_t n_files;
	struct unwind_mapping maps[MAPPINGS]; /* .file is an index in files, + 1 */
	size_t n_maps;
	uint64_t regs[UNWIND_REGISTERS];
	uint64_t stack_at;
	size_t stack_n; /* bytes of stack_read */
	struct frame frames[FRAMES];
	size_t n_frames, depth;
	uint64_t code_at;
	uint8_t code[CODE];
	size_t code_n;
};

static uint8_t stack_read[STACK];
static const char *file_read;
static unsigned int line_read;

static void fail(const char *what, const char *word)
{
	fprintf(stderr, "%s:%u: %s \"%s\"\n", file_read, line_read, what, word ? word : "");
	exit(2);
}

static uint64_t number(const char *text, int base)
{
	char *end = NULL;
	uint64_t v = text ? strtoull(text, &end, base) : 0;

	if (!text || end == text || *end)
		fail("no number", text);
	return v;
}

static int word_in(const char *const *names, size_t n, const char *text)
{
	for (size_t i = 0; text && i < n; i++)
		if (names[i] && strcmp(names[i], text) == 0)
			return (int)i;
	fail("unknown", text);
	return 0;
}

#define WORD_IN(names, text) word_in(names, sizeof(names) / sizeof(*(names)), text)

static char *next_word(void)
{
	return strtok(NULL, " \t");
}

/* Reads KEY=VALUE; returns false at the end of the line. */
static bool next_pair(char **key, char **value)
{
	*key = next_word();
	if (!*key)
		return false;
	*value = strchr(*key, '=');
	if (!*value)
		fail("no value for", *key);
	*(*value)++ = '\0';
	return true;
}

static struct named *named(struct unwind_case *c, const char *name)
{
	for (size_t i = 0; name && i < c->n_files; i++)
		if (strcmp(c->files[i].name, name) == 0)
			return &c->files[i];
	fail("no file", name);
	return NULL;
}

static void take_file(struct unwind_case *c)
{
	static const char *const states[] = { "none", "ask", "ready", "refused" };
	const char *name = next_word(), *state = next_word();
	struct named *f = &c->files[c->n_files++];

	if (!name || c->n_files > NAMED)
		fail("too many files", name);
	snprintf(f->name, sizeof(f->name), "%s", name);
	f->state = state ? (enum unwind_file_state)WORD_IN(states, state) : UNWIND_FILE_READY;
}

static void take_row(struct unwind_case *c)
{
	static const char *const kinds[] = { "gap", "stop", "bad", "cfa_rsp", "cfa_rbp", "cfa_rbx", "cfa_reg", "deref_rsp",
					     "deref_rbp", "plt", "signal", "ra_reg", "pushes", "pops" };
	static const char *const saves[] = { "same", "at_cfa", "at_rbp", "is_cfa", "lost" };
	static const char *const keys[] = { "reg", "bp", "bx", "cfa", "bp_at", "bx_at", "mask" };
	struct named *f = named(c, next_word());
	uint32_t offset = (uint32_t)number(next_word(), 16);
	struct unwind_rule r = { .kind = (uint8_t)WORD_IN(kinds, next_word()) };
	char *key, *value;

	while (next_pair(&key, &value)) {
		switch (WORD_IN(keys, key)) {
		case 0: r.reg = (uint8_t)number(value, 10); break;
		case 1: r.bp = (uint8_t)WORD_IN(saves, value); break;
		case 2: r.bx = (uint8_t)WORD_IN(saves, value); break;
		case 3: r.cfa = (int32_t)number(value, 10); break;
		case 4: r.bp_at = (int32_t)number(value, 10); break;
		case 5: r.bx_at = (int16_t)number(value, 10); break;
		default: r.mask = (uint16_t)number(value, 10); break;
		}
	}
	if (f->n == ROWS || (f->n && f->rows[f->n - 1].offset >= offset))
		fail("row out of order", f->name);
	f->rows[f->n].offset = offset;
	f->rows[f->n++].rule = r;
}

static void take_map(struct unwind_case *c)
{
	uint64_t start = number(next_word(), 16), end = number(next_word(), 16), offset = number(next_word(), 16);
	const char *name = next_word();
	uint32_t file = name && strcmp(name, "-") != 0 ? (uint32_t)(named(c, name) - c->files) + 1 : 0;

	if (c->n_maps == MAPPINGS || (c->n_maps && c->maps[c->n_maps - 1].end > start))
		fail("mapping out of order", name);
	c->maps[c->n_maps++] = (struct unwind_mapping){ start, end, offset, file, 0 };
}

static void take_regs(struct unwind_case *c)
{
	static const char *const names[] = { "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9",
					     "r10", "r11", "r12", "r13", "r14", "r15", "rip" };
	char *key, *value;

	while (next_pair(&key, &value))
		c->regs[WORD_IN(names, key)] = number(value, 16);
}

static void take_stack(struct unwind_case *c)
{
	uint64_t at = number(next_word(), 16), word;
	const char *text;

	if (c->stack_n == 0)
		c->stack_at = at;
	if (at < c->stack_at + c->stack_n)
		fail("stack out of order", "");
	while ((text = next_word())) {
		if (at - c->stack_at > STACK - 8)
			fail("stack too large", text);
		word = number(text, 16);
		memcpy(stack_read + (at - c->stack_at), &word, 8);
		at += 8;
		c->stack_n = at - c->stack_at;
	}
}

static void take_frame(struct unwind_case *c)
{
	uint64_t pc = number(next_word(), 16);

	if (c->n_frames == FRAMES)
		fail("too many frames", "");
	c->frames[c->n_frames++] = (struct frame){ pc, next_word() != NULL };
}

/* Makes a table of the rows, from the first one's page on. A page begins by repeating the rule in force. */
static struct unwind_table table_of(const struct named *f)
{
	struct unwind_table t = { .n_rules = f->n + 1, .first_page = f->n ? f->rows[0].offset >> UNWIND_PAGE_SHIFT : 0 };
	size_t i = 0;

	t.n_pages = f->n ? (f->rows[f->n - 1].offset >> UNWIND_PAGE_SHIFT) + 1 - t.first_page : 0;
	t.rules = calloc(t.n_rules, sizeof(*t.rules));
	t.rows = calloc(f->n + t.n_pages + 1, sizeof(*t.rows));
	t.pages = calloc(t.n_pages + 1, sizeof(*t.pages));
	for (size_t k = 0; k < f->n; k++)
		t.rules[k + 1] = f->rows[k].rule;
	for (size_t p = 0; p < t.n_pages; p++) {
		uint32_t page = (uint32_t)(t.first_page + p);

		t.pages[p].first = (uint32_t)t.n_rows;
		if (f->rows[i].offset != page << UNWIND_PAGE_SHIFT)
			t.rows[t.n_rows++] = (uint32_t)i; /* the rule of the row before: index + 1 */
		for (; i < f->n && f->rows[i].offset >> UNWIND_PAGE_SHIFT == page; i++)
			t.rows[t.n_rows++] = f->rows[i].offset << 16 | (uint32_t)(i + 1);
		t.pages[p].n = (uint32_t)t.n_rows - t.pages[p].first;
	}
	return t;
}

struct memory {
	void *shards[STORE_AREAS + 2];
	size_t n;
};

static void *give_shard(void *arg, enum store_area area, uint32_t shard, size_t bytes)
{
	struct memory *m = arg;

	(void)area;
	(void)shard;
	return m->n < sizeof(m->shards) / sizeof(*m->shards) ? m->shards[m->n++] = calloc(1, bytes) : NULL;
}

static void load(struct store *s, const struct named *f)
{
	struct unwind_table t = table_of(f);

	if (store_load(s, f->number, &t) != STORE_LOADED)
		fail("no room for", f->name);
	unwind_table_release(&t);
}

static void load_all(struct store *s, struct unwind_case *c)
{
	for (size_t i = 0; i < c->n_files; i++) {
		c->files[i].number = store_file(s);
		if (c->files[i].state == UNWIND_FILE_READY)
			load(s, &c->files[i]);
		else
			store_mark(s, c->files[i].number, c->files[i].state);
	}
	for (size_t i = 0; i < c->n_maps; i++)
		if (c->maps[i].file)
			c->maps[i].file = c->files[c->maps[i].file - 1].number;
}

/* Takes one step; if the walk asks for a table, loads it and takes the step again. */
static int step(struct store *s, struct unwind_case *c, struct unwind_host *h)
{
	struct walk before = h->walk;
	int end = unwind_host_step(h);

	if (end != WALK_ASK)
		return end;
	if (memcmp(before.regs, h->walk.regs, sizeof(before.regs)) != 0)
		fail("registers changed by a question", c->text);
	for (size_t i = 0; i < c->n_files; i++)
		if (c->files[i].number == h->walk.file_at)
			load(s, &c->files[i]);
	return unwind_host_step(h);
}

static const char *end_word(const struct unwind_host *h, int end)
{
	return end == WALK_UNREADABLE && h->beyond ? root_name(ROOT_COPY) : root_name((uint64_t)end);
}

static bool find(void *arg, uint64_t address, struct unwind_mapping *out)
{
	const struct unwind_case *c = arg;

	for (size_t i = 0; i < c->n_maps; i++) {
		*out = c->maps[i];
		if (address >= out->start && address < out->end)
			return true;
	}
	return false;
}

/* found: the walk finds each mapping by a call. */
static bool walk_one(struct unwind_case *c, struct store *s, const uint8_t *stack,
		     struct unwind_memory *memory, bool found)
{
	struct unwind_host h = { .store = s,
				 .memory = memory,
				 .mappings = found ? NULL : c->maps,
				 .n_mappings = found ? 0 : c->n_maps,
				 .find = found ? find : NULL,
				 .find_arg = c,
				 .stack_at = c->stack_at,
				 .stack = { stack, c->stack_n },
				 .code_at = c->code_at,
				 .code = { c->code, c->code_n },
				 .walk = { .exact = 1, .inner = 1, .bx_known = 1 } };
	struct frame got[FRAMES] = { { c->regs[UNWIND_RIP], true } };
	size_t n = 1;
	int end = WALK_ON;
	bool good;

	memcpy(h.walk.regs, c->regs, sizeof(c->regs));
	while (n < c->depth && (end = step(s, c, &h)) == WALK_ON)
		got[n++] = (struct frame){ h.walk.regs[UNWIND_RIP], h.walk.exact };
	if (end == WALK_ON)
		end = WALK_DEPTH;
	good = n == c->n_frames && strcmp(end_word(&h, end), c->end) == 0;
	for (size_t i = 0; good && i < n; i++)
		good = got[i].pc == c->frames[i].pc && got[i].exact == c->frames[i].exact;
	for (size_t i = 0; !good && i < n; i++)
		printf("# got: frame %llx%s\n", (unsigned long long)got[i].pc, got[i].exact ? " !" : "");
	if (!good)
		printf("# got: end %s\n", end_word(&h, end));
	return good;
}

/* Rules are searched for, then remembered, then found in memory; then mappings are found by a call. */
static void run(struct unwind_case *c)
{
	struct memory m = { .n = 0 };
	struct store *s = store_new(&(struct store_backing){ give_shard, &m }, 2 << 20);
	struct unwind_memory *memory = calloc(1, sizeof(*memory));
	uint8_t *stack = malloc(c->stack_n + 1); /* of exactly its size, for the sanitizers */

	memcpy(stack, stack_read, c->stack_n);
	load_all(s, c);
	check(walk_one(c, s, stack, NULL, false) && walk_one(c, s, stack, memory, false) &&
	      walk_one(c, s, stack, memory, false) && walk_one(c, s, stack, NULL, true), c->text);
	store_free(s);
	free(memory);
	for (size_t i = 0; i < m.n; i++)
		free(m.shards[i]);
	free(stack);
}

static void begin(struct unwind_case *c, const char *text)
{
	memset(stack_read, 0, c->stack_n);
	memset(c, 0, sizeof(*c));
	snprintf(c->text, sizeof(c->text), "%s", text ? text : "");
	for (int i = 0; i < UNWIND_REGISTERS; i++)
		c->regs[i] = 0xbad0bad0bad0bad0;
	c->depth = 512;
}

/* Reads bytes of code, two digits each, that end at an address. */
static void take_code(struct unwind_case *c)
{
	uint64_t end = number(next_word(), 16);
	const char *byte;

	for (c->code_n = 0; (byte = next_word()); c->code_n++) {
		if (c->code_n == CODE)
			fail("too much code", byte);
		c->code[c->code_n] = (uint8_t)number(byte, 16);
	}
	c->code_at = end - c->code_n;
}

static void take_line(struct unwind_case *c, char *line)
{
	static const char *const words[] = { "case", "file", "row", "map", "regs", "stack", "depth", "frame", "code", "end" };
	char *word = strtok(line, " \t");
	const char *end;

	switch (WORD_IN(words, word)) {
	case 0: begin(c, strtok(NULL, "")); break;
	case 1: take_file(c); break;
	case 2: take_row(c); break;
	case 3: take_map(c); break;
	case 4: take_regs(c); break;
	case 5: take_stack(c); break;
	case 6: c->depth = number(next_word(), 16); break;
	case 7: take_frame(c); break;
	case 8: take_code(c); break;
	default:
		end = next_word();
		snprintf(c->end, sizeof(c->end), "%s", end ? end : "");
		run(c);
	}
	if (next_word())
		fail("words left over in a line of", word);
}

static void run_file(const char *path)
{
	static struct unwind_case c;
	FILE *f = fopen(path, "r");
	char line[LINE];

	file_read = path;
	line_read = 0;
	if (!f)
		fail("cannot open", path);
	while (fgets(line, sizeof(line), f)) {
		line_read++;
		line[strcspn(line, "#\n")] = '\0';
		if (line[strspn(line, " \t")])
			take_line(&c, line);
	}
	fclose(f);
}

/*
 * Noise: any rules, registers that mostly point into the stack, and a stack that points to itself and to code
 */

enum { NOISE_STACK = 4096, NOISE_CODE = 0x400000 };

static const uint64_t noise_base = 0x7ffc00000000;

static uint64_t noise_value(void)
{
	uint64_t kind = random_below(40);

	if (kind == 0)
		return random_u64();
	if (kind == 1)
		return random_below(64);
	return kind < 22 ? NOISE_CODE + random_below(0x1000) : noise_base + random_below(NOISE_STACK) / 8 * 8;
}

static struct unwind_rule noise_rule(void)
{
	struct unwind_rule r = { .kind = (uint8_t)random_below(UNWIND_KINDS + 1), .reg = (uint8_t)random_below(random_below(4) ? 17 : 256),
				 .bp = (uint8_t)random_below(UNWIND_SAVES + 1), .bx = (uint8_t)random_below(UNWIND_SAVES + 1),
				 .mask = (uint16_t)random_u64() };

	r.cfa = random_below(8) ? (int32_t)random_below(16) * 8 - 16 : (int32_t)random_u64();
	r.bp_at = random_below(8) ? (int32_t)random_below(16) * 8 - 64 : (int32_t)random_u64();
	r.bx_at = (int16_t)(random_below(8) ? random_below(128) - 64 : random_u64());
	return r;
}

static struct store *noise_store(struct memory *m, struct unwind_mapping *map)
{
	struct store *s = store_new(&(struct store_backing){ give_shard, m }, 2 << 20);
	struct named f = { .n = ROWS };

	for (uint32_t i = 0; i < ROWS; i++) {
		f.rows[i].offset = i * 16;
		f.rows[i].rule = noise_rule();
	}
	f.number = store_file(s);
	load(s, &f);
	*map = (struct unwind_mapping){ NOISE_CODE, NOISE_CODE + 0x1000, 0, f.number, 0 };
	return s;
}

static void noise(uint64_t walks)
{
	struct memory m = { .n = 0 };
	struct unwind_mapping map;
	struct store *s = noise_store(&m, &map);
	struct unwind_memory *memory = calloc(1, sizeof(*memory));
	uint64_t ends[ROOTS] = { 0 }, frames = 0;
	bool known = true;

	for (uint64_t i = 0; i < walks; i++) {
		uint64_t *stack = malloc(NOISE_STACK);
		struct unwind_host h = { .store = s, .memory = memory, .mappings = &map, .n_mappings = 1,
					 .stack_at = noise_base, .stack = { (uint8_t *)stack, NOISE_STACK }, .walk = { .exact = 1, .inner = 1, .bx_known = 1 } };
		int end = WALK_ON, n = 0;

		for (size_t k = 0; k < NOISE_STACK / 8; k++)
			stack[k] = noise_value();
		for (int k = 0; k < UNWIND_REGISTERS; k++)
			h.walk.regs[k] = noise_base + random_below(NOISE_STACK / 2) / 8 * 8;
		h.walk.regs[UNWIND_RIP] = NOISE_CODE + random_below(0x1000);
		while (n++ < 1023 && (end = unwind_host_step(&h)) == WALK_ON)
			frames++;
		known = known && (end == WALK_ON || end < ROOTS);
		ends[end == WALK_ON ? WALK_DEPTH : end]++;
		free(stack);
	}
	printf("# %llu frames, ends:", (unsigned long long)frames);
	for (int i = 0; i < ROOTS; i++)
		printf(" %s %llu", root_name((uint64_t)i), (unsigned long long)ends[i]);
	putchar(10);
	check(known, "walks over noise end");
	check(frames > walks / 4 && ends[WALK_BROKEN] && ends[WALK_UNREADABLE] && ends[WALK_BAD_RULE] && ends[WALK_COMPLETE],
	      "  in many ways, some of them up the stack");
	store_free(s);
	free(memory);
	for (size_t i = 0; i < m.n; i++)
		free(m.shards[i]);
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "random") == 0)
		noise(number(argv[2], 10));
	else
		for (int i = 1; i < argc; i++)
			run_file(argv[i]);
	return checks_done();
}
