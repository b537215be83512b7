/*
 * The ledger: how many ticks were expected, the outcome of each, and the cost of recording.
 *
 * The figures come from the engine, the kernel and the writer of samples. They are cumulative from the
 * segment's start and repeated with each flush, so that a truncated capture has a ledger too. Only figures
 * that changed are written. Times are CLOCK_MONOTONIC, in ns; periods are ns as well.
 */
#ifndef CPROF_RECORD_ENCODE_LEDGER_H
#define CPROF_RECORD_ENCODE_LEDGER_H

#include "cmd/cprof-record/encode/emit.h"

/* Ticks of a CPU at one period. */
struct ledger_epoch {
	uint64_t since[2]; /* the epoch began between these times */
	uint64_t period;
	uint64_t runs;     /* until then, by the sampling program on this CPU; 0 if the engine counts none */
};

struct ledger_row {
	bool used, online;
	uint64_t since[2], runs, period; /* the current epoch, as in struct ledger_epoch */
	uint64_t expected_ns; /* CPU time at this period before since */
	uint64_t failed_ns;   /* time since the last FAILED tick of a CPU that cannot be sampled */
	uint64_t expected;    /* ticks expected at earlier periods */
	uint64_t idle_ns;     /* the kernel's idle time at the last read; 0: not read since it came online */
	uint64_t slept_ns;    /* idle time since the idle account began */
	uint64_t idle_before; /* IDLE ticks when it began */
	uint64_t kept_out;    /* ticks without a result between ticks that were on time; of these, ... */
	uint64_t kept_slept, kept_nested; /* ... those during which the CPU is known to have slept, or not */
	uint64_t waiting;     /* samples drained but not yet written; they are not expected until then */
	uint64_t outcomes[OUTCOMES];  /* since the start of the recording */
	uint64_t base[OUTCOMES];      /* outcomes at the segment's start */
	uint64_t written[OUTCOMES];   /* figures that the segment contains */
	uint64_t committed[OUTCOMES]; /* outcomes at the last ledger_commit */
};

/* An event other than ticks. Only the arrays of its row are used. */
struct ledger_event {
	struct ledger_row row;
	uint64_t happened; /* perf's count at the last read */
	uint64_t missed;   /* how many of these no program had seen by a later read */
	uint64_t run_ns;   /* CPU time of its program */
};

struct ledger {
	struct ledger_row *rows; /* by CPU + 1; row 0: figures that belong to no CPU */
	size_t n, cap;
	struct ledger_event events[EVENTS_MAX];
	bool idle_begun;      /* the account of idle time has begun; a change of the rate begins it again */
	uint64_t idle_before; /* IDLE ticks then, and those of finished segments that were MISSED */
	uint64_t asleep;      /* IDLE ticks that the engine did not count, because they never came */
	uint64_t gaps;        /* result of ledger_missed at the last write */
	uint64_t missed_written, missed_committed; /* MISSED ticks in this segment */
	uint64_t missed_before;                    /* and in earlier ones */
	uint64_t waits_written, waits_committed, waits_lost; /* wait records; lost: there was no room */
	uint64_t costs[COSTS], cost_base[COSTS], cost_written[COSTS], cost_committed[COSTS];
	uint64_t table_losses; /* as table_cache_losses */
	struct bpf_calls_counts calls;
};

void ledger_release(struct ledger *l);
/* Returns an epoch that begins now, with the CPU's current period and number of runs. */
struct ledger_epoch ledger_epoch_now(struct engine *e, unsigned int cpu, uint64_t now);
/* Expects a CPU's ticks from epoch now on. Its ticks between since and now are expected too, and OFFLINE. */
void ledger_online(struct ledger *l, unsigned int cpu, uint64_t since, const struct ledger_epoch *now);
/* The CPU was online from since to now but could not be sampled: its ticks are expected, and FAILED. */
void ledger_unsampled(struct ledger *l, unsigned int cpu, uint64_t since, uint64_t now, uint64_t period);
void ledger_offline(struct ledger *l, unsigned int cpu, uint64_t now);
/* Adds n to the samples that wait to be written; 0 resets their number. row: as for ledger_count. */
void ledger_waiting(struct ledger *l, size_t row, uint64_t n);
/* Adds n ticks of this outcome. row: CPU + 1, or 0. */
void ledger_count(struct ledger *l, size_t row, enum outcome outcome, uint64_t n);
/* Adds the weight of a sample of an event other than ticks. */
void ledger_tally(struct ledger *l, size_t event, enum outcome outcome, uint64_t weight);
/* Reads the engine's and the kernel's figures as of now. last: the engine has been stopped. */
void ledger_update(struct ledger *l, struct engine *e, const struct emit *emit, uint64_t now, bool last);
/* Returns the CPU time of the recorder and its helper processes so far, in ns. */
uint64_t ledger_own_ns(const struct emit *emit);
/*
 * Some machines deliver no tick to a sleeping CPU. If many ticks are missing, they are counted as IDLE as far
 * as the kernel's idle time of the CPUs covers them. The first call begins that account. last: the engine has
 * been stopped, and no sample is on its way any more.
 */
void ledger_classify(struct ledger *l, const struct cpu_list *cpus, uint64_t period, bool last);
/* Reads the CPUs' idle time. Call it when cpus changes: idle time counts while a CPU is in that list. */
void ledger_sleep(struct ledger *l, const struct cpu_list *cpus);
/* The CPU's ticks have another period from epoch e on. */
void ledger_change(struct ledger *l, unsigned int cpu, const struct ledger_epoch *e);
/* The rate changes now; the engine has the new periods. cpus: as for ledger_classify. */
void ledger_rate(struct ledger *l, const struct cpu_list *cpus, struct engine *e, uint64_t now);
/* Writes the figures that changed. last: this is the final write. */
void ledger_write(struct ledger *l, struct emit *emit, uint64_t now, bool last);
/* Begins the account of a new segment. */
void ledger_segment(struct ledger *l);
/* The same, with the counts of the previous segment, because that segment was discarded. */
void ledger_carry(struct ledger *l);
/* All figures given out so far have been written to the output. */
void ledger_commit(struct ledger *l);
/*
 * Begins a segment after output since the last ledger_commit was lost: the samples in it become NO_SPACE, and
 * the new segment reports them.
 */
void ledger_roll_back(struct ledger *l);
uint64_t ledger_total(const struct ledger *l, enum outcome outcome);
/* Returns the expected ticks without an outcome: the timer was late, or the machine was suspended. */
uint64_t ledger_missed(const struct ledger *l);

#endif
