/*
 * The ledger: every tick that should have come, and what became of it; and what recording cost.
 *
 * Cumulative from the segment's start and repeated with each flush, so that a capture that is cut
 * has one too. Only what changed is written.
 */
#ifndef CPROF_RECORD_LEDGER_H
#define CPROF_RECORD_LEDGER_H

#include "cmd/cprof-record/emit.h"

/* Ticks of a CPU at one period. */
struct ledger_epoch {
	uint64_t since[2]; /* it began between these moments */
	uint64_t period;
	uint64_t runs;     /* of the sampling program on this CPU by then; 0 where the engine does not count them */
};

struct ledger_row {
	bool used, online;
	uint64_t since[2], runs, period; /* online and sampled at this period: as in struct ledger_epoch */
	uint64_t expected_ns; /* CPU time before that, at this period */
	uint64_t failed_ns;   /* since the last FAILED tick, of a CPU that cannot be sampled */
	uint64_t expected;    /* ticks of the time at other periods, before */
	uint64_t idle_ns;     /* the kernel's, when it was read last; 0: not yet, or not since the CPU is back */
	uint64_t slept_ns;    /* idle time since the account began */
	uint64_t idle_told;   /* ticks that were IDLE then */
	uint64_t kept_out;    /* ticks that came to nothing while others before and behind were on time; of which ... */
	uint64_t kept_slept, kept_nested; /* ... it is known that the CPU slept, or that it did not */
	uint64_t waiting;     /* samples that have been taken in and are not written yet: not expected here before they are */
	uint64_t outcomes[OUTCOMES]; /* from the start of the recording */
	uint64_t base[OUTCOMES];     /* the same at the segment's start */
	uint64_t said[OUTCOMES];     /* what the segment knows */
	uint64_t held[OUTCOMES];     /* as outcomes, when all that was said was written */
};

/* Of an event that is no tick: its row, of which the first fields mean nothing, and what no program saw. */
struct ledger_event {
	struct ledger_row row;
	uint64_t happened; /* by perf's counter, when that was asked last; of which, later, ... */
	uint64_t missed;   /* ... so many had come nowhere */
	uint64_t run_ns;   /* of its program */
};

struct ledger {
	struct ledger_row *rows; /* by cpu + 1; row 0 is what belongs to no CPU */
	size_t n, cap;
	struct ledger_event events[EVENTS_MAX];
	bool idle_begun;      /* the account of the CPUs' idle time, which begins again when the rate changes */
	uint64_t idle_told;   /* ticks that were IDLE or told as missed then */
	uint64_t asleep;      /* ticks that did not come since the CPU slept: IDLE, but not counted by the engine */
	uint64_t gaps;        /* ledger_missed when it was asked last */
	uint64_t missed_said, missed_held, missed_told; /* ticks missed: in this segment; as held; in those before */
	uint64_t waits_told, waits_held, waits_lost; /* records of waiting time: written; as held; for want of room */
	uint64_t costs[COSTS], cost_base[COSTS], cost_said[COSTS], cost_held[COSTS];
	uint64_t table_losses; /* worker_losses */
};

void ledger_release(struct ledger *l);
/* The period and count of the CPU's ticks at present, as an epoch that begins now. */
struct ledger_epoch ledger_epoch_now(struct engine *e, unsigned int cpu, uint64_t now);
/* The CPU is sampled from now on; it may have run without us since the moment given. */
void ledger_online(struct ledger *l, unsigned int cpu, uint64_t since, const struct ledger_epoch *now);
/* The CPU was online in that time and could not be sampled: its ticks are expected, and FAILED. */
void ledger_unsampled(struct ledger *l, unsigned int cpu, uint64_t since, uint64_t now, uint64_t period);
void ledger_offline(struct ledger *l, unsigned int cpu, uint64_t now);
/* So many samples more wait to be written, with 0 none at all; row as below. */
void ledger_waiting(struct ledger *l, size_t row, uint64_t n);
/* One more of this outcome; cpu + 1, or 0. */
void ledger_count(struct ledger *l, size_t row, enum outcome outcome, uint64_t n);
/* Of an event that is no tick, a sample that weighs so much. */
void ledger_tally(struct ledger *l, size_t event, enum outcome outcome, uint64_t weight);
/* Asks the engine and the kernel for the figures as of now. last: it has been stopped. */
void ledger_update(struct ledger *l, struct engine *e, const struct emit *emit, uint64_t now, bool last);
/* CPU time of the recorder and its helpers so far. */
uint64_t ledger_own_ns(const struct emit *emit);
/*
 * Some machines give a sleeping CPU no tick. Where many are missing, they are IDLE as far as the
 * kernel's account of the CPUs' idle time reaches; from the first call on, which begins that account.
 * last: as above, and nothing is on its way any more.
 */
void ledger_explain(struct ledger *l, const struct cpu_list *cpus, uint64_t period, bool last);
/* Other CPUs are sampled than before: the idle time of each counts while it is among them. */
void ledger_sleep(struct ledger *l, const struct cpu_list *cpus);
/* The CPU's ticks have another period from here on. */
void ledger_change(struct ledger *l, unsigned int cpu, const struct ledger_epoch *e);
/* Ticks come at another rate from now on, at the periods that the engine has. cpus: as ledger_explain's. */
void ledger_rate(struct ledger *l, const struct cpu_list *cpus, struct engine *e, uint64_t now);
/* Writes what changed. last: nothing more will come. */
void ledger_write(struct ledger *l, struct emit *emit, uint64_t now, bool last);
/* A segment begins. */
void ledger_segment(struct ledger *l);
/* A segment begins that goes on with the account of the one before, which nobody will read. */
void ledger_unsay(struct ledger *l);
/* All that was said has been written. */
void ledger_hold(struct ledger *l);
/* What came since the last ledger_hold could not be written: its samples are lost, and the next segment says so. */
void ledger_lose(struct ledger *l);
uint64_t ledger_total(const struct ledger *l, enum outcome outcome);
/* Expected ticks that have no other outcome: the timer was late, or the machine stood still. */
uint64_t ledger_missed(const struct ledger *l);

#endif
