#include "common/export/pprof.h"

#include <stdlib.h>

#ifdef HAVE_PPROF

#include <profile.pb-c.h>

#include "common/base/array.h"
#include "common/capture/capture.h"
#include "common/export/main_file.h"

typedef Perftools__Profiles__Profile Profile;
typedef Perftools__Profiles__ValueType ValueType;
typedef Perftools__Profiles__Sample Sample;
typedef Perftools__Profiles__Label Label;
typedef Perftools__Profiles__Mapping Mapping;
typedef Perftools__Profiles__Location Location;
typedef Perftools__Profiles__Line Line;
typedef Perftools__Profiles__Function Function;

enum {
	CHUNK = 512,      /* messages in a piece */
	CHUNK_IDS = 65536, /* locations and lines in it; its last message may exceed this */
};

/* Sample types. After CPU time come the waits, in the order of enum capture_wait, and the sum of all. */
enum { TYPE_SAMPLES, TYPE_CPU, TYPES = TYPE_CPU + CAPTURE_WAITS + 1 };

enum pprof_step { STEP_HEAD, STEP_STRINGS, STEP_MAPPINGS, STEP_FUNCTIONS, STEP_LOCATIONS, STEP_SAMPLES, STEP_END };

/* The part of a sample or a location in the arrays of the chunk: first element and count. */
struct part {
	size_t first, n;
};

struct pprof_writer {
	struct traces *s;
	struct pprof_about about;
	enum pprof_step step;
	size_t at; /* next element of the step */
	int64_t words[TYPES][2];
	int64_t host, container, comm, pid, tid;
	int64_t label_host, label_container, label_comm, label_pid, label_tid, waker, label_waker;
	size_t types; /* 1: samples only; 2: one weight, too; more: also that of each wait, and of all */
	uint32_t main; /* the mapping written first, because pprof names the profile after it; 0: none */
	/* numbers of distinct functions, without gaps because Parca requires that */
	uint32_t *function_ids, n_function_ids;
	int64_t *comments;
	bool failed;
	struct buf out;
	/* Room for one chunk; pointers into the growing arrays are set after these have grown. */
	union {
		Sample samples[CHUNK];
		Mapping mappings[CHUNK];
		Function functions[CHUNK];
		Location locations[CHUNK];
	} of;
	void *list[CHUNK];
	char *strings[CHUNK];
	struct part parts[CHUNK];
	uint64_t *ids;
	Line *lines;
	Line **line_list;
	size_t cap_ids, cap_lines, cap_line_list;
	int64_t values[CHUNK][TYPES];
	struct part label_parts[CHUNK];
	Label *labels;
	Label **label_list;
	size_t n_labels, cap_labels, cap_label_list; /* in the chunk */
};

bool pprof_known(void)
{
	return true;
}

static int64_t add_word(struct pprof_writer *w, const char *text)
{
	uint32_t id = 0;

	w->failed = !traces_text(w->s, slice_of(text), &id) || w->failed;
	return id;
}

/* Throttled time is rare: it has a type only if there is some. */
static size_t count_types(uint32_t last_wait)
{
	if (!last_wait)
		return 2;
	return last_wait > CAPTURE_QUEUED ? TYPES : TYPE_CPU + CAPTURE_QUEUED + 2;
}

static void find_words(struct pprof_writer *w)
{
	const struct traces *s = w->s;
	static const char *const names[TYPE_CPU + CAPTURE_WAITS] = {
		[TYPE_CPU + CAPTURE_SLEEPS] = "off_cpu_sleep",
		[TYPE_CPU + CAPTURE_UNINTERRUPTIBLE] = "off_cpu_uninterruptible",
		[TYPE_CPU + CAPTURE_QUEUED] = "off_cpu_run_queue",
		[TYPE_CPU + CAPTURE_THROTTLED] = "off_cpu_throttled",
	};
	bool time = s->unit && slice_is(traces_get(s, s->unit), "ns");

	w->types = !s->unit ? 1 : time ? count_types(traces_last_wait(s)) : 2;
	w->words[0][0] = add_word(w, "samples");
	w->words[0][1] = add_word(w, "count");
	w->words[1][0] = time ? add_word(w, "cpu") : s->event;
	w->words[1][1] = time ? add_word(w, "nanoseconds") : s->unit;
	for (size_t i = 2; i < w->types; i++) {
		w->words[i][0] = add_word(w, i + 1 < w->types ? names[i] : "wall");
		w->words[i][1] = w->words[1][1];
	}
	w->host = add_word(w, "host");
	w->container = add_word(w, "container");
	w->comm = add_word(w, "comm");
	w->pid = add_word(w, "pid");
	w->tid = add_word(w, "tid");
	w->label_host = add_word(w, "label.host");
	w->label_container = add_word(w, "label.container");
	w->label_comm = add_word(w, "label.comm");
	w->label_pid = add_word(w, "label.pid");
	w->label_tid = add_word(w, "label.tid");
	w->waker = add_word(w, "waker");
	w->label_waker = add_word(w, "label.waker");
}

struct pprof_writer *pprof_new(struct traces *s, const struct pprof_about *about)
{
	struct pprof_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->s = s;
	w->about = *about;
	w->comments = calloc(about->n_comments + 1, sizeof(*w->comments));
	w->function_ids = calloc(s->n_functions + 1, sizeof(*w->function_ids));
	w->failed = !w->comments || !w->function_ids || !mainfile_find(s, &w->main);
	find_words(w);
	for (size_t i = 0; !w->failed && i < about->n_comments; i++) {
		uint32_t id;

		w->failed = !traces_text(s, about->comments[i], &id);
		w->comments[i] = id;
	}
	return w;
}

void pprof_free(struct pprof_writer *w)
{
	if (!w)
		return;
	buf_release(&w->out);
	free(w->comments);
	free(w->function_ids);
	free(w->ids);
	free(w->lines);
	free(w->line_list);
	free(w->labels);
	free(w->label_list);
	free(w);
}

bool pprof_failed(const struct pprof_writer *w)
{
	return w->failed;
}

static void pack_profile(struct pprof_writer *w, const Profile *p)
{
	size_t n = perftools__profiles__profile__get_packed_size(p);

	buf_clear(&w->out);
	if (!buf_reserve(&w->out, n)) {
		w->failed = true;
		return;
	}
	w->out.n = perftools__profiles__profile__pack(p, w->out.p);
}

static void write_head(struct pprof_writer *w)
{
	Profile p = PERFTOOLS__PROFILES__PROFILE__INIT;
	ValueType types[TYPES], *list[TYPES];

	for (size_t i = 0; i < TYPES; i++) {
		types[i] = (ValueType)PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
		types[i].type = w->words[i][0];
		types[i].unit = w->words[i][1];
		list[i] = &types[i];
	}
	p.n_sample_type = w->types;
	p.sample_type = list;
	if (w->types > 1) {
		p.period_type = &types[1];
		p.period = (int64_t)(w->s->period <= INT64_MAX ? w->s->period : INT64_MAX);
	}
	p.time_nanos = (int64_t)(w->s->start_realtime_ns <= INT64_MAX ? w->s->start_realtime_ns : 0);
	p.duration_nanos = (int64_t)(w->about.duration_ns <= INT64_MAX ? w->about.duration_ns : 0);
	p.n_comment = w->about.n_comments;
	p.comment = w->comments;
	pack_profile(w, &p);
}

/* Returns how many of n elements, from w->at on, are in the next chunk. */
static size_t chunk_size(const struct pprof_writer *w, size_t n)
{
	return n - w->at < CHUNK ? n - w->at : CHUNK;
}

static void write_strings(struct pprof_writer *w)
{
	Profile p = PERFTOOLS__PROFILES__PROFILE__INIT;

	p.n_string_table = chunk_size(w, w->s->texts.n);
	p.string_table = w->strings;
	for (size_t i = 0; i < p.n_string_table; i++) /* each ends with a NUL */
		w->strings[i] = (char *)(uintptr_t)traces_get(w->s, (uint32_t)(w->at + i)).p;
	pack_profile(w, &p);
	w->at += p.n_string_table;
}

/* Swaps the main executable with mapping 1: from our number to the file's, and back. */
static uint64_t mapping_id(const struct pprof_writer *w, uint64_t mapping)
{
	return w->main && mapping == w->main ? 1 : w->main && mapping == 1 ? w->main : mapping;
}

static void write_mappings(struct pprof_writer *w)
{
	Profile p = PERFTOOLS__PROFILES__PROFILE__INIT;

	p.n_mapping = chunk_size(w, w->s->n_mappings);
	p.mapping = (Mapping **)w->list;
	for (size_t i = 0; i < p.n_mapping; i++) {
		const struct traces_mapping *m = &w->s->mappings[mapping_id(w, w->at + i)];
		Mapping *to = &w->of.mappings[i];

		*to = (Mapping)PERFTOOLS__PROFILES__MAPPING__INIT;
		to->id = w->at + i;
		to->memory_start = m->start;
		to->memory_limit = m->limit;
		to->file_offset = m->offset;
		to->filename = m->path;
		to->build_id = m->build_id;
		to->has_functions = to->has_filenames = to->has_line_numbers = to->has_inline_frames = m->looked;
		w->list[i] = to;
	}
	pack_profile(w, &p);
	w->at += p.n_mapping;
}

/*
 * If a name equals its system name, pprof cuts it at the first bracket. A name that needs no cutting, because
 * it is not C++ or is demangled already, gets no system name and so keeps its arguments.
 */
static uint32_t system_name(const struct traces *s, uint32_t name)
{
	struct slice text = traces_get(s, name);

	return memchr(text.p, '(', text.n) || memchr(text.p, '<', text.n) ? 0 : name;
}

static void write_functions(struct pprof_writer *w)
{
	Profile p = PERFTOOLS__PROFILES__PROFILE__INIT;
	size_t n = chunk_size(w, w->s->n_functions);

	p.function = (Function **)w->list;
	for (size_t i = 0; i < n; i++) {
		const struct traces_function *f = &w->s->functions[w->at + i];
		Function *to = &w->of.functions[p.n_function];

		if (f->same != w->at + i)
			continue;
		*to = (Function)PERFTOOLS__PROFILES__FUNCTION__INIT;
		to->id = w->function_ids[f->same] = ++w->n_function_ids;
		to->name = f->name;
		to->system_name = system_name(w->s, f->name);
		to->filename = f->file;
		w->list[p.n_function++] = to;
	}
	pack_profile(w, &p);
	w->at += n;
}

/* Appends the location's lines, innermost first, to those of the chunk. */
static void push_lines(struct pprof_writer *w, const struct traces_location *l, size_t n)
{
	for (uint32_t i = l->n; i-- > 0; n++) {
		const struct traces_line *line = &w->s->lines[l->line + i];

		if (!grow_array(&w->lines, &w->cap_lines, n, sizeof(*w->lines)) ||
		    !grow_array(&w->line_list, &w->cap_line_list, n, sizeof(Line *))) {
			w->failed = true;
			return;
		}
		w->lines[n] = (Line)PERFTOOLS__PROFILES__LINE__INIT;
		w->lines[n].function_id = w->function_ids[w->s->functions[line->function].same];
		w->lines[n].line = line->line;
	}
}

static void write_locations(struct pprof_writer *w)
{
	Profile p = PERFTOOLS__PROFILES__PROFILE__INIT;
	size_t n = chunk_size(w, w->s->n_locations), n_lines = 0, i;

	for (i = 0; i < n && n_lines < CHUNK_IDS && !w->failed; i++) {
		const struct traces_location *l = &w->s->locations[w->at + i];

		push_lines(w, l, n_lines);
		w->parts[i] = (struct part){ n_lines, l->n };
		n_lines += l->n;
	}
	if (w->failed)
		return;
	for (size_t k = 0; k < n_lines; k++)
		w->line_list[k] = &w->lines[k];
	p.n_location = i;
	p.location = (Location **)w->list;
	for (size_t k = 0; k < i; k++) {
		const struct traces_location *l = &w->s->locations[w->at + k];
		Location *to = &w->of.locations[k];

		*to = (Location)PERFTOOLS__PROFILES__LOCATION__INIT;
		to->id = w->at + k;
		to->mapping_id = mapping_id(w, l->mapping);
		to->address = l->address;
		to->n_line = w->parts[k].n;
		to->line = to->n_line ? w->line_list + w->parts[k].first : NULL;
		w->list[k] = to;
	}
	pack_profile(w, &p);
	w->at += i;
}

static void push_label(struct pprof_writer *w, int64_t key, uint32_t text, uint64_t number)
{
	size_t n = w->n_labels;

	if (!text && !number)
		return;
	if (!grow_array(&w->labels, &w->cap_labels, n, sizeof(*w->labels)) ||
	    !grow_array(&w->label_list, &w->cap_label_list, n, sizeof(Label *))) {
		w->failed = true;
		return;
	}
	w->labels[n] = (Label)PERFTOOLS__PROFILES__LABEL__INIT;
	w->labels[n].key = key;
	w->labels[n].str = text;
	w->labels[n].num = (int64_t)(number <= INT64_MAX ? number : 0);
	w->n_labels++;
}

/* A label of the capture with the name of one of ours becomes "label.pid" and so on, as in the capture. */
static int64_t label_key(struct pprof_writer *w, uint32_t key)
{
	if (key == w->host || key == w->container || key == w->comm)
		return key == w->host ? w->label_host : key == w->container ? w->label_container : w->label_comm;
	if (key == w->waker)
		return w->label_waker;
	return key == w->pid ? w->label_pid : key == w->tid ? w->label_tid : key;
}

static struct part push_labels(struct pprof_writer *w, const struct traces_owner *o)
{
	struct part p = { .first = w->n_labels };

	push_label(w, w->host, o->host, 0);
	push_label(w, w->container, o->container, 0);
	push_label(w, w->comm, o->comm, 0);
	push_label(w, w->pid, 0, o->pid);
	push_label(w, w->tid, 0, o->tid);
	push_label(w, w->waker, o->waker, 0);
	for (size_t i = 0; i < traces_label_count(w->s, o->labels); i++) {
		struct traces_label l = traces_label(w->s, o->labels, i);

		push_label(w, label_key(w, l.key), l.value, 0);
	}
	p.n = w->n_labels - p.first;
	return p;
}

/* Appends the locations of a stack, innermost first, after the chunk's n; returns their new number. */
static size_t push_stack(struct pprof_writer *w, const struct traces_sample *it, size_t n)
{
	const struct traces *s = w->s;
	uint32_t node = it->node;

	do {
		if (!grow_array(&w->ids, &w->cap_ids, n, sizeof(*w->ids))) {
			w->failed = true;
			return n;
		}
		w->ids[n++] = node ? s->nodes[node].location : s->owners[it->owner].bare;
		node = s->nodes[node].parent;
	} while (node);
	return n;
}

static void set_values(const struct pprof_writer *w, const struct traces_sample *it, int64_t values[TYPES])
{
	bool waits = w->types > 2;

	memset(values, 0, TYPES * sizeof(*values));
	values[TYPE_SAMPLES] = (int64_t)it->samples;
	values[TYPE_CPU + (waits ? w->s->owners[it->owner].wait : 0)] = (int64_t)it->weight;
	if (waits)
		values[w->types - 1] = (int64_t)it->weight;
}

static void write_samples(struct pprof_writer *w)
{
	Profile p = PERFTOOLS__PROFILES__PROFILE__INIT;
	size_t n = chunk_size(w, w->s->n_samples), n_ids = 0, i;

	w->n_labels = 0;
	for (i = 0; i < n && n_ids < CHUNK_IDS && w->n_labels < CHUNK_IDS && !w->failed; i++) {
		size_t first = n_ids;

		n_ids = push_stack(w, &w->s->samples[w->at + i], n_ids);
		w->parts[i] = (struct part){ first, n_ids - first };
		w->label_parts[i] = push_labels(w, &w->s->owners[w->s->samples[w->at + i].owner]);
	}
	if (w->failed)
		return;
	for (size_t k = 0; k < w->n_labels; k++)
		w->label_list[k] = &w->labels[k];
	p.n_sample = i;
	p.sample = (Sample **)w->list;
	for (size_t k = 0; k < i; k++) {
		const struct traces_sample *it = &w->s->samples[w->at + k];
		Sample *to = &w->of.samples[k];

		*to = (Sample)PERFTOOLS__PROFILES__SAMPLE__INIT;
		to->n_location_id = w->parts[k].n;
		to->location_id = w->ids + w->parts[k].first;
		set_values(w, it, w->values[k]);
		to->n_value = w->types;
		to->value = w->values[k];
		to->n_label = w->label_parts[k].n;
		to->label = to->n_label ? w->label_list + w->label_parts[k].first : NULL;
		w->list[k] = to;
	}
	pack_profile(w, &p);
	w->at += i;
}

bool pprof_next(struct pprof_writer *w, struct slice *bytes)
{
	const struct traces *s = w->s;
	const struct {
		void (*write)(struct pprof_writer *w);
		size_t first, end;
	} steps[] = {
		[STEP_HEAD] = { NULL, 0, 0 },
		[STEP_STRINGS] = { write_strings, 0, s->texts.n },
		[STEP_MAPPINGS] = { write_mappings, 1, s->n_mappings },
		[STEP_FUNCTIONS] = { write_functions, 1, s->n_functions },
		[STEP_LOCATIONS] = { write_locations, 1, s->n_locations },
		[STEP_SAMPLES] = { write_samples, 0, s->n_samples },
	};

	if (w->step == STEP_HEAD && !w->failed) {
		write_head(w);
		w->step = STEP_STRINGS;
		*bytes = buf_view(&w->out);
		return !w->failed;
	}
	while (w->step < STEP_END && w->at >= steps[w->step].end) {
		w->step++;
		w->at = w->step < STEP_END ? steps[w->step].first : 0;
	}
	if (w->step == STEP_END || w->failed)
		return false;
	steps[w->step].write(w);
	*bytes = buf_view(&w->out);
	return !w->failed;
}

#else

bool pprof_known(void)
{
	return false;
}

struct pprof_writer *pprof_new(struct traces *s, const struct pprof_about *about)
{
	(void)s;
	(void)about;
	return NULL;
}

bool pprof_next(struct pprof_writer *w, struct slice *bytes)
{
	(void)w;
	(void)bytes;
	return false;
}

bool pprof_failed(const struct pprof_writer *w)
{
	return w != NULL;
}

void pprof_free(struct pprof_writer *w)
{
	(void)w;
}

#endif
