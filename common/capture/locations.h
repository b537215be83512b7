/*
 * The places of frames, which capture_place looks up.
 *
 *	wrong = locations_give(c, process, node, time);	// NULL, or "a sample of code that has moved too often"
 *
 * Frames get their places when a sample is about to be accepted, so frames without samples cost nothing.
 */
#ifndef CPROF_CAPTURE_LOCATIONS_H
#define CPROF_CAPTURE_LOCATIONS_H

#include "common/capture/capture.h"

/* Gives every frame of a user stack of this process its current place. Returns NULL, or a sentence. */
const char *locations_give(struct capture *c, struct capture_process *p, uint32_t node, uint64_t time);

#endif
