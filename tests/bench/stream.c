/*
 * A synthetic capture of a steady load, written and read as fast as common/stream can.
 *
 *	bench-stream write SAMPLES >FILE
 *	bench-stream minute N >FILE	minute N of a host with 16 busy CPUs and 25 containers, with names
 *	bench-stream read FILE		decodes it
 *	bench-stream apply FILE		decodes it and applies it to a capture
 *
 * Prints on stderr samples, bytes per sample, and the rates per second of CPU time.
 */
#include "common/capture/capture.h"
#include "common/stream/reader.h"
#include "common/stream/writer.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/check.h"

enum { CPUS = 16, PROCESSES = 50, THREADS = 4 * PROCESSES, STACKS = 100, DEPTH = 24, PERIOD = 10101010 };
#define FIRST_TIME UINT64_C(1000000000)

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void put(struct writer *w, struct record r)
{
	if (!writer_put(w, &r)) {
		fprintf(stderr, "bench-stream: %s\n", writer_error(w));
		exit(1);
	}
}

/* Writes each process's stacks, which share their outer half. */
static void put_stacks(struct writer *w, uint64_t process)
{
	static uint64_t frame, node = NODE_FIRST - 1;

	for (uint64_t s = 0; s < STACKS; s++) {
		uint64_t outer = node + 1 - s * (DEPTH / 2) - (s ? DEPTH / 2 : 0);

		for (uint64_t d = s ? DEPTH / 2 : 0; d < DEPTH; d++) {
			uint64_t parent = d == 0 ? ROOT_FP_END : d == DEPTH / 2 && s ? outer + DEPTH / 2 - 1 : node;

			put(w, (struct record){ .type = RECORD_FRAME,
						.frame = { ++frame, process, d < DEPTH - 1, 0x400000 + random_below(1 << 20) } });
			node++;
			put(w, (struct record){ .type = RECORD_NODE, .node = { node, parent, frame } });
		}
	}
}

static void put_identities(struct writer *w)
{
	put(w, (struct record){ .type = RECORD_EVENT,
				.event = { 1, slice_of("cpu-clock"), slice_of("ns"), PERIOD, 99000 } });
	put(w, (struct record){ .type = RECORD_FILE, .file = { .id = 1, .inode = 1, .path = slice_of("/bin/x") } });
	for (uint64_t p = 1; p <= PROCESSES; p++) {
		put(w, (struct record){ .type = RECORD_PROCESS, .process = { .id = p, .pid = p + 1000 } });
		put(w, (struct record){ .type = RECORD_MAPPING, .mapping = { 0, p, 0x400000, 1 << 20, 0, 5, 1 } });
		put_stacks(w, p);
	}
	for (uint64_t t = 1; t <= THREADS; t++) {
		put(w, (struct record){ .type = RECORD_THREAD, .thread = { t, 0, 1 + (t - 1) % PROCESSES, t + 1000 } });
		put(w, (struct record){ .type = RECORD_COMM, .comm = { 0, t, slice_of("worker") } });
	}
}

enum { CONTAINERS = 25, FUNCTIONS = 3000 };

/* Facts of the host and the time, before the first record block. */
static void put_header(struct writer *w, uint64_t minute)
{
	uint64_t start = UINT64_C(1795694400) + 60 * minute;
	char text[3][40];
	const char *const facts[][2] = {
		{ "host", "bench" },
		{ "start-realtime-ns", text[0] },
		{ "start-monotonic-ns", text[1] },
		{ "command-line", "cprof-record -a --rotate 1m" },
	};

	snprintf(text[0], sizeof(text[0]), "%" PRIu64 "000000000", start);
	snprintf(text[1], sizeof(text[1]), "%" PRIu64, FIRST_TIME);
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		put(w, (struct record){ .type = RECORD_META,
					.meta = { slice_of(facts[i][0]), slice_of(facts[i][1]) } });
}

/* Two processes a container, and a name for each frame. */
static void put_names(struct writer *w)
{
	uint64_t frames = PROCESSES * (DEPTH + (STACKS - 1) * (DEPTH / 2));
	char text[100];

	for (uint64_t i = 0; i < CONTAINERS; i++) {
		snprintf(text, sizeof(text), "/docker/%016" PRIx64 "%048d",
			 (i + 1) * UINT64_C(0x9e3779b97f4a7c15), 0);
		put(w, (struct record){ .type = RECORD_CGROUP, .cgroup = { i + 1, slice_of(text) } });
	}
	for (uint64_t p = 1; p <= PROCESSES; p++)
		put(w, (struct record){ .type = RECORD_MEMBER, .member = { 0, p, 1 + p % CONTAINERS } });
	for (uint64_t i = 1; i <= FUNCTIONS; i++) {
		snprintf(text, sizeof(text), "service::function_%" PRIu64, i);
		put(w, (struct record){ .type = RECORD_STRING, .string = { i, slice_of(text) } });
	}
	for (uint64_t f = 1; f <= frames; f++)
		put(w, (struct record){ .type = RECORD_SYMBOL,
					.symbol = { f, 0, 0, NAME_SYMTAB, 1 + f * 7 % FUNCTIONS, 0, 0, 0 } });
}

/* Timers fire with some jitter on all CPUs at about the same time; a CPU mostly stays with a thread. */
static void put_samples(struct writer *w, uint64_t samples)
{
	enum { PER_PROCESS = DEPTH + (STACKS - 1) * (DEPTH / 2) };
	uint64_t now = FIRST_TIME, thread[CPUS] = { 0 };

	for (uint64_t i = 0; i < samples; i++) {
		unsigned int cpu = i % CPUS;
		uint64_t x = random_u64(), stack, user;

		if (!thread[cpu] || x % 8 == 0)
			thread[cpu] = 1 + (x >> 8) % THREADS;
		stack = (x >> 24) % STACKS * ((x >> 40) % STACKS) / STACKS; /* some are much hotter than others */
		user = NODE_FIRST - 1 + (thread[cpu] - 1) % PROCESSES * PER_PROCESS + DEPTH + stack * (DEPTH / 2);
		now += cpu ? (x >> 50) : PERIOD - 100000 + (x >> 48);
		put(w, (struct record){ .type = RECORD_SAMPLE,
					.sample = { now, 1, cpu, thread[cpu], user, 0, PERIOD } });
		if (i % (99 * CPUS) == 0)
			put(w, (struct record){ .type = RECORD_FLUSH });
	}
	put(w, (struct record){ .type = RECORD_END, .end = { now, END_CLOSED, samples } });
}

static void say(const char *what, uint64_t samples, double bytes, double seconds)
{
	fprintf(stderr, "%-8s %9" PRIu64 " samples  %6.2f bytes/sample  %7.2f M samples/s  %7.1f MB/s\n", what, samples,
		bytes / (double)samples, (double)samples / seconds / 1e6, bytes / seconds / 1e6);
}

static int read_all(const char *path, bool apply)
{
	int fd = open(path, O_RDONLY);
	struct reader *r = reader_new(fd, path);
	double begin = cpu_seconds();
	struct capture c;
	struct record rec;
	uint64_t samples = 0;
	int got;

	if (!r || !capture_init(&c))
		return 1;
	while ((got = reader_next(r, &rec)) > 0) {
		samples += rec.type == RECORD_SAMPLE;
		if (apply && capture_apply(&c, &rec)) {
			fprintf(stderr, "bench-stream: %s\n", "a record was refused");
			return 1;
		}
	}
	if (got < 0 || reader_damage(r) || (apply && capture_totals(&c).samples != samples)) {
		fprintf(stderr, "bench-stream: %s\n", got < 0 ? reader_error(r) : reader_damage(r));
		return 1;
	}
	say(apply ? "apply" : "read", samples, (double)lseek(fd, 0, SEEK_END), cpu_seconds() - begin);
	capture_release(&c);
	reader_free(r);
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && (strcmp(argv[1], "write") == 0 || strcmp(argv[1], "minute") == 0)) {
		bool minute = argv[1][0] == 'm';
		uint64_t samples = minute ? 60 * 99 * CPUS : strtoull(argv[2], NULL, 10);
		struct writer *w = writer_new(STDOUT_FILENO);
		double begin = cpu_seconds();

		put(w, (struct record){ .type = RECORD_SEGMENT,
					.segment = { STREAM_MAJOR, STREAM_MINOR, STREAM_MAJOR } });
		if (minute)
			put_header(w, strtoull(argv[2], NULL, 10));
		put_identities(w);
		if (minute)
			put_names(w);
		put_samples(w, samples);
		if (!writer_finish(w))
			return 1;
		say("write", samples, (double)writer_bytes(w), cpu_seconds() - begin);
		writer_free(w);
		return 0;
	}
	if (argc == 3 && (strcmp(argv[1], "read") == 0 || strcmp(argv[1], "apply") == 0))
		return read_all(argv[2], argv[1][0] == 'a');
	fprintf(stderr, "usage: bench-stream write SAMPLES >FILE | minute N >FILE | read FILE | apply FILE\n");
	return 2;
}
