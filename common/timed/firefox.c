#include "common/timed/firefox.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/base/array.h"
#include "common/timed/firefox_tables.h"
#include "common/export/json.h"
#include "common/export/thread_moments.h"

enum { PIECE = 64 << 10 };

enum firefox_step { STEP_HEAD, STEP_TABLES, STEP_STRINGS, STEP_THREAD, STEP_ROWS, STEP_TAIL, STEP_END };

struct firefox_writer {
	struct traces *s;
	struct firefox_options options;
	bool many_hosts, time;
	struct firefox_tables tables;
	struct thread_moments threads;
	size_t *waits; /* moments of the thread that are waits */
	size_t n_waits, cap_waits;
	enum firefox_step step;
	size_t thread, table, column, row; /* the next value to write */
	bool failed;
	struct buf out;
};

/* A column of a table: its name, and the function that writes the value of a row. */
struct column {
	const char *name;
	void (*put)(struct firefox_writer *w, size_t row);
};

struct table {
	const char *name;
	const struct column *columns; /* the last one has no name */
	size_t (*rows)(const struct firefox_writer *w);
	void (*more)(struct firefox_writer *w); /* writes fields that are not columns; may be NULL */
};

static void put_number(struct firefox_writer *w, uint64_t v)
{
	json_count(&w->out, v);
}

static void put_or_null(struct firefox_writer *w, uint64_t v, bool known)
{
	if (known)
		put_number(w, v);
	else
		buf_text(&w->out, "null");
}

/* Writes nanoseconds as milliseconds, exactly. */
static void put_ms(struct firefox_writer *w, uint64_t ns)
{
	buf_printf(&w->out, "%" PRIu64, ns / 1000000);
	if (ns % 1000000)
		buf_printf(&w->out, ".%06" PRIu64, ns % 1000000);
}

static void put_null(struct firefox_writer *w, size_t row)
{
	(void)row;
	buf_text(&w->out, "null");
}

static void put_zero(struct firefox_writer *w, size_t row)
{
	(void)row;
	put_number(w, 0);
}

static void put_one(struct firefox_writer *w, size_t row)
{
	(void)row;
	put_number(w, 1);
}

static void put_none(struct firefox_writer *w, size_t row)
{
	(void)row;
	buf_text(&w->out, "-1");
}

static void put_false(struct firefox_writer *w, size_t row)
{
	(void)row;
	buf_text(&w->out, "false");
}

static void stack_frame(struct firefox_writer *w, size_t row)
{
	put_number(w, w->tables.stacks[row].frame);
}

static void stack_prefix(struct firefox_writer *w, size_t row)
{
	uint32_t prefix = w->tables.stacks[row].prefix;

	put_or_null(w, (uint64_t)prefix - 1, prefix);
}

static void frame_depth(struct firefox_writer *w, size_t row)
{
	put_number(w, w->tables.frames[row].depth);
}

static void frame_category(struct firefox_writer *w, size_t row)
{
	put_number(w, w->tables.frames[row].category);
}

static void frame_function(struct firefox_writer *w, size_t row)
{
	put_number(w, w->tables.frames[row].function);
}

static void frame_line(struct firefox_writer *w, size_t row)
{
	put_or_null(w, w->tables.frames[row].line, w->tables.frames[row].line);
}

static void function_name(struct firefox_writer *w, size_t row)
{
	put_number(w, w->tables.functions[row].name);
}

static void function_source(struct firefox_writer *w, size_t row)
{
	uint32_t file = w->tables.functions[row].file;

	put_or_null(w, firefox_tables_source(&w->tables, file), file);
}

static void function_resource(struct firefox_writer *w, size_t row)
{
	uint32_t resource = w->tables.functions[row].resource;

	if (resource)
		put_number(w, resource - 1);
	else
		put_none(w, row);
}

static const struct traces_mapping *mapping_of(const struct firefox_writer *w, size_t row)
{
	return &w->s->mappings[w->tables.resources[row]];
}

static void resource_name(struct firefox_writer *w, size_t row)
{
	put_number(w, mapping_of(w, row)->path);
}

static void source_file(struct firefox_writer *w, size_t row)
{
	put_number(w, w->tables.sources[row]);
}

static const struct traces_moment *moment_of(const struct firefox_writer *w, size_t row)
{
	return &w->s->moments[w->threads.threads[w->thread].first + row];
}

static const struct traces_moment *wait_of(const struct firefox_writer *w, size_t row)
{
	return &w->s->moments[w->waits[row]];
}

static uint64_t begin_of(const struct firefox_writer *w, const struct traces_moment *m)
{
	return thread_moments_begin(w->s, m) - w->threads.start;
}

static void sample_stack(struct firefox_writer *w, size_t row)
{
	put_number(w, firefox_tables_stack(&w->tables, moment_of(w, row)));
}

static void sample_time(struct firefox_writer *w, size_t row)
{
	put_ms(w, begin_of(w, moment_of(w, row)));
}

static void sample_weight(struct firefox_writer *w, size_t row)
{
	const struct traces_moment *m = moment_of(w, row);

	if (!w->options.weight)
		put_number(w, 1);
	else if (w->time)
		put_ms(w, m->weight);
	else
		put_number(w, m->weight);
}

static void sample_unit(struct firefox_writer *w)
{
	buf_printf(&w->out, ",\"weightType\":\"%s\"",
		   w->options.weight && w->time ? "tracing-ms" : "samples");
}

static void marker_data(struct firefox_writer *w, size_t row)
{
	const struct traces_moment *m = wait_of(w, row);
	uint32_t waker = w->s->owners[m->owner].waker;

	buf_text(&w->out, "{\"type\":\"wait\",\"cause\":{\"time\":");
	put_ms(w, begin_of(w, m));
	buf_printf(&w->out, ",\"stack\":%" PRIu32 "},\"cpu\":%" PRIu32,
		   firefox_tables_stack(&w->tables, m), m->cpu);
	if (waker) {
		buf_text(&w->out, ",\"waker\":");
		json_text(&w->out, traces_get(w->s, waker));
	}
	buf_byte(&w->out, '}');
}

static void marker_name(struct firefox_writer *w, size_t row)
{
	uint32_t text = 0;

	if (!traces_text(w->s, thread_moments_wait(w->s->owners[wait_of(w, row)->owner].wait), &text))
		w->failed = true;
	put_number(w, text);
}

static void marker_start(struct firefox_writer *w, size_t row)
{
	put_ms(w, begin_of(w, wait_of(w, row)));
}

static void marker_end(struct firefox_writer *w, size_t row)
{
	put_ms(w, wait_of(w, row)->time - w->threads.start);
}

static void marker_category(struct firefox_writer *w, size_t row)
{
	put_number(w, FIREFOX_WAITS + w->s->owners[wait_of(w, row)->owner].wait - 1);
}

static size_t stack_rows(const struct firefox_writer *w)
{
	return w->tables.n_stacks;
}

static size_t frame_rows(const struct firefox_writer *w)
{
	return w->tables.n_frames;
}

static size_t function_rows(const struct firefox_writer *w)
{
	return w->tables.n_functions;
}

static size_t resource_rows(const struct firefox_writer *w)
{
	return w->tables.n_resources;
}

static size_t source_rows(const struct firefox_writer *w)
{
	return w->tables.n_sources;
}

static size_t no_rows(const struct firefox_writer *w)
{
	(void)w;
	return 0;
}

static size_t sample_rows(const struct firefox_writer *w)
{
	return w->threads.threads[w->thread].end - w->threads.threads[w->thread].first;
}

static size_t marker_rows(const struct firefox_writer *w)
{
	return w->n_waits;
}

static const struct column stack_columns[] = { { "frame", stack_frame }, { "prefix", stack_prefix }, { 0 } };
static const struct column frame_columns[] = {
	{ "address", put_none },	{ "inlineDepth", frame_depth },
	{ "category", frame_category }, { "subcategory", put_zero },
	{ "func", frame_function },	{ "nativeSymbol", put_null },
	{ "innerWindowID", put_zero },	{ "line", frame_line },
	{ "column", put_null },		{ 0 },
};
static const struct column function_columns[] = {
	{ "name", function_name },	{ "isJS", put_false },
	{ "relevantForJS", put_false }, { "resource", function_resource },
	{ "source", function_source },	{ "lineNumber", put_null },
	{ "columnNumber", put_null },	{ 0 },
};
static const struct column resource_columns[] = {
	{ "lib", put_null }, { "name", resource_name }, { "host", put_null }, { "type", put_one }, { 0 },
};
static const struct column symbol_columns[] = {
	{ "libIndex", put_null },
	{ "address", put_null },
	{ "name", put_null },
	{ "functionSize", put_null },
	{ 0 },
};
static const struct column source_columns[] = { { "uuid", put_null }, { "filename", source_file }, { 0 } };
static const struct column sample_columns[] = {
	{ "stack", sample_stack },
	{ "time", sample_time },
	{ "weight", sample_weight },
	{ 0 },
};
static const struct column marker_columns[] = {
	{ "data", marker_data },
	{ "name", marker_name },
	{ "startTime", marker_start },
	{ "endTime", marker_end },
	{ "phase", put_one },
	{ "category", marker_category },
	{ 0 },
};

static const struct table shared_tables[] = {
	{ "stackTable", stack_columns, stack_rows, NULL },
	{ "frameTable", frame_columns, frame_rows, NULL },
	{ "funcTable", function_columns, function_rows, NULL },
	{ "resourceTable", resource_columns, resource_rows, NULL },
	{ "nativeSymbols", symbol_columns, no_rows, NULL },
	{ "sources", source_columns, source_rows, NULL },
	{ 0 },
};
static const struct table thread_tables[] = {
	{ "samples", sample_columns, sample_rows, sample_unit },
	{ "markers", marker_columns, marker_rows, NULL },
	{ 0 },
};

/*
 * Writes the next values of a list of tables, each "name":{"length":3,"column":[1,2,3],...}, as far as the
 * piece reaches. Returns true at the end of the list.
 */
static bool write_tables(struct firefox_writer *w, const struct table *tables)
{
	while (tables[w->table].name && w->out.n < PIECE) {
		const struct table *t = &tables[w->table];
		const struct column *c = &t->columns[w->column];
		size_t rows = t->rows(w);

		if (w->column == 0 && w->row == 0)
			buf_printf(&w->out, "%s\"%s\":{\"length\":%zu", w->table ? ",\n" : "", t->name, rows);
		if (w->column == 0 && w->row == 0 && t->more)
			t->more(w);
		if (!c->name) {
			buf_byte(&w->out, '}');
			w->table++;
			w->column = 0;
			continue;
		}
		if (w->row == 0)
			buf_printf(&w->out, ",\n\"%s\":[", c->name);
		while (w->row < rows) {
			buf_text(&w->out, w->row ? "," : "");
			c->put(w, w->row++);
			if (w->row < rows && w->out.n >= PIECE)
				return false;
		}
		buf_byte(&w->out, ']');
		w->row = 0;
		w->column++;
	}
	return !tables[w->table].name;
}

static void write_categories(struct firefox_writer *w)
{
	static const struct {
		const char *name, *color;
	} categories[FIREFOX_CATEGORIES] = {
		[FIREFOX_OTHER] = { "Other", "grey" },
		[FIREFOX_USER] = { "User", "yellow" },
		[FIREFOX_KERNEL] = { "Kernel", "orange" },
		[FIREFOX_LANGUAGE] = { "Interpreted and JIT", "green" },
		[FIREFOX_WAITS + CAPTURE_SLEEPS - 1] = { "Sleeping", "transparent" },
		[FIREFOX_WAITS + CAPTURE_UNINTERRUPTIBLE - 1] = { "Uninterruptible", "red" },
		[FIREFOX_WAITS + CAPTURE_QUEUED - 1] = { "Waiting for a CPU", "purple" },
		[FIREFOX_WAITS + CAPTURE_THROTTLED - 1] = { "Throttled", "magenta" },
	};

	buf_text(&w->out, "\"categories\":[");
	for (size_t i = 0; i < FIREFOX_CATEGORIES; i++)
		buf_printf(&w->out, "%s{\"name\":\"%s\",\"color\":\"%s\",\"subcategories\":[\"Other\"]}",
			   i ? ",\n" : "", categories[i].name, categories[i].color);
	buf_byte(&w->out, ']');
}

static void write_head(struct firefox_writer *w)
{
	struct slice product = slice_of(w->options.product);

	buf_text(
		&w->out,
		"{\"meta\":{\"version\":31,\"preprocessedProfileVersion\":60,"
		"\"processType\":0,\"stackwalk\":1,"
		"\"symbolicated\":true,\"symbolicationNotSupported\":true,\"usesOnlyOneStackType\":true,"
		"\"sourceCodeIsNotOnSearchfox\":true,\n\"platform\":\"Linux\",\"product\":");
	json_text(&w->out, product);
	buf_text(&w->out, ",\"importedFrom\":");
	json_text(&w->out, product);
	buf_text(&w->out, ",\n\"interval\":");
	if (w->time && w->s->period)
		put_ms(w, w->s->period);
	else
		put_number(w, 1);
	buf_text(&w->out, ",\"startTime\":");
	put_ms(w, w->threads.start);
	buf_text(&w->out, ",\"profilingStartTime\":0,\"profilingEndTime\":");
	put_ms(w, w->threads.end - w->threads.start);
	buf_text(&w->out, ",\n");
	write_categories(w);
	buf_text(&w->out, ",\n\"markerSchema\":[{\"name\":\"wait\",\"tooltipLabel\":\"{marker.name}\","
			  "\"tableLabel\":\"{marker.name}\",\"chartLabel\":\"{marker.name}\","
			  "\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
			  "\"fields\":[{\"key\":\"cpu\",\"label\":\"CPU\",\"format\":\"integer\"},"
			  "{\"key\":\"waker\",\"label\":\"Woken by\",\"format\":\"string\"}]}]},\n"
			  "\"libs\":[],\n\"pages\":[],\n\"shared\":{\n");
	w->step = STEP_TABLES;
}

static void write_shared(struct firefox_writer *w)
{
	if (!write_tables(w, shared_tables))
		return;
	buf_text(&w->out, ",\n\"stringArray\":[");
	w->table = 0;
	w->step = STEP_STRINGS;
}

static void write_strings(struct firefox_writer *w)
{
	for (; w->row < w->s->texts.n && w->out.n < PIECE; w->row++) {
		buf_text(&w->out, w->row ? ",\n" : "\n");
		json_text(&w->out, traces_get(w->s, (uint32_t)w->row));
	}
	if (w->row < w->s->texts.n)
		return;
	buf_text(&w->out, "]},\n\"threads\":[");
	w->row = 0;
	w->step = STEP_THREAD;
}

/* A process is a text, so that equal numbers on two hosts are two processes. */
static void write_pid(struct firefox_writer *w, const struct thread_moments_thread *t)
{
	struct slice host = traces_get(w->s, t->host);
	struct buf text = { 0 };

	buf_printf(&text, "%" PRIu64, t->pid);
	if (w->many_hosts && host.n) {
		buf_text(&text, " on ");
		buf_bytes(&text, host.p, host.n);
	}
	w->failed = w->failed || text.failed;
	json_text(&w->out, buf_view(&text));
	buf_release(&text);
}

static bool find_waits(struct firefox_writer *w, const struct thread_moments_thread *t)
{
	w->n_waits = 0;
	for (size_t i = t->first; i < t->end; i++) {
		if (!w->s->owners[w->s->moments[i].owner].wait)
			continue;
		if (!grow_array(&w->waits, &w->cap_waits, w->n_waits, sizeof(*w->waits)))
			return false;
		w->waits[w->n_waits++] = i;
	}
	return true;
}

static void write_thread(struct firefox_writer *w)
{
	const struct thread_moments_thread *t = &w->threads.threads[w->thread];

	if (w->thread == w->threads.n) {
		w->step = STEP_TAIL;
		return;
	}
	w->failed = !find_waits(w, t) || w->failed;
	buf_text(&w->out, w->thread ? ",\n{\"name\":" : "\n{\"name\":");
	json_text(&w->out, traces_get(w->s, t->comm));
	buf_text(&w->out, ",\"processName\":");
	json_text(&w->out, traces_get(w->s, t->process));
	buf_text(&w->out, ",\"pid\":");
	write_pid(w, t);
	buf_printf(
		&w->out,
		",\"tid\":%" PRIu64 ",\"isMainThread\":%s,\"processType\":\"default\","
		"\"processStartupTime\":0,\"processShutdownTime\":null,"
		"\"registerTime\":0,\"unregisterTime\":null,"
		"\"pausedRanges\":[],\"showMarkersInTimeline\":true,\n",
		t->tid, t->pid == t->tid ? "true" : "false");
	w->step = STEP_ROWS;
}

static void write_rows(struct firefox_writer *w)
{
	if (!write_tables(w, thread_tables))
		return;
	buf_byte(&w->out, '}');
	w->table = 0;
	w->thread++;
	w->step = STEP_THREAD;
}

static void write_tail(struct firefox_writer *w)
{
	buf_text(&w->out, "]}\n");
	w->step = STEP_END;
}

struct firefox_writer *firefox_new(struct traces *s, const struct firefox_options *options)
{
	struct firefox_writer *w = calloc(1, sizeof(*w));
	bool good;
	uint32_t text;

	if (!w)
		return NULL;
	w->s = s;
	w->options = *options;
	w->time = thread_moments_timed(s);
	good = thread_moments_init(&w->threads, s) && firefox_tables_init(&w->tables, s);
	for (uint32_t i = 1; good && i < CAPTURE_WAITS; i++) /* before the texts are written */
		good = traces_text(s, thread_moments_wait(i), &text);
	for (size_t i = 1; i < w->threads.n; i++)
		w->many_hosts = w->many_hosts || w->threads.threads[i].host != w->threads.threads[0].host;
	if (good)
		return w;
	firefox_free(w);
	return NULL;
}

void firefox_free(struct firefox_writer *w)
{
	if (!w)
		return;
	firefox_tables_release(&w->tables);
	thread_moments_release(&w->threads);
	buf_release(&w->out);
	free(w->waits);
	free(w);
}

bool firefox_failed(const struct firefox_writer *w)
{
	return w->failed;
}

bool firefox_next(struct firefox_writer *w, struct slice *bytes)
{
	static void (*const steps[])(struct firefox_writer * w) = {
		[STEP_HEAD] = write_head,     [STEP_TABLES] = write_shared, [STEP_STRINGS] = write_strings,
		[STEP_THREAD] = write_thread, [STEP_ROWS] = write_rows,	    [STEP_TAIL] = write_tail,
	};

	buf_clear(&w->out);
	while (w->step != STEP_END && w->out.n < PIECE && !w->failed) {
		steps[w->step](w);
		w->failed = w->failed || w->out.failed;
	}
	*bytes = buf_view(&w->out);
	return !w->failed && w->out.n;
}
