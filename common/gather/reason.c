#include "common/gather/reason.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/intern.h"
#include "common/gather/gather_modules.h"

void reasons_init(struct reasons *r)
{
	*r = (struct reasons){ 0 };
	intern_init(&r->keys);
}

void reasons_release(struct reasons *r)
{
	intern_release(&r->keys);
	free(r->list);
	free(r->sources);
	*r = (struct reasons){ 0 };
}

void reasons_forget(struct reasons *r)
{
	if (r->n_sources)
		memset(r->sources, 0, r->n_sources * sizeof(*r->sources));
	r->n_sources = 0;
}

bool reasons_hear(struct reasons *r, const struct capture *c, const struct record_source *s)
{
	if (s->file && (s->file >= c->n_files || !c->files[s->file].defined))
		return true;
	if (!grow_array(&r->sources, &r->cap_sources, s->file, sizeof(*r->sources)))
		return false;
	if (r->n_sources <= s->file)
		r->n_sources = s->file + 1;
	r->sources[s->file] = (struct reason_source){
		.heard = true,
		.status = s->status < SOURCE_STATUSES ? (uint32_t)s->status : UINT32_MAX,
		.kind = s->kind < NAME_SOURCES ? (uint32_t)s->kind : NAME_NONE,
	};
	return true;
}

/* A file that gave only exported names or bounds lacks most names: that is the reason, not the address. */
static const char *why_of_source(const struct reason_source *s)
{
	bool bare = s->kind == NAME_DYNSYM || s->kind == NAME_PLT || s->kind == NAME_BOUNDS;

	if (s->status == UINT32_MAX)
		return "a reason unknown to this version";
	if (s->status != SOURCE_OK)
		return source_status_name(s->status);
	return bare ? source_status_name(SOURCE_STRIPPED) : "no-symbol";
}

static const char *why_in_file(const struct reasons *r, const struct capture_file *file, uint32_t id)
{
	if (id < r->n_sources && r->sources[id].heard)
		return why_of_source(&r->sources[id]);
	return capture_path_is_file(file->path) ? "not looked for" : source_status_name(SOURCE_NOT_A_FILE);
}

static bool count_reason(struct reasons *r, struct slice where, const char *why, uint64_t samples)
{
	struct buf key = { 0 };
	uint32_t id;
	bool good;

	buf_text(&key, why);
	buf_byte(&key, 0);
	buf_bytes(&key, where.p, where.n);
	good = !key.failed && intern_add(&r->keys, buf_view(&key), &id) &&
	       grow_array(&r->list, &r->cap, id, sizeof(*r->list));
	buf_release(&key);
	if (!good)
		return false;
	if (id == r->n) {
		struct slice s = intern_get(&r->keys, id);
		size_t n = strlen(why);

		r->list[id].why = (struct slice){ s.p, n };
		r->list[id].where = (struct slice){ s.p + n + 1, s.n - n - 1 };
		r->n++;
	}
	r->list[id].samples += samples;
	return true;
}

static bool count_lang(struct reasons *r, const struct capture_frame *f, uint64_t samples)
{
	char where[32];

	snprintf(where, sizeof(where), "[%s]", language_name(f->language));
	return count_reason(r, slice_of(where), lang_state_name(f->state), samples);
}

bool reasons_count_state(struct reasons *r, const struct capture *c, const struct capture_frame *f,
			 uint32_t comm, uint64_t samples)
{
	struct buf where = { 0 };
	char why[64];
	bool good;

	if (comm)
		buf_bytes(&where, capture_text(c, comm).p, capture_text(c, comm).n);
	else
		buf_text(&where, "[pid]");
	buf_printf(&where, "-%" PRIu64, c->processes[f->process].pid);
	snprintf(why, sizeof(why), "%s: %s", language_name(f->language),
		 lang_state_name(f->state));
	good = !where.failed && count_reason(r, buf_view(&where), why, samples);
	buf_release(&where);
	return good;
}

bool reasons_count(struct reasons *r, const struct capture *c, const struct capture_frame *f,
		   const struct capture_place *place, uint64_t samples)
{
	const struct capture_file *file;

	if (r->n_sources == 0)
		return true;
	if (capture_is_lang(f))
		return count_lang(r, f, samples);
	if (!f->process)
		return count_reason(r, slice_of("[kernel]"),
				    c->n_ksyms ? "no-symbol" : "no kernel symbols were recorded", samples);
	if (!place || place->map_end == 0)
		return count_reason(r, slice_of("[unknown]"), "nothing was mapped there", samples);
	if (!place->file && c->processes[f->process].jit)
		return count_reason(r, slice_of("[jit]"), "no-symbol", samples);
	if (!place->file)
		return count_reason(r, slice_of("[anon]"), source_status_name(SOURCE_NOT_A_FILE), samples);
	file = &c->files[place->file];
	return count_reason(r, gather_module_undeleted(file->path), why_in_file(r, file, place->file),
			    samples);
}

static int by_samples(const void *a, const void *b)
{
	const struct reason *x = a, *y = b;
	int differ;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	differ = slice_compare(x->where, y->where);
	return differ ? differ : slice_compare(x->why, y->why);
}

void reasons_sort(struct reasons *r)
{
	if (r->n)
		qsort(r->list, r->n, sizeof(*r->list), by_samples);
}
