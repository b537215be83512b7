#include "cmd/cprof-sym/pass.h"

#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#include "cmd/shared/operands/directory.h"
#include "cmd/shared/operands/operand_file.h"
#include "cmd/shared/terminal/progress.h"
#include "common/select/select.h"

static void or_die(bool good)
{
	if (!good)
		cli_no_memory();
}

void pass_begin(struct pass *p, struct modules *modules, const struct view *times, const char *symfs)
{
	*p = (struct pass){ .timed = select_by_clock(times), .cut.view = times };
	p->writer = writer_new(STDOUT_FILENO);
	or_die(p->writer && capture_init(&p->capture));
	or_die((p->namer = namer_new(modules)) && (p->lines = script_lines_new(symfs)));
}

void pass_release(struct pass *p)
{
	script_lines_free(p->lines);
	namer_free(p->namer);
	capture_release(&p->capture);
	window_cut_release(&p->cut);
}

static bool is_name(uint32_t type)
{
	return type == RECORD_STRING || type == RECORD_SYMBOL || type == RECORD_SOURCE ||
	       type == RECORD_LANG_LINE || type == RECORD_SCRIPT_SOURCE;
}

/* Most records are of these types. None of them can be large or end a block or segment. */
static bool is_batched(uint32_t type)
{
	return type == RECORD_FRAME || type == RECORD_NODE || type == RECORD_SAMPLE;
}

/* Returns whether the record is too large to share a block with the records before it. */
static bool is_large(const struct record *r)
{
	size_t n = r->tail.n;

	n += r->type == RECORD_JITMAP ? r->jitmap.data.n : r->type == RECORD_IMAGE ? r->image.data.n : 0;
	return n >= WRITER_BLOCK;
}

static void write_last_names(struct pass *p)
{
	or_die(script_lines_say(p->lines, &p->capture, p->writer) &&
	       namer_last(p->namer, &p->capture, p->writer));
}

static void write_names(struct pass *p)
{
	or_die(namer_say(p->namer, &p->capture, p->writer) &&
	       script_lines_say(p->lines, &p->capture, p->writer));
	p->due = false;
}

/*
 * Writes names when a block of the input or of the output ends. But names of an earlier run may continue in
 * the next block, if this block is full or ends with names. Then the missing names are written once no more
 * of the earlier run's names follow. So a second run reads all names of the first before it would repeat
 * them.
 */
static void before_record(struct pass *p, const struct record *r)
{
	if (r->type == RECORD_SEGMENT || r->type == RECORD_END) {
		write_last_names(p);
		p->due = false;
	} else if (r->type == RECORD_FLUSH && p->open) {
		p->due = true;
	} else if (r->type == RECORD_FLUSH || (p->due && !is_name(r->type))) {
		write_names(p);
	} else if (is_large(r)) {
		write_names(p);
		writer_flush(p->writer);
	}
}

/*
 * Updates the state after a record of the type; good: the writer took it. Returns false if the system failed.
 */
static bool note_written(struct pass *p, bool good, uint32_t type)
{
	uint64_t before = p->bytes;
	bool full;

	if (!good) {
		if (!writer_refused(p->writer))
			return false;
		reader_complain(p->reader, writer_error(p->writer));
	}
	p->bytes = writer_bytes(p->writer);
	full = p->bytes != before;
	if (type != RECORD_FLUSH) {
		p->open = is_name(type) || full;
		p->due |= full;
	}
	return true;
}

static void apply_record(struct pass *p, const struct record *r)
{
	const char *wrong = capture_apply(&p->capture, r);

	or_die(!p->capture.no_memory);
	if (wrong) /* pass the record on all the same, so that the next reader reports it too */
		reader_complain(p->reader, wrong);
	else if (namer_minds(r))
		or_die(namer_see(p->namer, &p->capture, r) && script_lines_see(p->lines, &p->capture, r));
}

/* Returns whether records of the type are passed on as batches. --from and --to check each sample. */
static bool goes_whole(const struct pass *p, uint32_t type)
{
	return is_batched(type) && !(p->timed && type == RECORD_SAMPLE);
}

/* Writes the batch as it came, without encoding it again, once its last record has been seen. */
static bool write_batch(struct pass *p)
{
	struct stream_batch batch;

	return !reader_batch(p->reader, &batch) || !goes_whole(p, batch.type) ||
	       note_written(p, writer_put_batch(p->writer, &batch), batch.type);
}

static bool write_record(struct pass *p, const struct record *r)
{
	if (p->due || !is_batched(r->type)) {
		before_record(p, r);
		p->bytes = writer_bytes(p->writer);
	}
	apply_record(p, r);
	if (goes_whole(p, r->type))
		return !r->last || write_batch(p);
	return note_written(p, writer_put(p->writer, r), r->type);
}

/* Writes the running spans whose part in the window is known by now. */
static bool write_rans(struct pass *p, const struct record *r)
{
	struct record made;

	while (window_cut_ran(&p->cut, &p->capture, r, &made)) {
		if (!write_record(p, &made))
			return false;
	}
	return true;
}

static bool write_left_out(struct pass *p)
{
	struct record made;

	while (window_cut_rest(&p->cut, &made)) {
		if (!write_record(p, &made))
			return false;
	}
	return true;
}

static bool take_record(struct pass *p, const struct record *r)
{
	struct record made;

	p->segments += r->type == RECORD_SEGMENT;
	if (!is_batched(r->type) && !write_batch(p)) /* if damage ended the batch */
		return false;
	if (!p->timed)
		return write_record(p, r);
	if (!write_rans(p, r))
		return false;
	if (r->type == RECORD_RAN && window_cut_keeps(&p->cut, &p->capture, &r->ran))
		return true;
	if (r->type == RECORD_WOKEN && !window_cut_woken(&p->cut, &p->capture, &r->woken))
		return true;
	if (r->type == RECORD_OUTSIDE && !window_cut_outside(&p->cut, &p->capture, &r->outside))
		return true;
	if (r->type == RECORD_SAMPLE) {
		switch (window_cut_sample(&p->cut, &p->capture, &r->sample, &made)) {
		case WINDOW_CUT_NOT:
			return write_record(p, r);
		case WINDOW_CUT_OUT:
			return true;
		case WINDOW_CUT_REPLACED:
			return write_record(p, &made);
		}
	}
	if ((r->type == RECORD_SEGMENT || r->type == RECORD_END) && !write_left_out(p))
		return false;
	return write_record(p, r);
}

static bool is_wanted(const void *context, const struct segment_extent *x)
{
	struct pass *p = (struct pass *)context;

	if (select_wants(p->cut.view, x))
		return true;
	p->first = !p->unwanted || x->from < p->first ? x->from : p->first;
	p->last = !p->unwanted || x->to > p->last ? x->to : p->last;
	p->unwanted++;
	return false;
}

static void append_time(struct buf *out, uint64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000);
	char text[32];
	struct tm tm;

	if (localtime_r(&seconds, &tm) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm))
		buf_text(out, text);
	else
		buf_printf(out, "@%lld", (long long)seconds);
}

/* Writes an empty capture if no segment is in the window: the next reader must not get empty input. */
static void write_nothing(struct pass *p)
{
	struct buf text = { 0 };

	writer_put(p->writer, &(struct record){ .type = RECORD_SEGMENT, .segment = { STREAM_MAJOR, STREAM_MINOR, STREAM_MAJOR } });
	writer_put(p->writer, &(struct record){ .type = RECORD_FLUSH });
	writer_put(p->writer, &(struct record){ .type = RECORD_END, .end = { .reason = END_CLOSED } });
	buf_printf(&text, "no segment is in the given time: %" PRIu64 " segment%s cover%s ", p->unwanted,
		   p->unwanted == 1 ? "" : "s", p->unwanted == 1 ? "s" : "");
	append_time(&text, p->first);
	buf_text(&text, " to ");
	append_time(&text, p->last);
	or_die(!text.failed);
	cli_warn("%s", buf_cstr(&text));
	buf_release(&text);
}

enum status pass_file(struct pass *p, const char *path, int *got)
{
	struct reader_choice choice = { p, is_wanted };
	int fd = operand_open(path);
	enum status status;
	struct record r;

	or_die((p->reader = reader_new(fd, operand_name(path))));
	if (p->timed)
		reader_choose(p->reader, &choice);
	progress_begin(operand_name(path), fd);
	while ((*got = reader_next(p->reader, &r)) > 0 && take_record(p, &r))
		;
	status = operand_reader_done(p->reader, *got, fd);
	operand_close(fd);
	return directory_done(path, status);
}

void pass_end(struct pass *p)
{
	write_rans(p, NULL); /* for a segment that was cut */
	write_left_out(p);
	or_die(!p->cut.no_memory);
	write_last_names(p);
	if (!p->segments && p->unwanted)
		write_nothing(p);
}
