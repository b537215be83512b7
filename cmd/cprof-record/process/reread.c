#include "cmd/cprof-record/process/reread.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/array.h"

enum {
	READ_SHARE = 100, /* reading may take one part in 100 of the time */
	TASKS_MOST = 64,  /* names read again per process */
};

void reread_lost(struct procs *ps, uint64_t time)
{
	if (time > ps->lost)
		ps->lost = time;
}

static void read_again(struct procs *ps, struct proc *p, uint64_t now, bool again)
{
	struct proc fresh = { .pid = p->pid };

	if (!grow_array(&ps->rereads, &ps->cap_rereads, ps->n_rereads, sizeof(*ps->rereads)))
		return;
	procs_read_maps(ps, &fresh);
	if (maps_count(&fresh.maps) == 0) { /* it is gone */
		maps_release(&fresh.maps);
		return;
	}
	ps->rereads[ps->n_rereads++] = (struct reread){ .time = now, .pid = p->pid, .serial = p->serial, .maps = fresh.maps,
							.again = again };
	ps->n_reread++;
}

void reread_want(struct procs *ps, struct proc *p)
{
	uint64_t now;

	if (p->whole >= ps->lost || p->asked >= ps->lost || p->kernel || p->dead)
		return;
	now = host_mono_ns();
	if (now < ps->reread_at)
		return;
	p->asked = now;
	read_again(ps, p, now, false);
	ps->reread_at = now + (host_mono_ns() - now) * READ_SHARE;
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

/* If no mapped file is where it was, the process has called exec since. */
static bool is_other_image(const struct procs *ps, const struct proc *p, const struct maps *now)
{
	bool any = false;

	for (const struct map *m = maps_from(&p->maps, 0); m; m = maps_from(&p->maps, m->end)) {
		const struct map *f = m->file ? maps_find(now, m->start) : NULL;

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
		if (has_mapping(ps, &p->maps, m))
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
		if (is_other_image(ps, p, &r->maps)) {
			uint64_t now = host_mono_ns();

			if (!r->again) { /* the exec's own record may still come: read once more */
				read_again(ps, p, now, true);
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
