/*
 * The summary on standard error: how many frames got a name, and the files that have most of the others.
 *
 *	percent = coverage_report_names(namer_tally(namer), verbose);
 */
#ifndef CPROF_SYM_COVERAGE_REPORT_H
#define CPROF_SYM_COVERAGE_REPORT_H

#include "common/resolve/coverage.h"
#include "common/resolve/jit_runtimes.h"

/*
 * Prints "cprof-sym: 812 of 824 frames named (98.5 %); unresolved: 12 in /lib/x.so (build-id-mismatch)".
 * verbose: a line for each file as well. Returns the percentage; 100 if there are no frames.
 */
double coverage_report_names(struct coverage *t, bool verbose);
/*
 * Prints "lines of 812 of 824 frames of scripts found; none: 12 in /app/x.js (file-changed)", or nothing if
 * all lines were found.
 */
void coverage_report_lines(struct coverage *t, bool verbose);
/* Names the page of options for runtimes whose compiled code has no names. */
void coverage_report_runtimes(const struct jit_runtimes *t);

#endif
