#include "cmd/cprof-record/metrics.h"

#include <inttypes.h>

static void put_head(struct buf *out, const char *name, const char *type, const char *help)
{
	buf_printf(out, "# HELP cprof_record_%s %s\n# TYPE cprof_record_%s %s\n", name, help, name, type);
}

static void put_metric(struct buf *out, const char *name, const char *type, const char *help, double value)
{
	put_head(out, name, type, help);
	buf_printf(out, "cprof_record_%s %.15g\n", name, value);
}

static void put_ticks(struct buf *out, const struct recorder *r)
{
	put_metric(out, "expected_ticks_total", "counter", "Samples due on the CPUs.",
		   (double)ledger_total(&r->ledger, OUTCOME_EXPECTED));
	put_head(out, "ticks_total", "counter", "Samples due, by outcome, and records of the side-band lost.");
	for (unsigned int o = OUTCOME_EXPECTED + 1; o < OUTCOMES; o++)
		buf_printf(out, "cprof_record_ticks_total{outcome=\"%s\",lost=\"%d\"} %" PRIu64 "\n", outcome_name(o),
			   outcome_is_lost(o) || o == OUTCOME_SIDEBAND_LOST || o == OUTCOME_WAITS_LOST,
			   o == OUTCOME_MISSED ? ledger_missed(&r->ledger) : ledger_total(&r->ledger, o));
}

static void put_events(struct buf *out, const struct recorder *r)
{
	if (!r->o.n_events)
		return;
	put_head(out, "events_total", "counter", "Events other than ticks, by outcome.");
	for (size_t i = 0; i < r->o.n_events; i++) {
		for (unsigned int o = OUTCOME_EXPECTED; o < OUTCOMES; o++)
			buf_printf(out, "cprof_record_events_total{event=\"%s\",outcome=\"%s\",lost=\"%d\"} %" PRIu64 "\n",
				   r->o.events[i].name, outcome_name(o), outcome_is_lost_event(o),
				   r->ledger.events[i].row.outcomes[o]);
	}
}

static void put_stacks(struct buf *out, const struct recorder *r)
{
	put_head(out, "user_stacks_total", "counter", "User stacks, by end: complete, or why not.");
	for (unsigned int i = 0; i < NODE_FIRST; i++) {
		if (root_name(i))
			buf_printf(out, "cprof_record_user_stacks_total{end=\"%s\"} %" PRIu64 "\n", root_name(i), r->emit.roots[i]);
	}
}

static void put_origins(struct buf *out, const struct recorder *r)
{
	static const struct {
		const char *name;
		int unresolved;
	} rows[FRAME_ORIGINS] = {
		[FRAME_IN_KERNEL] = { "kernel", 0 },
		[FRAME_IN_KERNEL_UNNAMED] = { "kernel-unnamed", 1 },
		[FRAME_IN_FILE] = { "file", 0 },
		[FRAME_IN_MEMORY] = { "memory", 0 },
		[FRAME_NOWHERE] = { "nowhere", 1 },
	};

	put_head(out, "addresses_total", "counter", "Different addresses of each segment, by where their names can be found; unresolved: "
		 "nowhere. For memory without a file: in the output of a JIT compiler.");
	for (unsigned int i = 0; i < FRAME_ORIGINS; i++)
		buf_printf(out, "cprof_record_addresses_total{where=\"%s\",unresolved=\"%d\"} %" PRIu64 "\n", rows[i].name,
			   rows[i].unresolved, r->emit.origins[i]);
}

static void put_costs(struct buf *out, const struct ledger *l)
{
	static const struct {
		enum cost cost;
		const char *part;
	} parts[] = { { COST_USER_NS, "user" }, { COST_SYSTEM_NS, "system" }, { COST_BPF_NS, "bpf" } };

	put_head(out, "cpu_seconds_total", "counter", "CPU time of the recorder and of its BPF program.");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		buf_printf(out, "cprof_record_cpu_seconds_total{part=\"%s\"} %.9f\n", parts[i].part,
			   (double)l->costs[parts[i].cost] / 1e9);
	put_metric(out, "resident_bytes", "gauge", "Peak resident memory of the recorder.", (double)l->costs[COST_RSS_BYTES]);
	put_metric(out, "table_bytes", "gauge", "Peak memory of unwind tables in the kernel.", (double)l->costs[COST_TABLE_BYTES]);
	put_metric(out, "tables_total", "counter", "Unwind tables built.", (double)l->costs[COST_TABLES]);
	put_metric(out, "tables_refused_total", "counter", "Times that a table or a process found no room.",
		   (double)l->costs[COST_TABLES_REFUSED]);
	put_metric(out, "table_process_losses_total", "counter", "Times that the process that starts helpers for unwind tables was lost, and started again.",
		   (double)l->table_losses);
}

static void put_files(struct buf *out, const struct recorder *r)
{
	put_metric(out, "tables_late_total", "counter", "User stacks that were cut because an unwind table was not built in time.",
		   (double)r->user_walk.late);
	put_metric(out, "jit_left_out_bytes_total", "counter", "Bytes of perf maps and jitdump files that were not read, because their user wrote too many.",
		   (double)(perf_maps_left_out(r->emit.perf_maps) + jit_dumps_left_out(r->emit.jit_dumps)));
	put_metric(out, "files_left_out_total", "counter", "Files of others that were not opened, because their file system does not answer.",
		   (double)opener_left_out(r->opener));
	put_metric(out, "files_dropped_total", "counter",
		   "Files of others that were not opened when they were needed, "
		   "because their users have too many.",
		   (double)opener_dropped(r->opener));
	put_metric(
		out, "mappings_left_out_total", "counter",
		"Times that the mappings of a process were not read, or not all of them: its memory was locked, or it or other processes of its user have very many.",
		(double)(r->procs.scan.maps.left_out + r->procs.scan.maps.cut + r->procs.readings.refused));
	put_metric(out, "mappings_dropped_total", "counter",
		   "Mappings that were left out of processes with more than 32768.", (double)r->procs.maps_dropped);
}

static void put_output(struct buf *out, const struct recorder *r)
{
	const struct output *o = &r->output;

	if (r->o.off_cpu)
		put_metric(out, "waits_total", "counter", "Records of waiting time.", (double)r->emit.waits);
	put_metric(out, "processes_total", "counter", "Images of processes that were sampled.", (double)r->emit.processes);
	put_metric(out, "written_bytes_total", "counter", "Bytes of captures written.", (double)output_bytes(o));
	put_metric(out, "files_total", "counter", "Files that are complete.", (double)o->written);
	put_metric(out, "files_removed_total", "counter", "Files removed because of their age, their bytes or a full disk.",
		   (double)o->files.rotate.removed);
	put_metric(out, "output_dark", "gauge", "1 while output is suspended because it cannot be written.",
		   o->suspended);
	put_metric(out, "hooks_total", "counter", "Commands of --on-rotate that were run.", (double)o->hooks.run);
	put_metric(out, "hooks_failed_total", "counter", "Commands of --on-rotate that failed or could not be run.",
		   (double)(o->hooks.failed + o->hooks.dropped));
	put_metric(out, "frequency_hertz", "gauge", "Samples per second and CPU.", r->hertz);
}

bool metrics_write(struct recorder *r, uint64_t now, bool last)
{
	struct buf text = { 0 };
	bool good;

	if (!r->o.metrics || (!last && now - r->metrics_written < METRICS_SECONDS * 1000000000ull))
		return true;
	r->metrics_written = now;
	put_ticks(&text, r);
	put_events(&text, r);
	put_stacks(&text, r);
	put_origins(&text, r);
	put_costs(&text, &r->ledger);
	put_files(&text, r);
	put_output(&text, r);
	good = metrics_file_write(&r->metrics_file, &text, last);
	buf_release(&text);
	return good;
}
