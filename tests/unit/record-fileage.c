/*
 * The age of rotated files while the clock is stepped and the machine is suspended. All clocks are this
 * test's own, and so are the files' times. Run in an empty directory.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cprof-record/output/rotate.h"
#include "common/stream/block.h"
#include "tests/lib/check.h"

enum { MINUTE = 60, HOUR = 3600, NOW = 1700000000 };

#define YEAR (365 * 24 * (time_t)HOUR)

/* Seconds. A step moves only the wall clock; monotonic time stops while the machine is suspended. */
static time_t wall, boot, monotonic;

int clock_gettime(clockid_t clock, struct timespec *t)
{
	if (clock != CLOCK_REALTIME && clock != CLOCK_BOOTTIME && clock != CLOCK_MONOTONIC)
		return (int)syscall(SYS_clock_gettime, clock, t);
	t->tv_sec = clock == CLOCK_REALTIME ? wall : clock == CLOCK_BOOTTIME ? boot : monotonic;
	t->tv_nsec = 0;
	return 0;
}

static void pass_time(time_t seconds)
{
	wall += seconds;
	boot += seconds;
	monotonic += seconds;
}

static void suspend(time_t seconds)
{
	pass_time(seconds);
	monotonic -= seconds;
}

static void write_file(struct rotate *f, const char *name)
{
	int fd = openat(f->dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	struct timespec times[2] = { { wall, 0 }, { wall, 0 } };

	check(fd >= 0 && write(fd, BLOCK_SYNC, BLOCK_SYNC_BYTES) == BLOCK_SYNC_BYTES &&
	      futimens(fd, times) == 0, name);
	close(fd);
}

static struct rotate begin(void)
{
	struct rotate f = { .keep_ns = HOUR * UINT64_C(1000000000), .mode = 0600 };
	struct buf error = { 0 };

	wall = NOW;
	boot = monotonic = HOUR;
	rotate_init(&f);
	check(file_name_init(&f.pattern, "f%w.cprof", FILE_NAME_AT_FILE, &error), "a pattern");
	f.dir = rotate_open_dir(&f);
	buf_release(&error);
	return f;
}

/* Removes files that are too old. Returns the numbers of those that are left, and removes them, too. */
static const char *left(struct rotate *f)
{
	static char list[10];
	char *p = list;

	rotate_keep(f);
	for (char name[] = "f0.cprof"; name[1] <= '9'; name[1]++)
		if (unlinkat(f->dir, name, 0) == 0)
			*p++ = name[1];
	*p = '\0';
	rotate_release(f);
	return list;
}

/* Writes a file, steps the clock, writes another one, and a third one a good hour later. */
static void check_step(time_t step, const char *what)
{
	struct rotate f = begin();

	write_file(&f, "f1.cprof");
	pass_time(MINUTE);
	wall += step;
	rotate_keep(&f);
	write_file(&f, "f2.cprof");
	check(faccessat(f.dir, "f1.cprof", F_OK, 0) == 0, "  a step makes no file old");
	pass_time(HOUR + MINUTE);
	write_file(&f, "f3.cprof");
	check_text(left(&f), "3", what);
}

static void check_small_step(void)
{
	struct rotate f = begin();

	write_file(&f, "f1.cprof");
	wall += 10 * MINUTE;
	rotate_keep(&f);
	pass_time(HOUR - 2 * MINUTE);
	write_file(&f, "f2.cprof");
	check_text(left(&f), "12", "a clock that was set by less than that makes no file older");
}

static void check_suspended(void)
{
	struct rotate f = begin();

	write_file(&f, "f1.cprof");
	suspend(24 * HOUR);
	write_file(&f, "f2.cprof");
	rotate_keep(&f);
	check(faccessat(f.dir, "f1.cprof", F_OK, 0) != 0, "the time of a suspend counts");
	pass_time(HOUR + MINUTE);
	write_file(&f, "f3.cprof");
	check_text(left(&f), "3", "  and afterwards files go at their time");
}

static void check_earlier(void)
{
	struct rotate f = begin();

	wall = NOW - 2 * HOUR;
	write_file(&f, "f1.cprof"); /* by an earlier recorder */
	wall = NOW;
	write_file(&f, "f2.cprof");
	check_text(left(&f), "2", "without a step, files go at their time");
	f = begin();
	wall = NOW + 2 * HOUR;
	write_file(&f, "f1.cprof"); /* by a server whose clock is ahead */
	wall = NOW;
	pass_time(MINUTE);
	write_file(&f, "f2.cprof");
	check_text(left(&f), "12", "a file from the future stays");
}

int main(void)
{
	check_earlier();
	check_step(50 * YEAR, "a clock that was set forward by years: files go at their time");
	check_step(2 * HOUR, "  by hours");
	check_step(-50 * YEAR, "a clock that was set back by years: likewise");
	check_step(-2 * HOUR, "  by hours");
	check_small_step();
	check_suspended();
	return checks_done();
}
