/* common/blame/replay.c: chains whose answer is known, if a function takes half of its time. */
#include "common/blame/replay.h"
#include "tests/lib/check.h"

enum { F = 1, G = 2, JOIN = 3, NAP = 4, TICK = 5, PAUSE = 6, PLACES };

static struct chain c;
static struct replay_life lives[4];
static const bool scaled[PLACES] = { [F] = true };
static const uint8_t sleeps[PLACES] = { [NAP] = SLEEP_FOR, [TICK] = SLEEP_UNTIL };

static void begin(void)
{
	chain_init(&c);
	for (int i = 0; i < 4; i++)
		lives[i] = (struct replay_life){ .begin = 1000, .end = 2000, .process = 1 };
}

/* The thread runs in the function at place from one time to another: a sample for each 10 ns. */
static void run(uint32_t thread, uint32_t place, uint64_t from, uint64_t to)
{
	for (uint64_t at = from + 10; at <= to; at += 10)
		chain_part(&c, &(struct chain_part){ at, 10, thread, place, false });
}

static void sleep_by(uint32_t thread, uint32_t place, uint64_t from, uint64_t to, enum woken_by by,
		     uint32_t waker)
{
	chain_wait(&c, &(struct chain_wait){ from, to, to, thread, waker, place, .by = (uint8_t)by });
}

static bool is_near(double a, double b)
{
	return a > b - 1e-6 && a < b + 1e-6;
}

/* Returns whether the thread's savings at its end are these, for both bounds. */
static bool saves(uint32_t thread, double least, double most)
{
	double got[2];
	struct replay r;

	chain_sort(&c);
	replay_init(&r, &c, lives, scaled, sleeps);
	for (int bound = 0; bound < 2; bound++) {
		replay_run(&r, 0.5, bound ? REPLAY_MOST : REPLAY_LEAST);
		got[bound] = r.saved[thread].end - r.saved[thread].begin;
	}
	if (!is_near(got[0], least) || !is_near(got[1], most))
		printf("# %g %g, expected %g %g\n", got[0], got[1], least, most);
	replay_release(&r);
	chain_release(&c);
	return is_near(got[0], least) && is_near(got[1], most);
}

static void test_threads(void)
{
	begin();
	run(0, G, 1000, 1100);
	sleep_by(0, JOIN, 1100, 1900, WOKEN_BY_TASK, 1);
	run(0, G, 1900, 2000);
	run(1, F, 1000, 1900);
	lives[1].end = 1900;
	check(saves(0, 450, 450), "a thread goes on earlier if its waker ran the function");
	begin();
	run(0, G, 1000, 1800);
	sleep_by(0, JOIN, 1800, 1900, WOKEN_BY_TASK, 1);
	run(1, F, 1000, 1900);
	check(saves(0, 100, 100), "  by no more than it waited");
	begin();
	run(0, F, 1000, 1100);
	sleep_by(0, JOIN, 1100, 1900, WOKEN_BY_TASK, 1);
	run(1, G, 1000, 1900);
	check(saves(0, 0, 0), "what a thread saves before it waits is lost in the wait");
	begin();
	run(0, G, 1000, 1800);
	sleep_by(0, JOIN, 1800, 1900, WOKEN_BY_TASK, 1);
	run(1, F, 1000, 1900);
	run(1, G, 1900, 2000);
	check(saves(1, 100, 450), "a waker may have to wait for a sleeper that comes too late");
}

static void test_devices(void)
{
	static const struct {
		enum woken_by by;
		uint32_t place;
		double least, most;
		const char *text;
	} rows[] = {
		{ WOKEN_BY_TIMER, JOIN, 0, 50, "a timer: at the same time, or after the same time" },
		{ WOKEN_BY_TIMER, NAP, 50, 50, "a sleep that begins anew" },
		{ WOKEN_BY_TIMER, TICK, 0, 0, "a periodic timer" },
		{ WOKEN_BY_DISK, JOIN, 50, 50, "a disk" },
		{ WOKEN_BY_NETWORK, JOIN, 0, 50, "a network" },
		{ WOKEN_BY_UNKNOWN, NAP, 50, 50, "an unknown end of a sleep that begins anew" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin();
		run(0, F, 1000, 1100);
		sleep_by(0, rows[i].place, 1100, 1900, rows[i].by, CHAIN_NO_THREAD);
		run(0, G, 1900, 2000);
		check(saves(0, rows[i].least, rows[i].most), rows[i].text);
	}
}

static void test_unknown(void)
{
	begin();
	run(0, F, 1000, 1100);
	sleep_by(0, JOIN, 1100, 1300, WOKEN_BY_UNKNOWN, CHAIN_NO_THREAD);
	run(1, F, 1000, 1400);
	sleep_by(1, JOIN, 1400, 1500, WOKEN_BY_DISK, CHAIN_NO_THREAD);
	check(saves(0, 0, 50), "an unknown waker: by the most that a thread has saved, here itself");
	begin();
	sleep_by(0, JOIN, 1000, 1300, WOKEN_BY_UNKNOWN, CHAIN_NO_THREAD);
	sleep_by(0, JOIN, 1300, 1900, WOKEN_BY_TASK, 1);
	run(1, F, 1000, 1900);
	lives[1].end = 1900;
	check(saves(0, 450, 450), "an end that is known of another wait there");
}

static void test_begin(void)
{
	begin();
	lives[1].begin = 1500;
	run(0, F, 1000, 1500);
	run(0, G, 1500, 1600);
	sleep_by(0, JOIN, 1600, 1900, WOKEN_BY_TASK, 1);
	run(1, G, 1500, 1900);
	check(saves(0, 250, 250), "a thread begins earlier if its maker does");
}

/* Three gaps of 100 ns: the function is in the first half, and a sleeper is woken in the middle. */
static void test_position(void)
{
	begin();
	for (uint64_t at = 1000; at < 1600; at += 200) {
		run(1, F, at, at + 50);
		run(1, G, at + 50, at + 100);
		sleep_by(1, JOIN, at + 100, at + 200, WOKEN_BY_DISK, CHAIN_NO_THREAD);
		sleep_by(0, JOIN, at, at + 50, WOKEN_BY_TASK, 1);
	}
	check(saves(0, 75, 75), "the function's place in a gap counts");
}

/* Two requests: the client asks again when it has the answer, and the server asks a disk, or another host. */
static void test_requests(void)
{
	static const bool pauses[PLACES] = { [PAUSE] = true };
	struct replay_requests got[2];
	struct replay r;

	begin();
	for (int i = 0; i < 3; i++) {
		uint64_t at = 1000 + 300 * (uint64_t)i;

		sleep_by(0, PAUSE, at, at + 50, WOKEN_BY_TASK, 1);
		run(1, G, at, at + 50);
		if (i == 2)
			break;
		sleep_by(1, JOIN, at + 50, at + 300, WOKEN_BY_TASK, 0);
		run(0, F, at + 50, at + 150);
		sleep_by(0, JOIN, at + 150, at + 250, i ? WOKEN_BY_NETWORK : WOKEN_BY_DISK, CHAIN_NO_THREAD);
		run(0, G, at + 250, at + 300);
	}
	chain_sort(&c);
	replay_init(&r, &c, lives, scaled, sleeps);
	r.pauses = pauses;
	for (int bound = 0; bound < 2; bound++) {
		replay_run(&r, 0.5, bound ? REPLAY_MOST : REPLAY_LEAST);
		got[bound] = r.saved[0].requests;
	}
	check(got[0].n == 2 && got[1].n == 2 && is_near(got[0].ns, 500), "requests and their times");
	check(is_near(got[0].saved, 50) && is_near(got[1].saved, 100),
	      "others answer no earlier because the request before took less time");
	check(r.saved[1].requests.n == 0, "a thread without pauses has no requests");
	replay_release(&r);
	chain_release(&c);
}

int main(void)
{
	test_threads();
	test_devices();
	test_unknown();
	test_begin();
	test_position();
	test_requests();
	return checks_done();
}
