/*
 * A model of a segment built from its records: processes, threads, mappings, frames, nodes, names, ledger.
 *
 *	struct capture c;
 *
 *	if (!capture_init(&c))
 *		...out of memory...
 *	while ((got = reader_next(r, &rec)) > 0) {
 *		const char *wrong = capture_apply(&c, &rec);
 *
 *		if (wrong)
 *			reader_complain(r, wrong);
 *		else if (rec.type == RECORD_SAMPLE)
 *			...all ids of the sample are defined; count it...
 *	}
 *	if (c.no_memory)		// out of memory, status 1
 *		...
 *	capture_release(&c);
 *
 * The model holds the state as of the record applied last. A SEGMENT clears everything but the totals, so a
 * caller that aggregates by id must finish its sums before it applies one. Times are those of the stream:
 * nanoseconds of CLOCK_MONOTONIC. See cprof-stream(5), EPOCHS and NAMES.
 *
 * The meaning of an address can change while the process lives: another file is mapped there, or a JIT
 * compiler replaces code. Each such change begins a new *epoch* of the process, named by its time (0: the
 * first). A sample belongs to the epoch in which it was taken, and a pair (frame, epoch) always means one
 * place. capture_place and capture_symbol look it up at any time until the segment ends. So aggregate by
 * (thread, comm, user node, kernel node, epoch) and resolve at the end.
 *
 * Internally each kind of thing has a file: processes, mappings, jit_code, nodes, locations, names,
 * lang_frames, counts.
 * Their headers are for capture.c, which dispatches records; capture_internal.h describes the functions that apply
 * them.
 */
#ifndef CPROF_CAPTURE_CAPTURE_H
#define CPROF_CAPTURE_CAPTURE_H

#include "common/base/idmap.h"
#include "common/base/intern.h"
#include "common/capture/maps.h"
#include "common/stream/record.h"

enum { CAPTURE_EVENTS = 64 }; /* event ids are from 1 to below this */

struct capture_process {
	bool defined;
	bool jit;  /* it has a perf map */
	bool used; /* a sample was taken in this epoch */
	uint8_t via; /* enum process_via */
	uint64_t pid, nspid, start, generation;
	uint32_t parent;    /* process id; 0: unknown */
	uint32_t leader;    /* the main thread, or until that is defined the first one; 0: none */
	uint32_t first;     /* after an exec: the process before the first exec; 0: this one */
	uint32_t last;      /* in that one: the process after the newest exec; 0: none */
	uint32_t cgroup;    /* text id of the path; 0: unknown */
	uint32_t owner;     /* uid + 1; 0: unknown */
	uint64_t epoch;     /* the current epoch; 0: the first */
	uint32_t epoch_seq; /* unique for each epoch of each process */
	/* threads that had a CPU at its samples, from here on: its own, and its control group's */
	uint32_t running, group_running;
	uint64_t sampled, moves; /* number of samples; places of its frames besides each frame's first */
	struct maps maps;
	struct maps jitted; /* JIT-compiled code; file is the epoch_seq of the newest record about it */
	uint64_t jit_generation;
};

struct capture_thread {
	bool defined;
	uint32_t process;
	uint64_t tid;
	uint32_t comm; /* text id of the current comm; 0: unknown */
};

struct capture_file {
	bool defined;
	uint64_t dev_major, dev_minor, inode, generation;
	struct slice build_id; /* empty: unknown */
	struct slice path;     /* followed by a NUL */
	uint32_t build_id_text, path_text; /* their text ids */
};

/* A futex that threads waited for. */
struct capture_lock {
	bool defined;
	uint8_t kind; /* enum lock_kind */
	uint32_t process;
	uint64_t address;
};

/* A file, or another text, that functions of an interpreted language come from. */
struct capture_script {
	bool defined;
	uint8_t language; /* enum language */
	uint32_t path;    /* text id */
	uint32_t process; /* the process that sees the path; 0: any */
};

struct capture_function {
	bool defined;
	uint32_t script;
	uint32_t name; /* text id */
	uint32_t line; /* its first line; 0: unknown */
	uint32_t start; /* its position in the script, plus 1; 0: unknown */
	uint32_t flags; /* FUNCTION_... */
};

/*
 * A machine frame has an address and a kind, a frame of a language has a function and a line. The latter has
 * no place and no symbol.
 */
struct capture_frame {
	union {
		uint64_t address; /* if language is LANGUAGE_NONE */
		struct {
			uint32_t function; /* 0: not known, because of state */
			uint32_t line;     /* 0: unknown */
		};
	};
	uint32_t process; /* 0: kernel */
	uint8_t kind;     /* enum frame_kind */
	bool defined;
	uint8_t language; /* enum language; LANGUAGE_NONE: a machine frame */
	uint8_t state;    /* enum lang_state */
	union {
		uint32_t place; /* in a process: index of the newest in places; 0: never sampled */
		uint32_t ksyms; /* in the kernel: number of ksyms before it in the stream */
	};
	uint32_t symbol;  /* index of the newest in symbols; 0: no name in the stream */
};

struct capture_node {
	uint32_t parent; /* below NODE_FIRST: a root */
	uint32_t frame;  /* 0: not defined */
	uint32_t seen;   /* epoch_seq at which its frames last got places */
};

/* The mapping and file offset of a frame's address from an epoch on, until the frame's next place. */
struct capture_place {
	uint64_t from;   /* epoch */
	uint64_t sample; /* time of the first sample that needed it */
	uint32_t frame;
	uint32_t file;   /* 0: anonymous memory, or nothing mapped */
	uint64_t offset; /* file offset of the address; return addresses are not decremented */
	uint64_t map_start, map_end; /* both 0: nothing was mapped there */
	uint32_t before; /* the frame's previous place; 0: none */
	uint32_t jump;   /* an earlier place, so that a search takes a logarithmic number of steps */
	uint32_t rank;   /* number of earlier places of the frame */
	uint32_t seq;    /* epoch_seq of the process when the place was made */
};

struct capture_symbol {
	uint64_t from;
	uint32_t frame;
	uint32_t level;  /* 0: the function; 1, 2, …: each inlined into the level before */
	uint32_t source; /* enum name_source */
	uint32_t name;   /* text id; 0: none */
	uint32_t file;   /* text id; 0: unknown */
	uint32_t line;   /* 0: unknown */
	uint64_t offset; /* bytes from the function's start to the frame's address */
	uint32_t inner;  /* the next level; 0: this is the innermost */
	uint32_t before; /* the frame's previous list (level 0 only); 0: none */
};

struct capture_ksym {
	uint64_t address, size;
	uint32_t name, module; /* text ids; module 0: the kernel itself */
	uint32_t order;        /* order of arrival */
	uint64_t time;         /* when it was looked up */
	uint64_t end;          /* without a size it ends where the next one begins, at the latest */
	uint64_t reach;        /* once sorted: the highest end up to here in its run */
};
enum { CAPTURE_KSYM_RUNS = 64 };

/* The kind of waiting time that an event measures; see capture_wait. */
enum capture_wait {
	CAPTURE_RUNS, /* not waiting time: the thread was running */
	CAPTURE_SLEEPS,
	CAPTURE_UNINTERRUPTIBLE,
	CAPTURE_QUEUED, /* it was runnable and had no CPU */
	CAPTURE_THROTTLED, /* it was runnable, and a quota of CPU time was used up */
	CAPTURE_WAITS,
};

struct capture_image {
	struct slice data;
};

/* Totals over all segments so far, so they hold for a concatenation of captures too. */
struct capture_totals {
	uint64_t outcomes[OUTCOMES];
	uint64_t costs[COSTS];
	uint64_t segments, ended; /* segments begun, and those with an END */
	uint64_t samples;         /* accepted samples */
	uint64_t waits;           /* samples among them of waiting time */
	uint64_t waited[CAPTURE_WAITS]; /* their weights, nanoseconds */
	uint64_t others;          /* samples among them of other events; see capture_is_other */
	uint64_t tally[OUTCOMES]; /* outcomes of events that are not ticks, summed over all such events */
	uint64_t refused;         /* samples left out because they made no sense */
	uint64_t refused_records; /* other records left out for the same reason */
	uint64_t first, last;     /* times of the first and last sample of this segment */
	uint64_t seconds_ns;      /* sum over segments of the time recorded, idle time at both ends too */
	uint64_t damages;         /* DAMAGE records, including those about a cut */
	uint64_t cut_records;     /* DAMAGE records about a cut: every filter that meets a cut adds one */
	uint64_t blocks_damaged;  /* blocks missing by their sequence numbers */
};

struct capture;
/* Returns true if the totals count this segment, judged by the records so far. */
typedef bool capture_counting(const void *context, const struct capture *c);

/* The gaps between ids in all segments so far, and the records so far, which limit them. */
struct capture_gaps {
	uint64_t bytes, records;
};

struct capture {
	/* Indexed by id; 0 is unused. Check defined before use, unless the id is from an accepted sample. */
	struct capture_process *processes;
	struct capture_thread *threads;
	struct capture_file *files;
	struct capture_frame *frames;
	struct capture_node *nodes;
	struct capture_script *scripts;
	struct capture_function *functions;
	size_t n_processes, n_threads, n_files, n_frames, n_nodes; /* highest id + 1 */
	size_t cap_processes, cap_threads, cap_files, cap_frames, cap_nodes;
	size_t defined_processes, defined_threads, defined_files, defined_frames, defined_nodes;
	size_t n_scripts, cap_scripts, defined_scripts, n_functions, cap_functions, defined_functions;
	struct capture_lock *locks;
	size_t n_locks, cap_locks, defined_locks;
	size_t lang_frames; /* frames of languages among the frames */

	/* Append-only; index 0 is unused. A symbolizer names frames by reading places as they are added. */
	struct capture_place *places;
	struct capture_symbol *symbols;
	size_t n_places, cap_places, n_symbols, cap_symbols;
	/*
	 * The names of frames that have several. A name is a "mapping" from its time to that of the frame's next
	 * name, and file is its index in symbols: only the best one for each time. Names may come in any order.
	 */
	struct maps *names;
	size_t n_names, cap_names;
	struct idmap names_of; /* frame id to index in names */

	/*
	 * Kernel symbols in runs, each sorted by address and at least twice as long as the next one, because a
	 * live stream has look-ups between them. Those after the last run are not sorted yet.
	 */
	struct capture_ksym *ksyms;
	size_t n_ksyms, cap_ksyms;
	size_t ksym_runs[CAPTURE_KSYM_RUNS], n_ksym_runs; /* the end of each */
	struct capture_image *images;
	size_t n_images, cap_images;
	struct idmap images_of; /* text ids of name and build ID, or 0 for any, to the first such image */

	struct intern texts;   /* comms, names, paths, ids of this segment; text id 0 is "" */
	struct idmap strings;  /* STRING id to text id */
	struct idmap cgroups;  /* the kernel's cgroup id to text id of the path */
	struct idmap users;    /* uid to text id of the name */
	struct idmap meta;     /* text id of the key to text id of the value */

	struct record_event events[CAPTURE_EVENTS]; /* by id; slices are valid until the segment ends */
	uint8_t event_waits[CAPTURE_EVENTS];        /* by id, enum capture_wait */
	bool event_others[CAPTURE_EVENTS];          /* by id, see capture_is_other */
	uint64_t event_samples[CAPTURE_EVENTS];     /* by id */
	uint64_t tallies[CAPTURE_EVENTS][OUTCOMES]; /* by id, for events that are not ticks */
	uint64_t (*ledger)[OUTCOMES]; /* by CPU + 1 */
	size_t n_ledger, cap_ledger;
	uint64_t costs[COSTS];
	uint64_t realtime, monotonic; /* clocks at the segment's start, from the header; 0: unknown */
	uint64_t end_reason, end_time;
	uint64_t reported; /* time of the newest LEDGER, COST or END: the recorder still ran */
	bool end_seen;
	uint32_t epoch_count;
	uint64_t walks, walked; /* stacks looked through for places; their nodes that had been looked at before */
	bool sampled;   /* began, totals.first and totals.last are set */
	uint64_t began; /* time of the segment's first sample in the order of the stream */
	struct capture_gaps gaps;
	bool no_memory; /* permanent: no later record is applied */
	struct capture_totals totals;
	struct capture_totals before; /* the totals before this segment */
	capture_counting *counting; /* NULL: every segment counts */
	const void *context;
};

/* Returns false if out of memory. capture_release works in any case. */
bool capture_init(struct capture *c);
/* Like capture_init, but segments for which counting returns false do not count. context must outlive c. */
bool capture_init_for(struct capture *c, capture_counting *counting, const void *context);
void capture_release(struct capture *c);

/*
 * Applies one record. Returns NULL, or a constant sentence saying why it makes no sense ("a sample of an
 * undefined thread"); the record then has no effect and is counted in totals.refused or refused_records.
 * Copies slices. Memory grows with the number of records, and up to a limit with the depth of stacks whose
 * code moves. An id far beyond the defined ones is refused.
 */
const char *capture_apply(struct capture *c, const struct record *r);

/*
 * For filters that leave samples out: returns NULL if capture_apply would accept the sample, or the sentence.
 * Changes nothing, and does not check for code that has moved too often.
 */
const char *capture_check_sample(const struct capture *c, const struct record_sample *r);
bool capture_has_thread(const struct capture *c, uint64_t thread);
/*
 * Returns the command of a process as a text id, the name of its main thread as of now; 0: unknown.
 * capture_last_comm: the name after its newest exec, so that a program has one name however it was started;
 * capture_last_name: likewise that of a thread.
 */
uint32_t capture_process_comm(const struct capture *c, uint32_t process);
uint32_t capture_last_comm(const struct capture *c, uint32_t process);
uint32_t capture_last_name(const struct capture *c, uint32_t thread);
/* Returns the name of a user, or an empty slice. owner: as in struct capture_process, not 0. */
struct slice capture_user_name(const struct capture *c, uint32_t owner);
/* Returns true if the process of a defined thread has no sample yet in its current epoch. */
bool capture_is_first(const struct capture *c, uint64_t thread);

/* Returns the totals including the current segment, if it counts; damage always counts. */
struct capture_totals capture_totals(const struct capture *c);
/* Returns true if the current segment counts. */
bool capture_counts(const struct capture *c);

/*
 * Events of different kinds cannot be added up. The segment's main event is its first one that is neither
 * waiting time nor a count, which is CPU time if that was sampled; without one, the first event that is not
 * waiting time. Returns true for a count of something other than the main event.
 */
static inline bool capture_is_other(const struct capture *c, uint64_t event)
{
	return event < CAPTURE_EVENTS && c->event_others[event];
}

/* Returns true if the weight of a sample is a number of events (unit "events"), not a time. */
bool capture_is_counted(const struct capture *c, uint64_t event);

/* Returns the kind of waiting time that the event measures, or CAPTURE_RUNS. */
static inline enum capture_wait capture_wait(const struct capture *c, uint64_t event)
{
	return event < CAPTURE_EVENTS ? (enum capture_wait)c->event_waits[event] : CAPTURE_RUNS;
}

/* Returns the current epoch of the thread's process: that of a sample just applied. */
uint64_t capture_epoch(const struct capture *c, uint32_t thread);

/* The results of the following look-ups are valid until the next capture_apply. */

/*
 * Returns the place of the frame's address in this epoch, or NULL for kernel frames and frames that were
 * never sampled. Takes time logarithmic in the number of the frame's places.
 */
const struct capture_place *capture_place(const struct capture *c, uint32_t frame, uint64_t epoch);
/*
 * Returns the best name in the stream for the frame in this epoch: the newest that begins no later, otherwise
 * the oldest. Returns NULL if there is none, or if that name is a "not found", which ends the names before
 * it. Follow inner for inlined functions. Takes time logarithmic in the number of the frame's names.
 */
const struct capture_symbol *capture_symbol(const struct capture *c, uint32_t frame, uint64_t epoch);
/* Returns the best name that begins at exactly this time, even a "not found", or NULL. */
const struct capture_symbol *capture_symbol_from(const struct capture *c, uint32_t frame, uint64_t from);

/*
 * Returns the kernel symbol of this frame, or NULL. Memory of the kernel may hold one module or BPF program
 * after the other, so of several symbols the last one before the frame counts, otherwise the first one after
 * it. A symbol without a size reaches to the next one.
 */
const struct capture_ksym *capture_ksym(struct capture *c, uint32_t frame);
/* Returns a field of the header, or an empty slice. */
struct slice capture_meta(const struct capture *c, const char *key);
/* Returns a field of the header as a decimal number, or 0 if it is missing or not a number. */
uint64_t capture_meta_number(const struct capture *c, const char *key);
/* Converts a time of the segment to nanoseconds since 1970, by the clocks in the header; 0 if unknown. */
uint64_t capture_realtime(const struct capture *c, uint64_t time);
/* Returns true if the segment records waiting time, even if it has no sample of it yet. */
bool capture_has_waits(const struct capture *c);
/* Returns the earliest begin of a wait in a segment with this time of its first sample (segment_extent.h). */
uint64_t capture_waits_from(const struct capture *c, uint64_t first);
/*
 * Returns the first image whose name is the path of this file ("[vdso]"), with its build ID unless that is
 * empty; or NULL.
 */
const struct capture_image *capture_image(const struct capture *c, const struct capture_file *f);

/*
 * Returns true if a mapping with this path has a file that can be opened. Anonymous memory, JIT code in a
 * memfd, "[vdso]" and the like have none (SYMBOL rule 27).
 */
bool capture_path_is_file(struct slice path);
/* Returns true if the file can give names, like a program in a memfd: unlike JIT code it has a build ID. */
bool capture_file_has_names(const struct capture_file *f);

/* Returns the text of an id, valid until the segment ends. */
static inline struct slice capture_text(const struct capture *c, uint32_t text)
{
	return intern_get(&c->texts, text);
}

/* Returns whether the frame is one of an interpreted language, not of machine code. */
static inline bool capture_is_lang(const struct capture_frame *f)
{
	return f->language != LANGUAGE_NONE;
}

/* Returns the function of a language's frame, or NULL if it is not known. */
static inline const struct capture_function *capture_function(const struct capture *c,
							      const struct capture_frame *f)
{
	return capture_is_lang(f) && f->function ? &c->functions[f->function] : NULL;
}

/* Return the name of a function and the path of its script, valid until the segment ends. */
static inline struct slice capture_function_name(const struct capture *c, const struct capture_function *f)
{
	return capture_text(c, f->name);
}

static inline struct slice capture_function_path(const struct capture *c, const struct capture_function *f)
{
	return capture_text(c, c->scripts[f->script].path);
}

/*
 * Returns the line of a language's frame, otherwise the first line of its function; 0 if both are
 * unknown. A frame of JavaScript without a line may be anywhere in its function.
 */
static inline uint32_t capture_lang_line(const struct capture *c, const struct capture_frame *f)
{
	const struct capture_function *function = capture_function(c, f);

	return f->line || !function || f->language == LANGUAGE_JAVASCRIPT ? f->line : function->line;
}

/* Returns the address to look up: one less for a return address, so that it is inside the call. */
static inline uint64_t capture_lookup(const struct capture_frame *f, uint64_t address)
{
	return f->kind == FRAME_RETURN && address ? address - 1 : address;
}

#endif
