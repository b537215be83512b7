/*
 * The output formats of cprof-convert, one function each. Each function reads the operands, writes to stdout
 * and returns the exit status.
 */
#ifndef CPROF_CONVERT_CONVERT_H
#define CPROF_CONVERT_CONVERT_H

#include "cmd/shared/filters.h"
#include "common/export/speedscope.h"
#include "common/demangle/demangle.h"

/* The input of -t stream. */
enum convert_from { FROM_GUESSED, FROM_PERFSCRIPT, FROM_PPROF };

/* The operands and options of one conversion. */
struct conversion {
	struct filters filters;
	bool filtered; /* at least one filter option was given */
	char **operands;
	enum speedscope_by by;
	bool has_by;
	enum convert_from from;
	const char *sample_type; /* in profiles of pprof; NULL: their default */
	enum demangle_mode demangle; /* for names in perf script's text */
	bool has_demangle;
};

/* by_stack.c: formats of aggregated stacks, and of rows. */
enum status convert_pprof(struct conversion *c);
enum status convert_speedscope(struct conversion *c);
enum status convert_callgrind(struct conversion *c);
enum status convert_tsv(struct conversion *c);

/* by_time.c: formats of stacks that know the time of each sample. */
enum status convert_firefox(struct conversion *c);
enum status convert_perfetto(struct conversion *c);

/* by_sample.c: formats of single samples. */
enum status convert_perf(struct conversion *c);
enum status convert_perfscript(struct conversion *c);

/* to_stream.c: the formats of other programs as a capture. */
enum status convert_stream(struct conversion *c);

#endif
