#include "common/capture/names.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/idmap.h"
#include "common/base/search.h"
#include "common/capture/capture_internal.h"

enum {
	LEVEL_MAX = 1 << 16,
	OVERLAPS_MAX = 256, /* kernel symbols looked at for one address; real captures have a few */
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
	c->ksyms_sorted = false;
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

static void sort_ksyms(struct capture *c)
{
	uint64_t next = UINT64_MAX, reach = 0;

	qsort(c->ksyms, c->n_ksyms, sizeof(*c->ksyms), by_address);
	for (size_t i = c->n_ksyms; i-- > 0;) {
		struct capture_ksym *k = &c->ksyms[i];

		k->end = end_of(k, next);
		if (i && c->ksyms[i - 1].address != k->address)
			next = k->address;
	}
	for (size_t i = 0; i < c->n_ksyms; i++) {
		reach = c->ksyms[i].end > reach ? c->ksyms[i].end : reach;
		c->ksyms[i].reach = reach;
	}
	c->ksyms_sorted = true;
}

/* Returns whether a names a frame better than b; before: number of symbols before the frame. */
static bool is_closer(const struct capture_ksym *a, const struct capture_ksym *b, uint32_t before)
{
	bool a_before = a->order < before, b_before = b->order < before;

	if (a->address == b->address && a->time == b->time) /* aliases */
		return a->order < b->order;
	return a_before != b_before ? a_before : (a->order > b->order) == a_before;
}

const struct capture_ksym *capture_ksym(struct capture *c, uint32_t frame)
{
	const struct capture_frame *f = &c->frames[frame];
	const struct capture_ksym *best = NULL;
	uint64_t address;
	size_t low, most = OVERLAPS_MAX;

	if (f->process || capture_is_lang(f))
		return NULL;
	if (!c->ksyms_sorted && c->n_ksyms)
		sort_ksyms(c);
	address = capture_lookup(f, f->address);
	low = SEARCH_COUNT(c->n_ksyms, mid, c->ksyms[mid].address <= address);
	for (; low > 0 && c->ksyms[low - 1].reach > address && most > 0; low--, most--) {
		const struct capture_ksym *k = &c->ksyms[low - 1];

		if (k->end > address && (!best || is_closer(k, best, f->ksyms)))
			best = k;
	}
	return best;
}
