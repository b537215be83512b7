#include "common/resolve/kallsyms.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/array.h"
#include "common/base/search.h"
#include "common/symbols/prefer.h"

enum {
	CHUNK = 64 * 1024,
	SYMBOLS_MAX = 1 << 24,
	PAGE = 4096,
	UNSIZED_MAX = 64 * 1024, /* no symbol of a module of unknown size is longer */
	NO_NAME = 0,             /* as a name offset: the entry has no name */
};

/* A module; kallsyms lists all its symbols together. */
struct kallsyms_module {
	uint64_t end;    /* end of its memory; 0: unknown */
	uint32_t name;   /* offset in names */
	uint32_t name_n;
};

void kallsyms_release(struct kallsyms *t)
{
	free(t->address);
	free(t->name);
	free(t->module);
	free(t->modules);
	buf_release(&t->names);
	*t = (struct kallsyms){ 0 };
}

/* --- choosing among aliases ------------------------------------------------------------------ */

static bool has_prefix(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

static bool has_suffix(const char *name, const char *with)
{
	size_t n = strlen(name), m = strlen(with);

	return n >= m && strcmp(name + n - m, with) == 0;
}

/* Returns true for names of a place in the text, not of a function, or of the bytes before one. */
static bool is_label(const char *name)
{
	static const char *const prefixes[] = { "__pfx_", "__cfi_", "__pi_" };
	static const char *const names[] = { "_text", "_stext", "_etext", "_sinittext", "_einittext" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (has_prefix(name, prefixes[i]))
			return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return name[0] == '_' &&
	       (has_suffix(name, "_start") || has_suffix(name, "_end") || has_suffix(name, "_begin"));
}

static int rank_binding(char type)
{
	return type == 'T' ? 2 : type == 'W' || type == 'w' ? 1 : 0;
}

/* Returns below 0 if a is the better name. The type letter is right before each name. */
static int compare_names(const char *a, const char *b)
{
	int d = is_label(a) - is_label(b);

	if (d == 0)
		d = rank_binding(b[-1]) - rank_binding(a[-1]);
	return d ? d : prefer_name(slice_of(a), slice_of(b));
}

/* --- reading --------------------------------------------------------------------------------- */

struct line {
	uint64_t address;
	char type;
	const char *name;   /* terminated */
	const char *module; /* "[ext4]", or "" */
};

/* Parses "ffffffff81000000 T name", followed by "\t[module]" in a module. Cuts the line into its parts. */
static bool parse_line(char *text, struct line *l)
{
	char *p = text, *tab;

	for (l->address = 0; p - text < 16; p++) {
		unsigned int c = (unsigned char)*p;
		unsigned int digit = c - '0' < 10 ? c - '0' : (c | 0x20) - 'a' < 6 ? (c | 0x20) - 'a' + 10 : 16;

		if (digit == 16)
			break;
		l->address = l->address << 4 | digit;
	}
	if (p == text || p[0] != ' ' || p[1] == '\0' || p[2] != ' ' || p[3] == '\0' || p[3] == '\t')
		return false;
	l->type = p[1];
	l->name = p + 3;
	l->module = "";
	tab = strchr(p + 3, '\t');
	if (tab) {
		*tab = '\0';
		l->module = tab + 1;
	}
	return true;
}

static bool is_mapping_symbol(const char *name)
{
	return name[0] == '$' || (name[0] == '.' && name[1] == 'L');
}

/* Sets *number to the last module's or a new one's: kallsyms lists them one by one. False: out of memory. */
static bool module_number(struct kallsyms *t, const char *name, uint16_t *number)
{
	size_t n = strlen(name), last = t->n_modules;
	struct kallsyms_module *m;

	*number = 0;
	if (n == 0)
		return true;
	if (last > 1 && t->modules[last - 1].name_n == n &&
	    memcmp(t->names.p + t->modules[last - 1].name, name, n) == 0) {
		*number = (uint16_t)(last - 1);
		return true;
	}
	if (last == 0)
		last = 1;
	if (last > UINT16_MAX)
		return false;
	if (!grow_array(&t->modules, &t->cap_modules, last, sizeof(*t->modules)))
		return false;
	m = &t->modules[last];
	*m = (struct kallsyms_module){ .name = (uint32_t)t->names.n, .name_n = (uint32_t)n };
	buf_bytes(&t->names, name, n + 1);
	t->n_modules = last + 1;
	*number = (uint16_t)last;
	return !t->names.failed;
}

static bool append_symbol(struct kallsyms *t, uint64_t address, uint32_t name, uint16_t module)
{
	if (t->n >= SYMBOLS_MAX ||
	    !grow_array(&t->address, &t->cap_address, t->n, sizeof(*t->address)) ||
	    !grow_array(&t->name, &t->cap_name, t->n, sizeof(*t->name)) ||
	    !grow_array(&t->module, &t->cap_module, t->n, sizeof(*t->module)))
		return false;
	t->address[t->n] = address;
	t->name[t->n] = name;
	t->module[t->n++] = module;
	return true;
}

/* Keeps one symbol, or the better of two consecutive ones at one address. */
static bool keep_symbol(struct kallsyms *t, const struct line *l, uint16_t module)
{
	uint32_t at = (uint32_t)t->names.n;
	const char *names;
	uint32_t last;

	buf_byte(&t->names, (uint8_t)l->type);
	buf_bytes(&t->names, l->name, strlen(l->name) + 1);
	if (t->names.failed || t->names.n > UINT32_MAX / 2)
		return false;
	if (t->n == 0 || t->address[t->n - 1] != l->address)
		return append_symbol(t, l->address, at + 1, module);
	last = t->name[t->n - 1];
	names = (const char *)t->names.p;
	if (last != NO_NAME && compare_names(names + at + 1, names + last) > 0) {
		t->names.n = at;
		return true;
	}
	t->name[t->n - 1] = at + 1;
	t->module[t->n - 1] = module;
	return true;
}

static void note_bounds(struct kallsyms *t, const struct line *l)
{
	if (strcmp(l->name, "_stext") == 0)
		t->stext = l->address;
	if (strcmp(l->name, "_text") == 0 || strcmp(l->name, "_stext") == 0)
		t->text = t->text && t->text < l->address ? t->text : l->address;
	else if (strcmp(l->name, "_etext") == 0)
		t->etext = l->address;
	else if (strcmp(l->name, "_sinittext") == 0)
		t->init = l->address;
	else if (strcmp(l->name, "_einittext") == 0)
		t->init_end = l->address;
}

/*
 * Data ends the code before it. Only the first data symbol after code is kept, without its name, and only in
 * the kernel proper, which kallsyms lists in order; modules may be unsorted.
 */
static bool take_data(struct kallsyms *t, const struct line *l)
{
	if (*l->module || t->n == 0 || t->name[t->n - 1] == NO_NAME || l->address <= t->address[t->n - 1])
		return true;
	return append_symbol(t, l->address, NO_NAME, 0);
}

static bool take_line(struct kallsyms *t, const struct line *l)
{
	uint16_t module;

	if (l->address == 0 || is_mapping_symbol(l->name))
		return true;
	if (strchr("DdBbRr", l->type))
		return take_data(t, l);
	if (!strchr("TtWw", l->type))
		return true;
	if (!*l->module)
		note_bounds(t, l);
	if (strcmp(l->name, "_etext") == 0 || strcmp(l->name, "_einittext") == 0)
		return take_data(t, l);
	return module_number(t, l->module, &module) && keep_symbol(t, l, module);
}

/* Takes all whole lines of the text; moves the rest to its start. Returns false if out of memory. */
static bool take_lines(struct kallsyms *t, struct buf *text)
{
	char *line = (char *)text->p, *end;
	bool good = true;

	while (good && (end = memchr(line, '\n', text->n - (size_t)(line - (char *)text->p)))) {
		struct line l;

		*end = '\0';
		if (parse_line(line, &l)) {
			t->lines++;
			good = take_line(t, &l);
		}
		line = end + 1;
	}
	text->n -= (size_t)(line - (char *)text->p);
	memmove(text->p, line, text->n);
	if (text->n > CHUNK) /* no kernel has such a line */
		text->n = 0;
	return good;
}

static bool read_lines(struct kallsyms *t, int fd)
{
	struct buf text = { 0 };
	bool good = true;
	ssize_t got = 1;

	buf_byte(&t->names, 0); /* so that no name has the offset NO_NAME */
	while (good && got != 0) {
		if (!buf_reserve(&text, CHUNK)) {
			errno = ENOMEM;
			good = false;
			break;
		}
		got = read(fd, text.p + text.n, CHUNK);
		if (got < 0) {
			good = errno == EINTR;
			continue;
		}
		text.n += (size_t)got;
		if (got == 0 && text.n) /* a last line without a newline */
			buf_byte(&text, '\n');
		if (!take_lines(t, &text)) {
			errno = ENOMEM;
			good = false;
		}
	}
	buf_release(&text);
	return good;
}

void kallsyms_module_end(struct kallsyms *t, struct slice name, uint64_t end)
{
	for (size_t i = 1; i < t->n_modules; i++) {
		struct kallsyms_module *m = &t->modules[i];
		const char *text = (const char *)t->names.p + m->name;

		if (m->name_n == name.n + 2 && text[0] == '[' && memcmp(text + 1, name.p, name.n) == 0)
			m->end = end;
	}
}

struct entry {
	uint64_t address;
	uint32_t name;
	uint16_t module;
};

static int compare_entries(const void *x, const void *y, void *arg)
{
	const struct entry *a = x, *b = y;
	const char *names = arg;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (!a->name || !b->name)
		return (a->name == 0) - (b->name == 0);
	return compare_names(names + a->name, names + b->name);
}

/* Sorts [first, n) by address, the best name first, and keeps one entry of each address. */
static bool sort_from(struct kallsyms *t, size_t first)
{
	size_t n = t->n - first, kept = first;
	struct entry *e = malloc(n * sizeof(*e));

	if (!e)
		return false;
	for (size_t i = 0; i < n; i++)
		e[i] = (struct entry){ t->address[first + i], t->name[first + i], t->module[first + i] };
	qsort_r(e, n, sizeof(*e), compare_entries, t->names.p);
	for (size_t i = 0; i < n; i++) {
		if (kept > 0 && t->address[kept - 1] == e[i].address)
			continue;
		t->address[kept] = e[i].address;
		t->name[kept] = e[i].name;
		t->module[kept++] = e[i].module;
	}
	free(e);
	t->n = kept;
	return true;
}

/* The kernel proper is sorted already; modules and BPF programs may not be. */
static bool sort_table(struct kallsyms *t)
{
	size_t first = 1;

	while (first < t->n && t->address[first - 1] < t->address[first])
		first++;
	if (first >= t->n)
		return true;
	/* The sorted part at the front can stay only if no later entry belongs into it. */
	for (size_t i = first; i < t->n; i++)
		while (first > 0 && t->address[i] <= t->address[first - 1])
			first--;
	return sort_from(t, first);
}

/* Gives back the excess of doubling. */
static void shrink_array(void *array_ptr, size_t *cap, size_t n, size_t size)
{
	void *old, *p;

	memcpy(&old, array_ptr, sizeof(old));
	p = n ? realloc(old, n * size) : NULL;
	if (!p)
		return;
	memcpy(array_ptr, &p, sizeof(p));
	*cap = n;
}

static void shrink_table(struct kallsyms *t)
{
	shrink_array(&t->address, &t->cap_address, t->n, sizeof(*t->address));
	shrink_array(&t->name, &t->cap_name, t->n, sizeof(*t->name));
	shrink_array(&t->module, &t->cap_module, t->n, sizeof(*t->module));
	shrink_array(&t->names.p, &t->names.cap, t->names.n, 1);
}

/* Returns the end of entry i: the next entry, or the end of its region. */
static uint64_t entry_end(const struct kallsyms *t, size_t i)
{
	uint64_t start = t->address[i], end = i + 1 < t->n ? t->address[i + 1] : UINT64_MAX, limit;
	const struct kallsyms_module *m = t->module[i] ? &t->modules[t->module[i]] : NULL;

	if (!m && start < t->etext)
		limit = t->etext;
	else if (!m && start >= t->init && start < t->init_end)
		limit = t->init_end;
	else if (m && m->end > start)
		limit = m->end;
	else if (m && m->name_n > 12 && memcmp(t->names.p + m->name, "[__builtin__", 12) == 0)
		limit = (start | (PAGE - 1)) + 1; /* a page of trampolines */
	else
		limit = start + UNSIZED_MAX;
	return end < limit ? end : limit;
}

/* Returns the first entry at or after address. */
static size_t table_lower(const struct kallsyms *t, uint64_t address)
{
	return SEARCH_COUNT(t->n, mid, t->address[mid] < address);
}

bool kallsyms_find(const struct kallsyms *t, uint64_t address, struct kernel_symbol *out)
{
	size_t i = table_lower(t, address);
	const struct kallsyms_module *m;
	uint64_t end;

	if (i == t->n || t->address[i] != address) {
		if (i == 0)
			return false;
		i--;
	}
	end = entry_end(t, i);
	m = t->module[i] ? &t->modules[t->module[i]] : NULL;
	if (t->name[i] == NO_NAME || address >= end)
		return false;
	if (!m && !t->with_init && address >= t->init && address < t->init_end)
		return false;
	out->address = t->address[i];
	out->size = end - out->address;
	out->name = slice_of((const char *)t->names.p + t->name[i]);
	out->module = m ? (struct slice){ t->names.p + m->name, m->name_n } : (struct slice){ NULL, 0 };
	return true;
}

bool kallsyms_read(struct kallsyms *t, int fd)
{
	if (!read_lines(t, fd))
		return false;
	if (t->n && !sort_table(t)) {
		errno = ENOMEM;
		return false;
	}
	shrink_table(t);
	return true;
}

void kallsyms_remove(struct kallsyms *t, uint64_t address, uint64_t size)
{
	for (size_t i = table_lower(t, address); i < t->n && t->address[i] - address < size; i++)
		if (t->module[i])
			t->name[i] = NO_NAME;
}
