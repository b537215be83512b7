/* Build IDs of mapped files: questions without room or answer are asked again. */
#include <stdlib.h>
#include <string.h>

#include "cmd/cprof-record/process/procs_exes.h"
#include "tests/lib/check.h"

#define SECOND UINT64_C(1000000000)

enum { PID = 1 << 23, OTHER };

bool __wrap_opener_ask(struct opener *o, const struct opener_question *q);
bool __wrap_opener_has_room(const struct opener *o);
uint64_t __wrap_host_mono_ns(void);

static uint64_t now = 1000 * SECOND;
static size_t room, asked; /* questions that still have room; those that were asked */
static struct opener_question last;

uint64_t __wrap_host_mono_ns(void)
{
	return now;
}

bool __wrap_opener_has_room(const struct opener *o)
{
	(void)o;
	return room > 0;
}

bool __wrap_opener_ask(struct opener *o, const struct opener_question *q)
{
	if (!__wrap_opener_has_room(o))
		return false;
	room--;
	asked++;
	last = *q;
	return true;
}

static struct procs ps;

/* A process maps a file that has this inode. Returns its index in exes. */
static uint32_t map_file(struct proc *p, uint64_t inode)
{
	uint64_t start = inode << 20;
	struct change c = { .kind = CHANGE_MMAP, .start = start, .length = 4096, .minor = 1, .inode = inode,
			    .text = slice_of("/bin/program") };
	uint32_t file = procs_exe_of(&ps, p->pid, &c);
	bool changed;

	maps_add(&p->maps, &(struct map){ .start = start, .end = start + 4096, .file = file }, &changed);
	return file - 1;
}

static void answer(enum opener_said said, const char *id)
{
	procs_identified(&ps, &(struct opener_answer){ .want = OPENER_IDENTITY, .said = said, .id = last.id,
						       .place = last.place, .fd = -1,
						       .build_id = slice_of(id) });
}

/* Returns how many questions are asked after this time. */
static size_t asked_after(uint64_t after)
{
	size_t before = asked;

	now += after;
	procs_sweep(&ps, 0, NULL, NULL);
	return asked - before;
}

static void check_room(struct proc *p, struct proc *other)
{
	uint32_t first = map_file(p, 1);

	map_file(p, 2);
	map_file(p, 3);
	check(asked == 0 && !procs_awaits_any(&ps, p, now), "without room there is no question to wait for");
	check(asked_after(SECOND) == 0, "... nor while there is none");
	room = 2;
	check(asked_after(SECOND) == 2, "files are asked for again once there is room, ...");
	room = 10;
	check(asked_after(SECOND) == 1 && asked_after(SECOND) == 0, "... all of them, once");
	check(last.pid == PID && last.inode == 3 && last.start == 3 << 20, "the question names the mapping");
	answer(OPENER_LATER, "");
	check(asked_after(SECOND) == 1 && last.inode == 3, "so is one that the next process had no room for");
	answer(OPENER_OPENED, "abcd");
	check(slice_is(ps.exes[last.place].build_id, "abcd"), "the answer is taken");
	check(first == 0 && asked_after(1000 * SECOND) == 0, "a file with an answer is not asked for again");
	room = 0;
	map_file(p, 4);
	p->dead = true;
	room = 10;
	check(asked_after(SECOND) == 0, "a process that is gone shows no file");
	map_file(other, 4);
	check(last.pid == OTHER && last.inode == 4, "... until another one maps it");
	answer(OPENER_NONE, "");
	check(asked_after(1000 * SECOND) == 0, "a file without a build ID is not asked for again");
}

static void check_silence(struct proc *p)
{
	map_file(p, 5);
	answer(OPENER_SILENT, "");
	check(asked_after(9 * SECOND) == 0 && asked_after(2 * SECOND) == 1,
	      "a file whose file system does not answer rests");
	check(!procs_awaits_any(&ps, p, now), "no record waits for that");
	answer(OPENER_SILENT, "");
	check(asked_after(19 * SECOND) == 0 && asked_after(2 * SECOND) == 1, "... and then twice as long");
	answer(OPENER_OPENED, "efgh");
	check(slice_is(ps.exes[last.place].build_id, "efgh") && asked_after(1000 * SECOND) == 0,
	      "until it answers");
}

int main(void)
{
	struct proc *p, *other;

	procs_init(&ps);
	ps.scan.opener = (struct opener *)&ps; /* never looked at */
	p = procs_new(&ps, PID);
	other = procs_new(&ps, OTHER);
	check_room(p, other);
	check_silence(other);
	ps.scan.opener = NULL;
	procs_release(&ps);
	return checks_done();
}
