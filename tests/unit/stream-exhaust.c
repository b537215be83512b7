/*
 * Cuts a capture short in every way and flips every bit or byte of it.
 *
 *	stream-exhaust FILE			in this process: reader and capture
 *	stream-exhaust FILE STEP PROGRAM ...	by a program that reads it from standard input
 *
 * FILE is whole and short. Everything before the damage must be delivered, and the message must name the
 * block and the byte at which it begins. TAP on stdout.
 */
#include "common/base/le.h"
#include "common/capture/capture.h"
#include "common/stream/block.h"
#include "common/stream/reader.h"
#include "common/stream/record_coding.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/check.h"

extern char **environ;

enum { BLOCKS = 64 };

static uint8_t *bytes;
static size_t n_bytes;
static struct {
	size_t at;   /* in the file */
	size_t text; /* offset of its text in whole */
	bool ended;  /* the segment before it has its END */
	bool header;
} blocks[BLOCKS + 1];
static size_t n_blocks;
static struct buf whole; /* the text of the undamaged stream */

/* The result of reading. */
struct result {
	struct buf text;
	char said[400]; /* "" if nothing was printed */
	int status;
};

static void die(const char *what)
{
	printf("Bail out! %s\n", what);
	exit(1);
}

static void memory_write(int fd, const void *p, size_t n)
{
	if (ftruncate(fd, 0) != 0 || pwrite(fd, p, n, 0) != (ssize_t)n || lseek(fd, 0, SEEK_SET) != 0)
		die("cannot write a file in memory");
}

static int memory(void)
{
	int fd = memfd_create("cprof-test", MFD_CLOEXEC);

	if (fd < 0)
		die("no file in memory");
	return fd;
}

static enum { SELF, DUMP, SYM, OTHER } kind;

/* cprof-sym adds names and passes on the rest, block by block or not. */
static bool compared(const struct record *r)
{
	return kind != SYM || (r->type != RECORD_STRING && r->type != RECORD_SYMBOL && r->type != RECORD_SOURCE &&
			       r->type != RECORD_FLUSH);
}

/* Reads as cprof-dump does, and applies the records to a capture too. */
static void read_here(int fd, struct result *out, bool note_blocks)
{
	struct reader *r = reader_new(fd, "in");
	struct capture c;
	struct record rec;
	int got;

	if (!r || !capture_init(&c))
		die("out of memory");
	buf_clear(&out->text);
	while ((got = reader_next(r, &rec)) > 0) {
		const char *wrong = capture_apply(&c, &rec);

		if (wrong)
			reader_complain(r, wrong);
		if (compared(&rec)) {
			record_print(&out->text, &rec);
			buf_byte(&out->text, '\n');
		}
		if (note_blocks && rec.type == RECORD_FLUSH) {
			if (++n_blocks > BLOCKS)
				die("too many blocks");
			blocks[n_blocks].text = out->text.n;
			blocks[n_blocks].ended = c.end_seen;
		}
	}
	snprintf(out->said, sizeof(out->said), "%s",
		 got < 0 ? reader_error(r) : reader_damage(r) ? reader_damage(r) : "");
	out->status = got < 0 ? (reader_refused(r) ? 3 : 1) : reader_damage(r) ? 3 : 0;
	capture_release(&c);
	reader_free(r);
}

static struct slice read_back(int fd, struct buf *out)
{
	off_t n = lseek(fd, 0, SEEK_END);

	buf_clear(out);
	if (n < 0 || !buf_reserve(out, (size_t)n + 1) || pread(fd, out->p, (size_t)n, 0) != n)
		die("cannot read back");
	out->n = (size_t)n;
	return buf_view(out);
}

static void read_by(char **command, int in, struct result *out)
{
	static int files[2] = { -1, -1 };
	static struct buf said;
	posix_spawn_file_actions_t actions;
	int status = 0;
	pid_t pid;

	for (int i = 0; i < 2; i++) {
		if (files[i] < 0)
			files[i] = memory();
		memory_write(files[i], "", 0);
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in, 0);
	posix_spawn_file_actions_adddup2(&actions, files[0], 1);
	posix_spawn_file_actions_adddup2(&actions, files[1], 2);
	if (posix_spawn(&pid, command[0], &actions, NULL, command, environ) != 0 || waitpid(pid, &status, 0) != pid)
		die(command[0]);
	posix_spawn_file_actions_destroy(&actions);
	if (kind == SYM) {
		lseek(files[0], 0, SEEK_SET);
		read_here(files[0], out, false);
	} else {
		read_back(files[0], &out->text);
	}
	read_back(files[1], &said);
	snprintf(out->said, sizeof(out->said), "%.*s", (int)said.n, (const char *)said.p);
	out->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static char **program; /* NULL: in this process */
static int input = -1;

static void read_bytes(const uint8_t *p, size_t n, struct result *out)
{
	memory_write(input, p, n);
	if (program)
		read_by(program, input, out);
	else
		read_here(input, out, false);
}

/* Finds the offset of each block and of its text. */
static void find_blocks(void)
{
	struct result r = { .status = 0 };
	size_t at = 0;

	blocks[0].ended = true;
	memory_write(input, bytes, n_bytes);
	read_here(input, &r, true);
	if (r.status != 0 || r.said[0])
		die(r.said);
	whole = r.text;
	for (size_t k = 0; k <= n_blocks; k++) {
		blocks[k].at = at;
		blocks[k].header = k == n_blocks || bytes[at + 4] == BLOCK_HEADER;
		at += k < n_blocks ? BLOCK_HEAD + le32_load(bytes + at + 8) : 0;
	}
	if (at != n_bytes)
		die("blocks that are not one after the other");
}

static size_t block_of(size_t at)
{
	size_t k = 0;

	while (k + 1 < n_blocks && blocks[k + 1].at <= at)
		k++;
	return k;
}

static bool begins_with(struct slice s, const void *p, size_t n)
{
	return n == 0 || (s.n >= n && memcmp(s.p, p, n) == 0);
}

static bool ends_with(struct slice s, const void *p, size_t n)
{
	return n == 0 || (s.n >= n && memcmp(s.p + s.n - n, p, n) == 0);
}

static void explain(const char *what, size_t at, const char *want, const struct result *r)
{
	printf("# %s at byte %zu: status %d, said \"%s\", want %s\n", what, at, r->status, r->said, want);
}

/* Returns whether want is printed in one line, once; cprof-dump prints nothing else, other programs may. */
static bool said_once(const struct result *r, const char *want)
{
	const char *at = strstr(r->said, want), *end = strchr(r->said, '\n');

	return at && !strstr(at + 1, want) && (kind != DUMP || (end && !end[1]));
}

/* Returns whether the part before block k was delivered, if the program prints a stream or its text. */
static bool delivered(const struct result *r, size_t k)
{
	return kind == OTHER || begins_with(buf_view(&r->text), whole.p, blocks[k].text);
}

static bool cut_at(size_t at, struct result *r)
{
	size_t k = at == n_bytes ? n_blocks : block_of(at);
	char want[100];
	bool good;

	if (at == blocks[k].at && blocks[k].ended && at > 0) { /* between segments nothing is missing */
		good = r->status == 0 && delivered(r, k);
		snprintf(want, sizeof(want), "nothing");
	} else {
		if (at == 0)
			snprintf(want, sizeof(want), "empty input, ");
		else
			snprintf(want, sizeof(want), "block %zu at byte %zu: cut short %s", k, blocks[k].at,
				 at == blocks[k].at ? "here" : "in ");
		good = r->status == 3 && said_once(r, want) && delivered(r, k);
	}
	if (!good)
		explain("cut", at, want, r);
	return good;
}

static void cuts(size_t step)
{
	struct result r = { .status = 0 };
	struct buf at_start = { 0 };
	bool good = true, same = true;

	for (size_t at = 0; at <= n_bytes && good; at++) {
		bool start = at == blocks[block_of(at)].at;

		if (at % step && !start)
			continue;
		read_bytes(bytes, at, &r);
		good &= cut_at(at, &r);
		/* A partial block gives nothing: all cuts in it give the same. */
		if (start) {
			buf_clear(&at_start);
			buf_bytes(&at_start, r.text.p, r.text.n);
		} else if (kind == OTHER && at != n_bytes && at > blocks[1].at) {
			bool equal = slice_equal(buf_view(&at_start), buf_view(&r.text));

			if (!equal && same)
				explain("cut", at, "the same as at the block's start", &r);
			same &= equal;
		}
	}
	check(good, "cut at every byte: status 3, the block and the byte, and all before it");
	if (kind == OTHER)
		check(same, "and half a block is as good as none");
	buf_release(&at_start);
	buf_release(&r.text);
}

static bool flip_at(size_t at, const struct result *r)
{
	size_t k = block_of(at), next = k + 1;
	char want[100];
	bool good;

	snprintf(want, sizeof(want), "block %zu at byte %zu: %s", k, blocks[k].at,
		 at - blocks[k].at < 24 ? "no valid block here" : "checksum mismatch");
	good = r->status == 3 && said_once(r, want) && delivered(r, k);
	/*
	 * The blocks after the damaged one are delivered too; after a lost header only from the next header
	 * on. A program that interprets records may leave out those that refer to the lost block.
	 */
	while (blocks[k].header && !blocks[next].header)
		next++;
	if (kind <= DUMP && next < n_blocks)
		good &= ends_with(buf_view(&r->text), whole.p + blocks[next].text, whole.n - blocks[next].text);
	if (!good)
		explain("flipped", at, want, r);
	return good;
}

static void flips(size_t step, bool bits)
{
	struct result r = { .status = 0 };
	bool good = true;

	for (size_t at = 0; at < n_bytes && good; at += step) {
		for (int bit = 0; bit <= 8; bit++) {
			if (bit < 8 && !bits)
				continue;
			bytes[at] ^= (uint8_t)(bit < 8 ? 1 << bit : 0xff);
			read_bytes(bytes, n_bytes, &r);
			good &= flip_at(at, &r);
			bytes[at] ^= (uint8_t)(bit < 8 ? 1 << bit : 0xff);
		}
	}
	check(good, bits ? "every bit and every byte flipped: status 3, the block and the byte, all before and after it" :
			   "bytes flipped: status 3, the block and the byte");
	buf_release(&r.text);
}

static void load(const char *path)
{
	int fd = open(path, O_RDONLY);
	off_t n = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);

	bytes = n > 0 ? malloc((size_t)n) : NULL;
	if (!bytes || pread(fd, bytes, (size_t)n, 0) != n)
		die(path);
	n_bytes = (size_t)n;
	close(fd);
}

int main(int argc, char **argv)
{
	size_t step = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;

	if (argc < 2 || argc == 3 || step == 0)
		die("usage: stream-exhaust FILE [STEP PROGRAM ...]");
	load(argv[1]);
	input = memory();
	program = argc > 3 ? argv + 3 : NULL;
	if (program)
		kind = strstr(program[0], "cprof-dump") ? DUMP : strstr(program[0], "cprof-sym") ? SYM : OTHER;
	find_blocks();
	cuts(step);
	flips(step, !program);
	free(bytes);
	buf_release(&whole);
	return checks_done();
}
