/*
 * The names of the frames of a segment.
 *
 *	struct gather_names t;
 *
 *	gather_names_init(&t, &capture, &profile, 1u << GATHER_NAMES_FUNCTIONS);
 *	if (!gather_names_epoch(&t, epoch, &number) ||
 *	    !gather_names_frame(&t, frame, epoch, number, &run)) ...out of memory...
 *	for (i = 0; i < run.n; i++)	// a function and, if asked for, the functions inlined into it
 *		...run.labels[i] is a label of the profile...
 *	gather_names_release(&t);
 *
 * Create it after the whole segment has been read, because kernel symbols and names may come after the
 * samples. A frame is named once for each pair of a place and a symbol that it has in some epoch.
 *
 * A frame without a symbol is named by its place in the file, "[libfoo.so+0x1231]", which is the same
 * wherever the file was mapped. In memory without a file it is "[jit]" if the process has a perf map,
 * otherwise "[memfd:name+0x1231]" or "[anon]". Others are "[vdso+0x8a0]", "[kernel]", and "[unknown]" if
 * nothing was mapped. If the stream knows only where the function begins, the name is that place.
 *
 * A frame of a language is named by its function; its module is the script. If the function is not known, the
 * frame is "[python: not-yet]", with the state, and the module "[python]".
 *
 * With lines, "name (file.c:123)" is the line being executed: the sampled line of the innermost function, and
 * in functions around it the line of the call to the next one.
 */
#ifndef CPROF_GATHER_GATHER_NAMES_H
#define CPROF_GATHER_GATHER_NAMES_H

#include "common/base/idmap.h"
#include "common/capture/capture.h"
#include "common/gather/gather_modules.h"
#include "common/profile/profile.h"
#include "common/gather/timeline.h"

enum gather_names_style {
	GATHER_NAMES_FUNCTIONS,
	GATHER_NAMES_MODULES,   /* the file that the code belongs to, instead of the function */
	GATHER_NAMES_LANGUAGES, /* "python" and so on, "native" or "kernel" */
	GATHER_NAMES_LINES,     /* "file.c:12"; "[no line]" if it is not known */
	GATHER_NAMES_FILES,     /* "file.c"; "[no file]" */
	GATHER_NAMES_STYLES,
};

/*
 * Separates the parts of a label, if more than one style is asked for: "main", PART, "cc1". The parts are in
 * the order of the styles. No name contains this character.
 */
#define GATHER_NAMES_PART '\t'

/*
 * The most inlined functions shown at one address, half from the outer and half from the inner end. Compilers
 * need fewer, and the work that a few bytes of a stream can cause stays bounded.
 */
enum { GATHER_NAMES_LEVELS = 256 };

/* The labels of one frame, valid until the next call. */
struct gather_names_run {
	const uint32_t *labels;
	uint32_t n;    /* at least 1 */
	bool resolved; /* a symbol was found, and it is more than the function's bounds */
};

struct gather_names {
	struct capture *c;
	struct profile *p;
	unsigned int parts; /* the styles asked for, as bits */
	enum gather_names_style style; /* that of the part being made */
	struct timeline places, symbols;
	uint32_t *runs; /* each run: 2 * number of labels + resolved, then the labels */
	size_t n_runs, cap_runs;
	uint32_t *by_frame; /* index in runs, for frames with one meaning; 0: not looked up yet */
	struct idmap by_epoch; /* frame and number of the epoch to index in runs, for all others */
	struct intern meanings; /* frames with a place and a symbol: many epochs may share them */
	uint32_t *by_meaning;   /* by these to index in runs */
	size_t cap_by_meaning;
	struct idmap epochs;   /* epoch to its number */
	struct buf text, line, place;
	/* Options; all false after gather_names_init. */
	bool inlined;    /* functions inlined into the one that the code belongs to */
	bool lines;      /* the line of the source */
	bool full_paths; /* the source file's full path, not its base name */
	bool annotated;  /* suffixes: _[k] kernel, _[j] JIT code, _[i] inlined, _[l] interpreted language */
	/* The caller's; NULL at first. If set, files with the same base name are kept apart; see gather_modules.h. */
	struct gather_modules *modules;
	unsigned int side;
};

/* Returns false if out of memory; the object can be released even then. */
bool gather_names_init(struct gather_names *t, struct capture *c, struct profile *p, unsigned int parts);
void gather_names_release(struct gather_names *t);
/* Sets *number to a small number, the same for the same epoch; returns false if out of memory. */
bool gather_names_epoch(struct gather_names *t, uint64_t epoch, uint32_t *number);
/* Sets *run to the frame's labels. number is that of the epoch. Returns false if out of memory. */
bool gather_names_frame(struct gather_names *t, uint32_t frame, uint64_t epoch, uint32_t number,
		 struct gather_names_run *run);
/*
 * Returns the function that the frame's labels name, linked to those inlined into it; NULL if it has no name.
 */
const struct capture_symbol *gather_names_symbol(const struct gather_names *t, uint32_t frame, uint64_t epoch);
/* Returns the frame's place in this epoch; NULL for the kernel, and if it is not known. */
const struct capture_place *gather_names_place(const struct gather_names *t, uint32_t frame, uint64_t epoch);

#endif
