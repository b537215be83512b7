#include "cmd/cprof-record/process/procs.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>

#include "cmd/cprof-record/process/procs_exes.h"
#include "common/base/array.h"
#include "common/base/idmap.h"

enum {
	AUDIT_PERIOD = 1000000000, /* ns between two checks of some tasks: */
	AUDIT_LEAST = 32,          /* this many, or a 64th of all */
	AUDIT_SHARE = 64,
	PRUNE_LEAST = 4096, /* with fewer mappings of a process, those that are gone are not searched for */
	ASK_AGAIN = 1000000000, /* ns from one question for a process's mappings to the next */
};

void procs_init(struct procs *ps)
{
	*ps = (struct procs){ 0 };
	maps_reader_init(&ps->scan.maps);
}

static void proc_free(struct proc *p)
{
	maps_release(&p->maps);
	maps_release(&p->since);
	maps_release(&p->said);
	maps_release(&p->missed);
	free(p->space.stale);
	free(p);
}

void procs_release(struct procs *ps)
{
	for (size_t i = 0; i < ps->n; i++)
		proc_free(ps->items[i]);
	for (size_t i = 0; i < ps->n_replaced; i++)
		proc_free(ps->replaced[i]);
	for (size_t i = 0; i < ps->n_tasks; i++)
		free(ps->tasks[i]);
	free(ps->items);
	free(ps->replaced);
	free(ps->tasks);
	free(ps->dead_procs.items);
	free(ps->dead_tasks.items);
	procs_free_exes(ps);
	for (size_t i = 0; i < ps->n_rereads; i++)
		maps_release(&ps->rereads[i].maps);
	free(ps->rereads);
	readings_release(&ps->readings);
	maps_reader_release(&ps->scan.maps);
	idmap_release(&ps->by_pid);
	idmap_release(&ps->by_tid);
	procs_init(ps);
}

struct proc *procs_find(const struct procs *ps, uint32_t pid)
{
	uint32_t at;

	return idmap_find(&ps->by_pid, pid, &at) ? ps->items[at] : NULL;
}

struct task *procs_known_task(const struct procs *ps, uint32_t tid)
{
	uint32_t at;

	return idmap_find(&ps->by_tid, tid, &at) ? ps->tasks[at] : NULL;
}

static void *give_up(struct procs *ps, void *p)
{
	ps->failed = true;
	free(p);
	return NULL;
}

/* If out of memory, the entry is never removed, which does no harm. */
static void remember_death(struct procs *ps, struct deaths *d, uint64_t time, uint32_t id)
{
	if (d->first > d->n / 2) {
		memmove(d->items, d->items + d->first, (d->n - d->first) * sizeof(*d->items));
		d->n -= d->first;
		d->first = 0;
	}
	if (grow_array(&d->items, &d->cap, d->n, sizeof(*d->items)))
		d->items[d->n++] = (struct death){ time, id };
	else
		give_up(ps, NULL);
}

/* Takes the next death before this time. */
static bool next_death(struct deaths *d, uint64_t before, struct death *out)
{
	if (d->first == d->n || d->items[d->first].time >= before)
		return false;
	*out = d->items[d->first++];
	return true;
}

void procs_bury(struct procs *ps, struct proc *p, uint64_t time)
{
	if (p->dead)
		return;
	p->dead = true;
	p->died = time;
	remember_death(ps, &ps->dead_procs, time, p->pid);
}

/* Sets aside an image whose pid now belongs to another one. */
static void retire_proc(struct procs *ps, struct proc *p)
{
	if (grow_array(&ps->replaced, &ps->cap_replaced, ps->n_replaced, sizeof(struct proc *)))
		ps->replaced[ps->n_replaced++] = p;
	else
		give_up(ps, NULL); /* leaked, because others may still use it */
}

struct proc *procs_new(struct procs *ps, uint32_t pid)
{
	struct proc *p = calloc(1, sizeof(*p));
	uint32_t at;

	if (!p)
		return give_up(ps, NULL);
	p->pid = pid;
	p->serial = ++ps->serials;
	if (idmap_find(&ps->by_pid, pid, &at)) {
		retire_proc(ps, ps->items[at]);
		ps->items[at] = p;
		return p;
	}
	if (!grow_array(&ps->items, &ps->cap, ps->n, sizeof(struct proc *)) ||
	    !idmap_set(&ps->by_pid, pid, (uint32_t)ps->n))
		return give_up(ps, p);
	ps->items[ps->n++] = p;
	return p;
}

static void link_task(struct proc *p, struct task *t)
{
	t->proc = p;
	t->prev = NULL;
	t->next = p->first;
	if (p->first)
		p->first->prev = t;
	p->first = t;
}

static void unlink_task(struct task *t)
{
	if (t->prev)
		t->prev->next = t->next;
	else
		t->proc->first = t->next;
	if (t->next)
		t->next->prev = t->prev;
}

static void set_comm(struct task *t, struct slice comm)
{
	size_t n = comm.n < sizeof(t->comm) - 1 ? comm.n : sizeof(t->comm) - 1;

	memcpy(t->comm, comm.p, n);
	t->comm[n] = '\0';
}

struct task *procs_new_task(struct procs *ps, struct proc *p, uint32_t tid, struct slice comm)
{
	struct task *t = procs_known_task(ps, tid);

	if (!t) {
		t = calloc(1, sizeof(*t));
		if (!t || !grow_array(&ps->tasks, &ps->cap_tasks, ps->n_tasks, sizeof(struct task *)) ||
		    !idmap_set(&ps->by_tid, tid, (uint32_t)ps->n_tasks))
			return give_up(ps, t);
		t->at = (uint32_t)ps->n_tasks;
		ps->tasks[ps->n_tasks++] = t;
	} else {
		if (!t->dead && t->proc->tasks)
			t->proc->tasks--;
		unlink_task(t);
	}
	*t = (struct task){ .tid = tid, .at = t->at };
	link_task(p, t);
	set_comm(t, comm);
	p->tasks++;
	return t;
}

static void procs_map(struct procs *ps, struct proc *p, const struct change *c, struct change_effect *effect);

/* Where a scan of /proc puts its findings. */
struct found {
	struct procs *ps;
	struct proc *p;
};

static void add_map(void *arg, const struct change *c)
{
	struct found *f = arg;
	struct change_effect ignored = { 0 };

	procs_map(f->ps, f->p, c, &ignored);
}

/* Adds the parts of m that are still mapped, by the fresh mappings, to kept. */
static bool keep_map(struct maps *kept, const struct maps *fresh, const struct map *m)
{
	const struct map *f;
	bool changed = false;

	for (uint64_t at = m->start; (f = maps_from(fresh, at)) && f->start < m->end; at = f->end) {
		struct map part = *m;

		part.start = f->start > m->start ? f->start : m->start;
		part.end = f->end < m->end ? f->end : m->end;
		part.offset += m->file ? part.start - m->start : 0;
		if (!maps_add(kept, &part, &changed))
			return false;
		if (f->end >= m->end)
			break;
	}
	return true;
}

/* Prunes again once there are twice as many. */
static void set_prune(struct proc *p)
{
	p->prune_at = 2 * maps_count(&p->maps);
	if (p->prune_at < PRUNE_LEAST)
		p->prune_at = PRUNE_LEAST;
	if (p->prune_at > PROCS_MAPPINGS)
		p->prune_at = PROCS_MAPPINGS;
}

void procs_prune(struct proc *p, const struct reading *r)
{
	struct maps kept = { 0 };
	bool ok = true, changed = false;

	for (const struct map *m = maps_from(&p->maps, 0); ok && m; m = maps_from(&p->maps, m->end))
		ok = m->end > r->until ? maps_add(&kept, m, &changed) : keep_map(&kept, &r->maps, m);
	for (const struct map *m = maps_from(&p->since, 0); ok && m; m = maps_from(&p->since, m->end))
		ok = maps_add(&kept, m, &changed);
	maps_release(ok ? &p->maps : &kept);
	if (ok)
		p->maps = kept;
	set_prune(p);
}

bool procs_want(struct procs *ps, struct proc *p, enum reading_what what, uint64_t time)
{
	if (!readings_want(&ps->readings, p->pid, p->serial, what, time))
		return false;
	p->reading = true;
	return true;
}

static void want_prune(struct procs *ps, struct proc *p)
{
	uint64_t now = host_mono_ns();

	set_prune(p);
	if (now - p->pruned < ASK_AGAIN)
		return;
	p->pruned = now;
	procs_want(ps, p, READ_ADDRESSES, 0);
}

/* Does m cover another mapping as a whole? Then it adds none. In the middle of one, it would add two. */
static bool covers_one(const struct maps *maps, const struct map *m)
{
	const struct map *f = maps_from(maps, m->start);

	if (f && f->start < m->start)
		f = maps_from(maps, f->end);
	return f && f->end <= m->end;
}

bool procs_has_room(struct procs *ps, struct proc *p, const struct map *m)
{
	size_t n = maps_count(&p->maps);

	if (n >= (p->prune_at ? p->prune_at : PRUNE_LEAST) && !p->dead)
		want_prune(ps, p);
	if (n < PROCS_MAPPINGS || covers_one(&p->maps, m))
		return true;
	ps->maps_dropped++;
	return false;
}

static struct map map_of(struct procs *ps, uint32_t pid, const struct change *c)
{
	struct map m = { c->start, c->start + c->length, c->offset, 0, c->prot };

	if (c->text.n && !slice_is(c->text, "//anon"))
		m.file = procs_exe_of(ps, pid, c);
	else
		m.offset = 0;
	return m;
}

static void procs_map(struct procs *ps, struct proc *p, const struct change *c, struct change_effect *effect)
{
	bool changed = false;
	struct map m;

	if (c->length == 0 || c->start + c->length < c->start)
		return;
	m = map_of(ps, p->pid, c);
	if (!procs_has_room(ps, p, &m))
		return;
	if (!maps_add(&p->maps, &m, &changed) || (p->reading && !maps_add(&p->since, &m, &changed))) {
		give_up(ps, NULL);
		return;
	}
	p->version++;
	effect->proc = p;
	effect->mapped = maps_find(&p->maps, m.start);
}

void procs_found(struct procs *ps, struct reading *r, const struct change *c)
{
	struct map m = { c->start, c->start + c->length, 0, 0, c->prot };
	bool changed = false;

	if (c->length == 0 || c->start + c->length < c->start)
		return;
	if (r->what != READ_ADDRESSES)
		m = map_of(ps, r->pid, c);
	if (!maps_add(&r->maps, &m, &changed))
		give_up(ps, NULL);
}

static void apply_exec(struct procs *ps, const struct change *c, struct change_effect *effect)
{
	struct proc *old = procs_find(ps, c->pid), *p;

	if (old && c->time < old->seen)
		return;
	p = procs_new(ps, c->pid);
	if (!p)
		return;
	p->via = VIA_EXEC;
	p->time = p->whole = c->time;
	if (old) {
		p->start = old->start;
		p->generation = old->generation + 1;
		p->exec_of = old->id;
		p->exec_segment = old->segment;
		/* An exec ends the other threads; they are removed with the image. */
		for (struct task *t = old->first; t; t = t->next)
			t->dead = t->dead || t->tid != c->tid;
	}
	effect->proc = p;
	effect->task = procs_new_task(ps, p, c->tid, c->text);
}

static void apply_fork(struct procs *ps, const struct change *c)
{
	struct task *parent_task = procs_known_task(ps, c->ptid);
	struct slice comm = slice_of(parent_task ? parent_task->comm : "");
	struct proc *parent = procs_find(ps, c->ppid), *p = procs_find(ps, c->pid);

	if (c->pid == c->ppid) { /* a thread */
		if (p && c->time >= p->seen)
			procs_new_task(ps, p, c->tid, comm);
		return;
	}
	if (p && c->time < p->seen)
		return;
	p = procs_new(ps, c->pid);
	if (!p)
		return;
	p->via = VIA_FORK;
	p->time = p->start = c->time;
	p->parent_pid = c->ppid;
	if (parent) {
		p->kernel = parent->kernel;
		p->parent_serial = parent->serial;
		p->parent_version = parent->version;
		p->prune_at = parent->prune_at;
		p->whole = parent->whole;
		p->unread = parent->unread;
		maps_copy(&p->maps, &parent->maps);
	}
	procs_new_task(ps, p, c->tid, comm);
}

static void exit_task(struct procs *ps, struct task *t, uint64_t time)
{
	t->dead = true;
	t->died = time;
	remember_death(ps, &ps->dead_tasks, time, t->tid);
	if (t->proc->tasks && --t->proc->tasks == 0)
		procs_bury(ps, t->proc, time);
}

static void apply_exit(struct procs *ps, const struct change *c, struct change_effect *effect)
{
	struct task *t = procs_known_task(ps, c->tid);

	if (!t || t->dead || c->time < t->proc->seen)
		return;
	exit_task(ps, t, c->time);
	effect->task = t;
	effect->exited = true;
}

void procs_apply(struct procs *ps, const struct change *c, struct change_effect *effect)
{
	struct proc *p;

	*effect = (struct change_effect){ 0 };
	switch (c->kind) {
	case CHANGE_FORK:
		apply_fork(ps, c);
		break;
	case CHANGE_EXEC:
		apply_exec(ps, c, effect);
		break;
	case CHANGE_EXIT:
		apply_exit(ps, c, effect);
		break;
	case CHANGE_COMM:
		effect->task = procs_known_task(ps, c->tid);
		if (!effect->task || c->time < effect->task->proc->seen)
			break;
		set_comm(effect->task, c->text);
		effect->renamed = true;
		break;
	case CHANGE_MMAP:
		p = procs_find(ps, c->pid);
		if (p && !p->dead && c->time >= p->seen)
			procs_map(ps, p, c, effect);
		break;
	default:
		break;
	}
}

static void add_task(void *arg, uint32_t tid, struct slice comm)
{
	struct found *f = arg;

	procs_new_task(f->ps, f->p, tid, comm);
}

/* Reads what else there is than mappings. Returns false if the process is gone. */
static bool read_status(struct procs *ps, struct proc *p)
{
	struct proc_scan_status s;

	p->seen = host_mono_ns();
	p->time = p->whole = p->seen;
	p->via = VIA_SNAPSHOT;
	if (!proc_scan_status(p->pid, &s))
		return false;
	p->start = s.start;
	p->kernel = s.kernel;
	if (s.threads > 1) /* most have one, whose name is known; the side-band reports those made since then */
		proc_scan_tasks(p->pid, add_task, &(struct found){ ps, p });
	procs_new_task(ps, p, p->pid, s.comm);
	if (s.state == 'Z' || s.state == 'X') { /* its exit was reported before anybody listened */
		struct change c = { .kind = CHANGE_EXIT, .time = p->seen, .pid = p->pid, .tid = p->pid };
		struct change_effect ignored;

		procs_apply(ps, &c, &ignored);
	}
	return true;
}

/* Mappings from /proc are not compared with /proc once more. */
bool procs_read(struct procs *ps, struct proc *p)
{
	if (!read_status(ps, p))
		return false;
	if (p->kernel)
		return true;
	p->unread = readings_rest(&ps->readings, p->pid);
	if (p->unread)
		return true;
	p->prune_at = SIZE_MAX;
	proc_scan_maps(&ps->scan, p->pid, false, add_map, &(struct found){ ps, p });
	set_prune(p);
	readings_charge(&ps->readings, p->pid, host_mono_ns() - p->seen);
	return true;
}

/* Has the mappings of a sampled process read that /proc was not asked for yet. time: of the sample */
static void want_unread(struct procs *ps, struct proc *p, uint64_t time)
{
	uint64_t now = host_mono_ns();

	if (p->dead || (p->tried && now < p->tried + ASK_AGAIN))
		return;
	p->tried = now;
	if (procs_want(ps, p, READ_MAPPINGS, time))
		p->asked = now;
}

static void add_process(void *arg, uint32_t pid)
{
	struct procs *ps = arg;
	struct proc *p = procs_new(ps, pid);

	if (p && !procs_read(ps, p))
		procs_bury(ps, p, p->seen);
}

void procs_scan(struct procs *ps)
{
	ps->scan.maps.all = true;
	proc_scan_pids(add_process, ps);
	ps->scan.maps.all = false;
}

struct task *procs_task(struct procs *ps, uint32_t pid, uint32_t tid, uint64_t now)
{
	struct task *t = procs_known_task(ps, tid);
	struct proc *p;

	if (t && t->proc->pid == pid && !t->proc->unread)
		return t;
	p = procs_find(ps, pid);
	if (!p) {
		p = procs_new(ps, pid);
		if (!p)
			return NULL;
		p->time = now;
		p->kernel = pid == 0;
		if (pid != 0 && !read_status(ps, p)) /* it is gone, and its records were lost */
			procs_bury(ps, p, now);
		p->unread = pid != 0 && !p->kernel;
	}
	if (p->unread)
		want_unread(ps, p, now);
	t = procs_known_task(ps, tid);
	if (t && t->proc == p)
		return t;
	return procs_new_task(ps, p, tid, slice_of(pid == 0 ? "swapper" : ""));
}

/* Frees a task and moves the last one to its index. */
static void forget_task(struct procs *ps, struct task *t)
{
	uint32_t at = t->at;

	unlink_task(t);
	idmap_remove(&ps->by_tid, t->tid);
	ps->tasks[at] = ps->tasks[--ps->n_tasks];
	if (at < ps->n_tasks) {
		ps->tasks[at]->at = at;
		idmap_set(&ps->by_tid, ps->tasks[at]->tid, at);
	}
	free(t);
}

static void forget_image(struct procs *ps, struct proc *p)
{
	while (p->first)
		forget_task(ps, p->first);
	proc_free(p);
}

static void forget_proc(struct procs *ps, struct proc *p)
{
	uint32_t at;

	if (!idmap_find(&ps->by_pid, p->pid, &at))
		return;
	idmap_remove(&ps->by_pid, p->pid);
	ps->items[at] = ps->items[--ps->n];
	if (at < ps->n)
		idmap_set(&ps->by_pid, ps->items[at]->pid, at);
	forget_image(ps, p);
}

static bool task_exists(uint32_t tid)
{
	return tid == 0 || tid > INT_MAX || kill((pid_t)tid, 0) == 0 || errno != ESRCH;
}

/*
 * Finds tasks whose exit the side-band lost, and which would stay for ever. A task is gone if the kernel does
 * not know it in two successive checks, because the rings were read in between.
 */
static void audit_tasks(struct procs *ps, uint64_t now)
{
	size_t n = ps->n_tasks / AUDIT_SHARE > AUDIT_LEAST ? ps->n_tasks / AUDIT_SHARE : AUDIT_LEAST;

	if (now < ps->audit_next)
		return;
	ps->audit_next = now + AUDIT_PERIOD;
	for (size_t i = 0; i < n && i < ps->n_tasks; i++) {
		struct task *t = ps->tasks[ps->audit_at++ % ps->n_tasks];

		if (t->dead || task_exists(t->tid))
			t->missing = false;
		else if (t->missing)
			exit_task(ps, t, now);
		else
			t->missing = true;
	}
}

void procs_sweep(struct procs *ps, uint64_t before, void (*gone)(void *arg, struct proc *p), void *arg)
{
	struct death d;

	for (size_t i = 0; i < ps->n_replaced; i++) {
		gone(arg, ps->replaced[i]);
		forget_image(ps, ps->replaced[i]);
	}
	ps->n_replaced = 0;
	while (next_death(&ps->dead_tasks, before, &d)) {
		struct task *t = procs_known_task(ps, d.id);

		if (t && t->dead && t->died == d.time)
			forget_task(ps, t);
	}
	while (next_death(&ps->dead_procs, before, &d)) {
		struct proc *p = procs_find(ps, d.id);

		if (p && p->dead && p->died == d.time) {
			gone(arg, p);
			forget_proc(ps, p);
		}
	}
	audit_tasks(ps, before);
	procs_clear_exes(ps);
	procs_ask_exes(ps, host_mono_ns());
}
