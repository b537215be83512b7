#include "cmd/cprof-record/process/reread.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/array.h"

enum {
	TASKS_MOST = 64,  /* names read again per process */
};

#define ASK_AGAIN UINT64_C(1000000000) /* ns from one reading of a process to the next */

void reread_lost(struct procs *ps, uint64_t time)
{
	if (time > ps->lost)
		ps->lost = time;
}

void reread_want(struct procs *ps, struct proc *p)
{
	uint64_t now;

	if (p->whole >= ps->lost || p->asked >= ps->lost || p->kernel || p->dead)
		return;
	now = host_mono_ns();
	if (now < p->tried + ASK_AGAIN)
		return;
	p->tried = now;
	if (procs_want(ps, p, READ_MAPPINGS, now))
		p->asked = now;
}

/* Is the PID still that of the process which was read at first? */
static bool is_same_process(const struct proc *p)
{
	struct proc_scan_status s;

	return !p->start || !proc_scan_status(p->pid, &s) || s.start == p->start;
}

/* If no mapped file is where it was, the process has called exec, whose record is still to come. */
static bool has_file_of(const struct maps *now, const struct proc *p)
{
	for (const struct map *m = maps_from(&p->maps, 0); m; m = maps_from(&p->maps, m->end))
		if (m->file && maps_find(now, m->start))
			return true;
	return false;
}

/* Keeps a reading until the recording comes to its moment, or prunes at once after a reading of addresses. */
static void take_reading(struct procs *ps, struct proc *p, struct reading *r)
{
	bool changed = false;
	size_t at;

	p->unread = p->unread && r->what == READ_ADDRESSES;
	if (r->what == READ_ADDRESSES) {
		if (has_file_of(&r->maps, p))
			procs_prune(p, r);
		return;
	}
	for (const struct map *m = maps_from(&p->since, 0); m; m = maps_from(&p->since, m->end))
		maps_add(&r->maps, m, &changed);
	if (!grow_array(&ps->rereads, &ps->cap_rereads, ps->n_rereads, sizeof(*ps->rereads))) {
		ps->failed = true;
		return;
	}
	for (at = ps->n_rereads++; at > 0 && ps->rereads[at - 1].time > r->time; at--)
		ps->rereads[at] = ps->rereads[at - 1];
	ps->rereads[at] = (struct reread){ .time = r->time,
					   .pid = p->pid,
					   .serial = p->serial,
					   .maps = r->maps,
					   .until = r->until,
					   .again = r->what == READ_AGAIN };
	r->maps = (struct maps){ 0 };
	ps->n_reread += ps->lost != 0;
}

static struct proc *process_of(const struct procs *ps, const struct reading *r)
{
	struct proc *p = procs_find(ps, r->pid);

	return p && p->serial == r->serial ? p : NULL;
}

static bool wants_reading(void *arg, const struct reading *r)
{
	const struct proc *p = process_of(arg, r);

	return p && !p->dead;
}

static void add_found(void *arg, struct reading *r, const struct change *c)
{
	procs_found(arg, r, c);
}

static void end_reading(void *arg, struct reading *r, bool read)
{
	struct proc *p = process_of(arg, r);

	if (p && read && maps_count(&r->maps) && is_same_process(p))
		take_reading(arg, p, r);
	if (p) {
		if (!read && r->what != READ_ADDRESSES)
			p->asked = 0; /* it is wanted again */
		p->reading = false;
		maps_release(&p->since);
	}
}

void reread_step(struct procs *ps)
{
	readings_step(&ps->readings, &ps->scan, host_mono_ns(),
		      &(struct readings_taker){ wants_reading, add_found, end_reading, ps });
}

/* /proc marks the path of a deleted file. */
static struct slice undeleted(struct slice path)
{
	static const char gone[] = " (deleted)";
	size_t n = sizeof(gone) - 1;

	if (path.n > n && memcmp(path.p + path.n - n, gone, n) == 0)
		path.n -= n;
	return path;
}

/* The side-band and /proc identify a file differently: one by build ID, the other by inode. */
static bool same_file(const struct procs *ps, uint32_t one, uint32_t other)
{
	const struct exe *a, *b;

	if (one == other)
		return true;
	a = &ps->exes[one - 1];
	b = &ps->exes[other - 1];
	if (a->build_id.n && b->build_id.n)
		return slice_equal(a->build_id, b->build_id);
	if (a->inode && b->inode)
		return a->inode == b->inode && a->major == b->major && a->minor == b->minor;
	return slice_equal(undeleted(a->path), undeleted(b->path));
}

/* Only /proc has the name that a program gave to its memory. */
static bool is_memory(const struct procs *ps, uint32_t file)
{
	static const char anon[] = "[anon:";
	size_t n = sizeof(anon) - 1;

	return !file || (ps->exes[file - 1].path.n > n && memcmp(ps->exes[file - 1].path.p, anon, n) == 0);
}

/* Is it the same code at the same address? */
static bool same_code(const struct procs *ps, const struct map *a, const struct map *b)
{
	if (is_memory(ps, a->file) || is_memory(ps, b->file))
		return is_memory(ps, a->file) && is_memory(ps, b->file);
	return same_file(ps, a->file, b->file) && a->offset - a->start == b->offset - b->start;
}

/* Do the mappings contain all of m? */
static bool has_mapping(const struct procs *ps, const struct maps *maps, const struct map *m)
{
	const struct map *f;

	for (uint64_t at = m->start; at < m->end; at = f->end) {
		f = maps_find(maps, at);
		if (!f || !same_code(ps, f, m))
			return false;
	}
	return true;
}

/*
 * If no mapped file is where it was, the process has called exec since. A reading that was cut says nothing
 * about files beyond its end.
 */
static bool is_other_image(const struct procs *ps, const struct proc *p, const struct reread *r)
{
	bool any = false;

	for (const struct map *m = maps_from(&p->maps, 0); m; m = maps_from(&p->maps, m->end)) {
		const struct map *f = m->file ? maps_find(&r->maps, m->start) : NULL;

		if (m->start >= r->until)
			break;
		if (f && same_code(ps, f, m))
			return false;
		any = any || m->file;
	}
	return any;
}

/* Reads the current name of a thread into comm. */
static struct slice read_comm(uint32_t pid, uint32_t tid, char *comm, size_t cap)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return (struct slice){ 0 };
	n = read(fd, comm, cap);
	close(fd);
	return (struct slice){ (uint8_t *)comm, n > 0 ? (size_t)n - (comm[n - 1] == '\n') : 0 };
}

static bool next_mapping(struct procs *ps, struct reread *r, struct proc *p, struct change *c, struct change_effect *effect)
{
	const struct map *m;
	bool changed = false;

	while ((m = maps_from(&r->maps, r->at))) {
		r->at = m->end;
		if (has_mapping(ps, &p->maps, m) || !procs_has_room(ps, p, m))
			continue;
		if (!maps_add(&p->maps, m, &changed)) {
			ps->failed = true;
			return false;
		}
		p->version++;
		*c = (struct change){ .kind = CHANGE_MMAP, .time = r->time, .pid = p->pid, .start = m->start,
				      .length = m->end - m->start };
		*effect = (struct change_effect){ .proc = p, .mapped = maps_find(&p->maps, m->start) };
		return true;
	}
	return false;
}

static bool next_name(struct procs *ps, struct reread *r, const struct proc *p, struct change *c, struct change_effect *effect)
{
	const struct task *t = p->first;

	for (unsigned int i = 0; t && i < r->tasks; i++)
		t = t->next;
	for (; t && r->tasks < TASKS_MOST; t = t->next) {
		struct slice comm = t->dead ? (struct slice){ 0 } : read_comm(p->pid, t->tid, r->comm, sizeof(r->comm));

		r->tasks++;
		if (comm.n && !slice_is(comm, t->comm)) {
			*c = (struct change){ .kind = CHANGE_COMM, .time = r->time, .pid = p->pid, .tid = t->tid, .text = comm };
			procs_apply(ps, c, effect);
			return true;
		}
	}
	return false;
}

static bool next_change_of(struct procs *ps, size_t i, struct change *c, struct change_effect *effect)
{
	struct reread *r = &ps->rereads[i];
	struct proc *p = procs_find(ps, r->pid);

	if (!p || p->serial != r->serial || p->dead)
		return false; /* an exec or an exit that was not lost came first */
	if (!r->compared) {
		r->compared = true;
		if (is_other_image(ps, p, r)) {
			if (!r->again) { /* the exec's own record may still come: read once more */
				if (!procs_want(ps, p, READ_AGAIN, host_mono_ns()))
					p->asked = 0;
				return false;
			}
			*c = (struct change){ .kind = CHANGE_EXEC, .time = r->time, .pid = p->pid, .tid = p->pid };
			c->text = read_comm(p->pid, p->pid, r->comm, sizeof(r->comm));
			procs_apply(ps, c, effect);
			if (effect->proc)
				r->serial = effect->proc->serial;
			return effect->proc != NULL;
		}
	}
	if (next_mapping(ps, r, p, c, effect))
		return true;
	p->whole = r->time;
	return next_name(ps, r, p, c, effect);
}

static void drop_first(struct procs *ps)
{
	maps_release(&ps->rereads[0].maps);
	memmove(ps->rereads, ps->rereads + 1, --ps->n_rereads * sizeof(*ps->rereads));
}

bool reread_next(struct procs *ps, uint64_t until, struct change *c, struct change_effect *effect)
{
	while (ps->n_rereads && ps->rereads[0].time <= until) {
		*effect = (struct change_effect){ 0 };
		if (next_change_of(ps, 0, c, effect))
			return true;
		drop_first(ps);
	}
	return false;
}
