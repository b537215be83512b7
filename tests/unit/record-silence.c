/* File systems that do not answer, and questions without room: when files are asked for again. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/cprof-record/helper/silent_devices.h"
#include "cmd/cprof-record/host/host.h"
#include "cmd/cprof-record/process/jit_dumps.h"
#include "cmd/cprof-record/process/perf_maps.h"
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

bool __wrap_opener_ask(struct opener *o, const struct opener_question *q);
uint64_t __wrap_host_mono_ns(void);

static uint64_t clock_now = 1000 * SECOND;
static bool has_room = true;

uint64_t __wrap_host_mono_ns(void)
{
	return clock_now;
}

/* The question of a reader of perf maps or jitdump files. */
bool __wrap_opener_ask(struct opener *o, const struct opener_question *q)
{
	(void)o;
	if (!has_room)
		return false;
	asked++;
	question = q->id;
	return true;
}

static void ignore_code(void *arg, uint64_t process_id, const struct jitfile_code *code)
{
	(void)arg, (void)process_id, (void)code;
}

/* Returns whether the file is asked for after this time, and gives this answer. */
static bool asks_dump(struct jit_dumps *js, uint64_t after, enum opener_said said)
{
	uint32_t before = asked;

	clock_now += after;
	jit_dumps_poll(js, ignore_code, NULL);
	if (asked == before)
		return false;
	jit_dumps_opened(js, &(struct opener_answer){ .said = said, .id = question, .place = 7, .fd = -1 });
	return true;
}

static void check_dumps(void)
{
	static struct jit_budget budget;
	struct jit_dumps *js = jit_dumps_new(NULL, &budget);
	struct jitdump_mapping m = { slice_of("/tmp/jit-1.dump"), 0x1000, 0x2000, 7 };

	has_room = false;
	check(jit_dumps_watch(js, 7, getpid(), &m) && jit_dumps_asked(js) == 0,
	      "there is no room for a question");
	has_room = true;
	check(asks_dump(js, SECOND, OPENER_LATER), "a jitdump file is asked for a second later");
	check(asks_dump(js, SECOND, OPENER_SILENT), "... and again if the next process had no room");
	check(!asks_dump(js, 9 * SECOND, OPENER_SILENT) && asks_dump(js, 2 * SECOND, OPENER_SILENT),
	      "one whose file system does not answer rests as long as its device");
	check(!asks_dump(js, 19 * SECOND, OPENER_SILENT) && asks_dump(js, 2 * SECOND, OPENER_SILENT),
	      "... and then twice as long");
	check(asks_dump(js, 41 * SECOND, OPENER_NONE) && !asks_dump(js, 1000 * SECOND, OPENER_NONE),
	      "one that does not exist is not asked for again");
	jit_dumps_free(js);
}

static void ignore_lines(void *arg, uint64_t process_id, uint64_t generation, const uint8_t *data, size_t n)
{
	(void)arg, (void)process_id, (void)generation, (void)data, (void)n;
}

/* The same for a perf map. */
static bool asks_map(struct perf_maps *js, uint64_t after, enum opener_said said)
{
	uint32_t before = asked;

	clock_now += after;
	perf_maps_poll(js, clock_now, ignore_lines, NULL);
	if (asked == before)
		return false;
	perf_maps_opened(js, &(struct opener_answer){ .said = said, .id = question, .place = 7, .fd = -1 },
			 clock_now);
	return true;
}

static void check_maps(void)
{
	static struct jit_budget budget;
	struct perf_maps *js = perf_maps_new(NULL, &budget);
	uint32_t before = asked;

	check(perf_maps_watch(js, 7, getpid(), 0) && asked == before + 1, "a perf map is asked for");
	perf_maps_opened(js,
			 &(struct opener_answer){
				 .said = OPENER_SILENT, .id = question, .place = 7, .fd = -1 },
			 clock_now);
	check(!asks_map(js, 9 * SECOND, OPENER_SILENT) && asks_map(js, 2 * SECOND, OPENER_SILENT),
	      "... and again if its file system did not answer, after a rest");
	check(!asks_map(js, 19 * SECOND, OPENER_NONE) && asks_map(js, 2 * SECOND, OPENER_NONE),
	      "... that is twice as long the next time");
	check(asks_map(js, SECOND, OPENER_NONE), "once it answered, it is asked for as often as others");
	perf_maps_free(js);
}

static size_t delivered; /* bytes of lines */

static void count_lines(void *arg, uint64_t process_id, uint64_t generation, const uint8_t *data, size_t n)
{
	(void)arg, (void)process_id, (void)generation, (void)data;
	delivered += n;
}

/* Answers the last question with a copy of a map that was written at this time. */
static void give_copy(struct perf_maps *js, const char *text, int64_t written)
{
	struct opener_answer a = { .said = OPENER_OPENED, .id = question, .place = 7, .copied = true,
				   .dev = 1, .inode = 2, .uid = geteuid(), .written = written };

	a.fd = memfd_create("map", MFD_CLOEXEC);
	if (a.fd < 0 || write(a.fd, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	perf_maps_opened(js, &a, clock_now);
}

/* Returns whether the map is asked for after this time, and gives such a copy. */
static bool gets_copy(struct perf_maps *js, uint64_t after, const char *text, int64_t written)
{
	uint32_t before = asked;

	clock_now += after;
	perf_maps_poll(js, clock_now, count_lines, NULL);
	if (asked == before)
		return false;
	give_copy(js, text, written);
	return true;
}

/* A map on a file system that is not local: each answer is a copy. */
static void check_copies(void)
{
	static const char one[] = "1 1 a\n", two[] = "1 1 a\n2 2 b\n";
	static struct jit_budget budget;
	struct perf_maps *js = perf_maps_new(NULL, &budget);
	bool each = true;

	perf_maps_watch(js, 7, getpid(), 0);
	give_copy(js, one, 0);
	check_is(perf_maps_open(js), 0, "a map that is older than its process is refused");
	check(!gets_copy(js, 0, one, 0) && !gets_copy(js, SECOND / 20, one, 0) &&
	      gets_copy(js, SECOND / 20, one, 0),
	      "... and asked for again after a while, not with each poll");
	check(!gets_copy(js, SECOND / 10, one, 0) && gets_copy(js, SECOND / 10, one, 0),
	      "... that is longer the next time");
	check(gets_copy(js, SECOND / 2, one, INT64_MAX) && perf_maps_open(js) == 1, "a newer one is taken");
	check(!gets_copy(js, 0, one, INT64_MAX) && delivered == strlen(one), "... and read");
	for (int i = 0; i < 3; i++)
		each = each && gets_copy(js, SECOND, one, INT64_MAX) && !gets_copy(js, 0, one, INT64_MAX);
	check(each, "a newer copy is asked for once a second");
	check(!perf_maps_busy(js, clock_now), "... and is not new if it has nothing more");
	check(gets_copy(js, SECOND, two, INT64_MAX) && !gets_copy(js, 0, two, INT64_MAX) &&
	      delivered == strlen(two) && perf_maps_busy(js, clock_now),
	      "one that has grown is read at once");
	perf_maps_free(js);
	jit_budget_release(&budget);
}

bool __wrap_table_worker_ask(struct worker *w, uint32_t id, int fd);
enum table_worker_said __wrap_table_worker_take(struct worker *w, int ms, struct table_worker_answer *a);

/* The worker's next answer, and the number of its questions. */
static struct table_worker_answer report;
static size_t workers;

bool __wrap_table_worker_ask(struct worker *w, uint32_t id, int fd)
{
	(void)w, (void)fd;
	report.id = id;
	workers++;
	return true;
}

enum table_worker_said __wrap_table_worker_take(struct worker *w, int ms, struct table_worker_answer *a)
{
	(void)w, (void)ms;
	*a = report;
	report.id = 0;
	return a->id ? TABLE_WORKER_DIED : TABLE_WORKER_NOTHING;
}

/* Returns whether the file is asked for at this time, and has the worker fail. */
static bool makes_again(struct table_cache *t, uint64_t now, bool passing)
{
	size_t before = workers;

	table_cache_step(t, now);
	if (table_cache_want(t, &p, &map, now))
		return false; /* a stack waits */
	if (store_state(t->store, exes[0].table) == UNWIND_FILE_ASK)
		table_cache_opened(t,
				   &(struct opener_answer){ .said = OPENER_OPENED, .id = question,
							    .fd = dup(2) },
				   now);
	report.passing = passing;
	report.why = "killed";
	table_cache_step(t, now);
	return workers > before;
}

static void check_workers(struct table_cache *t)
{
	uint64_t now = 100000 * SECOND;

	table_cache_again(t, exes[0].table, now);
	check(table_cache_want(t, &p, &map, now), "a stack waits for a table");
	table_cache_opened(t,
			   &(struct opener_answer){ .said = OPENER_OPENED, .id = question,
						    .fd = dup(2) },
			   now);
	report.passing = true;
	report.why = "killed";
	table_cache_step(t, now);
	check(workers == 1 && !table_cache_want(t, &p, &map, now), "... whose worker is killed");
	check(t->complaint.n > 0, "... which is reported");
	buf_clear(&t->complaint);
	check(!makes_again(t, now + 9 * SECOND, true) && makes_again(t, now + 10 * SECOND, true),
	      "the table is made again after a rest, and no stack waits for it");
	check(t->complaint.n == 0, "... and nothing is reported if its worker is killed again");
	now += 10 * SECOND;
	check(!makes_again(t, now + 19 * SECOND, false) && makes_again(t, now + 20 * SECOND, false),
	      "... and then after twice the rest");
	check(t->complaint.n > 0, "... and its own failure is reported");
	check(!makes_again(t, now + 100000 * SECOND, false), "a file that is the reason itself has no table");
}

int main(void)
{
	struct procs procs = { .exes = exes, .n_exes = 1 };
	struct table_cache t;
	struct memory m;

	exes[0] = (struct exe){ .path = slice_of("/mnt/program"), .minor = 40, .inode = 7 };
	check_devices();
	check_dumps();
	check_maps();
	check_copies();
	asked = 0;
	if (!check(table_cache_init(&t, &procs), "the cache of tables begins"))
		return checks_done();
	t.store = new_store(&m, 4 << 20);
	check_tables(&t);
	check_workers(&t);
	end_store(t.store, &m);
	table_cache_release(&t);
	return checks_done();
}
