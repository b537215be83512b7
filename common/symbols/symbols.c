#include "common/symbols/symbols.h"

#include <elf.h>
#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/search.h"
#include "common/symbols/candidate.h"
#include "common/symbols/symbol_table.h"

/*
 * [start, start of the next interval) belongs to a symbol, or to none; during the sweep, to a candidate.
 * start counts from the base of the run, so that eight intervals fit into a cache line.
 */
struct interval {
	uint32_t start;
	uint32_t owner; /* index of the symbol, or SYMBOL_NONE */
};

/*
 * Intervals that begin within 4 GiB; a file seldom has more than one such run. The index divides the run's
 * address range into equal parts, about one per interval, and records where each part begins among the
 * intervals, so that only a handful are left to search. On a large binary a look-up then takes two cache
 * misses instead of a dozen.
 */
struct run {
	uint64_t base;
	size_t at; /* index of its first interval */
	uint32_t n;
	uint32_t *first; /* by part: the last interval that begins at or before the part's first byte */
	uint32_t n_first;
	unsigned int shift;
};

struct symbols {
	struct candidates in;
	struct symbol *items;
	size_t n;
	struct interval *intervals;
	size_t n_intervals, n_firsts;
	struct run *runs;
	size_t n_runs, cap_runs;
	bool has[ORIGINS];
	bool damaged;
};

struct symbols *symbols_new(void)
{
	return calloc(1, sizeof(struct symbols));
}

void symbols_free(struct symbols *t)
{
	if (!t)
		return;
	candidates_release(&t->in);
	for (size_t i = 0; i < t->n_runs; i++)
		free(t->runs[i].first);
	free(t->runs);
	free(t->items);
	free(t->intervals);
	free(t);
}

long symbols_add(struct symbols *t, const struct elf_file *f, unsigned int what)
{
	size_t before = t->in.n;
	bool good = true;
	uint8_t strings;

	t->damaged |= !elf_quiet(f);
	if (what & SYMBOLS_SYMTAB)
		good = symbol_table_add(&t->in, f, SHT_SYMTAB, what & SYMBOLS_SEPARATE ? ORIGIN_DEBUG :
					what & SYMBOLS_MINIDEBUG ? ORIGIN_MINIDEBUG : ORIGIN_SYMTAB,
					&strings, &t->damaged);
	if (good && (what & SYMBOLS_DYNAMIC))
		good = symbol_table_add(&t->in, f, SHT_DYNSYM, ORIGIN_DYNSYM, &strings, &t->damaged) &&
		       candidates_add_plt(&t->in, f, strings, strings != SYMBOL_TABLE_NONE);
	t->damaged |= !elf_unchanged(f);
	return good ? (long)(t->in.n - before) : -1;
}

static uint32_t *last_owner(struct symbols *t)
{
	return t->n_intervals ? &t->intervals[t->n_intervals - 1].owner : NULL;
}

/*
 * Begins an interval of this candidate, or of none, at this address. There is room for two intervals per
 * candidate: its begin and its end.
 */
static inline bool emit_interval(struct symbols *t, uint64_t at, uint32_t owner)
{
	struct run *r = t->n_runs ? &t->runs[t->n_runs - 1] : NULL;
	const uint32_t *last;

	if (r && r->base + t->intervals[t->n_intervals - 1].start == at) {
		t->n_intervals--;
		if (--r->n == 0)
			r = --t->n_runs ? r - 1 : NULL;
	}
	last = last_owner(t);
	if (last ? *last == owner : owner == SYMBOL_NONE)
		return true;
	if (!r || at - r->base > UINT32_MAX) {
		if (!grow_array(&t->runs, &t->cap_runs, t->n_runs, sizeof(*t->runs)))
			return false;
		r = &t->runs[t->n_runs++];
		*r = (struct run){ .base = at, .at = t->n_intervals };
	}
	t->intervals[t->n_intervals++] = (struct interval){ (uint32_t)(at - r->base), owner };
	r->n++;
	return true;
}

/* Symbols that have begun and not yet ended, the one that began last on top. */
struct open_stack {
	uint32_t *items;
	size_t n, cap;
};

/*
 * Ends the symbols that end at or before this address; after an inner symbol the one around it continues. The
 * caller decides who owns the address itself, because a symbol begins there.
 */
static inline bool end_symbols(struct symbols *t, struct open_stack *open, uint64_t to)
{
	const struct candidate *c = t->in.items;

	while (open->n && c[open->items[open->n - 1]].end <= to) {
		uint64_t end = c[open->items[open->n - 1]].end;

		while (open->n && c[open->items[open->n - 1]].end <= end)
			open->n--;
		if (end < to && !emit_interval(t, end, open->n ? open->items[open->n - 1] : SYMBOL_NONE))
			return false;
	}
	return true;
}

static inline bool push_open(struct open_stack *open, uint32_t i)
{
	if (!grow_array(&open->items, &open->cap, open->n, sizeof(*open->items)))
		return false;
	open->items[open->n++] = i;
	return true;
}

/* Extends a symbol without a size, with none around it, up to next. */
static void give_room(struct candidate *c, uint64_t next)
{
	c->end = c->end < next ? c->end : next;
	if (c->origin == ORIGIN_DYNSYM)
		c->end = c->start + 1;
}

/* Begins the candidates [first, last) of the order, all at one address: unsized first, the best one last. */
static inline bool begin_group(struct symbols *t, struct open_stack *open, size_t first, size_t last)
{
	struct candidate *c = t->in.items;
	uint32_t best = candidates_at(&t->in, last - 1);
	uint64_t start = c[best].start;

	if (!end_symbols(t, open, start))
		return false;
	if (c[best].unsized) { /* none has a size */
		if (open->n)
			return emit_interval(t, start, open->items[open->n - 1]);
		give_room(&c[best], last < t->in.n ? c[candidates_at(&t->in, last)].start : UINT64_MAX);
		return push_open(open, best) && emit_interval(t, start, best);
	}
	for (size_t i = first; i < last; i++) {
		uint32_t one = candidates_at(&t->in, i);

		if (!c[one].unsized && !push_open(open, one))
			return false;
	}
	return emit_interval(t, start, best);
}

/* Builds the intervals in one sweep from the lowest address to the highest. */
static bool sweep_symbols(struct symbols *t)
{
	struct open_stack open = { 0 };
	const struct candidates *in = &t->in;
	const struct candidate *c = in->items;
	bool good = true;

	_Static_assert(sizeof(*t->intervals) == sizeof(*t->in.spare), "an interval for each");
	t->intervals = realloc(t->in.spare, (in->n * 2 + 1) * sizeof(*t->intervals));
	good = t->intervals != NULL;
	if (good)
		t->in.spare = NULL;
	for (size_t first = 0, last; good && first < in->n; first = last) {
		uint64_t start = c[candidates_at(in, first)].start;

		candidates_expect(in, first);
		for (last = first + 1; last < in->n && c[candidates_at(in, last)].start == start; last++)
			candidates_expect(in, last);
		good = begin_group(t, &open, first, last);
	}
	good = good && end_symbols(t, &open, UINT64_MAX) && (in->n == 0 || emit_interval(t, UINT64_MAX, SYMBOL_NONE));
	free(open.items);
	return good;
}

/*
 * Reduces the candidates that own an interval to symbols, in place. That needs no other memory, and getting
 * memory from the system costs as much as all the rest.
 */
static bool keep_owners(struct symbols *t)
{
	struct interval *fewer = realloc(t->intervals, (t->n_intervals + 1) * sizeof(*fewer));
	uint32_t *became = (uint32_t *)t->in.order; /* by candidate: index of its symbol + 1; 0: none */
	struct symbol *kept;

	_Static_assert(sizeof(*kept) <= sizeof(*t->in.items), "a symbol in the place of a candidate");
	t->intervals = fewer ? fewer : t->intervals;
	memset(became, 0, t->in.n * sizeof(*became));
	for (size_t i = 0; i < t->n_intervals; i++) {
		if (t->intervals[i].owner != SYMBOL_NONE)
			became[t->intervals[i].owner] = 1;
	}
	t->items = (struct symbol *)t->in.items;
	for (size_t i = 0; i < t->in.n; i++) {
		struct candidate c;
		struct symbol s;

		if (!became[i])
			continue;
		memcpy(&c, &t->in.items[i], sizeof(c)); /* by memcpy, because two types share the memory */
		s = (struct symbol){ c.start, c.name, 0, c.table, c.origin };
		memcpy(&t->items[t->n++], &s, sizeof(s));
		t->has[c.origin] = true;
		became[i] = (uint32_t)t->n;
	}
	t->in.items = NULL;
	for (size_t i = 0; i < t->n_intervals; i++) {
		uint32_t *owner = &t->intervals[i].owner;

		*owner = *owner == SYMBOL_NONE ? SYMBOL_NONE : became[*owner] - 1;
	}
	candidates_drop_items(&t->in);
	kept = realloc(t->items, (t->n + 1) * sizeof(*kept));
	t->items = kept ? kept : t->items;
	return true;
}

static bool build_index(struct symbols *t, struct run *r)
{
	const struct interval *intervals = t->intervals + r->at;

	while (intervals[r->n - 1].start >> r->shift > r->n)
		r->shift++;
	r->n_first = (intervals[r->n - 1].start >> r->shift) + 1;
	r->first = malloc(((size_t)r->n_first + 1) * sizeof(*r->first));
	if (!r->first)
		return false;
	for (uint32_t part = 0, i = 0; part < r->n_first; part++) {
		while (i + 1 < r->n && intervals[i + 1].start <= (uint64_t)part << r->shift)
			i++;
		r->first[part] = i;
	}
	r->first[r->n_first] = r->n - 1;
	t->n_firsts += r->n_first;
	return true;
}

bool symbols_settle(struct symbols *t)
{
	bool good = candidates_sort(&t->in) && sweep_symbols(t) && keep_owners(t);

	for (size_t i = 0; good && i < t->n_runs; i++)
		good = build_index(t, &t->runs[i]);
	return good;
}

/* Returns the last run that begins at or before the address, or NULL. */
static const struct run *find_run(const struct symbols *t, uint64_t vaddr)
{
	size_t low = SEARCH_COUNT(t->n_runs, mid, t->runs[mid].base <= vaddr);

	return low ? &t->runs[low - 1] : NULL;
}

/* Returns the owner of the address that is into bytes into the run, in this part of its index. */
static inline uint32_t owner_in(const struct symbols *t, const struct run *r, uint64_t into, uint64_t part)
{
	const struct interval *low = t->intervals + r->at + r->first[part];
	uint32_t n = r->first[part + 1] + 1 - r->first[part];

	while (n > 1) { /* *low begins at or before the address, low[n] after it */
		uint32_t half = n / 2;

		low = low[half].start <= into ? low + half : low;
		n -= half;
	}
	return low->owner;
}

uint32_t symbols_find(const struct symbols *t, uint64_t vaddr)
{
	const struct run *r = t->n_runs == 1 && vaddr >= t->runs->base ? t->runs : find_run(t, vaddr);
	uint64_t into, part;

	if (!r)
		return SYMBOL_NONE;
	into = vaddr - r->base;
	part = into >> r->shift;
	return part < r->n_first ? owner_in(t, r, into, part) : t->intervals[r->at + r->n - 1].owner;
}

void symbols_expect(const struct symbols *t, uint64_t vaddr, enum expectation when)
{
	const struct run *r = t->runs;
	uint64_t part;
	uint32_t s;

	if (t->n_runs != 1 || vaddr < r->base)
		return;
	part = (vaddr - r->base) >> r->shift;
	if (part >= r->n_first)
		return;
	if (when == EXPECT_FAR) {
		/* There is about one interval per part, so the owner's interval is close to this one. */
		__builtin_prefetch(&t->intervals[r->at + r->first[part]]);
	} else {
		s = owner_in(t, r, vaddr - r->base, part);
		if (s != SYMBOL_NONE)
			__builtin_prefetch(&t->items[s]);
	}
}

struct symbol *symbols_get(struct symbols *t, uint32_t s)
{
	return &t->items[s];
}

bool symbols_name(const struct symbols *t, uint32_t s, struct buf *out)
{
	const struct symbol *sym = &t->items[s];

	if (!candidates_copy(&t->in, sym->table, sym->name, out))
		return false;
	out->n = candidates_bare(buf_view(out)).n;
	return true;
}

bool symbols_damaged(const struct symbols *t)
{
	return t->damaged;
}

bool symbols_has(const struct symbols *t, enum symbol_origin origin)
{
	return t->has[origin];
}

bool symbols_have_prefix(const struct symbols *t, const char *prefix)
{
	uint8_t pattern[32] = { 0 }; /* begins with the NUL that ends the previous name */
	size_t n = strlen(prefix) + 1;

	if (n > sizeof(pattern))
		return false;
	memcpy(pattern + 1, prefix, n - 1);
	for (size_t i = 0; i < t->in.n_tables; i++) {
		const struct mapped *strings = &t->in.tables[i].bytes;

		if (strings->n && memmem(strings->p, strings->n, pattern, n))
			return true;
	}
	return false;
}

size_t symbols_bytes(const struct symbols *t)
{
	return sizeof(*t) + t->n * sizeof(*t->items) + t->n_intervals * sizeof(*t->intervals) +
	       t->n_firsts * sizeof(*t->runs->first) + candidates_bytes(&t->in);
}
