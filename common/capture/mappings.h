/*
 * What is mapped, as of now: files, where they are in each process, and the images that no file has ("[vdso]").
 *
 *	wrong = mapping_apply(c, &r->mapping);	// NULL, or "a mapping of an undefined file"
 *
 * For capture_apply. Each change of what an address means begins an epoch of its process (see capture.h).
 */
#ifndef CPROF_CAPTURE_MAPPINGS_H
#define CPROF_CAPTURE_MAPPINGS_H

#include "common/capture/capture.h"

const char *file_apply(struct capture *c, const struct record_file *r);
const char *mapping_apply(struct capture *c, const struct record_mapping *r);
const char *unmap_apply(struct capture *c, const struct record_unmap *r);
const char *image_apply(struct capture *c, const struct record_image *r);

/* The process' addresses mean something else from this time on. */
void epoch_begin(struct capture *c, struct capture_process *p, uint64_t time);

#endif
