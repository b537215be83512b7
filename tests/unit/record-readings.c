/* Readings of processes' mappings: users take turns, and one who takes too long rests. */
#include <stdlib.h>
#include <string.h>

#include "cmd/cprof-record/host/host.h"
#include "cmd/cprof-record/process/readings.h"
#include "tests/lib/check.h"

#define MILLISECOND UINT64_C(1000000)

enum { USER = 1000, GREEDY = 1, MODEST = 2 }; /* pids are the user times USER, plus a number */

bool __wrap_nsfile_status(pid_t pid, uid_t *uid, pid_t *nspid);

bool __wrap_nsfile_status(pid_t pid, uid_t *uid, pid_t *nspid)
{
	*uid = (uid_t)pid / USER;
	*nspid = pid;
	return true;
}

/* The process that reads: how long it takes for each user, and of whom it has read. */
static uint64_t takes[3];
static uint32_t asked, order[1000];
static size_t n_order, dropped;

bool proc_scan_ask_maps(struct proc_scan *s, uint32_t pid, bool bare)
{
	(void)s, (void)bare;
	asked = pid;
	return true;
}

enum maps_reader_said proc_scan_take_maps(struct proc_scan *s, uint64_t at, proc_scan_mapping *found,
					  void *arg, uint64_t *until)
{
	(void)at, (void)found, (void)arg;
	s->maps.pending.took = takes[asked / USER];
	*until = UINT64_MAX;
	return MAPS_READER_READ;
}

static bool wants(void *arg, const struct reading *r)
{
	(void)arg, (void)r;
	return true;
}

static void done(void *arg, struct reading *r, bool read)
{
	(void)arg;
	if (read)
		order[n_order++] = r->pid / USER;
	else
		dropped++;
}

static struct readings r;
static struct proc_scan scan;
static uint64_t serial, now;

static bool want(uint32_t user, uint32_t number)
{
	return readings_want(&r, user * USER + number, ++serial, READ_MAPPINGS, now);
}

/* The first step begins a reading, the second takes all, and the third drops those that rest. */
static void read_all(void)
{
	for (int i = 0; i < 3; i++)
		readings_step(&r, &scan, now, &(struct readings_taker){ .wants = wants, .done = done });
}

static void begin(uint64_t greedy, uint64_t modest)
{
	readings_release(&r);
	takes[GREEDY] = greedy;
	takes[MODEST] = modest;
	n_order = dropped = 0;
	now = host_mono_ns();
}

static size_t count(uint32_t user, size_t n)
{
	size_t same = 0;

	for (size_t i = 0; i < n; i++)
		same += order[i] == user;
	return same;
}

static void check_turns(void)
{
	begin(10 * MILLISECOND, MILLISECOND);
	for (uint32_t i = 0; i < 20; i++)
		want(GREEDY, i);
	for (uint32_t i = 0; i < 20; i++)
		want(MODEST, i);
	read_all();
	/* In the time of one reading of the first user, the other has ten. */
	check(n_order > 12 && count(GREEDY, 12) <= 2,
	      "the turn is of the user whose readings took the least time");
	check_is(count(MODEST, n_order), 20, "a user with short readings has all of them");
	check(count(GREEDY, n_order) < 20 && dropped + r.n + count(GREEDY, n_order) == 20,
	      "one whose readings take more than a part of the time does not");
	check(r.refused == dropped && dropped > 0, "readings that are given up are counted");
	check(!want(GREEDY, 30) && want(MODEST, 30), "that user rests, and nobody else");
	check(readings_rest(&r, GREEDY * USER) && !readings_rest(&r, MODEST * USER),
	      "... for readings of others, too");
}

static void check_room(void)
{
	size_t n = 0, all = 0;

	begin(0, 0);
	while (want(GREEDY, (uint32_t)n))
		n++;
	check_is(n, READINGS_OF_ONE, "so many processes of a user wait");
	check(want(MODEST, 0), "others may wait meanwhile");
	for (uint32_t user = 3; want(user, 0); user++)
		all++;
	check_is(r.n, READINGS_MOST, "so many wait in all");
	check_is(r.refused, 2, "those without room are counted");
	check(readings_awaits(&r, serial - 1) && !readings_awaits(&r, serial),
	      "samples wait for readings that will come");
}

static void check_again(void)
{
	begin(0, 0);
	readings_want(&r, GREEDY * USER, 1, READ_ADDRESSES, 5);
	check(!readings_awaits(&r, 1), "no sample waits for a reading of addresses");
	check(readings_want(&r, GREEDY * USER, 1, READ_AGAIN, 7) && r.n == 1 &&
		      r.items[0].what == READ_AGAIN && r.items[0].time == 7,
	      "one that waits becomes a reading of mappings, as of that time");
	check(readings_want(&r, GREEDY * USER, 1, READ_MAPPINGS, 9) && r.n == 1 &&
		      r.items[0].what == READ_AGAIN,
	      "... which serves others");
}

int main(void)
{
	check_turns();
	check_room();
	check_again();
	readings_release(&r);
	return checks_done();
}
