#include "cmd/cprof-record/procs.h"

#include <stdlib.h>

void procs_init(struct procs *ps)
{
	*ps = (struct procs){ 0 };
}

static void proc_free(struct proc *p)
{
	maps_release(&p->maps);
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
	free(ps->exes);
	idmap_release(&ps->by_pid);
	idmap_release(&ps->by_tid);
	intern_release(&ps->exe_keys);
	procs_init(ps);
}

struct proc *procs_find(const struct procs *ps, uint32_t pid)
{
	uint32_t at;

	return idmap_find(&ps->by_pid, pid, &at) ? ps->items[at] : NULL;
}

static struct task *find_task(const struct procs *ps, uint32_t tid)
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

/* Puts a process aside that another one follows under the same pid. */
static void replace(struct procs *ps, struct proc *p)
{
	if (grow_array(&ps->replaced, &ps->cap_replaced, ps->n_replaced, sizeof(struct proc *)))
		ps->replaced[ps->n_replaced++] = p;
	else
		give_up(ps, NULL); /* leaked, rather than used after it was freed */
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
		replace(ps, ps->items[at]);
		ps->items[at] = p;
		return p;
	}
	if (!grow_array(&ps->items, &ps->cap, ps->n, sizeof(struct proc *)) ||
	    !idmap_set(&ps->by_pid, pid, (uint32_t)ps->n))
		return give_up(ps, p);
	ps->items[ps->n++] = p;
	return p;
}

static void set_comm(struct task *t, struct slice comm)
{
	size_t n = comm.n < sizeof(t->comm) - 1 ? comm.n : sizeof(t->comm) - 1;

	memcpy(t->comm, comm.p, n);
	t->comm[n] = '\0';
}

struct task *procs_new_task(struct procs *ps, struct proc *p, uint32_t tid, struct slice comm)
{
	struct task *t = find_task(ps, tid);

	if (!t) {
		t = calloc(1, sizeof(*t));
		if (!t || !grow_array(&ps->tasks, &ps->cap_tasks, ps->n_tasks, sizeof(struct task *)) ||
		    !idmap_set(&ps->by_tid, tid, (uint32_t)ps->n_tasks))
			return give_up(ps, t);
		ps->tasks[ps->n_tasks++] = t;
	} else if (!t->dead && t->proc->tasks) {
		t->proc->tasks--;
	}
	*t = (struct task){ .tid = tid, .proc = p };
	set_comm(t, comm);
	p->tasks++;
	return t;
}

/* The file of a mapping: index + 1, or 0. */
static uint32_t intern_exe(struct procs *ps, const struct change *c)
{
	struct buf key = { 0 };
	struct exe e = { c->major, c->minor, c->inode, c->generation, c->build_id, c->text, 0, 0 };
	uint32_t at = 0;
	bool good;

	/* A build ID says who a file is; without one its place on the disk must. */
	buf_slice(&key, c->build_id);
	if (c->build_id.n == 0) {
		buf_varint(&key, c->major);
		buf_varint(&key, c->minor);
		buf_varint(&key, c->inode);
		buf_varint(&key, c->generation);
	}
	buf_slice(&key, c->text);
	good = !key.failed && intern_add(&ps->exe_keys, buf_view(&key), &at) &&
	       grow_array(&ps->exes, &ps->cap_exes, at, sizeof(*ps->exes));
	if (good && at >= ps->n_exes) {
		struct slice kept = intern_get(&ps->exe_keys, at);

		/* The key's copy holds both: the path at its end, the build ID behind its length. */
		e.path = (struct slice){ kept.p + kept.n - c->text.n, c->text.n };
		e.build_id = (struct slice){ kept.p + 1, c->build_id.n };
		ps->exes[at] = e;
		ps->n_exes = at + 1;
	}
	buf_release(&key);
	if (!good)
		give_up(ps, NULL);
	return good ? at + 1 : 0;
}

void procs_map(struct procs *ps, struct proc *p, const struct change *c, struct change_effect *effect)
{
	struct map m = { c->start, c->start + c->length, c->offset, 0, c->prot };
	bool changed = false;

	if (c->length == 0 || m.end < m.start)
		return;
	if (c->text.n && !slice_is(c->text, "//anon"))
		m.file = intern_exe(ps, c);
	else
		m.offset = 0;
	if (!maps_add(&p->maps, &m, &changed)) {
		give_up(ps, NULL);
		return;
	}
	p->version++;
	effect->proc = p;
	effect->mapped = maps_find(&p->maps, m.start);
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
	p->time = c->time;
	if (old) {
		p->start = old->start;
		p->generation = old->generation + 1;
		p->exec_of = old->id;
		p->exec_segment = old->segment;
		for (size_t i = 0; old->tasks > 1 && i < ps->n_tasks; i++) {
			/* The other threads are gone with an exec; their exits have come or will. */
			if (ps->tasks[i]->proc == old && ps->tasks[i]->tid != c->tid)
				ps->tasks[i]->dead = true;
		}
	}
	effect->proc = p;
	effect->task = procs_new_task(ps, p, c->tid, c->text);
}

static void apply_fork(struct procs *ps, const struct change *c)
{
	struct task *parent_task = find_task(ps, c->ptid);
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
		maps_copy(&p->maps, &parent->maps);
	}
	procs_new_task(ps, p, c->tid, comm);
}

static void apply_exit(struct procs *ps, const struct change *c, struct change_effect *effect)
{
	struct task *t = find_task(ps, c->tid);

	if (!t || t->dead || c->time < t->proc->seen)
		return;
	t->dead = true;
	t->died = c->time;
	effect->task = t;
	effect->exited = true;
	if (t->proc->tasks && --t->proc->tasks == 0) {
		t->proc->dead = true;
		t->proc->died = c->time;
	}
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
		effect->task = find_task(ps, c->tid);
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

struct task *procs_task(struct procs *ps, uint32_t pid, uint32_t tid, uint64_t now)
{
	struct task *t = find_task(ps, tid);
	struct proc *p;

	if (t && t->proc->pid == pid)
		return t;
	p = procs_find(ps, pid);
	if (!p) {
		p = procs_new(ps, pid);
		if (!p)
			return NULL;
		p->time = now;
		p->kernel = pid == 0;
		if (pid != 0)
			snapshot_process(ps, p);
	}
	t = find_task(ps, tid);
	if (t && t->proc == p)
		return t;
	return procs_new_task(ps, p, tid, slice_of(pid == 0 ? "swapper" : ""));
}

/* Moves the last one into the hole. */
static void forget_proc(struct procs *ps, size_t at)
{
	struct proc *p = ps->items[at];

	idmap_remove(&ps->by_pid, p->pid);
	ps->items[at] = ps->items[--ps->n];
	if (at < ps->n)
		idmap_set(&ps->by_pid, ps->items[at]->pid, (uint32_t)at);
	proc_free(p);
}

static void forget_task(struct procs *ps, size_t at)
{
	idmap_remove(&ps->by_tid, ps->tasks[at]->tid);
	free(ps->tasks[at]);
	ps->tasks[at] = ps->tasks[--ps->n_tasks];
	if (at < ps->n_tasks)
		idmap_set(&ps->by_tid, ps->tasks[at]->tid, (uint32_t)at);
}

void procs_sweep(struct procs *ps, uint64_t before, void (*gone)(void *arg, struct proc *p), void *arg)
{
	for (size_t i = ps->n_tasks; i-- > 0;) {
		const struct task *t = ps->tasks[i];
		bool replaced = procs_find(ps, t->proc->pid) != t->proc;

		if (replaced || (t->dead && t->died < before) || (t->proc->dead && t->proc->died < before))
			forget_task(ps, i);
	}
	for (size_t i = ps->n; i-- > 0;) {
		if (ps->items[i]->dead && ps->items[i]->died < before) {
			gone(arg, ps->items[i]);
			forget_proc(ps, i);
		}
	}
	for (size_t i = 0; i < ps->n_replaced; i++) {
		gone(arg, ps->replaced[i]);
		proc_free(ps->replaced[i]);
	}
	ps->n_replaced = 0;
}
