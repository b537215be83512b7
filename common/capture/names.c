#include "common/capture/names.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/idmap.h"
#include "common/base/search.h"
#include "common/capture/capture_internal.h"

enum {
	LEVEL_MAX = 1 << 16,
	OVERLAPS_MAX = 256, /* kernel symbols of a run looked at for one address; real captures have a few */
};

const char *string_apply(struct capture *c, const struct record_string *r)
{
	uint32_t id;

	return text_add(c, r->text, &id) && idmap_set(&c->strings, r->id, id) ? NULL : capture_no_memory;
}

static bool string_text(const struct capture *c, uint64_t id, uint32_t *textp)
{
	*textp = 0;
	return id == 0 || idmap_find(&c->strings, id, textp);
}

/* A range has no last time, so names that begin then begin a nanosecond earlier. */
static uint64_t name_time(uint64_t time)
{
	return time < UINT64_MAX ? time : UINT64_MAX - 1;
}

/* Returns the newest name that begins no later than time, otherwise the oldest, of at least one. */
static const struct map *name_at(const struct maps *names, uint64_t time)
{
	const struct map *m = maps_find(names, name_time(time));

	return m ? m : maps_from(names, 0);
}

/* Adds a name. If two begin at the same time, the one with the better source counts, then the newer one. */
static bool names_add(const struct capture *c, struct maps *names, uint32_t symbol)
{
	const struct capture_symbol *s = &c->symbols[symbol];
	struct map m = { .start = name_time(s->from), .end = UINT64_MAX, .file = symbol };
	const struct map *other = maps_count(names) ? name_at(names, m.start) : NULL;

	if (other && other->start == m.start &&
	    name_source_rank(s->source) < name_source_rank(c->symbols[other->file].source))
		return true;
	if (other)
		m.end = other->start <= m.start ? other->end : other->start;
	return maps_add(names, &m, &(bool){ false });
}

/* Adds the name to the frame's names, which are made when the frame gets its second one. */
static bool order_names(struct capture *c, uint32_t frame, uint32_t symbol)
{
	uint32_t before = c->symbols[symbol].before, id;

	if (!before)
		return true;
	if (!idmap_find(&c->names_of, frame, &id)) {
		id = (uint32_t)c->n_names;
		if (!grow_array(&c->names, &c->cap_names, id, sizeof(*c->names)) ||
		    !idmap_set(&c->names_of, frame, id))
			return false;
		c->names[c->n_names++] = (struct maps){ 0 };
		if (!names_add(c, &c->names[id], before))
			return false;
	}
	return names_add(c, &c->names[id], symbol);
}

static uint32_t clamp_to_u32(uint64_t v)
{
	return v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
}

/* Checks that an inlined function comes directly after the function around it. */
static const char *check_level(const struct capture *c, const struct record_symbol *r)
{
	const struct capture_symbol *last = c->n_symbols > 1 ? &c->symbols[c->n_symbols - 1] : NULL;

	if (r->level > LEVEL_MAX)
		return "functions inlined too deeply";
	if (r->level > 0 &&
	    (!last || last->frame != r->frame || last->from != r->from || last->level + 1 != r->level))
		return "an inlined function without the one around it";
	return NULL;
}

const char *symbol_apply(struct capture *c, const struct record_symbol *r)
{
	struct capture_symbol s = { .from = r->from, .frame = (uint32_t)r->frame, .level = (uint32_t)r->level,
				    .source = clamp_to_u32(r->source), .offset = r->offset,
				    .line = clamp_to_u32(r->line) };
	uint32_t id = (uint32_t)c->n_symbols;
	const char *wrong;

	if (!DEFINED(c, frames, r->frame))
		return "a name for an undefined frame";
	if (capture_is_lang(&c->frames[r->frame]))
		return "a name for a frame of a language, which has its own";
	if (!string_text(c, r->name, &s.name) || !string_text(c, r->file, &s.file))
		return "a name that is an undefined string";
	wrong = check_level(c, r);
	if (wrong)
		return wrong;
	if (!grow_array(&c->symbols, &c->cap_symbols, id, sizeof(*c->symbols)))
		return capture_no_memory;
	if (r->level == 0)
		s.before = c->frames[s.frame].symbol;
	c->symbols[c->n_symbols++] = s;
	if (r->level > 0) {
		c->symbols[id - 1].inner = id;
		return NULL;
	}
	c->frames[s.frame].symbol = id;
	return order_names(c, s.frame, id) ? NULL : capture_no_memory;
}

/*
 * Returns the best name that begins at exactly this time if exact; otherwise the newest that begins no later,
 * or the oldest of all; or NULL.
 */
static const struct capture_symbol *symbol_at(const struct capture *c, uint32_t frame, uint64_t time, bool exact)
{
	uint32_t newest = c->frames[frame].symbol, id;
	const struct capture_symbol *s;

	if (!newest)
		return NULL;
	s = &c->symbols[newest];
	if (s->before && idmap_find(&c->names_of, frame, &id))
		s = &c->symbols[name_at(&c->names[id], time)->file];
	return exact && s->from != time ? NULL : s;
}

const struct capture_symbol *capture_symbol(const struct capture *c, uint32_t frame, uint64_t epoch)
{
	const struct capture_symbol *s = symbol_at(c, frame, epoch, false);

	return s && s->source != NAME_NONE ? s : NULL;
}

const struct capture_symbol *capture_symbol_from(const struct capture *c, uint32_t frame, uint64_t from)
{
	return symbol_at(c, frame, from, true);
}

const char *ksym_apply(struct capture *c, const struct record_ksym *r)
{
	struct capture_ksym k = { .address = r->address, .size = r->size, .time = r->time,
				.order = (uint32_t)c->n_ksyms };

	if (!text_add(c, r->name, &k.name) || !text_add(c, r->module, &k.module) ||
	    !grow_array(&c->ksyms, &c->cap_ksyms, c->n_ksyms, sizeof(*c->ksyms)))
		return capture_no_memory;
	c->ksyms[c->n_ksyms++] = k;
	return NULL;
}

static int by_address(const void *a, const void *b)
{
	const struct capture_ksym *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static uint64_t end_of(const struct capture_ksym *k, uint64_t next)
{
	if (k->size == 0)
		return next;
	return k->size > UINT64_MAX - k->address ? UINT64_MAX : k->address + k->size;
}

static void sort_run(struct capture_ksym *run, size_t n)
{
	uint64_t next = UINT64_MAX, reach = 0;

	qsort(run, n, sizeof(*run), by_address);
	for (size_t i = n; i-- > 0;) {
		run[i].end = end_of(&run[i], next);
		if (i && run[i - 1].address != run[i].address)
			next = run[i].address;
	}
	for (size_t i = 0; i < n; i++) {
		reach = run[i].end > reach ? run[i].end : reach;
		run[i].reach = reach;
	}
}

static size_t run_start(const struct capture *c, size_t run)
{
	return run ? c->ksym_runs[run - 1] : 0;
}

/* Makes a run of the new symbols and of the runs before that are not twice as long. */
static void sort_ksyms(struct capture *c)
{
	size_t from = run_start(c, c->n_ksym_runs);

	if (from == c->n_ksyms)
		return;
	while (c->n_ksym_runs && from - run_start(c, c->n_ksym_runs - 1) < 2 * (c->n_ksyms - from))
		from = run_start(c, --c->n_ksym_runs);
	sort_run(c->ksyms + from, c->n_ksyms - from);
	c->ksym_runs[c->n_ksym_runs++] = c->n_ksyms;
}

/* Returns whether a names a frame better than b; before: number of symbols before the frame. */
static bool is_closer(const struct capture_ksym *a, const struct capture_ksym *b, uint32_t before)
{
	bool a_before = a->order < before, b_before = b->order < before;

	if (a->address == b->address && a->time == b->time) /* aliases */
		return a->order < b->order;
	return a_before != b_before ? a_before : (a->order > b->order) == a_before;
}

/* Returns the number of symbols up to this address, in the run and all before it. */
static size_t run_until(const struct capture *c, size_t run, uint64_t address)
{
	size_t start = run_start(c, run);
	const struct capture_ksym *of = c->ksyms + start;

	return start + SEARCH_COUNT(c->ksym_runs[run] - start, mid, of[mid].address <= address);
}

const struct capture_ksym *capture_ksym(struct capture *c, uint32_t frame)
{
	const struct capture_frame *f = &c->frames[frame];
	const struct capture_ksym *best = NULL;
	size_t ends[CAPTURE_KSYM_RUNS];
	uint64_t address, last = 0; /* where the last symbol before the address begins */

	if (f->process || capture_is_lang(f))
		return NULL;
	sort_ksyms(c);
	address = capture_lookup(f, f->address);
	for (size_t run = 0; run < c->n_ksym_runs; run++) {
		ends[run] = run_until(c, run, address);
		if (ends[run] > run_start(c, run) && c->ksyms[ends[run] - 1].address > last)
			last = c->ksyms[ends[run] - 1].address;
	}
	for (size_t run = 0; run < c->n_ksym_runs; run++) {
		size_t most = OVERLAPS_MAX;

		for (size_t i = ends[run]; i-- > run_start(c, run) && most > 0; most--) {
			const struct capture_ksym *k = &c->ksyms[i];

			if (k->reach <= address)
				break;
			if ((k->size ? k->end > address : k->address == last) &&
			    (!best || is_closer(k, best, f->ksyms)))
				best = k;
		}
	}
	return best;
}
