#include "common/perfscript/script_write.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/idmap.h"
#include "common/base/intern.h"
#include "common/profile/sanitize.h"
#include "common/select/recordings.h"
#include "common/select/select.h"

enum { PIECE = 64 << 10 };

struct script_sample {
	uint64_t time, weight, epoch;
	uint32_t thread, comm, user, kernel, cpu, event;
};

bool script_writer_init(struct script_writer *w, const struct view *view)
{
	*w = (struct script_writer){ .view = view };
	intern_init(&w->texts);
	idmap_init(&w->pieces);
	return profile_init(&w->labels) && capture_init(&w->capture);
}

/* Drops the names and samples, which belong to one segment. */
static void forget_names(struct script_writer *w)
{
	if (w->named) {
		gather_native_release(&w->native);
		gather_names_release(&w->names);
	}
	w->named = false;
	w->n = w->at = 0;
	idmap_clear(&w->pieces);
	intern_release(&w->texts);
	intern_init(&w->texts);
	profile_release(&w->labels);
	w->failed = !profile_init(&w->labels) || w->failed;
}

void script_writer_release(struct script_writer *w)
{
	forget_names(w);
	capture_release(&w->capture);
	free(w->samples);
	profile_release(&w->labels);
	idmap_release(&w->pieces);
	intern_release(&w->texts);
	buf_release(&w->out);
	buf_release(&w->line);
}

static void keep_sample(struct script_writer *w, const struct record_sample *r)
{
	const struct capture_thread *t = &w->capture.threads[r->thread];
	struct record_sample part;

	if (!w->based)
		w->base = recordings_base(w->view->recordings, &w->capture, r->time);
	w->based = true;
	if (select_sample(&(struct select){ w->view, &w->capture, w->base }, r, &part) != SELECT_IN)
		return;
	if (w->failed || !grow_array(&w->samples, &w->cap, w->n, sizeof(*w->samples))) {
		w->failed = true;
		return;
	}
	w->samples[w->n++] = (struct script_sample){
		part.time, part.weight, w->capture.processes[t->process].epoch, (uint32_t)r->thread, t->comm,
		w->view->half == HALF_KERNEL ? 0 : (uint32_t)r->user, w->view->half == HALF_USER ? 0 : (uint32_t)r->kernel,
		(uint32_t)r->cpu, (uint32_t)r->event,
	};
}

const char *script_writer_apply(struct script_writer *w, const struct record *r)
{
	const char *wrong;

	if (r->type == RECORD_SEGMENT)
		w->based = false;
	wrong = capture_apply(&w->capture, r);
	if (!wrong && r->type == RECORD_SAMPLE)
		keep_sample(w, &r->sample);
	return wrong;
}

/* Finds the frame's offset in its function; returns false if the function is unknown. */
static bool find_offset(struct script_writer *w, uint32_t frame, uint64_t epoch, uint64_t *offset, bool *jit)
{
	const struct capture_frame *f = &w->capture.frames[frame];
	const struct capture_symbol *s = gather_names_symbol(&w->names, frame, epoch);
	const struct capture_ksym *k = capture_ksym(&w->capture, frame);

	*jit = s && (s->source == NAME_PERFMAP || s->source == NAME_JITDUMP);
	*offset = 0;
	if (s && s->source != NAME_BOUNDS)
		*offset = s->offset;
	else if (k)
		*offset = f->address - k->address;
	else
		return false;
	return true;
}

static void put_kernel_file(struct script_writer *w, uint32_t frame)
{
	const struct capture_ksym *k = capture_ksym(&w->capture, frame);
	struct slice module = k && k->module ? capture_text(&w->capture, k->module) : slice_of("kernel.kallsyms");

	if (module.n > 2 && module.p[0] == '[' && module.p[module.n - 1] == ']')
		module = (struct slice){ module.p + 1, module.n - 2 };
	buf_byte(&w->line, '[');
	sanitize_append(&w->line, module);
	buf_byte(&w->line, ']');
}

/* Writes the file as perf calls it; for JIT code, the perf map that perf would have read. */
static void put_file(struct script_writer *w, uint32_t frame, uint64_t epoch, bool jit)
{
	const struct capture_frame *f = &w->capture.frames[frame];
	const struct capture_place *place = gather_names_place(&w->names, frame, epoch);
	struct slice path = { NULL, 0 };

	if (!f->process) {
		put_kernel_file(w, frame);
		return;
	}
	if (place && place->file)
		path = w->capture.files[place->file].path;
	if (jit || (place && place->map_end && !capture_path_is_file(path) && w->capture.processes[f->process].jit &&
		    !(path.n && path.p[0] == '[')))
		buf_printf(&w->line, "/tmp/perf-%" PRIu64 ".map", w->capture.processes[f->process].pid);
	else if (place && place->map_end)
		sanitize_append(&w->line, path.n ? path : slice_of("//anon"));
	else
		buf_text(&w->line, "[unknown]");
}

/*
 * Readers of perf script's text leave out names that begin with a bracket, and frames whose file has a space.
 * Perl's "(eval)" is written as "[eval]", and a space as in /proc/PID/maps.
 */
static void put_lang_name(struct script_writer *w, struct slice name)
{
	bool bracket = name.n > 1 && name.p[0] == '(';
	bool closed = bracket && name.p[name.n - 1] == ')';

	if (bracket)
		buf_byte(&w->line, '[');
	buf_bytes(&w->line, name.p + bracket, name.n - bracket - closed);
	if (closed)
		buf_byte(&w->line, ']');
}

static void put_script(struct script_writer *w, struct slice path)
{
	struct buf text = { 0 };

	sanitize_append(&text, path);
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == ' ')
			buf_text(&w->line, "\\040");
		else
			buf_byte(&w->line, text.p[i]);
	}
	w->line.failed = w->line.failed || text.failed;
	buf_release(&text);
}

/* Writes the script as file; the name is the only label. */
static void put_lang(struct script_writer *w, const struct capture_frame *f,
		     const struct gather_names_run *run)
{
	const struct capture_function *function = capture_function(&w->capture, f);
	struct slice name = profile_text(&w->labels, run->labels[0]), path = { NULL, 0 };

	if (function)
		path = capture_function_path(&w->capture, function);
	buf_clear(&w->line);
	buf_printf(&w->line, "\t%16x ", 0);
	put_lang_name(w, name);
	buf_text(&w->line, " (");
	if (path.n)
		put_script(w, path);
	else
		buf_printf(&w->line, "[%s]", language_name(f->language));
	buf_text(&w->line, ")\n");
}

/* Writes the lines of one frame into w->line, the innermost inlined function first. */
static void put_frame(struct script_writer *w, uint32_t frame, uint64_t epoch, const struct gather_names_run *run)
{
	uint64_t address = w->capture.frames[frame].address, offset;
	bool jit, known;

	if (capture_is_lang(&w->capture.frames[frame])) {
		put_lang(w, &w->capture.frames[frame], run);
		return;
	}
	known = find_offset(w, frame, epoch, &offset, &jit);
	buf_clear(&w->line);
	for (uint32_t i = run->n; i-- > 0;) {
		struct slice name = profile_text(&w->labels, run->labels[i]);

		buf_printf(&w->line, "\t%16" PRIx64 " ", address);
		buf_bytes(&w->line, name.p, name.n);
		if (i) {
			buf_text(&w->line, " (inlined)\n");
			continue;
		}
		if (known)
			buf_printf(&w->line, "+0x%" PRIx64, offset);
		buf_text(&w->line, " (");
		put_file(w, frame, epoch, jit);
		buf_text(&w->line, ")\n");
	}
}

/* Adds a frame's lines. Most frames are in many stacks, so their lines are built once. */
static bool add_frame(struct script_writer *w, uint32_t frame, uint64_t epoch, uint32_t number)
{
	struct gather_names_run run;
	struct slice text;
	uint32_t piece;
	uint64_t key;

	if (!gather_names_frame(&w->names, frame, epoch, number, &run))
		return false;
	key = (uint64_t)(run.labels - w->names.runs);
	if (!idmap_find(&w->pieces, key, &piece)) {
		put_frame(w, frame, epoch, &run);
		if (w->line.failed || !intern_add(&w->texts, buf_view(&w->line), &piece) ||
		    !idmap_set(&w->pieces, key, piece))
			return false;
	}
	text = intern_get(&w->texts, piece);
	buf_bytes(&w->out, text.p, text.n);
	return true;
}

static bool add_half(struct script_writer *w, uint32_t node, uint64_t epoch)
{
	uint32_t number;

	if (!gather_names_epoch(&w->names, epoch, &number) ||
	    !gather_native_stack(&w->native, node, epoch, number, &node))
		return false;
	for (; node >= NODE_FIRST; node = w->native.nodes[node].parent) {
		if (!add_frame(w, w->native.nodes[node].frame, epoch, number))
			return false;
	}
	return true;
}

/* Adds the event as one word, and not as a word that perf script uses for records other than samples. */
static void add_event(struct script_writer *w, uint32_t event)
{
	static const char other[] = "PERF_RECORD_";
	const struct record_event *e = &w->capture.events[event];
	struct slice name = e->id ? e->name : slice_of("unknown");
	size_t at = w->out.n;

	if (name.n >= strlen(other) && memcmp(name.p, other, strlen(other)) == 0)
		name = slice_of("unknown");
	sanitize_append(&w->out, name);
	for (; at < w->out.n; at++) {
		if (w->out.p[at] == ' ')
			w->out.p[at] = '_';
	}
	buf_text(&w->out, ":\n");
}

/* Replaces "#" and "|" at the beginning, because a line with them is a comment or source code. */
static void add_comm(struct script_writer *w, struct slice comm)
{
	size_t at = w->out.n;

	sanitize_append(&w->out, comm);
	if (at < w->out.n && (w->out.p[at] == '#' || w->out.p[at] == '|'))
		w->out.p[at] = '?';
}

static void add_head(struct script_writer *w, const struct script_sample *s)
{
	const struct capture *c = &w->capture;
	const struct capture_thread *t = &c->threads[s->thread];
	uint64_t pid = c->processes[t->process].pid;

	if (s->comm)
		add_comm(w, capture_text(c, s->comm));
	else
		buf_printf(&w->out, "[pid %" PRIu64 "]", pid);
	buf_printf(&w->out, " %" PRIu64 "/%" PRIu64 " [%03" PRIu32 "] %" PRIu64 ".%06" PRIu64 ": %10" PRIu64 " ", pid, t->tid,
		   s->cpu, s->time / 1000000000, s->time / 1000 % 1000000, s->weight);
	add_event(w, s->event);
}

static bool add_sample(struct script_writer *w, const struct script_sample *s)
{
	add_head(w, s);
	if (!add_half(w, s->kernel, 0) || !add_half(w, s->user, s->epoch))
		return false;
	buf_byte(&w->out, '\n');
	return !w->out.failed;
}

static bool begin_names(struct script_writer *w)
{
	if (w->named)
		return true;
	w->named = true;
	w->failed = !gather_names_init(&w->names, &w->capture, &w->labels, 1u << GATHER_NAMES_FUNCTIONS) ||
		    !gather_native_init(&w->native, &w->names, w->view->native) || w->failed;
	w->names.inlined = true;
	return !w->failed;
}

bool script_writer_next(struct script_writer *w, struct slice *text)
{
	buf_clear(&w->out);
	if (w->failed || w->n == 0 || !begin_names(w))
		return false;
	while (w->at < w->n && w->out.n < PIECE) {
		if (!add_sample(w, &w->samples[w->at++])) {
			w->failed = true;
			return false;
		}
		w->written++;
	}
	*text = buf_view(&w->out);
	if (w->at == w->n)
		forget_names(w);
	return true;
}
