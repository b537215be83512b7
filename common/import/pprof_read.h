/*
 * A pprof profile as a stream with names.
 *
 *	struct pprof_reader r;
 *
 *	if (!pprof_reader_init(&r, bytes, writer)) ...out of memory...
 *	if (!pprof_reader_choose(&r, "cpu")) ...no such sample type; NULL: the profile's default...
 *	if (!pprof_read(&r)) ...out of memory, or the writer's error...
 *	...r.lost: what the stream does not have...
 *	pprof_reader_release(&r);
 *
 * A profile has no times: all samples are at its end. One sample type becomes the event. If it is a time and
 * another type counts samples, a row becomes that many samples, otherwise one. A type with another unit
 * becomes counted events. Labels pid, tid, comm, container and host become those of the stream.
 *
 * Each file has a range of addresses for itself, in which a frame is at its offset in the file, so that
 * frames without names can still be looked up. Stacks beyond PPROF_DEPTH_MAX frames lose outer ones.
 */
#ifndef CPROF_IMPORT_PPROF_READ_H
#define CPROF_IMPORT_PPROF_READ_H

#include "common/base/idmap.h"
#include "common/base/intern.h"
#include "common/import/pprof_parse.h"
#include "common/stream/writer.h"

enum { PPROF_DEPTH_MAX = 1 << 16, PPROF_SAMPLES_MAX = 1 << 25 };

struct pprof_reader {
	struct pprof_tables tables;
	struct writer *w;
	size_t type;    /* the chosen sample type */
	size_t counted; /* the one that counts samples; beyond the types: none */
	uint64_t most;  /* samples; PPROF_SAMPLES_MAX unless the caller sets it */
	bool merged;    /* there are more samples: each row is one */
	uint64_t samples; /* written */
	struct {
		uint64_t rows;      /* without a value, or with one below 0 */
		uint64_t locations; /* in stacks, but not in the table */
		uint64_t labels;    /* without a place in the stream */
		uint64_t deep;      /* stacks that lost outer frames */
	} lost;

	struct intern processes, threads; /* keys */
	struct idmap frames, nodes, files, mappings, strings, cgroups;
	uint64_t n_frames, n_nodes;
	uint64_t time;
	uint64_t *stack; /* locations of a sample, innermost first */
	size_t cap_stack;
	struct pprof_line *lines; /* of a location */
	size_t cap_lines;
	bool failed; /* out of memory */
};

bool pprof_reader_init(struct pprof_reader *r, struct slice bytes, struct writer *w);
void pprof_reader_release(struct pprof_reader *r);
bool pprof_reader_choose(struct pprof_reader *r, const char *type);
bool pprof_read(struct pprof_reader *r);

#endif
