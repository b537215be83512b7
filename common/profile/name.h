/*
 * What the frames of a segment are called.
 *
 *	struct names t;
 *
 *	names_init(&t, &capture, &profile, NAMES_FUNCTIONS);
 *	if (!names_epoch(&t, epoch, &number) ||
 *	    !names_frame(&t, frame, epoch, number, &run)) ...out of memory...
 *	for (i = 0; i < run.n; i++)	// a function, and where asked for what is inlined into it
 *		...run.labels[i] is a label of the profile...
 *	names_release(&t);
 *
 * To be made when the segment has been read to its end, for kernel symbols and names may come after
 * the samples. A frame is looked up once for each epoch in which it may mean something else.
 *
 * A frame without a symbol is called by its place in the file, "[libfoo.so+0x1231]", which is the same
 * wherever the file was mapped; "[jit]" in memory without a file where the process has a perf map, else
 * "[memfd:name+0x1231]" or "[anon]"; "[vdso+0x8a0]"; "[kernel]"; "[unknown]" where nothing was mapped.
 * Where the stream knows no name but where the function begins, it is that place.
 *
 * With lines, "name (file.c:123)" is the place in the function's source that was being executed: the
 * sampled line of the innermost function, of those around it that of the call to the next one.
 */
#ifndef CPROF_PROFILE_NAME_H
#define CPROF_PROFILE_NAME_H

#include "common/capture/capture.h"
#include "common/profile/module.h"
#include "common/profile/profile.h"
#include "common/profile/timeline.h"

enum names_style {
	NAMES_FUNCTIONS,
	NAMES_ANNOTATED, /* _[k] kernel, _[j] JIT code, _[i] inlined */
	NAMES_MODULES,   /* the file that the code lies in, instead of the function */
};

/*
 * Functions inlined at one address that are shown, as many of the outer as of the inner ones: compilers do
 * with less, and what a few bytes of a stream ask for stays bounded.
 */
enum { NAMES_LEVELS = 256 };

/* The labels of one frame, good until the next call. */
struct names_run {
	const uint32_t *labels;
	uint32_t n;    /* at least 1 */
	bool resolved; /* a symbol was found, and is more than where the function begins */
};

struct names {
	struct capture *c;
	struct profile *p;
	enum names_style style;
	struct timeline places, symbols;
	uint32_t *runs; /* each: number of labels twice plus resolved, then the labels */
	size_t n_runs, cap_runs;
	uint32_t *by_frame; /* where in runs, for frames that mean one thing; 0: not looked up yet */
	struct idmap by_epoch; /* frame and number of the epoch to where in runs, for all others */
	struct idmap epochs;   /* epoch to its number */
	struct buf text, line;
	/* What else is shown; all false after names_init. */
	bool inlined;    /* functions inlined into the one that the code belongs to */
	bool lines;      /* the line of the source */
	bool full_paths; /* of the source file; else its base name */
	bool annotated;  /* of NAMES_MODULES: the suffixes of NAMES_ANNOTATED, "[ext4]_[k]" */
	/* Lent, NULL after names_init: where not, files of one base name are kept apart; see module.h. */
	struct modules *modules;
	unsigned int side;
};

/* False without memory; the object can be released all the same. */
bool names_init(struct names *t, struct capture *c, struct profile *p, enum names_style style);
void names_release(struct names *t);
/* A small number for the epoch, the same for the same; false without memory. */
bool names_epoch(struct names *t, uint64_t epoch, uint32_t *number);
bool names_frame(struct names *t, uint32_t frame, uint64_t epoch, uint32_t number,
		 struct names_run *run);
/* The function that the frame's labels are of, with what is inlined into it behind it; NULL where it has no name. */
const struct capture_symbol *names_symbol(const struct names *t, uint32_t frame, uint64_t epoch);
/* Where the frame lay in this epoch; NULL for the kernel, and where nobody knows. */
const struct capture_place *names_place(const struct names *t, uint32_t frame, uint64_t epoch);

#endif
