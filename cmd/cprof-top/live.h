/*
 * Shows a capture while it is being recorded: one table after another of the latest samples.
 *
 *	status = live_load(&f, path, &p, &loaded, &views, 1, true);
 *
 * works like operand_load. While it reads, it shows the samples of each window of the given number of seconds
 * of the capture's own time. A terminal is redrawn in place; otherwise the tables follow each other. At the
 * end the profile holds all samples.
 */
#ifndef CPROF_TOP_LIVE_H
#define CPROF_TOP_LIVE_H

#include "cmd/cprof-top/views.h"

/*
 * views: what to show; its profile and samples are ignored. fit: limit a table to the rows that fit on the
 * terminal. views->lines is then the number of lines available.
 */
enum status live_load(struct filters *f, const char *path, struct profile *p, struct loaded *l, struct views *views,
		      unsigned int seconds, bool fit);

#endif
