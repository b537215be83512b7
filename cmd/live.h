/*
 * A capture as it is being recorded: table after table of what came last.
 *
 *	status = live_load(&f, path, &p, &loaded, &views, 1, true);
 *
 * is operand_load, and shows on the way, by the time that the capture tells, what came in each window of so many
 * seconds: on a terminal in place, else one after the other. All of it is in the profile in the end.
 */
#ifndef CPROF_CMD_LIVE_H
#define CPROF_CMD_LIVE_H

#include "cmd/views.h"

/*
 * views: what to show; its profile and samples are not looked at. fit: a table has as many rows as the terminal has
 * room for, and in the end views says how many lines that are.
 */
enum status live_load(struct filters *f, const char *path, struct profile *p, struct loaded *l, struct views *views,
		      unsigned int seconds, bool fit);

#endif
