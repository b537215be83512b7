/*
 * The rules of cprof-sym for choosing a symbol, once more and as simple as they can be: every symbol is
 * looked at for every address. It reads no ELF but the text of readelf.
 *
 *	readelf -SW -sW FILE | sym-reference 0x1000 0x1001 ...		or addresses on descriptor 3
 *
 * Prints "ADDRESS NAME+OFFSET" or "ADDRESS -". Says nothing about the stubs in .plt*.
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

static void read_symbol(const char *line, int table)
{
	static const char *const bindings[] = { "GLOBAL", "WEAK", "LOCAL", NULL };
	static const char *const types[] = { "FUNC", "NOTYPE", "OBJECT", NULL };
	char size[32], type[32], binding[32], visibility[32], index[32], name[65536], *at;
	unsigned long long value;
	struct symbol s;

	if (sscanf(line, " %*d: %llx %31s %31s %31s %31s %31s %65535s", &value, size, type, binding, visibility, index,
		   name) != 7 || index[0] < '0' || index[0] > '9')
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

/* Is a the better name for the same range? */
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

static bool covers(const struct symbol *s, uint64_t address)
{
	return s->start <= address && address < s->end;
}

static const struct symbol *innermost(uint64_t address)
{
	const struct symbol *best = NULL;

	for (size_t i = 0; i < n_symbols; i++) {
		const struct symbol *s = &symbols[i];

		if (!covers(s, address))
			continue;
		if (!best || s->start > best->start || (s->start == best->start && s->end < best->end) ||
		    (s->start == best->start && s->end == best->end && better(s, best)))
			best = s;
	}
	return best;
}

/* A label that this address may belong to, where no symbol with a size covers it. */
static const struct symbol *label(uint64_t address)
{
	const struct symbol *last = NULL;

	for (size_t i = 0; i < n_symbols; i++) {
		const struct symbol *s = &symbols[i];

		if (s->start <= address && (!last || s->start > last->start || (s->start == last->start && better(s, last))))
			last = s;
	}
	if (!last || last->start != last->end || address >= sections[last->section].end || innermost(last->start) ||
	    (last->order[0] == 1 && address != last->start))
		return NULL;
	return last;
}

static void answer(uint64_t address)
{
	const struct symbol *s = innermost(address);

	for (size_t i = 0; i < 1 << 16; i++) {
		if (sections[i].plt && sections[i].start <= address && address < sections[i].end)
			return;
	}
	s = s ? s : label(address);
	if (s)
		printf("0x%" PRIx64 " %s+%" PRIu64 "\n", address, s->name, address - s->start);
	else
		printf("0x%" PRIx64 " -\n", address);
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
		answer(strtoull(argv[i], NULL, 0));
	in = argc == 1 ? fdopen(3, "r") : NULL;
	while (in && fgets(line, sizeof(line), in))
		answer(strtoull(line, NULL, 0));
	return 0;
}
