/*
 * The places where frames lay: what capture_place looks up.
 *
 *	wrong = places_give(c, process, node, time);	// NULL, or "a sample of code that has moved too often"
 *
 * For a sample that is about to be accepted. Frames get their places then, and nobody looks at what no sample needs.
 */
#ifndef CPROF_CAPTURE_PLACES_H
#define CPROF_CAPTURE_PLACES_H

#include "common/capture/capture.h"

/* Gives every frame of a user stack of this process its place as of now, or says why it cannot. */
const char *places_give(struct capture *c, struct capture_process *p, uint32_t node, uint64_t time);

#endif
