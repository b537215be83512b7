#include "cmd/cprof-record/process/targets.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "cmd/cprof-record/process/proc_scan.h"
#include "common/base/array.h"
#include "common/base/idmap.h"

enum { STATES_MOST = 16 /* read in one look */ };

static bool add_target(struct targets *t, pid_t id)
{
	uint32_t at;

	if (idmap_find(&t->at, (uint64_t)id, &at))
		return true;
	if (!grow_array(&t->ids, &t->cap, t->n, sizeof(*t->ids)) || !idmap_set(&t->at, (uint64_t)id, (uint32_t)t->n))
		return false;
	t->ids[t->n++] = id;
	return true;
}

static void drop_target(struct targets *t, pid_t id)
{
	uint32_t at;

	if (!idmap_find(&t->at, (uint64_t)id, &at))
		return;
	idmap_remove(&t->at, (uint64_t)id);
	t->ids[at] = t->ids[--t->n];
	if (at < t->n)
		idmap_set(&t->at, (uint64_t)t->ids[at], at); /* the key exists: no memory is needed */
}

bool targets_init(struct targets *t, const struct options *o)
{
	*t = (struct targets){ .threads = o->n_tids > 0 };
	idmap_init(&t->at);
	for (size_t i = 0; i < o->n_pids + o->n_tids; i++) {
		if (!add_target(t, (o->n_pids ? o->pids : o->tids)[i]))
			return false;
	}
	return true;
}

bool targets_has(const struct targets *t, const struct options *o, uint32_t pid)
{
	uint32_t at;

	return !options_targeted(o) || t->threads || idmap_find(&t->at, pid, &at);
}

void targets_release(struct targets *t)
{
	idmap_release(&t->at);
	free(t->ids);
}

void targets_change(struct targets *t, const struct change *c, const struct change_effect *effect)
{
	uint32_t at;

	if (c->kind == CHANGE_EXIT && (t->threads || (effect->proc && effect->proc->dead)))
		drop_target(t, (pid_t)(t->threads ? c->tid : c->pid));
	if (c->kind == CHANGE_FORK && !t->threads && c->pid != c->ppid && idmap_find(&t->at, c->ppid, &at))
		add_target(t, (pid_t)c->pid); /* if out of memory, it is still sampled, but not waited for */
}

/*
 * A process that has exited keeps its id until its parent waits for it. A main thread can exit before the
 * others, and looks the same, but for the number of threads.
 */
bool targets_exited(pid_t id, bool thread)
{
	struct proc_scan_status s;

	if (kill(id, 0) < 0 && errno == ESRCH)
		return true;
	return proc_scan_status((uint32_t)id, &s) && (s.state == 'Z' || s.state == 'X') &&
	       (thread || s.threads <= 1);
}

/* Reading a process's state takes some 20 us: with many targets, each is read in one of several looks. */
void targets_look(struct targets *t)
{
	size_t every = t->n / STATES_MOST + 1, turn = t->looks++ % every;

	for (size_t i = t->n; i-- > 0;) {
		pid_t id = t->ids[i];

		if (i % every == turn ? targets_exited(id, t->threads) : kill(id, 0) < 0 && errno == ESRCH)
			drop_target(t, id);
	}
}
