/*
 * The labels that a capture was recorded with: the facts of its header whose keys begin with "label.".
 *
 *	struct capture_label *labels;
 *	size_t n;
 *
 *	if (!capture_labels(&capture, &labels, &n)) ...out of memory...
 *	for (i = 0; i < n; i++)
 *		...labels[i].key, labels[i].value...
 *	free(labels);
 */
#ifndef CPROF_CAPTURE_LABELS_H
#define CPROF_CAPTURE_LABELS_H

#include "common/capture/capture.h"

struct capture_label {
	struct slice key, value; /* the key without "label."; both live as long as the segment */
};

/* Is there one of this key, whose value may be empty? It lives as long as the segment. */
bool capture_label(const struct capture *c, struct slice key, struct slice *value);
/* In the order of keys, those of the segment that is being read; false without memory. */
bool capture_labels(const struct capture *c, struct capture_label **labels, size_t *n);

#endif
