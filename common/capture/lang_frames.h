/*
 * Frames of interpreted languages, their functions and scripts.
 *
 *	wrong = lang_frame_apply(c, &r->lang_frame);	// NULL, or "a frame defined twice"
 *
 * For capture_apply (see capture_internal.h). A frame of a language is in the array of all frames;
 * capture_is_lang tells it from a machine frame.
 */
#ifndef CPROF_CAPTURE_LANG_FRAMES_H
#define CPROF_CAPTURE_LANG_FRAMES_H

#include "common/capture/capture.h"

const char *script_apply(struct capture *c, const struct record_script *r);
const char *function_apply(struct capture *c, const struct record_function *r);
const char *lang_frame_apply(struct capture *c, const struct record_lang_frame *r);
const char *lang_line_apply(struct capture *c, const struct record_lang_line *r);

#endif
