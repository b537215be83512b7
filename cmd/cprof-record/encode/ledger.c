#include "cmd/cprof-record/encode/ledger.h"

#include <stdlib.h>
#include <sys/resource.h>

#include "common/base/array.h"

enum { IDLE_GAPS = 10 }; /* with fewer missing ticks, /proc/stat is not read */

static struct ledger_row *row_of(struct ledger *l, size_t row)
{
	if (!grow_array(&l->rows, &l->cap, row, sizeof(*l->rows)))
		return NULL;
	if (row >= l->n)
		l->n = row + 1;
	l->rows[row].used = true;
	return &l->rows[row];
}

void ledger_release(struct ledger *l)
{
	free(l->rows);
	*l = (struct ledger){ 0 };
}

/*
 * Returns the ticks expected until a time between before and after, in an epoch that began between since[0]
 * and since[1]. Both ends are uncertain; the number of runs of the program decides whether one more tick
 * fitted in.
 */
static uint64_t row_expected(const struct ledger_row *r, uint64_t before, uint64_t after, uint64_t runs)
{
	uint64_t least, most, seen = runs - r->runs;

	if (!r->period)
		return r->expected;
	if (!r->online)
		return r->expected + r->expected_ns / r->period;
	least = before > r->since[1] ? (r->expected_ns + before - r->since[1]) / r->period : 0;
	most = (r->expected_ns + after - r->since[0]) / r->period;
	return r->expected + (seen < least ? least : seen < most ? seen : most);
}

struct ledger_epoch ledger_epoch_now(struct engine *e, unsigned int cpu, uint64_t now)
{
	struct engine_counts c = { 0 };

	if (e->by_cpu)
		e->ops->counts(e, cpu, &c);
	return (struct ledger_epoch){ { now, now }, engine_cpu_period(e, cpu), c.runs };
}

static void begin_epoch(struct ledger_row *r, const struct ledger_epoch *e)
{
	r->expected = row_expected(r, e->since[0], e->since[1], e->runs);
	r->expected_ns = 0;
	memcpy(r->since, e->since, sizeof(r->since));
	r->runs = e->runs;
	r->period = e->period;
}

void ledger_change(struct ledger *l, unsigned int cpu, const struct ledger_epoch *e)
{
	struct ledger_row *r = row_of(l, (size_t)cpu + 1);

	if (r && r->online)
		begin_epoch(r, e);
}

void ledger_online(struct ledger *l, unsigned int cpu, uint64_t since, const struct ledger_epoch *e)
{
	struct ledger_row *r = row_of(l, (size_t)cpu + 1);

	if (!r || r->online)
		return;
	begin_epoch(r, e);
	if (e->period) {
		r->outcomes[OUTCOME_OFFLINE] += (e->since[0] - since) / e->period;
		r->expected += (e->since[0] - since) / e->period;
	}
	r->online = true;
}

void ledger_unsampled(struct ledger *l, unsigned int cpu, uint64_t since, uint64_t now, uint64_t period)
{
	struct ledger_row *r = period ? row_of(l, (size_t)cpu + 1) : NULL;
	uint64_t ticks;

	if (!r || r->online || now <= since)
		return;
	if (!r->period)
		r->period = period;
	r->failed_ns += now - since;
	ticks = r->failed_ns / period;
	r->failed_ns %= period;
	r->outcomes[OUTCOME_FAILED] += ticks;
	r->expected += ticks;
}

void ledger_offline(struct ledger *l, unsigned int cpu, uint64_t now)
{
	struct ledger_row *r = row_of(l, (size_t)cpu + 1);

	if (!r || !r->online)
		return;
	r->expected_ns += now - r->since[0];
	r->online = false;
	r->idle_ns = 0;
}

void ledger_waiting(struct ledger *l, size_t row, uint64_t n)
{
	struct ledger_row *r = row_of(l, row);

	if (r)
		r->waiting = n ? r->waiting + n : 0;
}

void ledger_count(struct ledger *l, size_t row, enum outcome outcome, uint64_t n)
{
	struct ledger_row *r = n ? row_of(l, row) : NULL;

	if (r)
		r->outcomes[outcome] += n;
}

void ledger_tally(struct ledger *l, size_t event, enum outcome outcome, uint64_t weight)
{
	if (event < EVENTS_MAX)
		l->events[event].row.outcomes[outcome] += weight;
}

static uint64_t timeval_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_usec * 1000;
}

static void update_row(struct ledger_row *r, struct engine *e, unsigned int cpu, uint64_t *run_ns, uint64_t *runs)
{
	struct engine_counts c;

	e->ops->counts(e, cpu, &c);
	/* The code that writes samples counts EMITTED. */
	r->kept_out = c.kept_out;
	r->outcomes[OUTCOME_IDLE] = c.outcomes[OUTCOME_IDLE] + r->kept_slept;
	r->outcomes[OUTCOME_FILTERED] = c.outcomes[OUTCOME_FILTERED];
	r->outcomes[OUTCOME_RING_FULL] = c.outcomes[OUTCOME_RING_FULL];
	r->outcomes[OUTCOME_NESTED] = c.outcomes[OUTCOME_NESTED] + r->kept_nested;
	r->outcomes[OUTCOME_THROTTLED] = c.outcomes[OUTCOME_THROTTLED];
	if (c.expects)
		r->outcomes[OUTCOME_EXPECTED] = c.outcomes[OUTCOME_EXPECTED];
	*run_ns += c.run_ns;
	*runs += c.runs;
}

static void update_tables(struct ledger *l, const struct user_walk *s)
{
	uint64_t held = store_held(s->tables->store);

	if (l->costs[COST_TABLE_BYTES] < held)
		l->costs[COST_TABLE_BYTES] = held;
	l->table_losses = table_cache_losses(s->tables);
	l->costs[COST_TABLES] = s->tables->built;
	l->costs[COST_TABLES_REFUSED] = s->tables->refused + s->refused;
	l->costs[COST_TABLES_EVICTED] = s->tables->evicted;
	l->costs[COST_STACKS_DEFERRED] = s->finished;
}

/* Data about processes that is missing, so that samples may lack names and callers. */
static void update_missing(struct ledger *l, const struct procs *ps)
{
	const struct maps_reader *maps = &ps->scan.maps;
	const struct opener *o = ps->scan.opener;

	l->costs[COST_MAPPINGS_UNREAD] = maps->left_out + ps->readings.refused;
	l->costs[COST_MAPPINGS_CUT] = maps->cut;
	l->costs[COST_MAPPINGS_LEFT_OUT] = ps->maps_dropped;
	l->costs[COST_FILES_UNOPENED] = opener_left_out(o) + opener_dropped(o);
}

/*
 * Updates the outcomes of an event. While recording, their sum is the number expected. Events that perf
 * counted at the last read and that the program has not seen by now are missed.
 */
static void update_event(struct ledger_event *ev, struct engine *e, size_t event, bool last, uint64_t *run_ns, uint64_t *runs)
{
	uint64_t *o = ev->row.outcomes, seen = 0, expected = 0;
	struct bpf_events_sums sums;

	e->ops->sums(e, event, &sums);
	for (int i = 0; i <= EVENT_PENDING; i++)
		seen += sums.n[i];
	if (last)
		ev->happened = sums.happened;
	else if (e->options->events[event].kind == EVENT_HARDWARE) /* the kernel reports full periods */
		ev->happened = 0;
	if (ev->happened > seen && ev->happened - seen > ev->missed)
		ev->missed = ev->happened - seen;
	ev->happened = sums.happened;
	ev->row.used = true;
	o[OUTCOME_FILTERED] = sums.n[EVENT_FILTERED];
	o[OUTCOME_RING_FULL] = sums.n[EVENT_RING_FULL];
	o[OUTCOME_NESTED] = sums.n[EVENT_NESTED];
	o[OUTCOME_REST] = last ? sums.n[EVENT_PENDING] : 0;
	o[OUTCOME_MISSED] = ev->missed;
	for (int i = OUTCOME_EXPECTED + 1; i < OUTCOMES; i++)
		expected += o[i];
	o[OUTCOME_EXPECTED] = last ? sums.happened : expected;
	ev->run_ns = sums.n[EVENT_RUN_NS];
	*run_ns += ev->run_ns;
	*runs += sums.n[EVENT_RUNS];
}

static uint64_t tables_ns(const struct emit *emit)
{
	return opener_cpu_ns(emit->procs->scan.opener) + emit->procs->scan.maps.cpu_ns +
	       (emit->user_walk ? emit->user_walk->tables->cpu_ns : 0) +
	       (emit->runtimes && emit->runtimes->java ? java_procs_cpu_ns(emit->runtimes->java) : 0);
}

uint64_t ledger_own_ns(const struct emit *emit)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return timeval_ns(use.ru_utime) + timeval_ns(use.ru_stime) + tables_ns(emit);
}

void ledger_update(struct ledger *l, struct engine *e, const struct emit *emit, uint64_t now, bool last)
{
	uint64_t run_ns = 0, runs = 0, expected = 0;
	struct wait_counts waits;
	struct rusage use;

	for (size_t i = 1; i < l->n; i++) {
		struct ledger_row *r = &l->rows[i];
		uint64_t before = runs, of_cpu;

		if (!r->used)
			continue;
		if (e->by_cpu)
			update_row(r, e, (unsigned int)i - 1, &run_ns, &runs);
		if (!r->period) /* cycles: nobody knows how many samples are due, but losses and costs are counted */
			continue;
		of_cpu = row_expected(r, now, now, runs - before);
		expected += of_cpu;
		if (e->by_cpu)
			r->outcomes[OUTCOME_EXPECTED] = of_cpu > r->waiting ? of_cpu - r->waiting : 0;
	}
	if (e->by_cpu && row_of(l, 0))
		l->rows[0].outcomes[OUTCOME_IDLE] = l->asleep;
	if (!e->by_cpu && row_of(l, 0)) {
		l->rows[0].outcomes[OUTCOME_EXPECTED] =
			expected > l->rows[0].waiting ? expected - l->rows[0].waiting : 0;
		update_row(&l->rows[0], e, 0, &run_ns, &runs);
		l->rows[0].outcomes[OUTCOME_IDLE] += l->asleep;
	}
	if (emit->options->off_cpu && row_of(l, 0)) {
		e->ops->waits(e, &waits);
		run_ns += waits.n[WAIT_COUNT_NS];
		runs += waits.n[WAIT_COUNT_RUNS];
		l->rows[0].outcomes[OUTCOME_WAITS_LOST] = waits.n[WAIT_COUNT_LOST] + l->waits_lost;
	}
	if (e->ops->calls) {
		e->ops->calls(e, &l->calls);
		run_ns += l->calls.spent_ns;
		runs += l->calls.n[USDT_HITS];
	}
	for (size_t i = 0; i < e->options->n_events; i++)
		update_event(&l->events[i], e, i, last, &run_ns, &runs);
	if (emit->user_walk)
		update_tables(l, emit->user_walk);
	getrusage(RUSAGE_SELF, &use);
	l->costs[COST_USER_NS] = timeval_ns(use.ru_utime) + tables_ns(emit);
	l->costs[COST_SYSTEM_NS] = timeval_ns(use.ru_stime);
	l->costs[COST_BPF_NS] = run_ns;
	l->costs[COST_BPF_RUNS] = runs;
	l->costs[COST_BYTES] = output_bytes(emit->output);
	l->costs[COST_RSS_BYTES] = (uint64_t)use.ru_maxrss * 1024;
	update_missing(l, emit->procs);
}

uint64_t ledger_missed(const struct ledger *l)
{
	uint64_t expected = 0, sum = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct ledger_row *r = &l->rows[i];

		expected += r->outcomes[OUTCOME_EXPECTED];
		for (int o = OUTCOME_EMITTED; o < OUTCOMES; o++)
			sum += outcome_is_tick(o) && o != OUTCOME_MISSED ? r->outcomes[o] : 0;
	}
	return expected > sum ? expected - sum : 0;
}

/* Takes in a CPU's idle time. A new CPU's account begins with it; that of a CPU that left stays. */
static void add_slept(void *arg, unsigned int cpu, uint64_t ns)
{
	struct ledger_row *r = row_of(arg, (size_t)cpu + 1);

	if (!r)
		return;
	if (r->idle_ns && ns > r->idle_ns)
		r->slept_ns += ns - r->idle_ns;
	r->idle_ns = ns;
}

void ledger_sleep(struct ledger *l, const struct cpu_list *cpus)
{
	host_idle_each(cpus, add_slept, l);
}

/* Begins the account of idle time. */
static void begin_idle(struct ledger *l, const struct cpu_list *cpus)
{
	for (size_t i = 1; i < l->n; i++)
		l->rows[i].idle_ns = 0;
	ledger_sleep(l, cpus);
	for (size_t i = 1; i < l->n; i++) {
		l->rows[i].slept_ns = 0;
		l->rows[i].idle_before = l->rows[i].outcomes[OUTCOME_IDLE];
	}
	l->idle_begun = true;
}

void ledger_rate(struct ledger *l, const struct cpu_list *cpus, struct engine *e, uint64_t now)
{
	for (size_t i = 1; i < l->n; i++) {
		struct ledger_epoch epoch = ledger_epoch_now(e, (unsigned int)i - 1, now);

		if (l->rows[i].used && l->rows[i].period)
			begin_epoch(&l->rows[i], &epoch);
	}
	begin_idle(l, cpus);
	l->idle_before = ledger_total(l, OUTCOME_IDLE) + l->missed_before;
}

/*
 * Returns the missing ticks that this segment reports: those missing for a second or more. Newer ones may be
 * samples still on their way, which would count twice: here, and in the next segment when they arrive.
 */
static uint64_t missed_here(struct ledger *l, bool last)
{
	uint64_t gaps = ledger_missed(l), certain = last || gaps < l->gaps ? gaps : l->gaps;

	l->gaps = gaps;
	return certain > l->missed_before ? certain - l->missed_before : 0;
}

/* Returns how many ticks the CPUs slept through that no outcome covers yet. */
static uint64_t slept_uncounted(struct ledger *l, const struct cpu_list *cpus, uint64_t period)
{
	uint64_t counted = ledger_total(l, OUTCOME_IDLE) + l->missed_before - l->idle_before, slept = 0;

	ledger_sleep(l, cpus);
	for (size_t i = 1; i < l->n; i++) {
		const struct ledger_row *r = &l->rows[i];
		uint64_t ticks = r->slept_ns / period, idle = r->outcomes[OUTCOME_IDLE] - r->idle_before;

		/* The kernel's figure for an offline CPU is older than its last ticks. */
		slept += !r->online && ticks < idle ? idle : ticks;
	}
	return slept > counted ? slept - counted : 0;
}

static void classify_missing(struct ledger *l, const struct cpu_list *cpus, uint64_t period, bool last)
{
	/* As in missed_here: a tick missing for less than a second may still be on its way. */
	uint64_t missing = ledger_missed(l), gaps = last || missing < l->gaps ? missing : l->gaps;
	/* Ticks that an earlier segment reported as MISSED stay so, though the CPU may have been idle. */
	uint64_t unreported = gaps > l->missed_before ? gaps - l->missed_before : 0;
	uint64_t more;

	if (!l->idle_begun) {
		begin_idle(l, cpus);
		return;
	}
	if (!period || gaps < IDLE_GAPS || gaps < ledger_total(l, OUTCOME_EXPECTED) / 100)
		return;
	more = slept_uncounted(l, cpus, period);
	if (more > unreported)
		more = unreported;
	l->asleep += more;
	ledger_count(l, 0, OUTCOME_IDLE, more);
}

/*
 * Splits new kept-out ticks: those that the CPU slept through are IDLE, the others NESTED. Only idle time
 * that no other outcome covers counts, and at most *left ticks of it.
 */
static void classify_kept_out(struct ledger_row *r, uint64_t period, uint64_t *left)
{
	uint64_t fresh = r->kept_out - r->kept_slept - r->kept_nested, slept = 0;
	uint64_t counted = r->outcomes[OUTCOME_IDLE] - r->idle_before;

	if (r->slept_ns / period > counted)
		slept = r->slept_ns / period - counted;
	if (slept > fresh)
		slept = fresh;
	if (slept > *left)
		slept = *left;
	*left -= slept;
	r->kept_slept += slept;
	r->kept_nested += fresh - slept;
	r->outcomes[OUTCOME_IDLE] += slept;
	r->outcomes[OUTCOME_NESTED] += fresh - slept;
}

static bool is_kept_out(const struct ledger *l)
{
	for (size_t i = 1; i < l->n; i++) {
		if (l->rows[i].kept_out != l->rows[i].kept_slept + l->rows[i].kept_nested)
			return true;
	}
	return false;
}

void ledger_classify(struct ledger *l, const struct cpu_list *cpus, uint64_t period, bool last)
{
	if (period && l->idle_begun && is_kept_out(l)) {
		uint64_t left = slept_uncounted(l, cpus, period);

		for (size_t i = 1; i < l->n; i++)
			classify_kept_out(&l->rows[i], period, &left);
	}
	classify_missing(l, cpus, period, last);
}

static void write_events(struct ledger *l, struct emit *emit, uint64_t now)
{
	for (size_t i = 0; i < EVENTS_MAX; i++) {
		struct ledger_row *r = &l->events[i].row;

		for (unsigned int o = 0; r->used && o < OUTCOMES; o++) {
			if (r->outcomes[o] - r->base[o] == r->written[o])
				continue;
			r->written[o] = r->outcomes[o] - r->base[o];
			emit_tally(emit, now, i, o, r->written[o]);
		}
	}
}

void ledger_write(struct ledger *l, struct emit *emit, uint64_t now, bool last)
{
	uint64_t gaps = missed_here(l, last);

	if (gaps != l->missed_written)
		emit_ledger(emit, now, 0, OUTCOME_MISSED, gaps);
	l->missed_written = gaps;
	for (size_t i = 0; i < l->n; i++) {
		struct ledger_row *r = &l->rows[i];

		for (unsigned int o = 0; r->used && o < OUTCOMES; o++) {
			uint64_t count = r->outcomes[o] - r->base[o];

			if (count == r->written[o])
				continue;
			r->written[o] = count;
			emit_ledger(emit, now, i, o, count);
		}
	}
	write_events(l, emit, now);
	for (unsigned int i = 0; i < COSTS; i++) {
		uint64_t count = l->costs[i] - (cost_is_peak(i) ? 0 : l->cost_base[i]);

		if (count == l->cost_written[i])
			continue;
		l->cost_written[i] = count;
		emit_cost(emit, now, i, count);
	}
}

void ledger_carry(struct ledger *l)
{
	for (size_t i = 0; i < l->n; i++)
		memset(l->rows[i].written, 0, sizeof(l->rows[i].written));
	for (size_t i = 0; i < EVENTS_MAX; i++)
		memset(l->events[i].row.written, 0, sizeof(l->events[i].row.written));
	l->missed_written = 0;
	memset(l->cost_written, 0, sizeof(l->cost_written));
}

void ledger_commit(struct ledger *l)
{
	for (size_t i = 0; i < l->n; i++)
		memcpy(l->rows[i].committed, l->rows[i].outcomes, sizeof(l->rows[i].committed));
	for (size_t i = 0; i < EVENTS_MAX; i++) {
		struct ledger_row *r = &l->events[i].row;

		memcpy(r->committed, r->outcomes, sizeof(r->committed));
	}
	memcpy(l->cost_committed, l->costs, sizeof(l->cost_committed));
	l->missed_committed = l->missed_written;
	l->waits_committed = l->waits_written;
}

void ledger_segment(struct ledger *l)
{
	for (size_t i = 0; i < l->n; i++)
		memcpy(l->rows[i].base, l->rows[i].outcomes, sizeof(l->rows[i].base));
	for (size_t i = 0; i < EVENTS_MAX; i++)
		memcpy(l->events[i].row.base, l->events[i].row.outcomes, sizeof(l->events[i].row.base));
	memcpy(l->cost_base, l->costs, sizeof(l->cost_base));
	l->missed_before += l->missed_written;
	ledger_carry(l);
	ledger_commit(l);
}

static void roll_back_row(struct ledger_row *r)
{
	uint64_t lost = r->outcomes[OUTCOME_EMITTED] - r->committed[OUTCOME_EMITTED];

	r->outcomes[OUTCOME_EMITTED] -= lost;
	r->outcomes[OUTCOME_NO_SPACE] += lost;
	memcpy(r->base, r->committed, sizeof(r->base));
}

void ledger_roll_back(struct ledger *l)
{
	for (size_t i = 0; i < l->n; i++)
		roll_back_row(&l->rows[i]);
	for (size_t i = 0; i < EVENTS_MAX; i++)
		roll_back_row(&l->events[i].row);
	l->waits_lost += l->waits_written - l->waits_committed;
	l->waits_written = l->waits_committed;
	memcpy(l->cost_base, l->cost_committed, sizeof(l->cost_base));
	l->missed_before += l->missed_committed;
	l->missed_committed = 0;
	ledger_carry(l);
}

uint64_t ledger_total(const struct ledger *l, enum outcome outcome)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < l->n; i++)
		sum += l->rows[i].outcomes[outcome];
	return sum;
}
