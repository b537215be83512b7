#include "cmd/cprof-record/choose_engine.h"

#include <inttypes.h>
#include <sys/stat.h>

#include "cmd/cprof-record/config/descriptors.h"
#include "cmd/shared/cli.h"

enum { PID_INIT_INO = 0xeffffffc /* include/linux/proc_ns.h: the first PID namespace */ };

static bool in_inner_pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 && st.st_ino != PID_INIT_INO;
}

static bool has_descriptors(size_t needed, const struct recorder *r, struct buf *error)
{
	if (needed <= (size_t)r->descriptors)
		return true;
	buf_printf(error, "cannot open enough descriptors: %zu CPU%s require %zu, and the limit is %d (ulimit -Hn)",
		   r->online.n, r->online.n == 1 ? "" : "s", needed, r->descriptors);
	return false;
}

static bool requires_bpf(const struct options *o)
{
	return o->engine == ENGINE_BPF || o->n_groups || o->off_cpu || o->latency || o->n_events || o->calls;
}

void choose_engine_check(const struct recorder *r)
{
	bool only_bpf = requires_bpf(&r->o);
	size_t bpf = descriptors_for_bpf(&r->o, r->online.n, r->cpus.n);
	size_t perf = descriptors_for_perf(&r->o, r->online.n);
	bool by_perf = !only_bpf && (r->o.engine == ENGINE_PERF || perf < bpf);
	struct buf error = { 0 };

	if (!has_descriptors(by_perf ? perf : bpf, r, &error))
		cli_die(STATUS_SYSTEM, "%s", buf_cstr(&error));
}

/* Plans sizes for an engine. Too small a budget ends the program; one small for the rate gets a warning. */
static void plan_memory(struct recorder *r, bool perf)
{
	struct memory_ask ask = {
		.perf = perf, .online = r->online.n, .sampled = r->cpus.n,
		.hertz = r->o.ticks ? r->o.hertz : 0,
		.by_tables = r->o.unwind != BY_FP && !r->o.kernel_only,
		.off_cpu = r->o.off_cpu, .n_events = r->o.n_events, .calls = r->o.calls != NULL,
		.mem = r->o.mem, .unwind_mem = r->o.unwind_mem, .kept = r->o.ring_bytes,
	};
	enum memory_fit fit = memory_plan(&ask, &r->o.memory);

	if (fit == MEMORY_NONE)
		cli_usage("invalid --mem \"%" PRIu64 "M\" (expected at least %" PRIu64 "M for %zu CPU%s%s%s)",
			  ask.mem >> 20, (r->o.memory.least + (1 << 20) - 1) >> 20,
			  r->online.n, r->online.n == 1 ? "" : "s", ask.unwind_mem ? " with --unwind-mem" : "",
			  !ask.kept ? "" : ask.unwind_mem ? " and --ring" : " with --ring");
	if (fit == MEMORY_LITTLE && !r->o.quiet)
		cli_warn("--mem %" PRIu64 "M is small for %zu CPU%s at %u Hz: samples may be lost "
			 "(%" PRIu64 "M is enough)", ask.mem >> 20, r->online.n, r->online.n == 1 ? "" : "s", r->o.hertz,
			 (r->o.memory.enough + (1 << 20) - 1) >> 20);
}

static struct engine *open_bpf(struct recorder *r, const struct idle_ranges *idle, struct buf *error)
{
	if (in_inner_pid_namespace()) {
		buf_text(error, "BPF sees the process IDs of the initial PID namespace, and this is another");
		return NULL;
	}
	if (!has_descriptors(descriptors_for_bpf(&r->o, r->online.n, r->cpus.n), r, error))
		return NULL;
	plan_memory(r, false);
	return bpf_engine_open(&r->o, &r->online, idle, error);
}

static struct engine *open_perf(struct recorder *r, const struct idle_ranges *idle, struct buf *error)
{
	if (!has_descriptors(descriptors_for_perf(&r->o, r->online.n), r, error))
		return NULL;
	plan_memory(r, true);
	r->opened = host_mono_ns();
	return perf_engine_open(&r->o, &r->online, idle, error);
}

struct engine *choose_engine(struct recorder *r, const struct idle_ranges *idle)
{
	struct buf why_bpf = { 0 }, why_perf = { 0 };
	struct engine *e = NULL;
	const char *needs = r->o.n_events ? r->o.events[0].name : NULL; /* requires BPF; named in the error */

	if (r->o.engine != ENGINE_PERF) {
		e = open_bpf(r, idle, &why_bpf);
		if (!e && requires_bpf(&r->o))
			cli_die(STATUS_SYSTEM, "%s%s%s", needs ? needs : "", needs ? " is not available: " : "",
				buf_cstr(&why_bpf));
	}
	if (!e) {
		e = open_perf(r, idle, &why_perf);
		if (!e) /* if perf lacks something, so does BPF */
			cli_die(STATUS_SYSTEM, "%s", buf_cstr(&why_perf));
		if (why_bpf.n && !r->o.quiet)
			cli_warn("sampling by plain perf: %s", buf_cstr(&why_bpf));
	}
	buf_release(&why_bpf);
	buf_release(&why_perf);
	return e;
}
