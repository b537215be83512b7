/*
 * Checks the table worker's answers, with builders that take it over, and the ends of its processes.
 * record-confined.c checks that these may do nothing else.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cprof-record/host/vdso.h"
#include "tests/lib/check.h"
#include "tests/lib/processes.h"
#include "tests/unit/record-deeds.h"

static int file_of(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd;
}

/* Opens the file of a mapping of ours whose path contains part. */
static int mapped_file(const char *part)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4096];
	int fd = -1;

	while (fd < 0 && maps && fgets(line, sizeof(line), maps)) {
		char *path = strchr(line, '/');

		line[strcspn(line, "\n")] = '\0';
		if (path && strstr(path, part))
			fd = file_of(path);
	}
	if (maps)
		fclose(maps);
	return fd;
}

static long score_of(pid_t pid)
{
	char path[64];
	long score = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", (int)pid);
	f = fopen(path, "re");
	if (f && fscanf(f, "%ld", &score) != 1)
		score = -1;
	if (f)
		fclose(f);
	return score;
}

/* Only a worker that waits may have a reason that passes. */
static bool dies(struct worker *w, enum deed d, const char *why)
{
	struct table_worker_answer a;
	bool good = table_worker_ask(w, 100 + d, deed_fds[d]) && table_worker_take(w, LONG, &a) == TABLE_WORKER_DIED && a.id == 100U + d &&
		    a.why && strcmp(a.why, why) == 0 && a.table.n == 0 && a.passing == (d == WAIT);

	if (!good)
		printf("# %s\n", a.why ? a.why : "(nothing)");
	return good;
}

/* Checks that the answer is the same table as the one built here. */
static bool right(struct worker *w, uint32_t id, int fd)
{
	struct unwind_table t = { 0 }, got = { 0 };
	struct table_worker_answer a;
	struct elf_file *f;
	struct buf want = { 0 };
	enum unwind_built result = UNWIND_DAMAGED;
	bool good;

	if (elf_open(dup(fd), &f) == ELF_OPENED) {
		result = unwind_build(f, &t);
		elf_close(f);
	}
	if (result == UNWIND_BUILT)
		unwind_table_write(&t, &want);
	good = table_worker_ask(w, id, fd) && table_worker_take(w, LONG, &a) == TABLE_WORKER_ANSWER && a.id == id && a.result == result &&
	       slice_equal(a.table, buf_view(&want)) && (result == UNWIND_BUILT) == !a.why;
	if (good && result == UNWIND_BUILT)
		good = unwind_table_read(&got, a.table);
	unwind_table_release(&t);
	unwind_table_release(&got);
	buf_release(&want);
	return good;
}

static bool built(struct worker *w, uint32_t id, int fd)
{
	struct table_worker_answer a;

	return table_worker_ask(w, id, fd) && table_worker_take(w, LONG, &a) == TABLE_WORKER_ANSWER && a.id == id && a.result == UNWIND_BUILT;
}

static bool not_built(struct worker *w, int fd, enum unwind_built result, const char *why)
{
	struct table_worker_answer a;

	return table_worker_ask(w, 9, fd) && table_worker_take(w, LONG, &a) == TABLE_WORKER_ANSWER && a.id == 9 && a.result == result &&
	       a.table.n == 0 && strcmp(a.why, why) == 0;
}

static void test_answers(void)
{
	int true_fd = file_of("/bin/true"), libc = mapped_file("libc"), fd;
	struct buf image = { 0 }, id = { 0 };
	struct worker *w = table_worker_new(false);
	struct table_worker_answer a;
	char bytes[4096] = "\177ELF\2\1\1";

	check(w && table_worker_fd(w) >= 0, "a worker");
	check_is(table_worker_take(w, -1, &a), TABLE_WORKER_NOTHING,
		 "nothing was asked, and nothing is waited for");
	check(right(w, 1, true_fd), "/bin/true");
	check_is(lseek(true_fd, 0, SEEK_CUR), 0, "the place in our descriptor does not move");
	check(right(w, UINT32_MAX, libc), "libc");
	if (vdso_image(&image, &id)) {
		fd = memory_file(image.p, image.n);
		check(right(w, 3, fd), "the vDSO, an image");
		close(fd);
	}
	fd = memory_file("#!/bin/sh\n", 10);
	check(not_built(w, fd, UNWIND_NOTHING, "no unwind information"), "a script");
	close(fd);
	fd = memory_file(bytes, 20);
	check(not_built(w, fd, UNWIND_DAMAGED, "damaged"), "half a header");
	close(fd);
	fd = file_of("/");
	check(not_built(w, fd, UNWIND_NOTHING, "no unwind information"), "a directory");
	close(fd);
	check(!table_worker_ask(w, 4, -1) && errno == EBADF && !table_worker_ask(w, 4, 1 << 20), "no descriptor, no question");
	check(built(w, 5, libc) && built(w, 5, libc), "once more, by the same number");
	table_worker_ask(w, 6, libc);
	check_is(poll(&(struct pollfd){ table_worker_fd(w), POLLIN, 0 }, 1, LONG), 1,
		 "the descriptor tells that there is an answer");
	check(table_worker_take(w, 0, &a) == TABLE_WORKER_ANSWER && a.id == 6 && a.cpu_ns > 0, "it is there at once, and what it cost");
	table_worker_free(w);
	table_worker_free(NULL);
	buf_release(&image);
	buf_release(&id);
	close(true_fd);
	close(libc);
}

static void test_deaths(struct worker *w, int good)
{
	struct table_worker_answer a;
	bool all = true;

	check(dies(w, ABORT, "killed by signal 6 (Aborted)"), "a question that aborts");
	check(dies(w, TRAP, "killed by signal 4 (Illegal instruction)"), "one that crashes");
	check(dies(w, EXIT, "ended with status 7"), "one that ends");
	check(right(w, 1, good), "the next is answered");
	check(dies(w, SPIN, "used more than 1 s of CPU time"), "one that computes for ever");

	for (uint32_t i = 0; i < 20; i++)
		all &= table_worker_ask(w, i, i % 3 ? good : deed_fds[TRAP]);
	for (uint32_t i = 0; i < 20; i++)
		all &= table_worker_take(w, LONG, &a) == (i % 3 ? TABLE_WORKER_ANSWER : TABLE_WORKER_DIED) && a.id == i;
	check(all && table_worker_take(w, 0, &a) == TABLE_WORKER_NOTHING, "good and bad ones under way together");
}

/* The limit is so short that other questions may exceed it too, if the machine is busy. */
static void test_waiting(int good)
{
	struct worker *w = start(1, 500), *sized;
	struct table_worker_answer a;

	check(dies(w, WAIT, "took more than 0.5 s"), "a question that waits for ever");
	sized = table_worker_new_as(&(struct table_worker_setup){ .build = build, .cpu_s = 10, .wall_ms = 60000, .by_size = true });
	check(sized && dies(sized, SPIN, "used more CPU time than a file of its size may"), "one that computes for longer than its size allows");
	table_worker_free(sized);
	check(table_worker_ask(w, 1, good) && table_worker_take(w, LONG, &a) != TABLE_WORKER_NOTHING && a.id == 1, "it is the next one's turn");
	table_worker_free(w);
}

/* The kernel is to take the worker, not the recorder or its helpers. */
static void test_choice(struct worker *w, int good)
{
	pid_t server = child_of(getpid()), worker;
	struct table_worker_answer a;

	table_worker_ask(w, 1, deed_fds[WAIT]);
	worker = await_child_of(server);
	check_is(score_of(worker), 1000, "a worker goes before all other processes if memory is out");
	for (int i = 0; i < 1000 && score_of(server) == 1000; i++) /* it is raised while it forks */
		nap();
	check_is(score_of(server), score_of(getpid()), "the process that forks does not");
	if (worker > 0)
		kill(worker, SIGKILL);
	check(table_worker_take(w, LONG, &a) == TABLE_WORKER_DIED && right(w, 2, good), "the next is answered");
}

/* A table is whole, or there is none. */
static void test_limit(int libc)
{
	struct worker *w = start(1, LONG);
	struct table_worker_answer a;

	table_worker_limit(w, 100 << 10);
	check(not_built(w, libc, UNWIND_NO_MEMORY, "out of memory"), "libc in 100 kB");
	table_worker_limit(w, 16 << 20);
	check(right(w, 1, libc), "in 16 MB");
	check(table_worker_ask(w, 3, deed_fds[GREEDY]) && table_worker_take(w, LONG, &a) == TABLE_WORKER_ANSWER &&
		      a.table.n == 8 && le64_load(a.table.p) > 8 << 20 && le64_load(a.table.p) <= 18 << 20,
	      "which is all there is, and what the process that forks had free");
	table_worker_free(w);
}

static void test_lies(struct worker *w, int good)
{
	static const struct { enum deed deed; const char *why, *what; } lies[] = {
		{ SHORT, "the helper's answer is damaged", "half a header" },
		{ MAGICLESS, "the helper's answer is damaged", "another magic" },
		{ LONGER, "the helper's answer is damaged", "a length of more than there is" },
		{ SHORTER, "the helper's answer is damaged", "a length of less than there is" },
		{ UNKNOWN, "the helper's answer is damaged", "a result that there is not" },
		{ WITH_BYTES, "the helper's answer is damaged", "no table, and bytes" },
		{ WITHOUT_BYTES, "the helper's answer is damaged", "a table of no bytes" },
		{ HUGE_FILE, "killed by signal 25 (File size limit exceeded)", "a file of a terabyte" },
	};

	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++)
		check(dies(w, lies[i].deed, lies[i].why), lies[i].what);
	check(right(w, 1, good), "the next is answered");
}

/* Checks that no process is left, however the recorder ends. */
static void test_recorder_dies(void)
{
	int pids[2][2];
	pid_t found[2] = { 0 }, recorder;

	fflush(stdout);
	if (pipe(pids[0]) < 0)
		exit(1);
	recorder = fork();
	if (recorder == 0) {
		struct worker *w = start(1, LONG);

		table_worker_ask(w, 1, deed_fds[WAIT]);
		found[0] = child_of(getpid());
		found[1] = await_child_of(found[0]);
		if (write(pids[0][1], found, sizeof(found)) != sizeof(found))
			_exit(1);
		for (;;)
			pause();
	}
	close(pids[0][1]);
	check(read(pids[0][0], found, sizeof(found)) == sizeof(found) && found[1] > 0, "a recorder that asks");
	close(pids[0][0]);
	kill(recorder, SIGKILL);
	waitpid(recorder, NULL, 0);
	check(await_end(found[0]) && await_end(found[1]), "is killed, and nobody is left");
}

static void test_server_dies(int good)
{
	struct worker *w = start(1, LONG);
	uint32_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct table_worker_answer a;
	int fd = table_worker_fd(w);
	bool all = true;
	char line[256], path[64];
	FILE *maps;

	for (uint32_t i = 0; i < 300; i++)
		all &= table_worker_ask(w, i, i == 0 ? deed_fds[WAIT] : good);
	await_child_of(child_of(getpid()));
	kill(child_of(getpid()), SIGKILL);
	for (uint32_t i = 0; i < 300; i++)
		all &= table_worker_take(w, LONG, &a) == TABLE_WORKER_LOST && a.id == i && a.why && strstr(a.why, "was lost");
	check(all && table_worker_take(w, -1, &a) == TABLE_WORKER_NOTHING, "where the process that forks is lost each question is told");
	while (!(all = table_worker_ask(w, 1, good)) && errno == EPIPE)
		nap();
	check(all && table_worker_losses(w) == 1 && table_worker_fd(w) == fd, "another one is there soon");
	check(table_worker_take(w, LONG, &a) == TABLE_WORKER_ANSWER && a.id == 1 && a.result == UNWIND_BUILT, "and answers");
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)child_of(getpid()));
	maps = fopen(path, "re");
	all = maps && shared != MAP_FAILED;
	while (all && fgets(line, sizeof(line), maps))
		all = !strstr(line, "s 0");
	check(all, "without the memory that is shared");
	if (maps)
		fclose(maps);
	/* If a fork server is lost over a second after its start, waiting questions go to the next one. */
	for (time_t until = time(NULL) + 2; time(NULL) < until;)
		nap();
	for (uint32_t i = 0; i < 300; i++)
		table_worker_ask(w, i, i == 0 ? deed_fds[WAIT] : good);
	await_child_of(child_of(getpid()));
	kill(child_of(getpid()), SIGKILL);
	uint32_t lost = 0, answered = 0;
	for (uint32_t i = 0; i < 300; i++) {
		enum table_worker_said said = table_worker_take(w, LONG, &a);

		lost += said == TABLE_WORKER_LOST && a.id == i;
		answered += said == TABLE_WORKER_ANSWER && a.id == i;
	}
	check(lost > 0 && lost < 100 && lost + answered == 300, "those that wait are asked of the next one");
	table_worker_free(w);
	munmap(shared, 4096);
}

static void test_many(int good)
{
	struct worker *w = start(1, LONG);
	pid_t server = child_of(getpid());
	struct table_worker_answer a;
	int ours;
	bool all = true;
	long before;

	built(w, 1, good);
	ours = count_fds(getpid());
	before = strtol(status_of(server, "VmSize"), NULL, 10);
	for (int half = 0; half < 2; half++) {
		for (uint32_t i = 0; i < 500; i++)
			all &= table_worker_ask(w, i, good);
		for (uint32_t i = 0; i < 500; i++)
			all &= table_worker_take(w, LONG, &a) == TABLE_WORKER_ANSWER && a.id == i && a.result == UNWIND_BUILT;
	}
	check(all, "1,000 questions, 500 of them at once, are answered in their order");
	check_is(count_fds(getpid()), ours, "no descriptor is left of them");
	for (int i = 0; i < 1000 && count_fds(server) > 2 + 6; i++) /* the last is closed after its answer */
		nap();
	check(count_fds(server) <= 2 + 6, "nor with the process that forks");
	if (!SANDBOX_SANITIZED)
		check_is(strtol(status_of(server, "VmSize"), NULL, 10), before, "nor memory");
	check_is(child_of(server), 0, "nor a zombie");
	for (uint32_t i = 0; i < 500; i++)
		table_worker_ask(w, i, i == 0 ? deed_fds[WAIT] : good);
	table_worker_free(w);
	check(access("/proc/self", F_OK) == 0 && child_of(getpid()) == 0 && await_end(server),
	      "nobody is left");
}

int main(void)
{
	int fds = count_fds(getpid()), good, libc;
	struct worker *w;
	sigset_t taken;

	/* Blocks the signals for a signalfd, as the recorder does. */
	sigemptyset(&taken);
	sigaddset(&taken, SIGINT);
	sigaddset(&taken, SIGTERM);
	sigaddset(&taken, SIGCHLD);
	sigprocmask(SIG_BLOCK, &taken, NULL);
	test_answers();
	good = file_of("/bin/true");
	libc = mapped_file("libc");
	make_deeds();
	w = start(1, LONG);
	test_deaths(w, good);
	test_waiting(good);
	test_choice(w, good);
	if (!SANDBOX_SANITIZED)
		test_limit(libc);
	test_lies(w, good);
	table_worker_free(w);
	test_recorder_dies();
	test_server_dies(good);
	test_many(good);
	for (int d = 0; d < DEEDS; d++)
		close(deed_fds[d]);
	close(good);
	close(libc);
	check_is(count_fds(getpid()), fds, "no descriptor is left");
	check(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "no child is left");
	return checks_done();
}
