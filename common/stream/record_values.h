/*
 * The values of a record's fields: how stacks end, the outcomes of ticks, the recorder's costs, languages,
 * sources of names. cprof-stream(5) lists their numbers, which are never reused.
 *
 *	if (outcome_is_lost(r.ledger.outcome))
 *		buf_text(&out, outcome_name(r.ledger.outcome));	// "ring-full"
 *
 * A reader may meet higher values, which a later minor version added.
 */
#ifndef CPROF_STREAM_RECORD_VALUES_H
#define CPROF_STREAM_RECORD_VALUES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Nodes below NODE_FIRST are roots: the parent of a stack's outermost frame is a root, which says how the
 * stack ended. A sample whose stack has no frames names the root itself.
 */
enum root {
	ROOT_COMPLETE = 0,   /* the outermost frame is the true one; without frames: there is no such stack */
	ROOT_FP_END = 1,     /* the frame-pointer chain ended: complete if all code keeps it, unverified */
	ROOT_DEPTH = 2,      /* the depth limit was reached: outer frames are missing */
	ROOT_UNREADABLE = 3, /* a page of the stack could not be read */
	ROOT_BROKEN = 4,     /* the chain led to a value that is not a return address */
	ROOT_NO_REGS = 5,    /* there were no user registers */
	ROOT_KTHREAD = 6,    /* no user stack: a kernel thread, a worker, or a thread whose memory is gone */
	/* 7 to 10: unwinding by tables stopped, and frame pointers led no further either. */
	ROOT_NO_TABLE = 7,   /* the code has no table: JIT-compiled code, or a file without unwind data */
	ROOT_NO_MAPPING = 8, /* no mapping of the address is known */
	ROOT_GAP = 9,        /* the file's table does not cover the address */
	ROOT_BAD_RULE = 10,  /* the table's rule for the address cannot be followed */
	ROOT_FAILED = 11,    /* the kernel returned an error instead of a stack */
	ROOT_NOT_ASKED = 12, /* this half of the stack was switched off (-U, -K) */
	ROOT_COPY = 13,      /* unwound in user space; the stack is longer than the part that was copied */
	ROOT_BUDGET = 14,    /* the table did not fit into the memory limit for tables */
	ROOT_FORGOTTEN = 15, /* waiting time: there were too many wait sites to keep the stack of each */
	ROOTS,
	NODE_FIRST = 16,
};

enum frame_kind {
	FRAME_EXACT = 0,  /* an instruction interrupted by the sample or by a signal */
	FRAME_RETURN = 1, /* a return address: the call is before it, look up address - 1 */
	FRAME_KINDS,
};

enum process_via { VIA_SNAPSHOT = 0, VIA_FORK = 1, VIA_EXEC = 2, VIAS };

enum jitcode_kind { JITCODE_LOAD = 0, JITCODE_MOVE = 1, JITCODE_CLOSE = 2, JITCODE_MARK = 3, JITCODE_KINDS };

/* The outcome of each tick. The counts of all outcomes with outcome_is_tick add up to EXPECTED. */
enum outcome {
	OUTCOME_EXPECTED = 0, /* online CPU time / period */
	OUTCOME_EMITTED = 1,
	OUTCOME_IDLE = 2,
	OUTCOME_FILTERED = 3,  /* the process or thread was not selected */
	OUTCOME_GUEST = 4,     /* a virtual machine's guest was running */
	OUTCOME_RING_FULL = 5, /* lost: user space was late */
	OUTCOME_NESTED = 6,    /* lost: due during another sample or another program of the recorder */
	OUTCOME_FAILED = 7,    /* lost: the kernel returned an error, or the CPU could not be sampled */
	OUTCOME_THROTTLED = 8, /* lost: the kernel throttled the event */
	OUTCOME_OFFLINE = 9,   /* lost: the CPU was offline until the recorder attached again */
	OUTCOME_NO_MEMORY = 10,
	OUTCOME_MISSED = 11,   /* no tick came: late timer, suspended machine, task younger than a period */
	OUTCOME_SIDEBAND_LOST = 12, /* not ticks: lost records of mappings, commands and forks */
	OUTCOME_NO_SPACE = 13, /* lost: there was no space to write them to */
	OUTCOME_WAITS_LOST = 14, /* not ticks: lost records of waiting time, of one wait or many short ones */
	OUTCOME_REST = 15, /* TALLY only: events after the last sample, which no sample stands for */
	OUTCOMES,
};

/* Returns true for the outcomes of a tick: together they add up to the ticks expected. */
static inline bool outcome_is_tick(uint64_t outcome)
{
	return outcome != OUTCOME_EXPECTED && outcome < OUTCOMES && outcome != OUTCOME_SIDEBAND_LOST &&
	       outcome != OUTCOME_WAITS_LOST && outcome != OUTCOME_REST;
}

/* Returns true if the tick should have become a sample. */
static inline bool outcome_is_lost(uint64_t outcome)
{
	return (outcome >= OUTCOME_RING_FULL && outcome <= OUTCOME_NO_MEMORY) || outcome == OUTCOME_NO_SPACE;
}

/* Like outcome_is_lost, for events that are not ticks: missed ones did happen, so they count as lost too. */
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
	COST_TABLE_BYTES = 6, /* peak kernel memory of unwind tables and mappings */
	COST_TABLES = 7, /* unwind tables built; a table built twice counts twice */
	COST_TABLES_REFUSED = 8, /* times that a table, its making, or a process's mappings found no room there */
	COST_TABLES_EVICTED = 9, /* tables evicted to make room for others */
	COST_STACKS_DEFERRED = 10, /* stacks unwound in user space */
	COST_MAPPINGS_UNREAD = 11, /* times that the mappings of a process were not read, */
	COST_MAPPINGS_CUT = 12, /* or not to their end */
	COST_MAPPINGS_LEFT_OUT = 13, /* mappings left out of processes that have too many */
	COST_FILES_UNOPENED = 14, /* times that a file of a process was not opened */
	COSTS,
};

/* Returns true for costs that are peaks: over several segments the largest counts, not the sum. */
static inline bool cost_is_peak(uint64_t cost)
{
	return cost == COST_RSS_BYTES || cost == COST_TABLE_BYTES;
}

/* Languages whose functions the recorder reads from the interpreter's memory. */
enum language {
	LANGUAGE_NONE = 0,
	LANGUAGE_PYTHON = 1,
	LANGUAGE_RUBY = 2,
	LANGUAGE_PHP = 3,
	LANGUAGE_PERL = 4,
	LANGUAGE_JAVASCRIPT = 5,
	LANGUAGE_JAVA = 6,
	LANGUAGES,
};

/* Whether a frame's function is known, and if not, why. */
enum lang_state {
	LANG_OK = 0,
	LANG_NO_METADATA = 1,  /* the interpreter's file lacks the data that tells where its state is */
	LANG_UNSUPPORTED = 2,  /* a version or build of the interpreter whose structures are not known */
	LANG_NOT_YET = 3,      /* the interpreter was not known yet when the sample was taken */
	LANG_UNREADABLE = 4,   /* its memory could not be read, or did not hold the expected data */
	LANG_OVER_BUDGET = 5,  /* the sample met more new functions than one sample may read */
	LANG_LOST = 6,         /* the record with the name was lost */
	LANG_DEPTH = 7,        /* outer frames are missing: the limit of frames was reached */
	LANG_STATES,
};

/* How the code of a frame was made. */
enum lang_tier {
	LANG_TIER_NONE = 0, /* unknown, or the language has only one */
	LANG_TIER_INTERPRETED = 1,
	LANG_TIER_BASELINE = 2, /* by a compiler that hardly optimizes */
	LANG_TIER_OPTIMIZED = 3,
	LANG_TIER_BUILTIN = 4, /* a part of the runtime with a name of the language */
	LANG_TIER_NATIVE = 5,  /* a function of the language whose body is machine code */
	LANG_TIER_STUB = 6,    /* glue that the runtime has made */
	LANG_TIERS,
};

/* Bits of record_function.flags. */
enum { FUNCTION_TOP_LEVEL = 1, FUNCTION_BUILTIN = 2, FUNCTION_EVAL = 4, FUNCTION_INFERRED = 8 };

/* The end of a wait. */
enum woken_by {
	WOKEN_BY_UNKNOWN = 0,
	WOKEN_BY_TASK = 1, /* the waker; all others are no thread's work */
	WOKEN_BY_TIMER = 2,
	WOKEN_BY_DISK = 3,
	WOKEN_BY_NETWORK = 4,
	WOKEN_BY_INTERRUPT = 5, /* another device, or another CPU */
	WOKEN_BY_SOFTIRQ = 6,   /* for no known device */
	WOKEN_BY_IDLE = 7,      /* the idle task */
	WOKEN_BY_BRIEF = 8,     /* not recorded, because the thread slept for less than the least time */
	WOKEN_BYS,
};

/* The futex that a thread waited for. The first four have a holder. */
enum lock_kind {
	LOCK_FUTEX = 0,  /* a condition variable, a semaphore, or a lock that does not tell its holder */
	LOCK_MUTEX = 1,
	LOCK_PI = 2,     /* a mutex with priority inheritance */
	LOCK_ROBUST = 3, /* a mutex that survives its holder */
	LOCK_RWLOCK = 4, /* held for writing */
	LOCK_JOIN = 5,   /* the end of a thread, which is the holder */
	LOCK_KINDS,
};

enum end_reason { END_CLOSED = 0, END_CONTINUES = 1, END_ERROR = 2, END_REASONS };

/* The source of a name. If two names are for the same frame and time, the one with the higher rank counts. */
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
	NAME_BOUNDS = 9,    /* no name, only the function's start: "[libx.so+0x1230]" */
	NAME_JITDUMP = 10,
	NAME_LABEL = 11, /* the frame is not code: its name is an argument of a probe */
	NAME_SOURCES,
};

/* Returns the rank of a source; 0 is the lowest. */
static inline unsigned int name_source_rank(uint64_t source)
{
	static const unsigned char ranks[NAME_SOURCES] = {
		[NAME_NONE] = 0,    [NAME_BOUNDS] = 1,	  [NAME_DYNSYM] = 2, [NAME_PLT] = 3,  [NAME_PERFMAP] = 4,
		[NAME_JITDUMP] = 5, [NAME_MINIDEBUG] = 6, [NAME_GO] = 7,     [NAME_SYMTAB] = 8, [NAME_KSYM] = 9,
		[NAME_DEBUG] = 10,  [NAME_LABEL] = 11,
	};

	return source < NAME_SOURCES ? ranks[source] : 0;
}

/* The result of opening a file to name its frames. */
enum source_status {
	SOURCE_OK = 0,
	SOURCE_NO_FILE = 1,
	SOURCE_MISMATCH = 2, /* the build ID differs: the file was replaced */
	SOURCE_STRIPPED = 3, /* the right file, without symbols */
	SOURCE_NOT_ELF = 4,
	SOURCE_PERMISSION = 5,
	SOURCE_DAMAGED = 6,
	SOURCE_NOT_A_FILE = 7, /* anonymous memory */
	SOURCE_CHANGED = 8,    /* no build ID was recorded, and inode or time show another file */
	SOURCE_STATUSES,
};

/* Names of values in the text form, or "unknown". */
const char *root_name(uint64_t root);       /* "complete", "depth", … */
const char *outcome_name(uint64_t outcome); /* "emitted", … */
const char *source_status_name(uint64_t status);
const char *name_source_name(uint64_t source);
const char *language_name(uint64_t language);     /* "python", … */
const char *lang_state_name(uint64_t state);      /* "ok", "not-yet", … */
const char *woken_by_name(uint64_t by);           /* "task", "timer", … */
const char *lock_kind_name(uint64_t kind);        /* "mutex", "join", … */

#endif
