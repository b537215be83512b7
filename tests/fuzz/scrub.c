/*
 * Fuzzes text as lines of records that are scrubbed: the output is a readable stream, and nothing in it that
 * names a command, a group or the host says "hush".
 */
#include <sys/mman.h>
#include <unistd.h>

#include "common/stream/reader.h"
#include "common/stream/record_coding.h"
#include "common/stream/scrub.h"
#include "tests/lib/fuzz.h"

static void must(bool good)
{
	if (!good)
		abort();
}

static void put_lines(struct writer *w, char *text)
{
	struct buf scratch = { 0 }, error = { 0 };
	struct record r;
	char *save;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (record_parse(&r, line, &scratch, &error))
			writer_put(w, &r);
	}
	buf_release(&scratch);
	buf_release(&error);
}

static void check_record(const struct record *r)
{
	struct slice s = r->type == RECORD_COMM	  ? r->comm.comm :
			 r->type == RECORD_CGROUP ? r->cgroup.path :
			 r->type == RECORD_META	  ? r->meta.value : slice_of("");

	must(r->tail.n == 0);
	must(r->type != RECORD_META || slice_is(r->meta.key, "arch") || !s.n || !memmem(s.p, s.n, "hush", 4));
	must(r->type == RECORD_META || !s.n || !memmem(s.p, s.n, "hush", 4));
	must(r->type != RECORD_COMM || s.n == 16);
	must(r->type != RECORD_FILE || (r->file.inode | r->file.dev_major | r->file.dev_minor | r->file.generation) == 0);
}

static void read_back(int fd)
{
	struct reader *reader;
	struct record r;
	int got;

	must(lseek(fd, 0, SEEK_SET) == 0);
	reader = reader_new(fd, "memory");
	must(reader);
	while ((got = reader_next(reader, &r)) > 0)
		check_record(&r);
	must(got == 0 || reader_refused(reader));
	reader_free(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	int fd = memfd_create("scrubbed", MFD_CLOEXEC);
	struct writer *w = writer_new(fd);
	struct scrub *s = scrub_new(slice_of("0123456789abcdef"));
	char *text = malloc(n + 1);

	must(fd >= 0 && w && s && text);
	memcpy(text, p, n);
	text[n] = '\0';
	writer_through(w, scrub_put, s);
	put_lines(w, text);
	writer_flush(w);
	must(!scrub_no_memory(s) && (!writer_error(w) || writer_refused(w)));
	read_back(fd);
	scrub_free(s);
	writer_free(w);
	free(text);
	close(fd);
	return 0;
}

#ifndef FUZZING
int main(int argc, char **argv)
{
	return fuzz_replay(argc, argv);
}
#endif
