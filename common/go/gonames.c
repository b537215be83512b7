#include "common/go/gonames.h"

#include <stdlib.h>

#include "common/base/le.h"
#include "common/base/search.h"
#include "common/go/gotrees.h"
#include "common/go/gopclntab.h"

enum {
	NAME_MAX_BYTES = 8192, /* limit of a name or a path; a longer one is cut */
	/* entries of one list of values; no function has more instructions that differ */
	STEPS_MAX = 1 << 18,
};

struct gonames {
	struct gopclntab t;
	struct gotrees trees;
	uint32_t *tags;
};

static bool open_table(const struct elf_file *f, struct gonames *g, bool *found)
{
	struct code_map code;
	enum gopclntab_found got;

	if (!code_map_init(&code, f))
		return false;
	got = gopclntab_open(f, &code, &g->t);
	code_map_release(&code);
	*found = got == GOPCLNTAB_FOUND;
	if (*found && !gopclntab_keep(&g->t)) {
		*found = false;
		return g->t.own != NULL;
	}
	return got != GOPCLNTAB_NO_MEMORY;
}

bool gonames_open(const struct elf_file *f, struct gonames **gp)
{
	struct gonames *g;
	bool found = false, good;

	*gp = NULL;
	if (!unwind_sections_usable(f))
		return true;
	g = calloc(1, sizeof(*g));
	if (!g)
		return false;
	good = open_table(f, g, &found);
	if (good && found && g->t.n && g->t.n < GONAME_NONE) {
		g->tags = calloc(g->t.n, sizeof(*g->tags));
		good = g->tags && gotrees_open(f, &g->t, &g->trees);
		if (good) {
			*gp = g;
			return true;
		}
	}
	gonames_free(g);
	return good;
}

void gonames_free(struct gonames *g)
{
	if (!g)
		return;
	gopclntab_close(&g->t);
	gotrees_close(&g->trees);
	free(g->tags);
	free(g);
}

uint32_t gonames_find(const struct gonames *g, uint64_t vaddr)
{
	struct go_function fn;
	size_t low = SEARCH_COUNT(g->t.n, middle, gopclntab_start(&g->t, middle) <= vaddr);

	if (low == 0 || !gopclntab_function(&g->t, low - 1, &fn) || vaddr < fn.start || vaddr >= fn.end || !fn.name.n)
		return GONAME_NONE;
	return (uint32_t)low - 1;
}

uint64_t gonames_start(const struct gonames *g, uint32_t i)
{
	return gopclntab_start(&g->t, i);
}

static struct slice name_at(const struct gonames *g, uint32_t at)
{
	return gopclntab_text(g->t.names, at, NAME_MAX_BYTES);
}

struct slice gonames_name(const struct gonames *g, uint32_t i)
{
	struct go_function fn;

	if (!gopclntab_function(&g->t, i, &fn))
		return (struct slice){ NULL, 0 };
	return name_at(g, le32_load(fn.record.p + g->t.field));
}

uint32_t *gonames_tag(struct gonames *g, uint32_t i)
{
	return &g->tags[i];
}

size_t gonames_bytes(const struct gonames *g)
{
	return sizeof(*g) + g->t.bytes.n + g->trees.bytes.n + g->t.n * sizeof(*g->tags);
}

/* Returns the value of a list at this address, or -1. All lists are encoded like the depths. */
static int32_t value_at(const struct gonames *g, const struct go_function *fn, uint32_t list, uint64_t vaddr)
{
	struct go_function of = *fn;
	struct go_depths d;

	of.depths = list;
	go_depths_begin(&g->t, &of, &d);
	for (size_t i = 0; i < STEPS_MAX && go_depths_next(&d); i++) {
		if (vaddr < d.end)
			return d.depth;
	}
	return -1;
}

/* Returns the path of the file with this number in the function's unit. */
static struct slice path_of(const struct gonames *g, const struct go_details *d, int32_t number)
{
	uint64_t at = ((uint64_t)d->unit + (uint32_t)number) * 4;
	uint32_t path;

	if (number < 0 || at >= g->t.units.n || g->t.units.n - at < 4)
		return (struct slice){ NULL, 0 };
	path = le32_load(g->t.units.p + at);
	return gopclntab_text(g->t.paths, path, NAME_MAX_BYTES);
}

static void set_file_and_line(const struct gonames *g, const struct go_function *fn, const struct go_details *d,
			      uint64_t vaddr, struct goname_call *call)
{
	int32_t line = value_at(g, fn, d->lines, vaddr);

	call->file = path_of(g, d, value_at(g, fn, d->files, vaddr));
	call->line = line > 0 && call->file.n ? (uint32_t)line : 0;
}

/*
 * Fills calls from the innermost outward; the last is the function itself. Returns their number, 0 if the
 * tree makes no sense.
 */
static size_t climb_calls(const struct gonames *g, const struct go_function *fn, const struct go_details *d,
			  uint64_t vaddr, struct goname_call *calls)
{
	for (size_t n = 0; n < GONAMES_DEPTH; n++) {
		int32_t i = g->trees.entry && d->tree ? value_at(g, fn, d->indexes, vaddr) : -1;
		struct gotree_call in;

		set_file_and_line(g, fn, d, vaddr, &calls[n]);
		if (i < 0) {
			calls[n].name = name_at(g, le32_load(fn->record.p + g->t.field));
			return n + 1;
		}
		if (!gotrees_call(&g->trees, d->tree, (uint32_t)i, &in) || in.parent >= fn->end - fn->start)
			return 0;
		calls[n].name = name_at(g, in.name);
		if (!calls[n].name.n)
			return 0;
		vaddr = fn->start + in.parent;
	}
	return 0; /* deeper than any, or a circle */
}

size_t gonames_chain(const struct gonames *g, uint64_t vaddr, struct goname_call *calls)
{
	uint32_t i = gonames_find(g, vaddr);
	struct go_function fn;
	struct go_details d;
	size_t n;

	if (i == GONAME_NONE || !gopclntab_function(&g->t, i, &fn))
		return 0;
	if (!gotrees_details(&g->trees, &g->t, &fn, &d)) {
		calls[0] = (struct goname_call){ .name = gonames_name(g, i) };
		return 1;
	}
	n = climb_calls(g, &fn, &d, vaddr, calls);
	if (n == 0) { /* the line may belong to any of the functions, so it is left out */
		calls[0] = (struct goname_call){ .name = gonames_name(g, i) };
		return 1;
	}
	for (size_t k = 0; k < n / 2; k++) {
		struct goname_call inner = calls[k];

		calls[k] = calls[n - 1 - k];
		calls[n - 1 - k] = inner;
	}
	return n;
}
