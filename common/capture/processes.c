#include "common/capture/processes.h"

#include "common/base/idmap.h"
#include "common/capture/capture_internal.h"
#include "common/capture/locations.h"
#include "common/capture/nodes.h"

const char *process_apply(struct capture *c, const struct record_process *r)
{
	struct capture_process *p, *parent = NULL;
	const char *wrong = MAKE_ROOM(c, processes, r->id);

	if (wrong)
		return wrong;
	p = &c->processes[r->id];
	if (p->defined)
		return "a process defined twice";
	if (r->parent && DEFINED(c, processes, r->parent))
		parent = &c->processes[r->parent];
	*p = (struct capture_process){
		.defined = true,
		.via = r->via < VIAS ? (uint8_t)r->via : VIA_SNAPSHOT,
		.pid = r->pid,
		.nspid = r->nspid ? r->nspid : r->pid,
		.start = r->start,
		.generation = r->generation,
		.parent = parent ? (uint32_t)r->parent : 0,
		.cgroup = parent ? parent->cgroup : 0,
		.owner = parent ? parent->owner : 0,
		.epoch_seq = ++c->epoch_count,
		.running = 1,
		.group_running = 1,
	};
	if (parent && r->via == VIA_EXEC && parent->pid == r->pid) {
		p->first = parent->first ? parent->first : (uint32_t)r->parent;
		c->processes[p->first].last = (uint32_t)r->id;
	}
	if (parent && r->via == VIA_FORK)
		maps_copy(&p->maps, &parent->maps);
	c->defined_processes++;
	return NULL;
}

const char *thread_apply(struct capture *c, const struct record_thread *r)
{
	struct capture_process *p;
	const char *wrong;

	if (!DEFINED(c, processes, r->process))
		return "a thread of an undefined process";
	wrong = MAKE_ROOM(c, threads, r->id);
	if (wrong)
		return wrong;
	if (c->threads[r->id].defined)
		return "a thread defined twice";
	c->threads[r->id] =
		(struct capture_thread){ .defined = true, .process = (uint32_t)r->process, .tid = r->tid };
	c->defined_threads++;
	p = &c->processes[r->process];
	if (!p->leader || r->tid == p->pid)
		p->leader = (uint32_t)r->id;
	return NULL;
}

const char *comm_apply(struct capture *c, const struct record_comm *r)
{
	if (!DEFINED(c, threads, r->thread))
		return "a command name for an undefined thread";
	return text_add(c, r->comm, &c->threads[r->thread].comm) ? NULL : capture_no_memory;
}

const char *cgroup_apply(struct capture *c, const struct record_cgroup *r)
{
	uint32_t id;

	return text_add(c, r->path, &id) && idmap_set(&c->cgroups, r->id, id) ? NULL : capture_no_memory;
}

const char *member_apply(struct capture *c, const struct record_member *r)
{
	uint32_t path = 0;

	if (!DEFINED(c, processes, r->process))
		return "the cgroup of an undefined process";
	if (!idmap_find(&c->cgroups, r->cgroup, &path))
		return "an undefined cgroup";
	c->processes[r->process].cgroup = path;
	return NULL;
}

const char *user_apply(struct capture *c, const struct record_user *r)
{
	uint32_t name;

	return text_add(c, r->name, &name) && idmap_set(&c->users, r->id, name) ? NULL : capture_no_memory;
}

const char *owner_apply(struct capture *c, const struct record_owner *r)
{
	if (!DEFINED(c, processes, r->process))
		return "the owner of an undefined process";
	if (r->user >= UINT32_MAX)
		return "an impossible user";
	c->processes[r->process].owner = (uint32_t)r->user + 1;
	return NULL;
}

struct slice capture_user_name(const struct capture *c, uint32_t owner)
{
	uint32_t name = 0;

	idmap_find(&c->users, owner - 1, &name);
	return capture_text(c, name);
}

uint32_t capture_process_comm(const struct capture *c, uint32_t process)
{
	uint32_t leader = c->processes[process].leader;

	return leader ? c->threads[leader].comm : 0;
}

uint32_t capture_last_comm(const struct capture *c, uint32_t process)
{
	const struct capture_process *p = &c->processes[process];
	uint32_t first = p->first ? p->first : process, last = c->processes[first].last;
	uint32_t comm = last ? capture_process_comm(c, last) : 0;

	return comm ? comm : capture_process_comm(c, process);
}

uint32_t capture_last_name(const struct capture *c, uint32_t thread)
{
	const struct capture_thread *t = &c->threads[thread];
	bool main = t->tid == c->processes[t->process].pid;

	return main ? capture_last_comm(c, t->process) : t->comm;
}

bool capture_has_thread(const struct capture *c, uint64_t thread)
{
	return DEFINED(c, threads, thread);
}

const char *ran_apply(const struct capture *c, const struct record_ran *r)
{
	return capture_has_thread(c, r->thread) ? NULL : "the running time of an undefined thread";
}

const char *lock_apply(struct capture *c, const struct record_lock *r)
{
	const char *wrong;

	if (!DEFINED(c, processes, r->process))
		return "a lock of an undefined process";
	wrong = MAKE_ROOM(c, locks, r->id);
	if (wrong)
		return wrong;
	if (c->locks[r->id].defined)
		return "a lock defined twice";
	c->locks[r->id] = (struct capture_lock){
		.defined = true,
		.kind = r->kind < LOCK_KINDS ? (uint8_t)r->kind : LOCK_FUTEX,
		.process = (uint32_t)r->process,
		.address = r->address,
	};
	c->defined_locks++;
	return NULL;
}

/* Is this a stack of that process? */
static bool is_stack(const struct capture *c, uint32_t process, uint64_t user, uint64_t kernel)
{
	return node_known(c, user) && node_known(c, kernel) &&
	       (user < NODE_FIRST || node_process(c, user) == process) &&
	       (kernel < NODE_FIRST || node_process(c, kernel) == 0);
}

const char *woken_apply(struct capture *c, const struct record_woken *r)
{
	uint32_t process = 0;

	if (!capture_has_thread(c, r->thread) || (r->waker && !capture_has_thread(c, r->waker)) ||
	    (r->owner && !capture_has_thread(c, r->owner)))
		return "the waker or the wait of an undefined thread";
	if (r->slept > r->time || r->queued > r->time - r->slept)
		return "a wait that began before time 0";
	if (r->lock && !DEFINED(c, locks, r->lock))
		return "a wait for an undefined lock";
	if (r->waker)
		process = c->threads[r->waker].process;
	if (!is_stack(c, process, r->user, r->kernel))
		return "the stack of a waking that is not the waker's";
	return process && r->user >= NODE_FIRST ?
		       locations_give(c, &c->processes[process], (uint32_t)r->user, r->time) : NULL;
}

const char *parallel_apply(struct capture *c, const struct record_parallel *r)
{
	struct capture_process *p;

	if (!DEFINED(c, processes, r->process))
		return "the parallelism of an undefined process";
	if (!r->running || r->running > UINT32_MAX || !r->group_running || r->group_running > UINT32_MAX)
		return "a parallelism of no threads, or of too many";
	p = &c->processes[r->process];
	p->running = (uint32_t)r->running;
	p->group_running = (uint32_t)r->group_running;
	return NULL;
}

const char *outside_apply(const struct capture *c, const struct record_outside *r)
{
	if (!capture_has_thread(c, r->thread))
		return "a sample of an undefined thread outside";
	if (!r->event || r->event >= CAPTURE_EVENTS || !c->events[r->event].id)
		return "a sample of an undefined event";
	return NULL;
}
