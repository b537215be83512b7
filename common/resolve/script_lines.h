/*
 * Lines of frames and functions whose positions are known: by the text of their script. Records to be added
 * to a stream, as a namer's.
 *
 *	struct script_lines *l = script_lines_new(symfs);
 *
 *	script_lines_see(l, c, r);	// each record that capture_apply has accepted
 *	script_lines_say(l, c, w);	// before a block ends: lines that were found since
 *	script_lines_free(l);
 *
 * A line in the stream stays. Each script is read once in a segment.
 */
#ifndef CPROF_RESOLVE_SCRIPT_LINES_H
#define CPROF_RESOLVE_SCRIPT_LINES_H

#include "common/capture/capture.h"
#include "common/resolve/coverage.h"
#include "common/stream/writer.h"

struct script_lines;

/* symfs: NULL or a tree, lent. Returns NULL if out of memory. */
struct script_lines *script_lines_new(const char *symfs);
void script_lines_free(struct script_lines *l);
/* Both return false if out of memory. */
bool script_lines_see(struct script_lines *l, const struct capture *c, const struct record *r);
bool script_lines_say(struct script_lines *l, struct capture *c, struct writer *w);
/* Returns the counts of frames of JavaScript by script, and the reasons of those without a line. */
struct coverage *script_lines_tally(struct script_lines *l);

#endif
