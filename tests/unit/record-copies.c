/*
 * Perf maps and jitdump files in large numbers: the memory of copies of those that are not local, and how
 * often files are read. Users are chosen by the test, which also answers for the opener.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cprof-record/helper/nsfile.h"
#include "cmd/cprof-record/host/host.h"
#include "cmd/cprof-record/process/jit_dumps.h"
#include "cmd/cprof-record/process/perf_maps.h"
#include "common/stream/record.h"
#include "tests/lib/check.h"

#define MILLISECOND UINT64_C(1000000)
#define SECOND (1000 * MILLISECOND)

enum {
	GREEDY = 4711, MODEST = 4712, /* the users of this process and of its parent */
	MANY = 40,                    /* files */
	SIZE = 1 << 20,               /* bytes of each */
	OF_ONE = 16,                  /* that many files of one user may be in memory at once */
};

bool __wrap_nsfile_status(pid_t pid, uid_t *uid, pid_t *nspid);
bool __wrap_opener_ask(struct opener *o, const struct opener_question *q);
uint64_t __wrap_host_mono_ns(void);

static uint64_t now = 1000 * SECOND;

uint64_t __wrap_host_mono_ns(void)
{
	return now;
}

bool __wrap_nsfile_status(pid_t pid, uid_t *uid, pid_t *nspid)
{
	*uid = pid == getpid() ? GREEDY : MODEST;
	*nspid = pid;
	return true;
}

static struct opener_question asked[4096];
static size_t n_asked;

bool __wrap_opener_ask(struct opener *o, const struct opener_question *q)
{
	(void)o;
	if (n_asked == sizeof(asked) / sizeof(asked[0]))
		abort();
	asked[n_asked++] = *q;
	return true;
}

/* Returns a file in memory with n bytes, of which the first ones are those given; the others are lines. */
static int make_file(const void *first, size_t size, size_t n)
{
	static char lines[SIZE];
	int fd = memfd_create("copy", MFD_CLOEXEC);

	memset(lines, '\n', sizeof(lines));
	if (fd < 0 || write(fd, first, size) != (ssize_t)size)
		abort();
	while (size < n) {
		size_t part = n - size < sizeof(lines) ? n - size : sizeof(lines);

		if (write(fd, lines, part) != (ssize_t)part)
			abort();
		size += part;
	}
	return fd;
}

/* Returns the bytes of memory that such files take. */
static uint64_t memory_of_files(void)
{
	static const char name[] = "/memfd:copy";
	DIR *dir = opendir("/proc/self/fd");
	uint64_t bytes = 0;
	struct dirent *e;

	while (dir && (e = readdir(dir)) != NULL) {
		char to[64] = { 0 };
		struct stat st;

		if (readlinkat(dirfd(dir), e->d_name, to, sizeof(to) - 1) > 0 &&
		    strncmp(to, name, sizeof(name) - 1) == 0 && fstat(atoi(e->d_name), &st) == 0)
			bytes += (uint64_t)st.st_blocks * 512;
	}
	if (dir)
		closedir(dir);
	return bytes;
}

static struct opener_answer answer_to(const struct opener_question *q, int fd, uint64_t size, bool copied)
{
	uid_t uid = q->pid == (uint32_t)getpid() ? GREEDY : MODEST;

	return (struct opener_answer){ .want = q->want, .said = OPENER_OPENED, .id = q->id, .place = q->place,
				       .fd = fd, .copied = copied, .dev = 1, .inode = q->place, .size = size,
				       .uid = uid, .written = INT64_MAX };
}

/* --- perf maps ------------------------------------------------------------------------------- */

static size_t delivered; /* bytes of maps, or pieces of code */

static void count_lines(void *arg, uint64_t process_id, uint64_t generation, const uint8_t *data, size_t n)
{
	(void)arg, (void)process_id, (void)generation, (void)data;
	delivered += n;
}

/* Answers the questions from this one on with copies of n bytes. */
static void give_maps(struct perf_maps *js, size_t first, size_t n)
{
	size_t end = n_asked;

	for (size_t i = first; i < end; i++) {
		struct opener_answer a = answer_to(&asked[i], make_file("", 0, n), n, true);

		perf_maps_opened(js, &a, now);
	}
}

static void poll_maps(struct perf_maps *js)
{
	delivered = 0;
	while (perf_maps_poll(js, now, count_lines, NULL) > 0)
		;
}

static void check_maps(void)
{
	static struct jit_budget budget;
	struct perf_maps *js = perf_maps_new(NULL, &budget);
	const char *complaint;
	size_t first;

	n_asked = 0;
	for (uint64_t id = 1; id <= MANY; id++)
		perf_maps_watch(js, id, getpid(), 0);
	check_is(n_asked, MANY, "many perf maps of one user are asked for");
	give_maps(js, 0, SIZE);
	check_is(memory_of_files(), OF_ONE * SIZE, "their copies take no more memory than one user may have");
	check_is(perf_maps_open(js), OF_ONE, "... and the others are closed");
	complaint = perf_maps_complaint(js);
	check(complaint && strstr(complaint, "no memory for a copy"), "... which is reported");
	first = n_asked;
	perf_maps_watch(js, 1000, getppid(), 0);
	give_maps(js, first, SIZE);
	check_is(perf_maps_open(js), OF_ONE + 1, "another user's has room");
	poll_maps(js);
	check_is(delivered, (OF_ONE + 1) * SIZE, "all open ones are read");
	check_is(memory_of_files(), 0, "... and take no memory any more");
	perf_maps_finish(js, MANY, now, count_lines, NULL);
	check_is(perf_maps_left_out(js), SIZE, "if a process ends without its copy, the bytes are counted");

	first = n_asked;
	now += 11 * SECOND;
	poll_maps(js);
	check_is(n_asked - first, MANY, "all are asked for again later");
	give_maps(js, first, 2 * SIZE);
	check(memory_of_files() <= OF_ONE * SIZE + 2 * SIZE, "... likewise");
	poll_maps(js);
	check_is(delivered, (OF_ONE / 2 + 1) * SIZE, "... and read");
	check_is(memory_of_files(), 0, "... and then take no memory");
	perf_maps_free(js);
	jit_budget_release(&budget);
}

/* A copy without enough room is cut, and the next one begins there. */
static void check_large(void)
{
	static struct jit_budget budget;
	struct perf_maps *js = perf_maps_new(NULL, &budget);
	size_t first;

	n_asked = 0;
	perf_maps_watch(js, 1, getpid(), 0);
	give_maps(js, 0, 2 * OF_ONE * SIZE);
	check_is(memory_of_files(), OF_ONE * SIZE, "a large copy is cut");
	poll_maps(js);
	check_is(delivered, OF_ONE * SIZE, "... and read up to there");
	first = n_asked;
	now += SECOND;
	poll_maps(js);
	check(n_asked == first + 1 && asked[first].from > 0 && OF_ONE * SIZE - asked[first].from < 100,
	      "the rest is asked for");
	perf_maps_finish(js, 1, now, count_lines, NULL);
	check_is(perf_maps_left_out(js), OF_ONE * SIZE, "... and counted if it does not come");
	perf_maps_free(js);
	jit_budget_release(&budget);
}

/* --- users ----------------------------------------------------------------------------------- */

static void check_users(void)
{
	enum { USERS = 10 };
	struct jit_copy copies[USERS] = { 0 };
	struct jit_budget budget = { 0 };
	bool each = true;
	int files[USERS];

	for (uid_t i = 0; i < USERS; i++) { /* root is the first */
		files[i] = make_file("", 0, OF_ONE * SIZE);
		each = each && jit_budget_hold(&budget, i, files[i], OF_ONE * SIZE, &copies[i]) &&
		       copies[i].held >= JIT_BUDGET_COPY_LEAST;
	}
	check(each, "each of many users has room for some bytes");
	check(memory_of_files() <= JIT_BUDGET_COPIES, "... which are limited in all");
	for (uid_t i = 0; i < USERS; i++)
		jit_budget_let_go(&budget, files[i], &copies[i]);
	check_is(memory_of_files(), 0, "... and are given back");
	check_is(budget.all.copied, 0, "... to all");
	for (uid_t i = 0; i < USERS; i++)
		close(files[i]);
	jit_budget_release(&budget);
}

/* --- jitdump files --------------------------------------------------------------------------- */

static void count_code(void *arg, uint64_t process_id, const struct jitfile_code *code)
{
	(void)arg, (void)process_id;
	delivered += code->kind == JITCODE_LOAD;
}

static void put_u32(uint8_t **p, uint32_t v)
{
	memcpy(*p, &v, sizeof(v));
	*p += sizeof(v);
}

static void put_u64(uint8_t **p, uint64_t v)
{
	memcpy(*p, &v, sizeof(v));
	*p += sizeof(v);
}

/* Appends a function "f" of 8 bytes. */
static void put_load(uint8_t **p)
{
	put_u32(p, 0);
	put_u32(p, 56 + 2 + 8);
	put_u64(p, 9);
	put_u32(p, 0);
	put_u32(p, 0);
	put_u64(p, 0x1000);
	put_u64(p, 0x1000);
	put_u64(p, 8);
	put_u64(p, 1);
	memcpy(*p, "f\0________", 10);
	*p += 10;
}

/* Makes a jitdump file of n bytes with one function, and then a record that is skipped. */
static int make_dump(size_t n)
{
	uint8_t bytes[256], *p = bytes;

	put_u32(&p, 0x4a695444);
	put_u32(&p, 1);
	put_u32(&p, 40);
	put_u32(&p, 62);
	put_u32(&p, 0);
	put_u32(&p, 0);
	put_u64(&p, 5);
	put_u64(&p, 0);
	put_load(&p);
	if (n) {
		put_u32(&p, 77);
		put_u32(&p, (uint32_t)(n - (size_t)(p - 4 - bytes)));
		put_u64(&p, 9);
	}
	return make_file(bytes, (size_t)(p - bytes), n);
}

/* Watches a file of each of n processes, and returns its reader. */
static struct jit_dumps *watch_dumps(struct jit_budget *budget, uint64_t n)
{
	struct jit_dumps *js = jit_dumps_new(NULL, budget);
	char path[64];

	n_asked = 0;
	snprintf(path, sizeof(path), "/tmp/jit-%d.dump", (int)getpid());
	for (uint64_t id = 1; id <= n; id++)
		jit_dumps_watch(js, id, getpid(),
				&(struct jitdump_mapping){ slice_of(path), 0x1000, 0x2000, 0 });
	return js;
}

static void give_dumps(struct jit_dumps *js, size_t first)
{
	size_t end = n_asked;

	for (size_t i = first; i < end; i++) {
		struct opener_answer a = answer_to(&asked[i], make_dump(SIZE), SIZE, true);

		jit_dumps_opened(js, &a);
	}
}

/* Polls once. Returns the number of functions. */
static size_t poll_dumps(struct jit_dumps *js)
{
	delivered = 0;
	jit_dumps_poll(js, count_code, NULL);
	return delivered;
}

static void check_dumps(void)
{
	static struct jit_budget budget;
	struct jit_dumps *js = watch_dumps(&budget, MANY);
	const char *complaint;
	size_t first;

	check_is(n_asked, MANY, "many jitdump files of one user are asked for");
	give_dumps(js, 0);
	check_is(memory_of_files(), OF_ONE * SIZE, "their copies take no more memory than one user may have");
	check_is(jit_dumps_open(js), OF_ONE, "... and the others are closed");
	complaint = jit_dumps_complaint(js);
	check(complaint && strstr(complaint, "no memory for a copy"), "... which is reported");
	check_is(poll_dumps(js), OF_ONE, "all open ones are read");
	check_is(memory_of_files(), 0, "... and take no memory any more");
	jit_dumps_finish(js, MANY, count_code, NULL);
	check_is(jit_dumps_left_out(js), SIZE, "if a process ends without its copy, the bytes are counted");

	first = n_asked;
	now += SECOND;
	poll_dumps(js);
	check_is(n_asked - first, OF_ONE, "newer copies are asked for");
	check_is(asked[first].from, SIZE, "... without what is known");
	now += 10 * SECOND;
	poll_dumps(js);
	check_is(n_asked - first, MANY - 1, "... and the others again, after a longer time");
	jit_dumps_free(js);
	check_is(memory_of_files(), 0, "no file remains open");
	jit_budget_release(&budget);
}

/* Uses up what the user may read now. */
static void use_up(struct jit_budget *b)
{
	jit_budget_take(b, GREEDY, jit_budget_left(b, GREEDY, now));
}

static void check_held(void)
{
	static struct jit_budget budget;
	struct jit_dumps *js = watch_dumps(&budget, 1);
	size_t first;

	use_up(&budget);
	give_dumps(js, 0);
	check(poll_dumps(js) == 0 && memory_of_files() == SIZE, "a copy waits for its user's budget");
	first = n_asked;
	now += SECOND;
	use_up(&budget);
	check(poll_dumps(js) == 0 && n_asked == first, "... and no newer one is asked for meanwhile");
	now += SECOND;
	check(poll_dumps(js) == 1 && memory_of_files() == 0 && n_asked == first + 1, "... until it is read");
	jit_dumps_free(js);
	jit_budget_release(&budget);
}

/* --- how often files are read ---------------------------------------------------------------- */

/* All files are this one: n of them. */
static struct jit_dumps *open_local(struct jit_budget *budget, uint64_t n, int file)
{
	struct jit_dumps *js = watch_dumps(budget, n);

	for (size_t i = 0; i < n; i++) {
		struct opener_answer a = answer_to(&asked[i], dup(file), 0, false);

		jit_dumps_opened(js, &a);
	}
	return js;
}

static void append_load(int file)
{
	uint8_t bytes[128], *p = bytes;

	put_load(&p);
	if (write(file, bytes, (size_t)(p - bytes)) != p - bytes)
		abort();
}

static void check_pauses(void)
{
	enum { FEW = 5, LOTS = 200 };
	static struct jit_budget budget;
	int file = make_dump(0);
	struct jit_dumps *js = open_local(&budget, FEW, file);

	check_is(poll_dumps(js), FEW, "a few jitdump files are read");
	append_load(file);
	now += MILLISECOND;
	check_is(poll_dumps(js), FEW, "... at each drain");
	jit_dumps_free(js);

	js = open_local(&budget, LOTS, file);
	check_is(poll_dumps(js), 2 * LOTS, "very many are read");
	append_load(file);
	now += MILLISECOND;
	check_is(poll_dumps(js), 0, "... but not again at once");
	now += 20 * MILLISECOND;
	check_is(poll_dumps(js), LOTS, "... only after a time for each of them");
	for (uint64_t id = FEW + 1; id <= LOTS; id++)
		jit_dumps_forget(js, id);
	append_load(file);
	now += MILLISECOND;
	check_is(poll_dumps(js), FEW, "once few are left, they are read at each drain again");
	jit_dumps_free(js);

	js = open_local(&budget, LOTS, file);
	check_is(poll_dumps(js), 4 * LOTS, "very many are read again");
	append_load(file);
	jit_dumps_ends(js);
	check_is(poll_dumps(js), LOTS, "the recording's end waits for none");
	jit_dumps_free(js);
	close(file);
	jit_budget_release(&budget);
}

int main(void)
{
	host_raise_files();
	check_maps();
	check_large();
	check_users();
	check_dumps();
	check_held();
	check_pauses();
	return checks_done();
}
