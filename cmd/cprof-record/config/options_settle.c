#include "cmd/cprof-record/config/options_settle.h"

#include <stdlib.h>

#include "bpf/sample.h"
#include "cmd/shared/cli.h"

enum {
	CHAIN_DEFAULT = 127, /* kernel.perf_event_max_stack unless it is set */
	HIT_FRAMES = 8,      /* frames between a tracepoint and its program, at most */
};

static const uint64_t ring_default = 64ull << 20;

/* Without the clock, cycles take its place and sample at the rate; other events are recorded in addition. */
static void settle_events(struct options *o)
{
	if (!o->events_asked)
		o->ticks = true;
	for (size_t i = 0; i < o->n_events && !o->ticks; i++) {
		if (strcmp(o->events[i].name, "cycles") != 0 || o->events[i].count)
			continue;
		o->ticks = o->cycles = true;
		memmove(&o->events[i], &o->events[i + 1], (--o->n_events - i) * sizeof(o->events[0]));
	}
}

/* Checks the options for a series of files and for the flight buffer. */
static void check_files(const struct options *o)
{
	const char *which = o->ring_ns || o->ring_bytes ? "--ring" : o->rotate_ns || o->rotate_bytes ? "--rotate" : NULL;

	if (which && (!o->output || strcmp(o->output, "-") == 0))
		cli_usage("%s requires -o with a directory or a name like %%h-%%F-%%H%%M%%S.cprof", which);
	if (!which && (o->keep_ns || o->keep_bytes || o->on_rotate))
		cli_usage("%s requires --rotate or --ring", o->on_rotate ? "--on-rotate" : "--keep");
	if (o->ring_bytes && !o->ring_ns)
		cli_usage("--ring requires a time; a second --ring can give a size");
	if (o->ring_ns && (o->rotate_ns || o->rotate_bytes))
		cli_usage("--ring and --rotate are mutually exclusive");
	if (o->n_whens && !o->ring_ns)
		cli_usage("--when requires --ring");
}

static void check_calls(const struct options *o)
{
	if (!o->n_pids && (!o->command || o->all))
		cli_usage("--usdt-stacks requires -p or a command, because it slows programs down");
	if (o->kernel_only)
		cli_usage("-K and --usdt-stacks are mutually exclusive");
	if (o->max_cost > 0)
		cli_usage("--max-cost and --usdt-stacks are mutually exclusive, "
			  "because the cost of probes cannot be limited");
	if (o->engine == ENGINE_PERF)
		cli_usage("--usdt-stacks requires the BPF engine");
	if (o->unwind == BY_FP)
		cli_usage("--usdt-stacks requires unwinding by tables");
}

static void check_combinations(const struct options *o)
{
	if (o->user_only && o->kernel_only)
		cli_usage("-U and -K are mutually exclusive");
	if (o->all + (o->n_pids > 0) + (o->n_tids > 0) > 1)
		cli_usage("-a, -p and -t are mutually exclusive");
	check_files(o);
	if (!o->all && !options_targeted(o) && !o->n_groups)
		cli_usage("say what to record: -a for the system, -p PID, -t TID, --cgroup PATH, --container ID, or -- COMMAND");
	if (o->exit_status && !o->command)
		cli_usage("--exit-status requires a command");
	if (o->quiet && o->verbose)
		cli_usage("-q and -v are mutually exclusive");
	if (o->n_groups && o->engine == ENGINE_PERF)
		cli_usage("--cgroup and --container require the BPF engine");
	if ((o->off_cpu || o->latency) && o->engine == ENGINE_PERF)
		cli_usage("%s requires the BPF engine", o->off_cpu ? "--off-cpu" : "--latency");
	if (o->latency && !o->ticks)
		cli_usage("--latency requires the clock or cycles: add cpu-clock to -e");
	if (o->n_events && o->engine == ENGINE_PERF)
		cli_usage("-e %s requires the BPF engine", o->events[0].name);
	if (o->calls_text)
		check_calls(o);
}

/* The probes take the place of the walk of this language. */
static void settle_calls(struct options *o)
{
	struct buf error = { 0 };
	enum event_found found;

	if (!o->calls_text)
		return;
	found = call_probes_find(&o->calls, o->calls_text, options_times_command(o) ? NULL : o->command, &error);
	if (found == EVENT_UNKNOWN)
		cli_usage("invalid --usdt-stacks \"%s\" (expected %s)", o->calls_text, buf_cstr(&error));
	if (found == EVENT_REFUSED)
		cli_die(STATUS_SYSTEM, "--usdt-stacks %s is not available: %s", o->calls_text,
			buf_cstr(&error));
	o->languages &= ~(1u << o->calls->language);
}

/* Unwind tables exist only for the registers of x86-64. */
static void settle_unwind(struct options *o)
{
#if !defined(__x86_64__)
	o->no_tables = true;
	if (o->unwind == BY_TABLE)
		cli_die(STATUS_SYSTEM, "--unwind table is not available: unwind tables are not built for this machine's processor, "
				       "only for x86-64");
	o->unwind = BY_FP;
#else
	o->no_tables = false;
#endif
}

/* The kernel cuts call chains at its own limit; chains cut there are marked as truncated. */
static void limit_depth(struct options *o)
{
	struct buf text = { 0 };
	unsigned long most = 0;

	if (host_read("/proc/sys/kernel/perf_event_max_stack", &text))
		most = strtoul(buf_cstr(&text), NULL, 10);
	buf_release(&text);
	if (most == 0)
		most = CHAIN_DEFAULT;
	o->chain_depth = o->depth < most ? o->depth : (unsigned int)most;
	most = most < SAMPLE_DEPTH_MAX ? most : SAMPLE_DEPTH_MAX;
	o->hit_depth = o->chain_depth + HIT_FRAMES < most ? o->chain_depth + HIT_FRAMES : (unsigned int)most;
}

void options_settle(struct options *o)
{
	settle_events(o);
	check_combinations(o);
	settle_unwind(o);
	settle_calls(o);
	limit_depth(o);
	if (o->ring_ns && !o->ring_bytes)
		o->ring_bytes = ring_default;
}
