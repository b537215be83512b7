/*
 * What cprof-convert makes: a function for each format. It reads the operands, writes to stdout and returns the status to
 * end with if that goes well.
 */
#ifndef CPROF_CMD_CONVERT_H
#define CPROF_CMD_CONVERT_H

#include "cmd/filters.h"
#include "common/export/speedscope.h"
#include "common/resolve/demangle.h"

/* What is to be made of what. */
struct conversion {
	struct filters filters;
	bool filtered; /* some were given */
	char **operands;
	enum speedscope_by by;
	bool has_by;
	enum demangle_mode demangle; /* of the names in perf script's text */
	bool has_demangle;
};

/* By stacks: convertstacks.c */
enum status convert_pprof(struct conversion *c);
enum status convert_speedscope(struct conversion *c);
enum status convert_callgrind(struct conversion *c);
enum status convert_tsv(struct conversion *c);

/* Sample by sample: convertsamples.c */
enum status convert_perf(struct conversion *c);
enum status convert_perfscript(struct conversion *c);
enum status convert_stream(struct conversion *c);

#endif
