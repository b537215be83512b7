/*
 * One line about captures in words, the same in cprof-top, pages and pictures.
 *
 *	summary_append(&out, &loaded, &view, 1);
 *	// "CPUs 78 % busy: 51 user, 17 kernel, 10 unnamed; 0 lost"
 *	// "30 % of 2 CPUs: 20 user, 8 kernel, 2 unnamed; 0 lost", if not every process was recorded
 *	// "114 of 3,981 samples: 80 % user, 20 kernel; 0 lost", if options select some
 *	// "108 s: 34 % running (24 user, 8 kernel, 2 unnamed), 60 sleeping, 6 for a CPU; 0 lost", with --wall
 *
 * User, kernel and unnamed say in which code samples were taken: named code of one of the two, or code of
 * either without a name. In a view without names of functions, code of a capture that was not symbolized is
 * user code. Percentages are rounded so that the parts add up.
 */
#ifndef CPROF_CMD_SUMMARY_H
#define CPROF_CMD_SUMMARY_H

#include "cmd/shared/input.h"

enum { SUMMARY_FEW = 100 }; /* samples; with fewer, shares are off by more than 10 points */

/*
 * Appends the line. share: the part of the weight, from 0 to 1, that --match and the like have left; it is
 * mentioned if it is less than 1.
 */
void summary_append(struct buf *out, const struct loaded *l, const struct view *v, double share);
/*
 * Returns the number of samples that the weights are estimated from, given their share as above; 0 if it is
 * not known or does not matter: waits are measured, not sampled.
 */
double summary_samples(const struct loaded *l, const struct view *v, double share);
/* Appends "only 23 samples: shares may be off by 19 points (95 %)" if there are few; otherwise nothing. */
void summary_caution(struct buf *out, double samples);

#endif
