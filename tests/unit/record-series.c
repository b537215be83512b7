/* The end of a series of files, and of the flight buffer: whether all was written. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cmd/cprof-record/output/output.h"
#include "tests/lib/check.h"

#define SECOND UINT64_C(1000000000)

static const char *wait_for(void *arg, int fd, short events)
{
	struct pollfd p = { fd, events, 0 };

	(void)arg;
	poll(&p, 1, -1);
	return NULL;
}

static struct options o = { .mode = 0600, .quiet = true };
static const struct output_asks asks = { .wait = wait_for };
static sigset_t mask;
static uint64_t now = 1000 * SECOND;

static void begin_segment(struct output *out)
{
	writer_put(out->w, &(struct record){ .type = RECORD_SEGMENT, .segment = { 1, 0, 1 } });
}

static void begin(struct output *out, bool ring)
{
	o.rotate_ns = ring ? 0 : 3600 * SECOND;
	o.ring_ns = ring ? 3600 * SECOND : 0;
	output_open(out, &o, &mask, &asks);
	output_begin(out);
	begin_segment(out);
}

static void next(struct output *out)
{
	output_next(out, now += SECOND);
	begin_segment(out);
}

static void put_meta(struct output *out, struct slice value)
{
	writer_put(out->w, &(struct record){ .type = RECORD_META, .meta = { slice_of("x-test"), value } });
}

/* Writes about so many bytes and flushes them. */
static enum output_state fill(struct output *out, size_t bytes)
{
	uint8_t text[1000];

	for (size_t i = 0; i < bytes; i += sizeof(text)) {
		for (size_t k = 0; k < sizeof(text); k++)
			text[k] = (uint8_t)random_u64();
		put_meta(out, (struct slice){ text, sizeof(text) });
	}
	return output_flush(out, now += SECOND);
}

static void limit_files(rlim_t bytes)
{
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){ bytes, RLIM_INFINITY });
}

/* Returns whether the output says that something is missing. */
static bool end(struct output *out)
{
	bool incomplete;

	output_close(out);
	incomplete = out->incomplete;
	output_release(out);
	return incomplete;
}

static void check_series(void)
{
	struct output out;

	begin(&out, false);
	fill(&out, 5000);
	next(&out);
	fill(&out, 5000);
	check(!end(&out) && out.written == 2, "a series that was written is complete");

	begin(&out, false);
	limit_files(100000);
	check(fill(&out, 300000) == OUTPUT_LOST, "a file that cannot be written has lost data");
	limit_files(RLIM_INFINITY);
	next(&out);
	fill(&out, 5000);
	check(end(&out), "... of which the end of the series knows");

	begin(&out, false);
	fill(&out, 5000);
	for (int i = 0; i < 300; i++)
		put_meta(&out, slice_of("more"));
	limit_files(1);
	check(end(&out) && out.written == 1, "and so does that of one whose last data cannot be written");
	limit_files(RLIM_INFINITY);
}

static void check_flight_buffer(void)
{
	struct output out;

	begin(&out, true);
	fill(&out, 5000);
	check(!end(&out), "a flight buffer that nobody asked for is complete");

	begin(&out, true);
	fill(&out, 5000);
	out.file_requested = true;
	limit_files(1);
	if (fill(&out, 0) == OUTPUT_DUE)
		next(&out);
	limit_files(RLIM_INFINITY);
	check(out.uncopied, "a flight buffer that cannot be written stays");
	out.file_requested = true;
	fill(&out, 0);
	next(&out);
	check(!end(&out), "... and is complete if it is written later");

	begin(&out, true);
	fill(&out, 5000);
	out.file_requested = true;
	limit_files(1);
	fill(&out, 0);
	next(&out);
	limit_files(RLIM_INFINITY);
	check(end(&out), "... and is not if the recording ends before");
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	signal(SIGXFSZ, SIG_IGN);
	o.output = argv[1];
	check_series();
	check_flight_buffer();
	return checks_done();
}
