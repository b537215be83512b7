/*
 * What the records of a segment mean: processes, threads, mappings, frames, nodes, names, ledger.
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
 *			...the sample's ids are all defined; count it...
 *	}
 *	if (c.no_memory)		// the system failed, status 1
 *		...
 *	capture_release(&c);
 *
 * The model holds the state as of the record applied last; a SEGMENT forgets all of it but the
 * totals, so whoever aggregates by id does his sums before he applies one.
 *
 * What an address means can change while the process lives: something else is mapped there, or a
 * JIT compiler replaces code. Each such change begins a new *epoch* of the process, named by its
 * time (0: the first). A sample belongs to the epoch it was taken in, and the pair (frame, epoch)
 * means one place for ever: capture_place and capture_symbol look it up, at any time until the
 * segment ends. So aggregate by (thread, comm, user node, kernel node, epoch); resolve at the end.
 *
 * Inside, each kind of thing has a file: processes, mappings, jitted (code), nodes, places, names, counts. Their headers
 * are for capture.c, which hands records out; inside.h says how one is taken in.
 */
#ifndef CPROF_CAPTURE_CAPTURE_H
#define CPROF_CAPTURE_CAPTURE_H

#include "common/base/hash.h"
#include "common/capture/maps.h"
#include "common/stream/record.h"

enum { CAPTURE_EVENTS = 64 }; /* a sample's event is from 1 to below this */

struct capture_process {
	bool defined;
	bool jit;  /* it has a perf map */
	bool used; /* a sample was taken in this epoch */
	uint8_t via; /* enum process_via */
	uint64_t pid, nspid, start, generation;
	uint32_t parent;
	uint32_t cgroup;    /* text id of the path; 0: unknown */
	uint64_t epoch;     /* time of the last change of meaning; 0: none yet */
	uint32_t epoch_seq; /* differs for each epoch of each process */
	uint64_t sampled, moves; /* its samples; places that its frames had besides their first */
	struct maps maps;
	struct maps jitted; /* code that the perf map told of; file is the epoch_seq of the newest piece */
	uint64_t jit_generation;
};

struct capture_thread {
	bool defined;
	uint32_t process;
	uint64_t tid;
	uint32_t comm; /* text id as of now; 0: unknown */
};

struct capture_file {
	bool defined;
	uint64_t dev_major, dev_minor, inode, generation;
	struct slice build_id; /* empty: unknown */
	struct slice path;     /* NUL behind it */
};

struct capture_frame {
	uint64_t address;
	uint32_t process; /* 0: kernel */
	uint8_t kind;     /* enum frame_kind */
	bool defined;
	uint32_t place;   /* newest in places, 0: never sampled */
	uint32_t symbol;  /* newest in symbols, 0: no name in the stream */
};

struct capture_node {
	uint32_t parent; /* below NODE_FIRST: a root */
	uint32_t frame;  /* 0: not defined */
	uint32_t seen;   /* epoch_seq at which its frames were given places */
};

/* Where a frame's address lay in an epoch and those after it, until the next place of the frame. */
struct capture_place {
	uint64_t from;   /* epoch */
	uint64_t sample; /* time of the first sample that needed it */
	uint32_t frame;
	uint32_t file;   /* 0: anonymous memory, or nothing mapped */
	uint64_t offset; /* of the address in the file; no minus one for return addresses */
	uint64_t map_start, map_end; /* 0, 0: nothing was mapped there */
	uint32_t before; /* the frame's place before this; 0: none */
	uint32_t jump;   /* some place further back, so that finding one takes a logarithm of steps */
	uint32_t rank;   /* how many places of the frame are before this one */
	uint32_t seq;    /* epoch_seq of the process when it was made */
};

struct capture_symbol {
	uint64_t from;
	uint32_t frame;
	uint32_t level;  /* 0: the function; 1, 2, …: inlined into it, deeper and deeper */
	uint32_t source; /* enum name_source */
	uint32_t name;   /* text id, 0: none */
	uint32_t file;   /* text id, 0: unknown */
	uint32_t line;
	uint64_t offset;
	uint32_t inner;  /* the next level, 0: this is the innermost */
	uint32_t before; /* the list before this one of the same frame (level 0 only) */
};

/* The names of a frame that has more than one, ordered by their from, the best one for each. */
struct capture_names {
	uint32_t *symbols;
	size_t n, cap;
};

struct capture_ksym {
	uint64_t address, size;
	uint32_t name, module; /* text ids; module 0: the kernel proper */
	uint32_t order;        /* of arrival: the first of those at one address is the one that counts */
};

/* What a sample of waiting time tells of; see capture_wait. */
enum capture_wait {
	CAPTURE_RUNS, /* none: something ran when it was taken */
	CAPTURE_SLEEPS,
	CAPTURE_UNINTERRUPTIBLE,
	CAPTURE_QUEUED, /* it could run and had no CPU */
	CAPTURE_WAITS,
};

struct capture_image {
	struct slice name, build_id, data;
};

/* Sums; totals go on over segments, so they hold for a concatenation of captures too. */
struct capture_totals {
	uint64_t outcomes[OUTCOMES];
	uint64_t costs[COSTS];
	uint64_t segments, ended; /* segments begun, and those with their END */
	uint64_t samples;         /* accepted */
	uint64_t waits;           /* of them, those of waiting time */
	uint64_t waited[CAPTURE_WAITS]; /* their weights */
	uint64_t others;          /* samples, likewise, of events that are not shown unless asked for */
	uint64_t tally[OUTCOMES]; /* of events that are no ticks, all of them together */
	uint64_t refused;         /* samples left out because they named something undefined */
	uint64_t refused_records; /* other records, likewise */
	uint64_t first, last;     /* time of the first and last sample of this segment */
	uint64_t seconds_ns;      /* sum over segments of last - first */
	uint64_t damages;         /* DAMAGE records: what was left out in one go, a cut among it */
	uint64_t cuts_told;       /* of them, those that tell of a cut: every filter that meets it adds one */
	uint64_t blocks_damaged;  /* blocks that are missing by their numbers */
};

struct capture;
/* Do the totals go with this segment, as far as it is known? */
typedef bool capture_counting(const void *context, const struct capture *c);

struct capture {
	/* Each indexed by id, 0 unused; look at defined before use, or go by a sample that was accepted. */
	struct capture_process *processes;
	struct capture_thread *threads;
	struct capture_file *files;
	struct capture_frame *frames;
	struct capture_node *nodes;
	size_t n_processes, n_threads, n_files, n_frames, n_nodes; /* highest id + 1 */
	size_t cap_processes, cap_threads, cap_files, cap_frames, cap_nodes;
	size_t defined_processes, defined_threads, defined_files, defined_frames, defined_nodes;

	/* Appended to, never changed in meaning; index 0 unused. Whoever names frames follows places. */
	struct capture_place *places;
	struct capture_symbol *symbols;
	size_t n_places, cap_places, n_symbols, cap_symbols;
	struct capture_names *names;
	size_t n_names, cap_names;
	struct idmap names_of; /* frame to its place in names, where it has more than one */

	struct capture_ksym *ksyms; /* by address once sorted */
	size_t n_ksyms, cap_ksyms;
	bool ksyms_sorted;
	struct capture_image *images;
	size_t n_images, cap_images;

	struct intern texts;   /* comms, names, paths, ids of this segment; text id 0 is "" */
	struct idmap strings;  /* STRING id to text id */
	struct idmap cgroups;  /* kernel's cgroup id to text id of its path */
	struct idmap meta;     /* text id of the key to text id of the value */

	struct record_event events[CAPTURE_EVENTS]; /* by id; slices live as long as the segment */
	uint8_t event_waits[CAPTURE_EVENTS];        /* by id, enum capture_wait */
	bool event_others[CAPTURE_EVENTS];          /* by id, see capture_is_other */
	uint64_t event_samples[CAPTURE_EVENTS];     /* by id */
	uint64_t tallies[CAPTURE_EVENTS][OUTCOMES]; /* by id, of events that are no ticks */
	uint64_t (*ledger)[OUTCOMES]; /* by cpu + 1 */
	size_t n_ledger, cap_ledger;
	uint64_t costs[COSTS];
	uint64_t realtime, monotonic; /* of the header, at the segment's start; 0: not told */
	uint64_t end_reason, end_time;
	bool end_seen;
	uint32_t epoch_count;
	bool sampled;   /* began, totals.first and last are set */
	uint64_t began; /* time of the first sample in the stream */
	bool no_memory; /* for good: nothing that comes later is taken in */
	struct capture_totals totals;
	struct capture_totals before; /* this segment */
	capture_counting *counting; /* NULL: each segment counts */
	const void *context;
};

/* False without memory; the object can be released all the same. */
bool capture_init(struct capture *c);
/* The same, where some segments are read and do not count. */
bool capture_init_for(struct capture *c, capture_counting *counting, const void *context);
void capture_release(struct capture *c);

/*
 * Takes in one record. NULL, or a sentence why it makes no sense ("a sample of an undefined
 * thread"); it has then changed nothing and is counted in totals.refused or refused_records.
 * Memory grows with the number of records, and with the depth of stacks whose code moves, up to a
 * limit; an id far beyond what is defined is refused.
 */
const char *capture_apply(struct capture *c, const struct record *r);

/* For who leaves samples out: is it one that capture_apply takes? NULL, or the sentence; nothing changes. */
const char *capture_check_sample(const struct capture *c, const struct record_sample *r);
bool capture_has_thread(const struct capture *c, uint64_t thread);
/* Of a defined thread: has its process no sample yet in this epoch? */
bool capture_is_first(const struct capture *c, uint64_t thread);

/* Totals with the segment that is being read included, if it counts; damage does always. */
struct capture_totals capture_totals(const struct capture *c);
bool capture_counts(const struct capture *c);

/*
 * Things of different kinds do not add up. The segment's first event that is neither of waiting time nor counted is
 * CPU time, wherever that was sampled; else its first one stands for that. Is this one a count of something else?
 */
static inline bool capture_is_other(const struct capture *c, uint64_t event)
{
	return event < CAPTURE_EVENTS && c->event_others[event];
}

/* Does each sample of this event say how many of it there were? Then that is what is to be added up. */
bool capture_is_counted(const struct capture *c, uint64_t event);

/* Is it an event of waiting time, and of which kind? */
static inline enum capture_wait capture_wait(const struct capture *c, uint64_t event)
{
	return event < CAPTURE_EVENTS ? (enum capture_wait)c->event_waits[event] : CAPTURE_RUNS;
}

/* The epoch that a sample just applied belongs to. */
uint64_t capture_epoch(const struct capture *c, uint32_t thread);

/* Where the frame's address lay in this epoch; NULL for the kernel and for what was never sampled. In
 * the logarithm of the number of the frame's places; as is capture_symbol in that of its names. */
const struct capture_place *capture_place(const struct capture *c, uint32_t frame, uint64_t epoch);
/*
 * The best name that the stream has for the frame in this epoch: the newest that begins no later,
 * else the oldest one. NULL: none, or that one is a "not found", which ends the names before it.
 * Follow inner for inlined functions.
 */
const struct capture_symbol *capture_symbol(const struct capture *c, uint32_t frame, uint64_t epoch);
/* The best that the stream says from exactly this time on, be it a "not found"; or NULL. */
const struct capture_symbol *capture_symbol_from(const struct capture *c, uint32_t frame, uint64_t from);

/* The kernel symbol at this address, or NULL; a symbol without a size reaches to the next. */
const struct capture_ksym *capture_ksym(struct capture *c, uint64_t address);
/* A field of the header, or an empty slice. */
struct slice capture_meta(const struct capture *c, const char *key);
/* Such a field that is a decimal number; 0 where it is none. */
uint64_t capture_meta_number(const struct capture *c, const char *key);
/* What a time of the segment is in nanoseconds since 1970, by the clocks at its start; 0 where that cannot be told. */
uint64_t capture_realtime(const struct capture *c, uint64_t time);
/* Does the segment record waiting time, whether some was told of yet or not? */
bool capture_has_waits(const struct capture *c);
/* When the waits began that the segment tells of, whose first sample is of this time; see struct extent. */
uint64_t capture_waits_from(const struct capture *c, uint64_t first);
/* The image of this name ("[vdso]"), of this build ID where that is not empty; or NULL. */
const struct capture_image *capture_image(const struct capture *c, struct slice name, struct slice build_id);

/*
 * Does a mapping with this path have a file that can be opened? Anonymous memory, JIT code in a memfd,
 * "[vdso]" and the like have none (SYMBOL rule 27).
 */
bool capture_path_is_file(struct slice path);
/* Can the file give names? A program in a memfd can, which its build ID tells from a JIT compiler's code. */
bool capture_file_has_names(const struct capture_file *f);

static inline struct slice capture_text(const struct capture *c, uint32_t text)
{
	return intern_get(&c->texts, text);
}

/* The address to look up: one back for a return address, so that it lies in the call. */
static inline uint64_t capture_lookup(const struct capture_frame *f, uint64_t address)
{
	return f->kind == FRAME_RETURN && address ? address - 1 : address;
}

#endif
