/*
 * The current mappings: files, their addresses in each process, and images without a file ("[vdso]").
 *
 *	wrong = mapping_apply(c, &r->mapping);	// NULL, or "a mapping of an undefined file"
 *
 * For capture_apply (see capture_internal.h). A change in the meaning of an address begins a new epoch of its process
 * (see capture.h).
 */
#ifndef CPROF_CAPTURE_MAPPINGS_H
#define CPROF_CAPTURE_MAPPINGS_H

#include "common/capture/capture.h"

const char *file_apply(struct capture *c, const struct record_file *r);
const char *mapping_apply(struct capture *c, const struct record_mapping *r);
const char *unmap_apply(struct capture *c, const struct record_unmap *r);
const char *image_apply(struct capture *c, const struct record_image *r);

/* Begins a new epoch: addresses of the process mean something else from this time on. */
void epoch_begin(struct capture *c, struct capture_process *p, uint64_t time);

#endif
