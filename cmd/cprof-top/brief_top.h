/*
 * cprof-top -o md: the table as a brief for a report or a ticket, with doubts and next commands.
 *
 *	struct brief_request r = { 4000, arguments };
 *
 *	brief_top(&views, &loaded, &r, &out);
 */
#ifndef CPROF_TOP_BRIEF_TOP_H
#define CPROF_TOP_BRIEF_TOP_H

#include "cmd/cprof-top/views.h"
#include "cmd/shared/facts/brief_facts.h"

struct brief_request {
	size_t budget;
	char *const *arguments; /* as they were given, without the command */
	const char *filters;    /* the options that select samples, as text; "": none */
	double share;           /* see summary_append */
};

/* Appends the brief; exits if out of memory. */
void brief_top(const struct views *v, const struct loaded *l, const struct brief_request *r, struct buf *out);

#endif
