/*
 * The labels of a capture: the fields of its header whose keys begin with "label.".
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
	struct slice key, value; /* the key without "label."; both are valid until the segment ends */
};

/* Finds the label with this key; its value may be empty, and is valid until the segment ends. */
bool capture_label(const struct capture *c, struct slice key, struct slice *value);
/* Lists the current segment's labels by key. The caller frees *labels. Returns false if out of memory. */
bool capture_labels(const struct capture *c, struct capture_label **labels, size_t *n);

#endif
