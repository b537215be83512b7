/*
 * The rules of cprof-sym for choosing a symbol, again and as simple as possible: every symbol is compared for
 * every address that it covers, and the better one is kept. It reads not ELF but the text of readelf.
 *
 *	readelf -SW -sW FILE | sym-reference 0x1000 0x1001 ...		or addresses on descriptor 3
 *
 * Prints "ADDRESS NAME+OFFSET" or "ADDRESS -". Ignores the stubs in .plt*.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct section {
	uint64_t start, end;
	bool code, plt;
};

struct symbol {
	uint64_t start, end;
	int order[3]; /* table, binding, type: lower is better */
	int section;
	char *name;
};

static struct section sections[1 << 16];
static size_t n_sections;
static struct symbol *symbols;
static size_t n_symbols, cap;

static void read_section(char *line)
{
	char name[512], type[64], flags[64] = "";
	unsigned long long address, offset, size, entry;
	char *at = strchr(line, ']');
	int i = atoi(strchr(line, '[') + 1);

	if (sscanf(at + 1, " %511s %63s %llx %llx %llx %llx %63s", name, type, &address, &offset, &size, &entry,
		   flags) < 7 || i < 0 || i >= 1 << 16)
		return;
	sections[i] = (struct section){ address, address + size, strchr(flags, 'A') && strchr(flags, 'X'),
					strncmp(name, ".plt", 4) == 0 };
	if ((size_t)i >= n_sections)
		n_sections = (size_t)i + 1;
}

static int rank(const char *word, const char *const *words)
{
	int i = 0;

	while (words[i] && strcmp(words[i], word) != 0)
		i++;
	return words[i] ? i : -1;
}

static bool is_mark(const char *type, const char *name)
{
	return strcmp(type, "NOTYPE") == 0 && name[0] == '$' && name[1] && strchr("adtx", name[1]) &&
	       (!name[2] || name[2] == '.');
}

static void read_symbol(char *line, int table)
{
	static const char *const bindings[] = { "GLOBAL", "WEAK", "LOCAL", NULL };
	static const char *const types[] = { "FUNC", "NOTYPE", "OBJECT", NULL };
	char size[32], type[32], binding[32], visibility[32], index[32], *name, *at;
	unsigned long long value;
	struct symbol s;
	int length = 0;

	if (sscanf(line, " %*d: %llx %31s %31s %31s %31s %31s %n", &value, size, type, binding, visibility, index,
		   &length) != 6 || !length || index[0] < '0' || index[0] > '9')
		return;
	name = line + length; /* may have spaces in it */
	name[strcspn(name, "\n")] = '\0';
	if (!name[0])
		return;
	s.order[0] = table;
	s.order[1] = rank(strcmp(binding, "UNIQUE") == 0 ? "GLOBAL" : binding, bindings);
	s.order[2] = rank(strcmp(type, "IFUNC") == 0 ? "FUNC" : type, types);
	s.section = atoi(index);
	at = strchr(name + 1, '@');
	if (at)
		*at = '\0';
	if (s.order[1] < 0 || s.order[2] < 0 || !sections[s.section].code || is_mark(type, name))
		return;
	s.start = value;
	s.end = value + strtoull(size, NULL, 0);
	if (s.start < sections[s.section].start || s.start >= sections[s.section].end)
		return;
	if (s.end > sections[s.section].end)
		s.end = sections[s.section].end;
	s.name = strdup(name);
	if (n_symbols == cap)
		symbols = realloc(symbols, (cap = cap * 2 + 1000) * sizeof(*symbols));
	symbols[n_symbols++] = s;
}

/* Returns whether a is the better name for the same range. */
static bool better(const struct symbol *a, const struct symbol *b)
{
	size_t n_a, n_b;

	for (int i = 0; i < 3; i++) {
		if (a->order[i] != b->order[i])
			return a->order[i] < b->order[i];
	}
	n_a = strspn(a->name, "_");
	n_b = strspn(b->name, "_");
	if (n_a != n_b)
		return n_a < n_b;
	n_a = strlen(a->name);
	n_b = strlen(b->name);
	return n_a != n_b ? n_a < n_b : strcmp(a->name, b->name) < 0;
}

/* A queried address, and the symbols found for it. */
struct question {
	uint64_t address;
	size_t number;                    /* in the order of asking */
	const struct symbol *inner, *last; /* the innermost covering symbol; the last one that begins at or before it */
	bool plt;
};

static struct question *questions;
static size_t n_questions, cap_questions;

static void ask(const char *text)
{
	if (n_questions == cap_questions)
		questions = realloc(questions, (cap_questions = cap_questions * 2 + 1000) * sizeof(*questions));
	questions[n_questions] = (struct question){ .address = strtoull(text, NULL, 0), .number = n_questions };
	n_questions++;
}

static int by_address(const void *a, const void *b)
{
	const struct question *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static int by_number(const void *a, const void *b)
{
	const struct question *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

/* Returns the first question at or after an address. */
static size_t first_question(uint64_t address)
{
	size_t i = 0, n = n_questions;

	while (n > 0) {
		if (questions[i + n / 2].address < address) {
			i += n / 2 + 1;
			n -= n / 2 + 1;
		} else {
			n /= 2;
		}
	}
	return i;
}

static void hold(const struct symbol *s)
{
	for (size_t i = first_question(s->start); i < n_questions && questions[i].address < s->end; i++) {
		const struct symbol *best = questions[i].inner;

		if (!best || s->start > best->start || (s->start == best->start && s->end < best->end) ||
		    (s->start == best->start && s->end == best->end && better(s, best)))
			questions[i].inner = s;
	}
}

/*
 * A label ends at the next symbol of any section, so only the last one that begins counts, over all sections.
 */
static int by_start(const void *a, const void *b)
{
	const struct symbol *x = *(const struct symbol *const *)a, *y = *(const struct symbol *const *)b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return better(x, y) ? -1 : better(y, x);
}

static void find_last(void)
{
	const struct symbol **sorted = malloc((n_symbols + 1) * sizeof(*sorted)), *last = NULL;
	size_t at = 0;

	for (size_t i = 0; i < n_symbols; i++)
		sorted[i] = &symbols[i];
	qsort(sorted, n_symbols, sizeof(*sorted), by_start);
	for (size_t i = 0; i < n_questions; i++) {
		for (; at < n_symbols && sorted[at]->start <= questions[i].address; at++) {
			if (!last || sorted[at]->start != last->start)
				last = sorted[at];
		}
		questions[i].last = last;
	}
	free(sorted);
}

static bool in_plt(uint64_t address)
{
	for (size_t i = 0; i < n_sections; i++) {
		if (sections[i].plt && sections[i].start <= address && address < sections[i].end)
			return true;
	}
	return false;
}

static bool covered(uint64_t address)
{
	for (size_t i = 0; i < n_symbols; i++) {
		if (symbols[i].start <= address && address < symbols[i].end)
			return true;
	}
	return false;
}

/* Returns a label that this address may belong to, if no symbol with a size covers it; otherwise NULL. */
static const struct symbol *label(const struct question *q)
{
	const struct symbol *last = q->last;

	if (!last || last->start != last->end || q->address >= sections[last->section].end || covered(last->start) ||
	    (last->order[0] == 1 && q->address != last->start))
		return NULL;
	return last;
}

static void answer(void)
{
	qsort(questions, n_questions, sizeof(*questions), by_address);
	for (size_t i = 0; i < n_symbols; i++)
		hold(&symbols[i]);
	find_last();
	qsort(questions, n_questions, sizeof(*questions), by_number);
	for (size_t i = 0; i < n_questions; i++) {
		const struct question *q = &questions[i];
		const struct symbol *s = q->inner ? q->inner : label(q);

		if (in_plt(q->address))
			continue;
		if (s)
			printf("0x%" PRIx64 " %s+%" PRIu64 "\n", q->address, s->name, q->address - s->start);
		else
			printf("0x%" PRIx64 " -\n", q->address);
	}
}

int main(int argc, char **argv)
{
	static char line[1 << 20];
	int table = -1;
	FILE *in;

	while (fgets(line, sizeof(line), stdin)) {
		if (strncmp(line, "  [", 3) == 0 && table < 0)
			read_section(line);
		else if (strncmp(line, "Symbol table", 12) == 0)
			table = strstr(line, ".dynsym") != NULL;
		else if (table >= 0)
			read_symbol(line, table);
	}
	for (int i = 1; i < argc; i++)
		ask(argv[i]);
	in = argc == 1 ? fdopen(3, "r") : NULL;
	while (in && fgets(line, sizeof(line), in))
		ask(line);
	answer();
	return 0;
}
