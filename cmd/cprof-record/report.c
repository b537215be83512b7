#include "cmd/cprof-record/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/wait.h>

#include "cmd/shared/cli.h"
#include "common/select/ends.h"

/* Samples of all events. A sample without room in the output is lost, and does not count. */
static uint64_t samples_of(const struct recorder *r)
{
	uint64_t n = ledger_total(&r->ledger, OUTCOME_EMITTED);

	for (size_t i = 0; i < r->o.n_events; i++)
		n += r->emit.kept[i];
	return n;
}

static uint64_t lost_of(const struct recorder *r)
{
	uint64_t n = 0;

	for (enum outcome o = OUTCOME_EMITTED; o < OUTCOMES; o++)
		n += outcome_is_lost(o) ? ledger_total(&r->ledger, o) : 0;
	return n;
}

void report_progress(const struct recorder *r, uint64_t now)
{
	if (r->progress)
		fprintf(stderr, "\r%4" PRIu64 " s  %" PRIu64 " samples  %" PRIu64 " kB  %" PRIu64 " lost ",
			(now - r->started) / 1000000000, samples_of(r), output_bytes(&r->output) / 1000, lost_of(r));
}

void report_status(const struct recorder *r, uint64_t now, struct buf *out)
{
	double wall = (double)(now - r->started) / 1e9 * (double)(r->cpus.n ? r->cpus.n : 1);
	uint64_t ns = r->ledger.costs[COST_USER_NS] + r->ledger.costs[COST_SYSTEM_NS] + r->ledger.costs[COST_BPF_NS];

	buf_printf(out, "%u Hz, %" PRIu64 " samples, %" PRIu64 " lost", r->hertz, samples_of(r), lost_of(r));
	if (r->output.suspended)
		buf_text(out, ", output suspended");
	buf_printf(out, "; cost %.3f %% of a CPU per CPU", wall > 0 ? (double)ns / 1e7 / wall : 0);
}

static void print_complaint(const struct recorder *r, const char *complaint)
{
	if (r->o.quiet)
		return;
	if (r->progress)
		fputs("\r\033[K", stderr);
	cli_warn("%s", complaint);
}

void report_complaints(struct recorder *r)
{
	const char *complaint = perf_maps_complaint(r->emit.perf_maps);

	if (complaint)
		print_complaint(r, complaint);
	complaint = jit_dumps_complaint(r->emit.jit_dumps);
	if (complaint)
		print_complaint(r, complaint);
	complaint = opener_complaint(r->opener);
	if (complaint)
		print_complaint(r, complaint);
	if (r->procs.scan.maps.complaint.n)
		print_complaint(r, buf_cstr(&r->procs.scan.maps.complaint));
	buf_clear(&r->procs.scan.maps.complaint);
	if (r->tables.complaint.n)
		print_complaint(r, buf_cstr(&r->tables.complaint));
	buf_clear(&r->tables.complaint);
	if (r->output.complaint.n) { /* an error: printed even with --quiet */
		if (r->progress)
			fputs("\r\033[K", stderr);
		cli_warn("%s", buf_cstr(&r->output.complaint));
	}
	buf_clear(&r->output.complaint);
	if (r->runtimes.complaint.n)
		print_complaint(r, buf_cstr(&r->runtimes.complaint));
	buf_clear(&r->runtimes.complaint);
	if (r->user_walk.complaint.n)
		print_complaint(r, buf_cstr(&r->user_walk.complaint));
	buf_clear(&r->user_walk.complaint);
}

/* Does each task have a clock of its own, which starts with the task? */
static bool by_task(const struct recorder *r)
{
	return !r->engine->by_cpu && options_targeted(&r->o);
}

/* lost: losses printed so far. Returns them with those of events. */
static uint64_t print_event_losses(const struct recorder *r, uint64_t lost)
{
	for (size_t i = 0; i < r->o.n_events; i++) {
		for (enum outcome o = OUTCOME_EMITTED; o < OUTCOMES; o++) {
			uint64_t n = outcome_is_lost_event(o) ? r->ledger.events[i].row.outcomes[o] : 0;

			if (n)
				fprintf(stderr, "%s%" PRIu64 " %s %s", lost ? ", " : "; lost: ", n, r->o.events[i].name, outcome_name(o));
			lost += n;
		}
	}
	return lost;
}

/* If a sample stands for very many events, those after the last sample may be worth a word. */
static void print_rest(const struct recorder *r)
{
	enum { PERCENT_LEAST = 1 };

	for (size_t i = 0; i < r->o.n_events; i++) {
		uint64_t expected = r->ledger.events[i].row.outcomes[OUTCOME_EXPECTED];
		uint64_t rest = r->ledger.events[i].row.outcomes[OUTCOME_REST];

		if (rest > expected / 100 * PERCENT_LEAST)
			fprintf(stderr, ", %" PRIu64 " of %" PRIu64 " %s after their last sample", rest, expected,
				r->o.events[i].name);
	}
}

static void print_losses(const struct recorder *r)
{
	uint64_t lost = 0, missed = ledger_missed(&r->ledger);

	for (enum outcome o = OUTCOME_EMITTED; o < OUTCOMES; o++) {
		bool is = outcome_is_lost(o) || o == OUTCOME_SIDEBAND_LOST || o == OUTCOME_WAITS_LOST;
		uint64_t n = is ? ledger_total(&r->ledger, o) : 0;

		if (n)
			fprintf(stderr, "%s%" PRIu64 " %s", lost ? ", " : "; lost: ", n, outcome_name(o));
		lost += n;
	}
	if (r->procs.n_reread)
		fprintf(stderr, " (%" PRIu64 " process%s read again)", r->procs.n_reread, r->procs.n_reread == 1 ? "" : "es");
	lost = print_event_losses(r, lost);
	if (!lost)
		fprintf(stderr, "; nothing lost");
	if (missed)
		fprintf(stderr, ", %" PRIu64 " of %" PRIu64 " ticks did not come%s", missed,
			ledger_total(&r->ledger, OUTCOME_EXPECTED),
			by_task(r) ? " (tasks that live for less than a period get none)" : "");
	print_rest(r);
}

/* Prints how complete the user stacks are, and why some are not. */
static void print_stacks(const struct recorder *r)
{
	uint64_t refused = r->ledger.costs[COST_TABLES_REFUSED];
	struct ends e = ends_of(r->emit.roots);

	if (!e.stacks)
		return;
	fprintf(stderr, "; user stacks %.1f %% complete", 100.0 * (double)e.complete / (double)e.stacks);
	if (e.unverified)
		fprintf(stderr, ", %.1f %% by frame pointers", 100.0 * (double)e.unverified / (double)e.stacks);
	if (e.truncated)
		fprintf(stderr, ", %.1f %% truncated", 100.0 * (double)e.truncated / (double)e.stacks);
	if (r->emit.user_walk && r->user_walk.late)
		fprintf(stderr, ", %" PRIu64 " cut because a table was late", r->user_walk.late);
	if (refused)
		fprintf(stderr, ", tables found no room %" PRIu64 " time%s (--unwind-mem, --mem)", refused,
			refused == 1 ? "" : "s");
}

static void print_left_out(const struct recorder *r)
{
	uint64_t n = opener_left_out(r->opener), unread = r->procs.scan.maps.left_out;
	uint64_t late = opener_dropped(r->opener);
	uint64_t refused = r->procs.readings.refused, cut = r->procs.scan.maps.cut,
		 dropped = r->procs.maps_dropped;

	if (n)
		fprintf(stderr, "; %" PRIu64 " file%s not opened, on file systems that do not answer", n, n == 1 ? "" : "s");
	if (late)
		fprintf(stderr,
			"; %" PRIu64 " file%s not opened in time, because their users have too many", late,
			late == 1 ? "" : "s");
	if (unread)
		fprintf(stderr, "; %" PRIu64 " time%s the mappings of a process not read, because its memory "
				"was locked", unread, unread == 1 ? "" : "s");
	if (refused || cut)
		fprintf(stderr,
			"; %" PRIu64
			" time%s the mappings of a process not read to the end, because those of "
			"its user's processes take long",
			refused + cut, refused + cut == 1 ? "" : "s");
	if (dropped)
		fprintf(stderr, "; %" PRIu64 " mapping%s left out of processes that have more than %d",
			dropped, dropped == 1 ? "" : "s", PROCS_MAPPINGS);
}

static void print_budget(const struct recorder *r)
{
	uint64_t n = perf_maps_left_out(r->emit.perf_maps) + jit_dumps_left_out(r->emit.jit_dumps);

	if (n)
		fprintf(stderr, "; %" PRIu64 " bytes of perf maps and jitdump files left out", n);
}

static void print_samples(const struct recorder *r)
{
	uint64_t ticks = ledger_total(&r->ledger, OUTCOME_EMITTED);

	fputs("cprof-record: ", stderr);
	if (r->o.ticks)
		fprintf(stderr, "%" PRIu64 " sample%s", ticks, ticks == 1 ? "" : "s");
	for (size_t i = 0; i < r->o.n_events; i++)
		fprintf(stderr, "%s%" PRIu64 "%s of %s", r->o.ticks || i ? ", " : "", r->emit.kept[i],
			r->o.ticks || i ? "" : r->emit.kept[i] == 1 ? " sample" : " samples", r->o.events[i].name);
	if (r->o.off_cpu)
		fprintf(stderr, " and %" PRIu64 " records of waiting time", r->emit.waits);
}

/*
 * Start and end are separate, because they cost the same for recordings of any length. Loading later
 * belongs to the start.
 */
static void print_cost(const struct recorder *r, double wall)
{
	double steady = (double)(r->own_stopped - r->own_started) / 1e9;
	double all = (double)ledger_own_ns(&r->emit) / 1e9;
	double bpf = (double)r->ledger.costs[COST_BPF_NS] / 1e9;
	size_t cpus = r->cpus.n ? r->cpus.n : 1;

	fprintf(stderr, "; cost %.3f s to start and end, %.3f s", all - steady, steady);
	if (r->engine->accounts_program)
		fprintf(stderr, " + %.3f s in BPF", bpf);
	if (wall > 0)
		fprintf(stderr, " between = %.3f %% of a CPU per CPU", 100 * (steady + bpf) / wall / (double)cpus);
}

/* Prints nothing if n is 0. */
static void print_number(const char *before, uint64_t n, const char *one, const char *many)
{
	if (n)
		fprintf(stderr, "%s%" PRIu64 " %s", before, n, n == 1 ? one : many);
}

/* The cost of call probes for the programs, without the runtime's own work for them, and their losses. */
static void print_calls(const struct recorder *r)
{
	const struct call_probes *probes = r->o.calls;
	const uint64_t *n = r->ledger.calls.n;
	double added = (double)r->ledger.calls.added_ns / 1e9, all;

	all = r->o.ticks && !r->o.cycles ? (double)ledger_total(&r->ledger, OUTCOME_EMITTED) / r->o.hertz : 0;
	fprintf(stderr, "cprof-record: --usdt-stacks %s: probes at %" PRIu64 " calls and %" PRIu64 " returns",
		probes->provider, n[USDT_ENTRIES], n[USDT_RETURNS]);
	fprintf(stderr, " added %.3f s to the programs", added);
	if (all > added && added > 0)
		fprintf(stderr, ", which ran at least %.1f times as long (%.3f s); "
			"what the runtime does for them is not counted", all / (all - added), all);
	print_number("; ", n[USDT_MARKED], "stack without its outer calls",
		     "stacks without their outer calls");
	print_number("; ", n[USDT_DEEP], "call too deep for a frame", "calls too deep for a frame");
	print_number("; ", n[USDT_STRAYS], "return without a call", "returns without a call");
	print_number("; ", n[USDT_UNNAMED], "call without a name", "calls without a name");
	print_number("; ", n[USDT_NO_STACK], "probe without a stack", "probes without a stack");
	fputc('\n', stderr);
	if (n[USDT_ENTRIES] == 0 || n[USDT_STRAYS] > n[USDT_RETURNS] / 2)
		cli_warn("--usdt-stacks %s: %s: %s", probes->provider,
			 n[USDT_ENTRIES] ? "most returns had no call" : "no call was reported", probes->hint);
}

void report_summary(const struct recorder *r)
{
	double wall = (double)(r->stopped - r->started) / 1e9;

	if (r->progress)
		fputs("\r\033[K", stderr);
	if (r->o.quiet)
		return;
	print_samples(r);
	fprintf(stderr, "%s of %" PRIu64 " process%s in %.1f s, %" PRIu64 " bytes", r->o.n_events ? "," : "", r->emit.processes,
		r->emit.processes == 1 ? "" : "es", wall, output_bytes(&r->output));
	print_losses(r);
	print_stacks(r);
	print_left_out(r);
	print_budget(r);
	print_cost(r, wall);
	fputc('\n', stderr);
	if (r->o.calls)
		print_calls(r);
	if (r->o.no_tables && ends_of(r->emit.roots).stacks)
		cli_warn("user stacks are unwound by frame pointers alone, because unwind tables are not built for this "
			 "machine's processor: callers are missing in code without frame pointers, and the innermost "
			 "function's caller often is");
	if (ksym_why(r->emit.ksym))
		cli_warn("%s", ksym_why(r->emit.ksym));
	if (WIFEXITED(r->command.status) && WEXITSTATUS(r->command.status))
		cli_warn("%s ended with status %d", r->o.command[0], WEXITSTATUS(r->command.status));
	else if (WIFSIGNALED(r->command.status))
		cli_warn("%s was ended by signal %d", r->o.command[0], WTERMSIG(r->command.status));
}

int report_exit_status(const struct recorder *r)
{
	int status = r->command.status;

	if (!r->o.exit_status || r->command.pid) /* the recording ended first */
		return STATUS_OK;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
