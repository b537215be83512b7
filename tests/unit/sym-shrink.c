/*
 * Checks files that shrink and change while their names are in use: no name may be wrong, and no process may
 * die. Operand: a directory to work in.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/base/intern.h"
#include "common/elf/mapped.h"
#include "common/resolve/modules.h"
#include "tests/lib/check.h"
#include "tests/lib/made-elf.h"

enum { FUNCTIONS = 20000, ROUNDS = 20 };

static const struct made_elf first = { 0, FUNCTIONS, 40, 0 }, second = { 1, FUNCTIONS, 40, 0 };
static char path[4096], other[4096];

struct tally {
	unsigned int right, wrong, none;
};

/* Looks up the functions from..to; each name must be the first file's. */
static struct tally look(struct modules *m, uint32_t id, uint32_t from, uint32_t to)
{
	struct tally t = { 0 };

	for (uint32_t i = from; i < to; i++) {
		struct module_place place = { .offset = MADE_TEXT + (uint64_t)i * MADE_STEP };
		struct module_name name;
		char want[64];
		int found = modules_name(m, id, &place, &name);

		made_name(&first, i, want);
		if (found != 1)
			t.none++;
		else if (strcmp((const char *)intern_get(modules_texts(m), name.text).p, want) == 0 && name.offset == 0)
			t.right++;
		else
			t.wrong++;
	}
	return t;
}

/* Loads the file with a build ID, so that a rewritten file is not taken for it. */
static struct modules *load(uint32_t *id)
{
	static const struct modules_options options = { .demangle = DEMANGLE_NONE };
	struct modules *m = modules_new(&options);
	uint8_t build_id[MADE_BUILD_ID];
	struct module_identity is = { .path = slice_of(path), .build_id = { build_id, sizeof(build_id) } };

	made_build_id(&first, build_id);
	return m && modules_get(m, &is, id) ? m : NULL;
}

/* Overwrites the bytes of the file at this offset, where the names are. */
static bool overwrite(const char *from, off_t at, size_t n)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out = open(path, O_WRONLY | O_CLOEXEC);
	char *bytes = malloc(n);
	ssize_t got = in >= 0 && out >= 0 && bytes ? pread(in, bytes, n, at) : -1;
	bool good = got > 0 && pwrite(out, bytes, (size_t)got, at) == got;

	free(bytes);
	close(in);
	close(out);
	return good;
}

static void check_truncated(off_t length, const char *what)
{
	struct tally before, after;
	struct modules *m;
	uint32_t id;

	made_write(&first, path);
	m = load(&id);
	if (!m)
		exit(1);
	before = look(m, id, 0, 100);
	if (truncate(path, length) != 0)
		exit(1);
	after = look(m, id, 0, FUNCTIONS);
	printf("# %s: %u right, %u wrong, %u without\n", what, after.right, after.wrong, after.none);
	check(before.right == 100 && after.right >= 100 && after.wrong == 0, what);
	check(after.none > 0 && modules_state(m, id).status == SOURCE_DAMAGED, "  it is damaged then");
	modules_free(m);
}

static void check_rewritten(void)
{
	struct tally after;
	struct modules *m;
	uint32_t id;

	made_write(&first, path);
	made_write(&second, other);
	m = load(&id);
	if (!m || look(m, id, 0, 100).right != 100 ||
	    !overwrite(other, (off_t)made_strings_at(&first), (size_t)FUNCTIONS * first.name_length))
		exit(1);
	after = look(m, id, 0, FUNCTIONS);
	check(after.right == 100 && after.wrong == 0, "names that were written over are not given");
	check_is(modules_state(m, id).status, SOURCE_DAMAGED, "  it is damaged then");
	modules_free(m);
}

/* Another process that writes to the file: pipes for its next command, and its answer when that is done. */
struct rewriter {
	int commands, answers;
	pid_t pid;
};

enum { CUT = 'c', MEND = 'm', RACE = 'r' };

/* Repeatedly cuts the file short, overwrites it with another and restores it, until the next command. */
static bool race(int commands, const char *whole, size_t size)
{
	struct pollfd next = { .fd = commands, .events = POLLIN };

	for (unsigned int i = 0; poll(&next, 1, 0) == 0; i++) {
		struct timespec pause = { 0, (long)(random_below(150) * 1000000) };

		if (i % 2 ? !overwrite(other, 0, size) : truncate(path, (off_t)random_below(size)) != 0)
			return false;
		if (i % 5)
			nanosleep(&pause, NULL);
		if (!overwrite(whole, 0, size))
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

static void rewrite_on_command(int commands, int answers)
{
	char whole[sizeof(other) + 8], command;
	struct stat st;
	bool good;

	snprintf(whole, sizeof(whole), "%s.whole", other);
	good = made_write(&second, other) && made_write(&first, whole) && stat(whole, &st) == 0;
	while (good && read(commands, &command, 1) == 1) {
		if (command == CUT)
			good = truncate(path, (off_t)made_strings_at(&first) + 4096) == 0;
		else if (command == MEND)
			good = overwrite(whole, 0, (size_t)st.st_size);
		good = good && write(answers, &command, 1) == 1; /* a race has begun: the next command ends it */
		if (good && command == RACE)
			good = race(commands, whole, (size_t)st.st_size);
	}
	_exit(!good);
}

static bool begin_rewriter(struct rewriter *r)
{
	int to[2], from[2];

	if (pipe(to) != 0 || pipe(from) != 0)
		return false;
	*r = (struct rewriter){ to[1], from[0], fork() };
	if (r->pid == 0) {
		close(to[1]);
		rewrite_on_command(to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	return r->pid > 0;
}

static bool tell(const struct rewriter *r, char command)
{
	char answer;

	return write(r->commands, &command, 1) == 1 && read(r->answers, &answer, 1) == 1 && answer == command;
}

static bool end_rewriter(const struct rewriter *r)
{
	int status;

	close(r->commands);
	close(r->answers);
	return waitpid(r->pid, &status, 0) == r->pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Loads the file and looks up all names. */
static enum source_status load_and_look(struct tally *all)
{
	enum source_status status;
	uint32_t id;
	struct modules *m = load(&id);

	if (!m)
		exit(1);
	for (uint32_t i = 0; i < FUNCTIONS; i += FUNCTIONS / 10) {
		struct tally t = look(m, id, i, i + FUNCTIONS / 10);

		all->right += t.right;
		all->wrong += t.wrong;
		all->none += t.none;
	}
	status = modules_state(m, id).status;
	modules_free(m);
	return status;
}

/* The file is whole, then cut, then changed while it is read: results then vary, but no name is wrong. */
static void check_disturbed(void)
{
	struct tally whole = { 0 }, cut = { 0 }, raced = { 0 };
	unsigned int good = 0, damaged = 0, both = 0;
	struct rewriter r;
	bool obeyed = true;

	made_write(&first, path);
	if (!begin_rewriter(&r))
		exit(1);
	for (int round = 0; round < ROUNDS && obeyed; round++) {
		obeyed = tell(&r, MEND);
		good += load_and_look(&whole) == SOURCE_OK;
		obeyed = obeyed && tell(&r, CUT);
		damaged += load_and_look(&cut) == SOURCE_DAMAGED;
		obeyed = obeyed && tell(&r, RACE);
		both += load_and_look(&raced) == SOURCE_DAMAGED;
	}
	check(obeyed && end_rewriter(&r), "a file is cut, changed and mended by turns");
	printf("# in a race damaged %u times of %d; %u names right, %u wrong, %u without\n", both, ROUNDS, raced.right,
	       raced.wrong, raced.none);
	check_is(whole.wrong + cut.wrong + raced.wrong, 0, "  no name of it is wrong");
	check(good == ROUNDS && whole.right == ROUNDS * FUNCTIONS, "  whole it has all names");
	check(damaged == ROUNDS && cut.right == 0, "  cut it is damaged");
}

static void check_foreign(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		volatile char *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);

		_exit(p == MAP_FAILED ? 1 : p[0]);
	}
	check(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS,
	      "SIGBUS of others still kills");
}

int main(int argc, char **argv)
{
	static const char *const ways[] = { "copied", "mapped" };

	if (argc != 2)
		return 2;
	for (int way = 0; way < 2; way++) {
		snprintf(path, sizeof(path), "%s/file", argv[1]);
		snprintf(other, sizeof(other), "%s/other", argv[1]);
		if (way)
			check(mapped_guard(), "the guard stands");
		printf("# %s\n", ways[way]);
		if (way) {
			check_truncated(4096, "cut to its first page");
			check_truncated((off_t)made_strings_at(&first) + 4096 * 10, "cut within the names");
			check_rewritten();
			check_foreign();
		}
		check_disturbed();
	}
	return checks_done();
}
