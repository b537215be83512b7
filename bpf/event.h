/*
 * Counts of the programs of event.bpf.c, per CPU and event. The unit is events; each event is counted exactly
 * once.
 *
 * EVENT_PENDING counts the events that no sample stands for yet; it is the only count that can fall.
 */
#ifndef CPROF_BPF_EVENT_H
#define CPROF_BPF_EVENT_H

#include "bpf/sample.h"

enum event_count {
	EVENT_EMITTED,
	EVENT_FILTERED,
	EVENT_RING_FULL,
	EVENT_NESTED,
	EVENT_PENDING,
	EVENT_RUNS, /* runs of the program, not events */
	EVENT_RUN_NS,
	EVENT_COUNTS,
};

/* The one value of a per-CPU array. */
struct event_cpu {
	unsigned long long n[EVENT_COUNTS];
	unsigned long long period; /* events per sample at present; 0: no event yet */
	unsigned long long next;   /* pending events that make the next sample */
	unsigned long long window; /* when it began, ns of CLOCK_MONOTONIC */
	unsigned int taken;        /* samples in this window; too few if the period was raised in it */
	unsigned int off;          /* this CPU is not to be sampled */
};

/* Where to find the argument of a probe: struct probe_arg of common/elf/probe_arg.h. */
struct event_arg {
	unsigned long long value;
	unsigned short reg, index;
	unsigned char shift, memory, size, is_signed;
	unsigned int pad;
};

enum { LABEL_TEXT = 256, EVENT_NO_REG = 0xffff };

/* SAMPLE_LABEL: an argument of the probe whose sample follows, with the same time and thread. */
struct sample_label {
	struct sample_head head;
	unsigned long long number;
	int text_n;		/* bytes of the text with its NUL; or a negative errno; 0: it is a number */
	unsigned int is_signed; /* the number has a sign */
	char text[LABEL_TEXT];
};

#endif
