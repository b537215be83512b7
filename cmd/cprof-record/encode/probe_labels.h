/*
 * Labels of samples: arguments of probes, as "arg2=alpha".
 *
 *	probe_labels_take(&labels, options, l);	// the record of a label, before its sample
 *	label = probe_labels_find(&labels, s);	// of the sample; 0: it has none
 *	...probe_labels_text(&labels, label)...
 *
 * Each text has one number in a segment. After LABELS_MAX of them, further ones are "arg2=(others)".
 */
#ifndef CPROF_RECORD_ENCODE_PROBE_LABELS_H
#define CPROF_RECORD_ENCODE_PROBE_LABELS_H

#include "bpf/event.h"
#include "cmd/cprof-record/config/options.h"
#include "common/base/buf.h"
#include "common/base/intern.h"

enum { LABELS_MAX = 20000 };

struct probe_labels {
	struct intern texts; /* index + 1 is the number */
	uint32_t written;    /* the caller's: labels up to this number are in the segment */
	struct buf text;
	/* The text belongs to the sample of this thread and time, until the next label. */
	uint64_t time;
	uint32_t tid;
};

void probe_labels_init(struct probe_labels *l);
void probe_labels_release(struct probe_labels *l);
/* A new segment: forgets all numbers, but not the text for the next sample. */
void probe_labels_restart(struct probe_labels *l);
void probe_labels_take(struct probe_labels *l, const struct options *o, const struct sample_label *from);
uint32_t probe_labels_find(struct probe_labels *l, const struct sample_head *s);
struct slice probe_labels_text(const struct probe_labels *l, uint32_t label);

#endif
