/* File systems that do not answer: how long their devices and the unwind tables of their files rest. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cprof-record/helper/silent_devices.h"
#include "cmd/cprof-record/unwind/table_cache.h"
#include "tests/unit/unwind-store.h"

#define SECOND UINT64_C(1000000000)

static uint32_t asked; /* how often a file was asked for */
static uint32_t question;

/* The tables' question to the opener. */
bool proc_scan_ask_file(struct opener *o, uint32_t pid, const struct change *c, uint32_t id, uint64_t place)
{
	(void)o, (void)pid, (void)c, (void)place;
	asked++;
	question = id;
	return true;
}

static void check_devices(void)
{
	struct silent_devices s = { 0 };
	uint64_t now = 1000 * SECOND, rest = SILENT_DEVICES_FIRST;
	bool first, doubles = true, full = true;

	check(!silent_devices_has(&s, 0, 40, now), "no device rests at first");
	check(silent_devices_note(&s, 0, 40, now, &first) && first, "one that did not answer is noted");
	check(silent_devices_has(&s, 0, 40, now) && !silent_devices_has(&s, 0, 41, now),
	      "it rests, and no other");
	for (int i = 0; i < 12; i++) {
		doubles = doubles && silent_devices_has(&s, 0, 40, now + rest - 1) &&
			  !silent_devices_has(&s, 0, 40, now + rest);
		now += rest;
		rest = 2 * rest < SILENT_DEVICES_LAST ? 2 * rest : SILENT_DEVICES_LAST;
		silent_devices_note(&s, 0, 40, now, &first);
		doubles = doubles && !first;
	}
	check(doubles, "each rest ends, and the next one is twice as long, up to a limit");
	silent_devices_forget(&s, 0, 40);
	check(!silent_devices_has(&s, 0, 40, now), "a device that answers does not rest");
	silent_devices_note(&s, 0, 40, now, &first);
	check(first && !silent_devices_has(&s, 0, 40, now + SILENT_DEVICES_FIRST), "... and begins again");
	for (uint64_t i = 1; i < SILENT_DEVICES_MOST; i++)
		full = full && silent_devices_note(&s, 0, 40 + i, now, &first);
	check(full && !silent_devices_note(&s, 0, 1000, now, &first), "many can rest, not any number");
	now += SILENT_DEVICES_FIRST;
	check(silent_devices_note(&s, 0, 1000, now, &first) && silent_devices_has(&s, 0, 1000, now),
	      "a new one takes the place of one whose rest is over");
}

static struct exe exes[1];
static struct proc p;
static const struct map map = { .start = 0x1000, .end = 0x2000, .file = 1 };

/* Returns whether the file is asked for at this time, and gets no answer from its file system. */
static bool stays_silent(struct table_cache *t, uint64_t now)
{
	uint32_t before = asked;

	table_cache_step(t, now);
	table_cache_want(t, &p, &map, now);
	if (asked == before)
		return false;
	table_cache_opened(t, &(struct opener_answer){ .said = OPENER_SILENT, .id = question, .fd = -1 },
			   now);
	return true;
}

static void check_tables(struct table_cache *t)
{
	uint64_t now = 1000 * SECOND, rest = 10 * SECOND;
	bool doubles = true;

	check(table_cache_number(t, 0) != 0, "a file has a number");
	check(table_cache_want(t, &p, &map, now) && asked == 1, "the first stack waits for its table");
	table_cache_opened(t, &(struct opener_answer){ .said = OPENER_SILENT, .id = question, .fd = -1 },
			   now);
	check(!table_cache_want(t, &p, &map, now) && asked == 1, "without an answer the next one does not");
	for (int i = 0; i < 10; i++) {
		doubles = doubles && !stays_silent(t, now + rest - 1) && stays_silent(t, now + rest);
		now += rest;
		rest = 2 * rest < 600 * SECOND ? 2 * rest : 600 * SECOND;
	}
	check(doubles, "the file is asked for again, after longer and longer times");
	now += rest;
	table_cache_step(t, now);
	check(!table_cache_want(t, &p, &map, now) && asked == 12, "no stack waits for that");
	table_cache_opened(t, &(struct opener_answer){ .said = OPENER_NONE, .id = question, .fd = -1 }, now);
	now += 2 * SECOND;
	table_cache_step(t, now);
	check(table_cache_want(t, &p, &map, now), "once its file system answered, stacks wait again");
}

int main(void)
{
	struct procs procs = { .exes = exes, .n_exes = 1 };
	struct table_cache t;
	struct memory m;

	exes[0] = (struct exe){ .path = slice_of("/mnt/program"), .minor = 40, .inode = 7 };
	check_devices();
	if (!check(table_cache_init(&t, &procs), "the cache of tables begins"))
		return checks_done();
	t.store = new_store(&m, 4 << 20);
	check_tables(&t);
	end_store(t.store, &m);
	table_cache_release(&t);
	return checks_done();
}
