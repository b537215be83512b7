/*
 * The records of a cprof stream, as C sees them. cprof-stream(5) is the law; this is its shape here.
 *
 * Ids are dense, start at 1 (0 means none, or the machine itself) and live as long as a segment.
 * Times are nanoseconds of CLOCK_MONOTONIC on the recorded host. Slices are lent: a reader's are
 * good until its next call, a writer copies what it is given.
 *
 * The table in record.c holds, for each type, its name and its fields. Coding, text and checks are
 * all driven by it; a new record is a new row, and no number is ever used twice.
 */
#ifndef CPROF_STREAM_RECORD_H
#define CPROF_STREAM_RECORD_H

#include "common/base/buf.h"
#include "common/base/cursor.h"

enum {
	STREAM_MAJOR = 1, /* a reader refuses a stream that needs a higher one */
	STREAM_MINOR = 3,
};

enum record_type {
	/* What a reader says itself; never on the wire under these numbers. */
	RECORD_FLUSH = 0,     /* a block has ended: all that was known by then has been said */
	RECORD_SEGMENT = 1,   /* a header block begins: forget every id, META and EVENT follow */
	/* On the wire. */
	RECORD_META = 2,
	RECORD_EVENT = 3,
	RECORD_PROCESS = 4,
	RECORD_THREAD = 5,
	RECORD_COMM = 6,
	RECORD_EXIT = 7,
	RECORD_FILE = 8,
	RECORD_MAPPING = 9,
	RECORD_UNMAP = 10,
	RECORD_FRAME = 11,  /* many in one wire record */
	RECORD_NODE = 12,   /* many in one wire record */
	RECORD_SAMPLE = 13, /* many in one wire record */
	RECORD_KSYM = 14,
	RECORD_IMAGE = 15,
	RECORD_JITMAP = 16,
	RECORD_CGROUP = 17,
	RECORD_MEMBER = 18,
	RECORD_LEDGER = 19,
	RECORD_COST = 20,
	RECORD_END = 21,
	RECORD_DAMAGE = 22,
	RECORD_STRING = 23,
	RECORD_SYMBOL = 24,
	RECORD_SOURCE = 25,
	RECORD_JITCODE = 26,
	/* 27 to 31: native code, later. 32 to 47: frames of interpreted languages. */
	RECORD_TALLY = 48,
	RECORD_RAN = 49,
	RECORD_LEFT_OUT = 50,
	RECORD_TYPES,
};

/*
 * Nodes below NODE_FIRST are roots: a stack's outermost frame has one as its parent, and it says how
 * the stack ended. A sample whose stack has no frame at all names the root itself.
 */
enum root {
	ROOT_COMPLETE = 0,   /* the outermost frame is the true one; also: nothing of this kind to show */
	ROOT_FP_END = 1,     /* the walk ended as a chain of frame pointers does: whole where code keeps them, unverified */
	ROOT_DEPTH = 2,      /* the depth limit was reached: outer frames are missing */
	ROOT_UNREADABLE = 3, /* a page of the stack could not be read */
	ROOT_BROKEN = 4,     /* the chain led to something that is no return address */
	ROOT_NO_REGS = 5,    /* no user registers where the sample was taken */
	ROOT_KTHREAD = 6,    /* there is no user stack: a kernel thread, a worker, or a thread whose memory is gone */
	/* 7 to 10: where tables were to be walked, and frame pointers led no further either. */
	ROOT_NO_TABLE = 7,   /* code without a table: of a JIT compiler, of a file that tells nothing */
	ROOT_NO_MAPPING = 8, /* an address that no mapping is known for */
	ROOT_GAP = 9,        /* the file's table does not cover the address */
	ROOT_BAD_RULE = 10,  /* the table's rule there cannot be followed */
	ROOT_FAILED = 11,    /* the kernel gave an error instead of a stack */
	ROOT_NOT_ASKED = 12, /* this half of the stack was switched off (-U, -K) */
	ROOT_COPY = 13,      /* unwound in user space, and longer than the piece of it that was copied */
	ROOT_BUDGET = 14,    /* the table did not fit into the memory that tables may take */
	ROOT_FORGOTTEN = 15, /* of waiting time: there are too many places to keep the stack of each */
	ROOTS,
	NODE_FIRST = 16,
};

enum frame_kind {
	FRAME_EXACT = 0,  /* the interrupted instruction, or one that a signal interrupted */
	FRAME_RETURN = 1, /* a return address: the call is before it, look up address - 1 */
	FRAME_KINDS,
};

enum process_via { VIA_SNAPSHOT = 0, VIA_FORK = 1, VIA_EXEC = 2, VIAS };

enum jitcode_kind { JITCODE_LOAD = 0, JITCODE_MOVE = 1, JITCODE_CLOSE = 2, JITCODE_MARK = 3, JITCODE_KINDS };

/* What became of each tick. EXPECTED is the right side of the sum, all for which outcome_is_tick the left. */
enum outcome {
	OUTCOME_EXPECTED = 0, /* online CPU time / period */
	OUTCOME_EMITTED = 1,
	OUTCOME_IDLE = 2,
	OUTCOME_FILTERED = 3,  /* not a process or thread that was asked for */
	OUTCOME_GUEST = 4,     /* a virtual machine's guest was running */
	OUTCOME_RING_FULL = 5, /* lost: user space was late */
	OUTCOME_NESTED = 6,    /* lost: inside another sample, or another program of the recorder's */
	OUTCOME_FAILED = 7,    /* lost: the kernel gave an error, as when a CPU cannot be sampled */
	OUTCOME_THROTTLED = 8, /* lost: the kernel throttled the event */
	OUTCOME_OFFLINE = 9,   /* lost: the CPU was away before we re-attached */
	OUTCOME_NO_MEMORY = 10,
	OUTCOME_MISSED = 11,   /* no tick came: the timer was late, the machine stood still; a task by perf was too young */
	OUTCOME_SIDEBAND_LOST = 12, /* not ticks: records of mappings, commands and forks lost */
	OUTCOME_NO_SPACE = 13, /* lost: there was no room to write them to */
	OUTCOME_WAITS_LOST = 14, /* not ticks: stretches of waiting time lost, each of one wait or of many short ones */
	OUTCOME_REST = 15, /* of other events than ticks: those behind the last sample, which none stands for */
	OUTCOMES,
};

/* Is it what became of a tick? All those of a capture add up to the ticks expected. */
static inline bool outcome_is_tick(uint64_t outcome)
{
	return outcome != OUTCOME_EXPECTED && outcome < OUTCOMES && outcome != OUTCOME_SIDEBAND_LOST &&
	       outcome != OUTCOME_WAITS_LOST && outcome != OUTCOME_REST;
}

/* A tick that should have become a sample. */
static inline bool outcome_is_lost(uint64_t outcome)
{
	return (outcome >= OUTCOME_RING_FULL && outcome <= OUTCOME_NO_MEMORY) || outcome == OUTCOME_NO_SPACE;
}

/* The same of an event that is no tick: what nobody has seen of those was there all the same. */
static inline bool outcome_is_lost_event(uint64_t outcome)
{
	return outcome_is_lost(outcome) || outcome == OUTCOME_MISSED;
}

enum cost {
	COST_USER_NS = 0, /* the recorder's CPU time */
	COST_SYSTEM_NS = 1,
	COST_BPF_NS = 2, /* run time of the BPF program, as the kernel accounts it */
	COST_BPF_RUNS = 3,
	COST_BYTES = 4,  /* bytes written to the stream */
	COST_RSS_BYTES = 5, /* peak resident memory of the recorder */
	COST_TABLE_BYTES = 6, /* peak memory in the kernel of what stacks are unwound by */
	COST_TABLES = 7, /* tables that were built, each time that one was */
	COST_TABLES_REFUSED = 8, /* how often a table, or a process's mappings, found no room in it */
	COST_TABLES_EVICTED = 9, /* tables that were put out for others */
	COST_STACKS_DEFERRED = 10, /* stacks that were unwound in user space */
	COSTS,
};

/* These are not summed over segments: the largest counts. */
static inline bool cost_is_peak(uint64_t cost)
{
	return cost == COST_RSS_BYTES || cost == COST_TABLE_BYTES;
}

enum end_reason { END_CLOSED = 0, END_CONTINUES = 1, END_ERROR = 2, END_REASONS };

/* Where a name came from. Of two for the same frame and time the one of the higher rank counts. */
enum name_source {
	NAME_NONE = 0, /* looked for and not found; SOURCE says why */
	NAME_DYNSYM = 1,
	NAME_PLT = 2,
	NAME_PERFMAP = 3,
	NAME_SYMTAB = 4,
	NAME_KSYM = 5,
	NAME_DEBUG = 6, /* a separate debug file */
	NAME_GO = 7,        /* .gopclntab */
	NAME_MINIDEBUG = 8, /* .gnu_debugdata */
	NAME_BOUNDS = 9,    /* no name, but where the function begins: "[libx.so+0x1230]" */
	NAME_JITDUMP = 10,
	NAME_SOURCES,
};

/* 0 is the worst. */
static inline unsigned int name_source_rank(uint64_t source)
{
	static const unsigned char ranks[NAME_SOURCES] = {
		[NAME_NONE] = 0,    [NAME_BOUNDS] = 1,	  [NAME_DYNSYM] = 2, [NAME_PLT] = 3,  [NAME_PERFMAP] = 4,
		[NAME_JITDUMP] = 5, [NAME_MINIDEBUG] = 6, [NAME_GO] = 7,     [NAME_SYMTAB] = 8, [NAME_KSYM] = 9,
		[NAME_DEBUG] = 10,
	};

	return source < NAME_SOURCES ? ranks[source] : 0;
}

/* What came of opening the file of a module. */
enum source_status {
	SOURCE_OK = 0,
	SOURCE_NO_FILE = 1,
	SOURCE_MISMATCH = 2, /* the build ID is another: the file was replaced */
	SOURCE_STRIPPED = 3, /* the file is right and has no symbols */
	SOURCE_NOT_ELF = 4,
	SOURCE_PERMISSION = 5,
	SOURCE_DAMAGED = 6,
	SOURCE_NOT_A_FILE = 7, /* anonymous memory */
	SOURCE_CHANGED = 8,    /* no build ID was recorded, and the file is seen to be another */
	SOURCE_STATUSES,
};

struct record_segment {
	uint64_t major, minor; /* of the writer */
	uint64_t least;        /* the major version a reader must know */
};

/* META: one fact of the header. Keys: see cprof-stream(5). */
struct record_meta {
	struct slice key, value;
};

/* The header's word on how far waits reach back, and how the names of their events begin; see extent.h. */
#define META_WAITS_SINCE "waits-since-monotonic-ns"
#define EVENT_OFF_CPU "off-cpu:"

struct record_event {
	uint64_t id;
	struct slice name;   /* "cpu-clock" */
	struct slice unit;   /* of the weight: "ns" */
	uint64_t period;     /* weight of a sample that names none */
	uint64_t millihertz; /* the rate asked for, 1/1000 Hz; 0: not a rate */
};

/* One image of a process: an exec begins a new one with the same pid. */
struct record_process {
	uint64_t id, time, pid;
	uint64_t nspid;  /* pid in its innermost namespace; 0: as pid */
	uint64_t parent; /* after a fork the parent, whose mappings it starts with; after an exec the image before */
	uint64_t start;  /* when the process (not the image) began; 0: unknown */
	uint64_t generation; /* number of execs seen */
	uint64_t via;
};

struct record_thread {
	uint64_t id, time, process, tid;
};

struct record_comm {
	uint64_t time, thread;
	struct slice comm;
};

struct record_exit {
	uint64_t time, thread;
};

struct record_file {
	uint64_t id;
	uint64_t dev_major, dev_minor, inode, generation; /* 0 where unknown */
	struct slice build_id; /* empty where unknown */
	struct slice path;     /* as the process saw it; "[vdso]", "//anon" and the like are no files */
};

struct record_mapping {
	uint64_t time, process, start, length, offset;
	uint64_t prot; /* 1 read, 2 write, 4 execute */
	uint64_t file; /* 0: anonymous */
};

struct record_unmap {
	uint64_t time, process, start, length;
};

struct record_frame {
	uint64_t id;
	uint64_t process; /* 0: the kernel */
	uint64_t kind;
	uint64_t address;
};

struct record_node {
	uint64_t id, parent, frame;
};

struct record_sample {
	uint64_t time, event, cpu, thread;
	uint64_t user, kernel; /* nodes; below NODE_FIRST: no frames */
	uint64_t weight;
};

struct record_ksym {
	uint64_t time, address, size; /* size 0: unknown */
	struct slice name, module;    /* module empty: the kernel proper */
};

struct record_image {
	struct slice name, build_id, data; /* name as in FILE */
};

/* A piece of a perf map, whole lines, that was read at this time. A new generation is a new file. */
struct record_jitmap {
	uint64_t time, process, generation;
	struct slice data;
};

/* What a jitdump file says of a piece of code, at a time that the file gives. */
struct record_jitcode {
	uint64_t time, process, kind;
	uint64_t address, size; /* of a close and a mark 0 */
	uint64_t old;           /* of a move: where it was before; else 0 */
	struct slice name;      /* of a load */
};

struct record_cgroup {
	uint64_t id; /* the kernel's */
	struct slice path;
};

struct record_member {
	uint64_t time, process, cgroup;
};

/* Cumulative from the segment's start, the last one counts. cpu + 1; 0 where no CPU is meant. */
struct record_ledger {
	uint64_t time, cpu, outcome, count;
};

/*
 * What became of the events that are no ticks, in their number and not that of samples. Cumulative from the segment's
 * start; EXPECTED is how many there were, and the others add up to it.
 */
struct record_tally {
	uint64_t time, event, outcome, count;
};

/* Of the span of nanoseconds before time the thread was on a CPU for ns. */
struct record_ran {
	uint64_t time, thread, ns, span;
};

/*
 * Samples that a filter left out here, for they are not of the time that it was asked for. The first of an epoch of a process is told
 * of by itself, with its thread, because what epochs are called depends on it; others together, with thread 0.
 */
struct record_left_out {
	uint64_t first, event, thread, samples, weight, last; /* first and last: times */
};

struct record_cost {
	uint64_t time, what, count; /* cumulative from the segment's start */
};

struct record_end {
	uint64_t time, reason, samples;
};

/* What a reader had to leave out; a filter passes it on, so that nobody after it takes the rest for all. */
struct record_damage {
	uint64_t offset, bytes; /* where in its input, of a record its block; how much was skipped, with heads */
	uint64_t blocks;        /* blocks missed by their sequence numbers */
	struct slice what;
};

struct record_string {
	uint64_t id;
	struct slice text;
};

/*
 * A name for a frame, from this time on (0: always). Level 0 is the function that the machine code
 * belongs to and begins a new list; levels 1, 2, … are functions inlined into the one before.
 */
struct record_symbol {
	uint64_t frame, from, level, source;
	uint64_t name;   /* string; 0: no name */
	uint64_t offset; /* of the frame's address from the function's start */
	uint64_t file, line; /* string, line; 0: unknown */
};

struct record_source {
	uint64_t file; /* FILE id; 0: the kernel */
	uint64_t status;
	uint64_t kind;     /* the best name_source it gave */
	struct slice path; /* what was opened, or tried last */
};

struct record {
	uint32_t type;
	bool last; /* of its batch, if it is of one */
	union {
		struct record_segment segment;
		struct record_meta meta;
		struct record_event event;
		struct record_process process;
		struct record_thread thread;
		struct record_comm comm;
		struct record_exit exit;
		struct record_file file;
		struct record_mapping mapping;
		struct record_unmap unmap;
		struct record_frame frame;
		struct record_node node;
		struct record_sample sample;
		struct record_ksym ksym;
		struct record_image image;
		struct record_jitmap jitmap;
		struct record_cgroup cgroup;
		struct record_member member;
		struct record_ledger ledger;
		struct record_cost cost;
		struct record_end end;
		struct record_damage damage;
		struct record_string string;
		struct record_symbol symbol;
		struct record_source source;
		struct record_jitcode jitcode;
		struct record_tally tally;
		struct record_ran ran;
		struct record_left_out left_out;
	};
	struct slice tail; /* fields of a newer minor version behind ours, or all of an unknown record */
};

/*
 * FRAME, NODE or SAMPLE records that stand together in a block, as bytes; see reader_batch and writer_put_batch.
 * Samples among them without a weight weigh what the segment's EVENT records say.
 */
struct stream_batch {
	uint32_t type;
	uint64_t time, time_after; /* the last time in the block, before and behind it */
	struct slice body;
};

enum field_kind {
	FIELD_U,    /* varint, decimal */
	FIELD_X,    /* varint, hexadecimal */
	FIELD_TIME, /* zigzag difference to the last time in the block */
	FIELD_ENUM, /* varint with names */
	FIELD_TEXT, /* slice, quoted */
	FIELD_HEX,  /* slice, hexadecimal digits */
};

struct field {
	const char *name;
	enum field_kind kind;
	uint16_t at;              /* offset in struct record */
	const char *const *names; /* FIELD_ENUM: one for each value */
	uint16_t n_names;
};

struct record_desc {
	const char *name; /* NULL: no such record */
	const struct field *fields;
	size_t n;
};

/* The row of a type, or NULL where this version knows none. */
const struct record_desc *record_desc(uint32_t type);

/*
 * Body of one record, by the table; *time is the last time in the block and moves on. Decoding fails
 * on bytes that do not fit; bytes behind the known fields become the tail. Not for FRAME, NODE and
 * SAMPLE, whose wire form holds many (reader.c, writer.c).
 */
bool record_decode(struct record *r, uint32_t type, struct slice body, uint64_t *time);
void record_encode(struct buf *out, const struct record *r, uint64_t *time);
/* The same of a SYMBOL, of which there may be one for each frame: RECORD_SYMBOL_MAX bytes at most; what comes behind. */
enum { RECORD_SYMBOL_MAX = 8 * VARINT_MAX };
uint8_t *record_store_symbol(uint8_t *p, const struct record_symbol *s, uint64_t *time);

/* One record as a line of text without the newline, and back; the error is a sentence. */
void record_print(struct buf *out, const struct record *r);
/* Slices in r point into scratch. */
bool record_parse(struct record *r, const char *line, struct buf *scratch, struct buf *error);

const char *root_name(uint64_t root);       /* "complete", "depth", … */
const char *outcome_name(uint64_t outcome); /* "emitted", … */
const char *source_status_name(uint64_t status);
const char *name_source_name(uint64_t source);

#endif
