/*
 * Checks the reader and the writer of streams at descriptors that are not plain files: a pipe whose writer
 * pauses, one that does not block, disks that fill up, a directory.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/base/le.h"
#include "common/stream/block.h"
#include "common/stream/reader.h"
#include "common/stream/writer.h"
#include "tests/lib/check.h"
#include "tests/lib/memory-file.h"

/* The writer of a pipe pauses after each block, and in the middle of each head and payload. */
static void live_pipe(void)
{
	int fd = new_file(), ends[2];
	struct writer *w = writer_new(fd);
	struct buf b;
	struct reader *r;
	struct record rec;
	size_t at = 0, delivered = 0;
	bool good = true, early = false;

	writer_put(w, &(struct record){ .type = RECORD_SEGMENT, .segment = { 1, 0, 1 } });
	for (uint64_t i = 0; i < 4; i++) {
		writer_put(w, &(struct record){ .type = RECORD_EXIT, .exit = { i, i } });
		writer_flush(w);
	}
	writer_finish(w);
	b = file_bytes(fd);
	if (pipe(ends) != 0)
		abort();
	r = reader_new(ends[0], "pipe");
	alarm(20); /* a reader that waits for bytes it does not need would wait forever */
	while (at < b.n) {
		size_t size = BLOCK_HEAD + le32_load(b.p + at + 8), begin = delivered;

		/*
		 * Without its last byte it is no block yet, and the reader knows that it would have to wait.
		 */
		good &= write(ends[1], b.p + at, size - 1) == (ssize_t)size - 1;
		early |= reader_ready(r);
		good &= write(ends[1], b.p + at + size - 1, 1) == 1;
		do {
			good &= reader_next(r, &rec) == 1;
			delivered++;
		} while (good && rec.type != RECORD_FLUSH);
		good &= delivered > begin;
		at += size;
	}
	check(good && delivered == 1 + 1 + 4 + 4 && !early, "each block of a live pipe is delivered as soon as it is whole");
	/* Two blocks at once: after the first, the second is there. */
	good = write(ends[1], b.p, b.n) == (ssize_t)b.n;
	do
		good &= reader_next(r, &rec) == 1;
	while (good && rec.type != RECORD_FLUSH);
	check(good && reader_ready(r), "and what is there already is known to be");
	close(ends[1]);
	while (reader_next(r, &rec) > 0)
		;
	check(reader_ready(r) && strstr(reader_damage(r), "the segment before this one was cut short"), "up to the end");
	alarm(0);
	reader_free(r);
	writer_free(w);
	buf_release(&b);
	close(ends[0]);
	close(fd);
}

static void non_blocking(void)
{
	int ends[2];
	struct writer *w;
	struct reader *r;
	struct record rec;
	bool good = true;
	pid_t child;
	uint64_t n = 0;

	if (pipe2(ends, O_NONBLOCK) != 0)
		abort();
	fflush(stdout);
	child = fork();
	if (child == 0) {
		close(ends[0]);
		w = writer_new(ends[1]);
		writer_put(w, &(struct record){ .type = RECORD_SEGMENT, .segment = { 1, 0, 1 } });
		for (uint64_t i = 0; i < 300000; i++)
			writer_put(w, &(struct record){ .type = RECORD_EXIT, .exit = { i * 1000, i } });
		_exit(!writer_finish(w));
	}
	close(ends[1]);
	r = reader_new(ends[0], "pipe");
	while (reader_next(r, &rec) > 0)
		n += rec.type == RECORD_EXIT;
	good &= !reader_error(r) && n == 300000;
	check(good, "a pipe that someone made non-blocking works like any other");
	reader_free(r);
	close(ends[0]);
}

/* Fills the disk after n bytes: the writer reports it for every n. */
static void full_disk(void)
{
	struct rlimit before, limit;
	bool good = true;
	size_t whole = 0;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	for (size_t most = 0; most == 0 || most <= whole; most++) {
		char name[] = "/tmp/cprof-test.XXXXXX";
		int fd = mkstemp(name);
		struct writer *w = writer_new(fd);
		bool done;

		unlink(name);
		limit = (struct rlimit){ most ? most - 1 : RLIM_INFINITY, before.rlim_max };
		setrlimit(RLIMIT_FSIZE, &limit);
		writer_put(w, &(struct record){ .type = RECORD_SEGMENT, .segment = { 1, 0, 1 } });
		writer_put(w, &(struct record){ .type = RECORD_EXIT, .exit = { 1, 1 } });
		writer_flush(w);
		writer_put(w, &(struct record){ .type = RECORD_END });
		done = writer_finish(w);
		if (most == 0) {
			whole = writer_bytes(w);
			good &= done && whole > 0;
		} else {
			good &= !done && writer_error(w) && strcmp(writer_error(w), "cannot write: File too large") == 0 &&
				!writer_refused(w) && writer_bytes(w) == most - 1 &&
				!writer_put(w, &(struct record){ .type = RECORD_END });
		}
		writer_free(w);
		close(fd);
	}
	setrlimit(RLIMIT_FSIZE, &before);
	check(good, "a disk that is full after any number of bytes is told as such");
}

static void bad_descriptors(void)
{
	struct record rec;
	int fd = open("/", O_RDONLY | O_DIRECTORY);
	struct reader *r = reader_new(fd, "folder");

	check(reader_next(r, &rec) == -1 && reader_next(r, &rec) == -1 && !reader_refused(r) && !reader_damage(r) &&
	      strcmp(reader_error(r), "folder: cannot read at byte 0: Is a directory") == 0,
	      "a folder is no stream, and that is the system's word");
	reader_free(r);
	close(fd);
}

int main(void)
{
	live_pipe();
	non_blocking();
	full_disk();
	bad_descriptors();
	return checks_done();
}
