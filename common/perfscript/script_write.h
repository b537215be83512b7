/*
 * A stream as the text of perf script: for stackcollapse-perf.pl, speedscope, the Firefox Profiler.
 *
 *	struct script_writer w;
 *	struct slice text;
 *
 *	if (!script_writer_init(&w, &view)) ...out of memory...
 *	while ((got = reader_next(r, &rec)) > 0) {
 *		const char *wrong;
 *
 *		while (rec.type == RECORD_SEGMENT && script_writer_next(&w, &text))
 *			...write it...
 *		wrong = script_writer_apply(&w, &rec);
 *		if (wrong)
 *			reader_complain(r, wrong);
 *	}
 *	while (script_writer_next(&w, &text))
 *		...write it...
 *	if (w.failed || w.capture.no_memory) ...out of memory...
 *	script_writer_release(&w);
 *
 * A sample is
 *
 *	comm pid/tid [cpu] seconds.micros:     period event:
 *	<tab>    address name+0xoffset (file)
 *
 * and an empty line, innermost frame first. An inlined function comes before the one that it is inlined into,
 * as "(inlined)". Names may come after the samples that need them, so the samples of a segment are kept until
 * it has ended.
 *
 * Commands and names are those of cprof-fold -i, also for a frame without a symbol, "[libx.so+0x1231]" for
 * example. A frame of a language has address 0, and its script as file; a first bracket of its name is
 * square, and spaces in the script's path are "\040". A return address is written unchanged,
 * with its offset, as in perf's text.
 */
#ifndef CPROF_PERFSCRIPT_SCRIPT_WRITE_H
#define CPROF_PERFSCRIPT_SCRIPT_WRITE_H

#include "common/base/idmap.h"
#include "common/base/intern.h"
#include "common/capture/capture.h"
#include "common/gather/gather.h"
#include "common/gather/gather_names.h"
#include "common/gather/gather_native.h"

struct script_writer {
	struct capture capture;
	const struct view *view; /* its filters choose the samples, its half the frames */
	bool based;    /* base is set */
	uint64_t base; /* see recordings_base */
	bool failed; /* out of memory */
	struct script_sample *samples; /* those of the segment */
	size_t n, cap;
	size_t at;   /* the next sample to write, if named */
	uint64_t written; /* samples, in all segments */
	bool named;  /* names are set up */
	struct profile labels; /* holds the texts of names; it has no stacks */
	struct gather_names names;
	struct gather_native native;
	struct idmap pieces;   /* index in names.runs to text of the frame's lines */
	struct intern texts;
	struct buf out, line;
};

/* Returns false if out of memory; the object can be released even then. */
bool script_writer_init(struct script_writer *w, const struct view *view);
void script_writer_release(struct script_writer *w);
/* Returns NULL, or a sentence why the record is invalid. */
const char *script_writer_apply(struct script_writer *w, const struct record *r);
/*
 * Ends the segment: sets *text to its samples piece by piece, each valid until the next call. Returns false
 * when all are written, or if out of memory.
 */
bool script_writer_next(struct script_writer *w, struct slice *text);

#endif
