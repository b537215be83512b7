#include "cmd/cprof-record/housekeeping.h"

#include <time.h>

#include "cmd/shared/cli.h"
#include "cmd/cprof-record/drain.h"

enum {
	KEEP_DEAD = 1000000000, /* ns after its exit that a sample of a process may still come */
	SEGMENT_SHARE = 1000,   /* reports at ends of segments may take one part in 1000 of the time */
};

void housekeeping_ledger(struct recorder *r, uint64_t now, bool last)
{
	for (size_t i = 0; i < r->ledger.n; i++)
		ledger_waiting(&r->ledger, i, 0);
	for (size_t i = 0; i < r->queue.n; i++) {
		const struct sample_head *s = queue_bytes(&r->queue, &r->queue.items[i]);

		if (r->queue.items[i].kind == ITEM_SAMPLE && s->what == SAMPLE_TICK)
			ledger_waiting(&r->ledger, drain_row_of(r, s), 1);
	}
	ledger_update(&r->ledger, r->engine, &r->emit, now, last);
	if (r->engine->by_cpu || !options_targeted(&r->o))
		ledger_classify(&r->ledger, &r->cpus, r->emit.period, last);
	ledger_write(&r->ledger, &r->emit, now, last);
}

/* Samples lost while output is suspended are reported in the next segment written. */
static void next_segment(struct recorder *r, uint64_t now)
{
	emit_end(&r->emit, now, END_CONTINUES);
	if (r->output.suspended)
		ledger_carry(&r->ledger);
	else
		ledger_segment(&r->ledger);
	r->emit.waits_since = drain_waits_since(r);
	emit_segment(&r->emit, now);
}

void housekeeping_next_file(struct recorder *r, uint64_t now, enum output_state state)
{
	if (state == OUTPUT_DUE) {
		emit_end(&r->emit, now, END_CONTINUES);
		state = writer_error(r->emit.w) ? OUTPUT_LOST : OUTPUT_DUE;
	}
	if (r->output.suspended)
		ledger_carry(&r->ledger);
	else if (state == OUTPUT_LOST)
		ledger_roll_back(&r->ledger);
	else
		ledger_segment(&r->ledger);
	output_next(&r->output, now);
	r->emit.w = r->output.w;
	r->emit.waits_since = drain_waits_since(r);
	emit_segment(&r->emit, now);
}

/*
 * Has the flight buffer written if a condition of --when holds, but not again until the whole buffer has been
 * replaced.
 */
static void look_when(struct recorder *r, uint64_t now)
{
	for (size_t i = 0; i < r->o.n_whens; i++) {
		if (!trigger_holds(&r->o.whens[i]) || r->output.file_requested ||
		    (r->output.buffer_written && now - r->output.buffer_written < r->o.ring_ns))
			continue;
		r->output.file_requested = true;
		if (!r->o.quiet)
			cli_warn("%s", r->o.whens[i].text);
	}
}

/*
 * Before the file ends, or the flight buffer is written, reports all current waits up to now. Without room
 * for them it does not: the end of the file may still fit, and the next file reports the waits.
 */
static void report_waits_of_file(struct recorder *r)
{
	struct output *out = &r->output;

	if (!r->o.off_cpu || out->suspended || out->full)
		return;
	drain_write_waits(r);
	housekeeping_ledger(r, host_mono_ns(), false);
}

static uint64_t used_ns(void)
{
	struct timespec t;

	return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0 ? (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec : 0;
}

/*
 * Before a segment ends and another one continues it, reports how long threads ran up to now. Readers compare
 * that with the samples of one segment. For a run across the end they could only guess how much was where.
 */
static void report_waits_of_segment(struct recorder *r)
{
	uint64_t before = used_ns();

	if (!r->o.off_cpu || r->output.suspended ||
	    host_mono_ns() - r->reported[0] < r->report_used * SEGMENT_SHARE)
		return;
	drain_report_waits(r);
	r->report_used = used_ns() - before;
	drain_write(r, host_mono_ns());
	housekeeping_ledger(r, host_mono_ns(), false);
}

/*
 * Changes the sampling rate. Writes pending samples first, with the old weights, without waiting for unwind
 * tables.
 */
static void change_rate(struct recorder *r, unsigned int hertz)
{
	uint64_t now;

	r->hertz = r->engine->rate.hertz = hertz;
	r->engine->ops->rate(r->engine);
	r->dont_wait = true;
	now = host_mono_ns();
	drain_until(r, now);
	r->dont_wait = false;
	housekeeping_ledger(r, now, false);
	ledger_rate(&r->ledger, &r->cpus, r->engine, now);
}

static struct spent spent_by(const struct recorder *r)
{
	const uint64_t *costs = r->ledger.costs;
	struct spent s = { costs[COST_USER_NS] + costs[COST_SYSTEM_NS], costs[COST_BPF_NS], r->emit.samples, { { 0 } } };

	for (size_t i = 0; i < r->o.n_events; i++)
		s.events[i] = (struct spent_event){ r->ledger.events[i].run_ns, r->emit.others[i] };
	return s;
}

/* Keeps the cost limit of --max-cost. True: the rate has changed, and a new segment must say so. */
static bool keep_cost_limit(struct recorder *r, uint64_t now)
{
	struct spent spent = spent_by(r);
	struct cost_limit_asked asked = cost_limit_keep(&r->cost_limit, &spent, r->cpus.n, now, r->engine->rate);

	if (asked.dear && !r->o.quiet)
		cli_warn("%s costs more than --max-cost allows, %.2f %% of a CPU per CPU, however few samples are taken of it: a "
			 "BPF program runs for every event", asked.dear, 100 * asked.share);
	if (asked.rate.most != r->engine->rate.most) {
		r->engine->rate.most = asked.rate.most;
		r->engine->ops->rate(r->engine);
	}
	if (asked.rate.hertz == r->engine->rate.hertz)
		return false;
	report_waits_of_segment(r);
	change_rate(r, asked.rate.hertz);
	return true;
}

static void write_gone(void *arg, struct proc *p)
{
	emit_gone(arg, p);
}

void housekeeping_flush(struct recorder *r, uint64_t now)
{
	enum output_state state;

	r->overdue = !drain_until(r, now - MARGIN);
	procs_sweep(&r->procs, now - KEEP_DEAD, write_gone, &r->emit);
	if (r->emit.runtimes)
		runtimes_sweep(r->emit.runtimes, now);
	housekeeping_ledger(r, now, false);
	look_when(r, now);
	state = output_flush(&r->output, now);
	if (state != OUTPUT_LOST && !r->output.suspended)
		ledger_commit(&r->ledger);
	if (state == OUTPUT_DUE && r->output.kind == OUTPUT_FLIGHT_BUFFER && !r->output.file_requested)
		report_waits_of_segment(r);
	else if (state == OUTPUT_DUE)
		report_waits_of_file(r);
	if (state != OUTPUT_STAYS)
		housekeeping_next_file(r, host_mono_ns(), state);
	if (state != OUTPUT_STAYS && r->output.kind == OUTPUT_FILES)
		r->output.began = now; /* the time spent above does not make files longer */
	if (r->o.max_cost > 0 && keep_cost_limit(r, now)) {
		next_segment(r, host_mono_ns());
	} else if (state == OUTPUT_STAYS && emit_segment_due(&r->emit, now)) {
		report_waits_of_segment(r);
		next_segment(r, host_mono_ns());
	}
}
