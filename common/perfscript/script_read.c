#include "common/perfscript/script_read.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/array.h"
#include "common/base/idmap.h"
#include "common/base/intern.h"
#include "common/perfscript/script_ids.h"
#include "common/perfscript/script_stack.h"

enum {
	READ_SIZE = 256 << 10,
	FLUSH_NS = 1000000000,
};

bool script_reader_init(struct script_reader *r, int fd, struct writer *w, enum demangle_mode demangle)
{
	*r = (struct script_reader){ .fd = fd, .w = w, .demangle = demangle };
	script_segment_init(r);
	return grow_array(&r->in, &r->cap, READ_SIZE, 1);
}

void script_reader_release(struct script_reader *r)
{
	script_segment_release(r);
	for (size_t i = 0; i < sizeof(r->facts) / sizeof(r->facts[0]); i++)
		buf_release(&r->facts[i]);
	free(r->in);
	free(r->stack);
	*r = (struct script_reader){ 0 };
}

static void reject_line(struct script_reader *r, const char *why)
{
	if (!r->bad++) {
		r->first_bad = r->lines;
		r->why = why;
	}
}

static void end_sample(struct script_reader *r)
{
	struct record rec = { .type = RECORD_SAMPLE };
	uint32_t process;
	size_t kernel;

	if (!r->open)
		return;
	r->open = false;
	kernel = script_count_kernel(r);
	if (!idmap_find(&r->processes, r->head.pid, &process))
		return; /* out of memory earlier */
	rec.sample = (struct record_sample){ .time = r->time, .event = r->event, .cpu = r->head.cpu, .thread = r->thread,
					     .weight = r->head.has_period ? r->head.period : 1 };
	if (kernel < r->n_stack)
		rec.sample.user = script_stack(r, kernel, r->n_stack, process);
	if (kernel)
		rec.sample.kernel = script_stack(r, 0, kernel, 0);
	script_put(r, rec);
	r->samples++;
	r->segment_samples++;
	if (r->time < r->flushed || r->time - r->flushed >= FLUSH_NS) {
		r->flushed = r->time;
		script_put(r, (struct record){ .type = RECORD_FLUSH });
	}
	if (script_segment_full(r))
		script_segment_end(r, END_CONTINUES);
}

/* Returns the parsed line with this number, making room for it; NULL if out of memory. */
static struct script_known *known_at(struct script_reader *r, uint32_t id)
{
	if (r->failed || !grow_array(&r->known, &r->cap_known, id, sizeof(*r->known))) {
		r->failed = true;
		return NULL;
	}
	return &r->known[id];
}

static void push_line(struct script_reader *r, uint32_t id)
{
	if (!grow_array(&r->stack, &r->cap_stack, r->n_stack, sizeof(*r->stack))) {
		r->failed = true;
		return;
	}
	r->stack[r->n_stack++] = id;
	r->after_frame = true;
}

/* Returns whether the sample takes no more frames. Otherwise one sample could take all memory. */
static bool is_cut(struct script_reader *r)
{
	r->cut = r->cut || r->n_stack >= SCRIPT_DEPTH_MAX || script_segment_over(r);
	return r->cut;
}

/*
 * Takes a frame. Most lines have been read before, byte for byte, and need no parsing. A bad line is not
 * kept.
 */
static bool take_frame(struct script_reader *r, struct slice line)
{
	bool seen, fresh;
	struct script_frame f;
	struct script_known *k;
	uint32_t id;

	seen = intern_find(&r->lines_seen, line, &id);
	if (!seen && !script_frame_parse(line, &f))
		return false;
	if (is_cut(r))
		return true;
	if (!seen)
		id = script_number(r, &r->lines_seen, line, &fresh);
	k = known_at(r, id);
	if (!k)
		return true;
	if (!seen) {
		*k = (struct script_known){ 0 };
		script_frame_parse(intern_get(&r->lines_seen, id), &k->f); /* the line itself will be gone */
		k->kind = script_frame_kind(&k->f);
	}
	push_line(r, id);
	return true;
}

/*
 * Gives the frame of the previous line a source line: together they are a frame with a number of its own.
 * After any other line, it would be that of a frame which was left out.
 */
static bool take_source(struct script_reader *r, struct slice line, bool after_frame)
{
	struct buf key = { 0 };
	struct slice file, kept;
	struct script_known *k;
	uint64_t number;
	uint32_t before, id;
	bool fresh;

	if (!script_source_parse(line, &file, &number))
		return false;
	if (!file.n || !after_frame)
		return true;
	if (script_segment_over(r)) {
		r->cut = true;
		return true;
	}
	before = r->stack[r->n_stack - 1];
	buf_bytes(&key, &before, sizeof(before));
	buf_byte(&key, '\n'); /* no line contains one */
	buf_bytes(&key, file.p, file.n);
	buf_printf(&key, ":%llu", (unsigned long long)number);
	r->failed = key.failed || r->failed;
	id = script_number(r, &r->lines_seen, buf_view(&key), &fresh);
	buf_release(&key);
	k = known_at(r, id);
	if (k && fresh) {
		kept = intern_get(&r->lines_seen, id);
		*k = r->known[before];
		k->unit = 0;
		k->source = (struct slice){ kept.p + sizeof(before) + 1, file.n };
		k->source_line = number;
	}
	r->stack[r->n_stack - 1] = id;
	return true;
}

static void begin_sample(struct script_reader *r, const struct script_head *h)
{
	script_segment_begin(r);
	if (h->has_time)
		r->time = h->time;
	r->head = *h;
	r->head.comm = r->head.event = r->head.rest = (struct slice){ NULL, 0 }; /* the line will be gone */
	r->event = script_event(r, h);
	r->thread = script_thread(r, h);
	r->n_stack = 0;
	r->cut = false;
	r->open = true;
	if (h->rest.n && h->rest.p[h->rest.n - 1] == ')') /* otherwise it is a tracepoint's text */
		take_frame(r, h->rest);
}

static bool is_blank(struct slice s)
{
	while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t' || s.p[s.n - 1] == '\r'))
		s.n--;
	return s.n == 0;
}

/* Takes the head of a sample or of another event; returns false for any other line. */
static bool take_head(struct script_reader *r, struct slice line)
{
	struct script_head h;

	if (!script_head_parse(line, &h))
		return false;
	end_sample(r);
	if (h.is_sample)
		begin_sample(r, &h);
	return true;
}

/*
 * Old perf does not indent frames. They must end in ")", because other text may begin with a hex word, too.
 */
static bool take_flat_frame(struct script_reader *r, struct slice line)
{
	while (line.n && line.p[line.n - 1] == '\r')
		line.n--;
	return r->open && line.n && line.p[line.n - 1] == ')' && take_frame(r, line);
}

static void take_line(struct script_reader *r, struct slice line)
{
	bool indented, after_frame = r->after_frame;

	r->lines++;
	r->after_frame = false;
	if (is_blank(line)) {
		end_sample(r);
		return;
	}
	indented = line.p[0] == ' ' || line.p[0] == '\t';
	if (line.p[0] == '#')
		script_comment(r, line);
	else if (line.p[0] == '|') /* source code */
		return;
	else if (line.p[0] == '\t' || !take_head(r, line)) {
		if (!indented && take_flat_frame(r, line))
			return;
		if (!indented)
			reject_line(r, "neither the head of a sample nor a frame");
		else if (!r->open)
			reject_line(r, "a frame without the head of its sample");
		else if (!take_frame(r, line) && !take_source(r, line, after_frame))
			reject_line(r, "neither a frame nor the source line of one");
	}
}

/* Takes the complete lines in the buffer, and at the end of the file the last one. */
static void take_lines(struct script_reader *r)
{
	while (!r->failed) {
		size_t left = r->n - r->at;
		const uint8_t *start = r->in + r->at, *end = left ? memchr(start, '\n', left) : NULL;
		size_t n = end ? (size_t)(end - start) : left;

		if (!end && (!r->eof || !left) && n <= SCRIPT_LINE_MAX)
			return;
		if (r->skipping || n > SCRIPT_LINE_MAX) {
			r->lines += !r->skipping;
			r->after_frame = false;
			if (!r->skipping)
				reject_line(r, "a line that is too long");
			r->skipping = !end;
		} else {
			take_line(r, (struct slice){ start, n });
		}
		r->at += n + (end != NULL);
		if (!end)
			return;
	}
}

/* Reads more bytes after those that are left; returns false on failure. */
bool script_reader_unread(struct script_reader *r, struct slice bytes)
{
	if (!grow_array(&r->in, &r->cap, r->n + bytes.n, 1))
		return false;
	memcpy(r->in + r->n, bytes.p, bytes.n);
	r->n += bytes.n;
	return true;
}

static bool fill_input(struct script_reader *r)
{
	ssize_t got;

	memmove(r->in, r->in + r->at, r->n - r->at);
	r->n -= r->at;
	r->at = 0;
	if (!grow_array(&r->in, &r->cap, r->n + READ_SIZE, 1)) {
		errno = ENOMEM;
		return false;
	}
	do
		got = read(r->fd, r->in + r->n, READ_SIZE);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return false;
	r->eof = got == 0;
	r->n += (size_t)got;
	return true;
}

static bool writer_lost(const struct script_reader *r)
{
	return writer_error(r->w) && !writer_refused(r->w);
}

int script_read(struct script_reader *r)
{
	while (!r->eof) {
		if (!fill_input(r))
			return -1;
		take_lines(r);
		if (r->failed)
			errno = ENOMEM;
		if (r->failed || writer_lost(r))
			return -1;
	}
	end_sample(r);
	script_segment_end(r, END_CLOSED);
	if (r->failed)
		errno = ENOMEM;
	return r->failed || writer_lost(r) ? -1 : 0;
}
