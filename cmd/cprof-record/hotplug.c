#include "cmd/cprof-record/hotplug.h"

#include <errno.h>

#include "cmd/cprof-record/process/reread.h"
#include "cmd/shared/cli.h"
#include "common/base/array.h"

/* Returns true if the CPU was offline since the last call for it, and may be online again. */
static bool note_start(struct recorder *r, unsigned int cpu)
{
	uint64_t start = host_cpu_start(cpu), before;

	while (r->n_cpu_starts <= cpu) {
		if (!grow_array(&r->cpu_starts, &r->cap_cpu_starts, r->n_cpu_starts, sizeof(*r->cpu_starts)))
			return false;
		r->cpu_starts[r->n_cpu_starts++] = 0;
	}
	before = r->cpu_starts[cpu];
	r->cpu_starts[cpu] = start;
	return before && start != before;
}

static void read_online(struct recorder *r)
{
	if (!host_online_cpus(&r->online))
		cli_die(STATUS_SYSTEM, "cannot read the list of CPUs: %s", strerror(errno));
	r->cpus.n = 0;
	for (size_t i = 0; i < r->online.n; i++) {
		if (options_samples(&r->o, r->online.items[i]) &&
		    grow_array(&r->cpus.items, &r->cpus.cap, r->cpus.n, sizeof(*r->cpus.items)))
			r->cpus.items[r->cpus.n++] = r->online.items[i];
	}
}

void hotplug_read(struct recorder *r)
{
	read_online(r);
	for (size_t i = 0; i < r->online.n; i++)
		note_start(r, r->online.items[i]);
}

/* Removes CPUs that the engine does not have from both lists: the next check finds them as new. */
static void keep_attached(struct recorder *r)
{
	size_t n = 0, sampled = 0;

	for (size_t i = 0; i < r->online.n; i++) {
		if (r->engine->ops->has_cpu(r->engine, r->online.items[i]))
			r->online.items[n++] = r->online.items[i];
		else
			r->engine->ops->drop_cpu(r->engine, r->online.items[i]);
	}
	r->online.n = n;
	for (size_t i = 0; i < r->cpus.n; i++) {
		if (cpu_list_has(&r->online, r->cpus.items[i]))
			r->cpus.items[sampled++] = r->cpus.items[i];
	}
	r->cpus.n = sampled;
}

void hotplug_begin(struct recorder *r)
{
	keep_attached(r);
	for (size_t i = 0; r->o.ticks && i < r->cpus.n; i++) {
		uint64_t began = r->engine->ops->began ? r->engine->ops->began(r->engine, r->cpus.items[i]) : r->opened;
		struct ledger_epoch epoch = { { began, began }, engine_cpu_period(r->engine, r->cpus.items[i]), 0 };

		ledger_online(&r->ledger, r->cpus.items[i], began, &epoch);
	}
}

/* Counts the lost ticks of an online CPU that was not sampled since then. */
static void lose_ticks(struct recorder *r, unsigned int cpu, uint64_t since, uint64_t now)
{
	if (r->o.ticks && options_samples(&r->o, cpu))
		ledger_unsampled(&r->ledger, cpu, since, now, engine_period(r->engine));
}

static void report_failed(struct recorder *r, unsigned int cpu, int err)
{
	if (!r->unsampled_said && !r->o.quiet)
		cli_warn("cannot sample CPU %u: %s%s", cpu, strerror(err), r->o.ticks ? " (its ticks count as lost)" : "");
	r->unsampled_said = true;
}

/* Its ticks have been expected until since. Returns false if the CPU is not attached. */
static bool attach_cpu(struct recorder *r, unsigned int cpu, uint64_t since, uint64_t now)
{
	bool failed = cpu_list_has(&r->unsampled, cpu), attached = r->engine->ops->add_cpu(r->engine, cpu);
	struct ledger_epoch epoch;
	int err = errno;

	if (failed || !attached)
		lose_ticks(r, cpu, since, now);
	if (!attached) {
		if (err != ENODEV || failed) /* the first time, the CPU has most likely gone offline again */
			report_failed(r, cpu, err);
		return false;
	}
	reread_lost(&r->procs, host_mono_ns()); /* there are none of programs that ran here before */
	r->engine->ops->watch(r->engine, r->epoll);
	epoch = ledger_epoch_now(r->engine, cpu, now);
	if (r->o.ticks && cpu_list_has(&r->cpus, cpu))
		ledger_online(&r->ledger, cpu, failed ? now : since, &epoch);
	return true;
}

static void detach_cpu(struct recorder *r, unsigned int cpu, uint64_t now)
{
	r->engine->ops->drop_cpu(r->engine, cpu);
	ledger_offline(&r->ledger, cpu, now);
}

void hotplug_follow(struct recorder *r, uint64_t now)
{
	struct cpu_list before = r->online, failed = { 0 };
	bool changed = false;

	r->online = (struct cpu_list){ 0 };
	read_online(r);
	for (size_t i = 0; i < before.n; i++) {
		if (!cpu_list_has(&r->online, before.items[i])) {
			detach_cpu(r, before.items[i], now);
			changed = true;
		}
	}
	for (size_t i = 0; i < r->online.n; i++) {
		unsigned int cpu = r->online.items[i];
		bool restarted = note_start(r, cpu), was = cpu_list_has(&before, cpu);

		if (was && !restarted)
			continue;
		if (was) /* the kernel ended the CPU's events: they do not come back with the CPU */
			detach_cpu(r, cpu, now);
		if (attach_cpu(r, cpu, was ? now : r->looked, now))
			changed = true;
		else if (grow_array(&failed.items, &failed.cap, failed.n, sizeof(*failed.items)))
			failed.items[failed.n++] = cpu;
	}
	if (failed.n)
		keep_attached(r);
	if (changed)
		ledger_sleep(&r->ledger, &r->cpus);
	cpu_list_release(&before);
	cpu_list_release(&r->unsampled);
	r->unsampled = failed;
	r->looked = now;
}

void hotplug_end(struct recorder *r)
{
	ledger_sleep(&r->ledger, &r->cpus); /* while they still count as sampled */
	for (size_t i = 0; i < r->unsampled.n; i++)
		lose_ticks(r, r->unsampled.items[i], r->looked, r->engine->ended);
	for (size_t i = 0; r->o.ticks && i < r->cpus.n; i++)
		ledger_offline(&r->ledger, r->cpus.items[i], r->engine->ended);
}
