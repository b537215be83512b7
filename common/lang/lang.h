/*
 * How the state of an interpreter is laid out: structures only, for BPF and for the host.
 *
 * An image describes one file, an executable or a library that holds an interpreter. The worker in the
 * sandbox that reads the file makes the image (runtime.h). The BPF programs use the image to read the
 * interpreter's memory. Offsets that only one language has are numbers in `at`, by an enum of that language
 * (python.h and others).
 */
#ifndef CPROF_LANG_LANG_H
#define CPROF_LANG_LANG_H

#include <linux/types.h>

/* The numbers of enum language in common/stream/record_values.h. */
enum lang_kind {
	LANG_NONE,
	LANG_PYTHON,
	LANG_RUBY,
	LANG_PHP,
	LANG_PERL,
	LANG_JAVASCRIPT, /* V8 */
	LANG_JAVA,	 /* HotSpot */
	LANG_KINDS
};

/*
 * Are its frames machine frames, which its program walks and marks? Otherwise they have a chain of their
 * own.
 */
static inline int lang_is_walked(__u32 kind)
{
	return kind == LANG_JAVASCRIPT || kind == LANG_JAVA;
}

enum {
	LANG_AT = 64,      /* offsets of a language */
	LANG_LOOPS = 4,    /* code ranges of an interpreter's loop */
	LANG_SEARCHES = 64, /* samples at which an interpreter's library is searched */
	LANG_IMAGES = 128, /* files with an interpreter, in one recording */
	LANG_LENGTHS = 768, /* bytes of a table of bytecode lengths */
};

/* Where a thread keeps its specific data (pthread_getspecific), from the thread pointer on. */
enum lang_libc { LANG_GLIBC, LANG_MUSL };

struct lang_loop {
	__u64 start, end; /* addresses as linked; 0, 0: unused */
};

struct lang_image {
	__u32 language; /* enum lang_kind */
	__u32 version;  /* as the language has it: 0x030b02 is Python 3.11.2 */
	__u32 usable;   /* 0: no offsets are known for this version or build, and only loops are set */
	__u32 libc;     /* enum lang_libc */
	__u64 dynamic; /* linked address of the dynamic section (PT_DYNAMIC); 0: none */
	__u64 text, text_offset; /* the lowest executable segment: linked address, and offset in the file */
	__u64 state;    /* linked address of the interpreter's global data */
	__u64 type;     /* linked address of further data, by language: that shows the type of an object */
	struct lang_loop loops[LANG_LOOPS];
	__u32 at[LANG_AT];
	__u32 epoch; /* if it changes, the programs give new ids */
	/* V8: the number of bytecodes, or 0, and their lengths for operands of 1, 2 and 4 bytes. */
	__u32 bytecodes;
	__u8 lengths[LANG_LENGTHS]; /* only user space needs them */
};

/* A process that runs an interpreter. */
struct lang_proc {
	__u32 image; /* index among the images */
	/*
	 * Set by user space: asks the BPF program to record the process's executable, so that it recognizes
	 * the file at exec.
	 */
	__u32 learn;
	__u64 bias; /* run-time address less linked address */
	/*
	 * Not 0: the interpreter is in a library, and bias is not known yet. The BPF programs search the
	 * library at this many samples.
	 */
	__u32 searches;
	/* lang_generation() of its exec or fork: the next program may have other functions at these addresses */
	__u32 generation;
};

/* Makes a number of the time in ns. Another program of a process, or another process with its pid, differs. */
static inline __u32 lang_generation(__u64 now)
{
	return (__u32)(now >> 18);
}

/* An executable file, as the kernel knows it at exec. */
struct lang_file {
	__u64 dev, inode; /* dev: as super_block.s_dev, the kernel's coding */
};

enum {
	LANG_FRAMES = 448, /* frames of a sample, at most: with them it fits into MEMORY_ADDRESSES */
	LANG_SLOTS = 512,  /* the next power of two */
	LANG_NEW = 32,     /* new functions whose names one sample reads, at most */
	LANG_NAME = 256, LANG_PATH = 512, LANG_TABLE = 16 << 10, /* bytes of texts, at most */
};

/*
 * A frame of a sample: the id of its function in bits 0 to 31, its position in the function (bytecode offset
 * or line, by language) in bits 32 to 59. Without a function (id 0) the position is an enum lang_state of
 * common/stream/record_values.h; LANG_OK: the call of the loop has no frame.
 */
#define LANG_POSITION_SHIFT 32
#define LANG_POSITION_MOST ((1u << 28) - 1)
/* The outermost frame that one call of the loop runs. */
#define LANG_ENTRY (1ull << 60)
/* The outermost frame on this machine stack: those that called it run on another one (fibers). */
#define LANG_STACK (1ull << 61)
/*
 * The frame comes from a call probe (bpf/usdt_stacks.h). A state of such a frame has its language
 * LANG_STATE_BITS bits higher.
 */
#define LANG_BY_PROBE (1ull << 62)
#define LANG_STATE_BITS 8

/*
 * Names the function of a machine frame, for languages whose frames are machine frames. Two slots of a
 * sample's frames, leaf first.
 */
struct lang_mark {
	/* index of the frame in the machine's stack, 0 is the leaf; LANG_MARK_FP: its rbp, the lower half */
	__u32 key;
	__u32 function; /* id; 0: none, and code is an enum lang_state of common/stream/record_values.h */
	__u32 code;	/* id of a struct lang_code; 0: none */
	__u32 at;	/* bits 0 to 27: position in the code, or in the function if there is none; flags */
};

#define LANG_MARK_AT ((1u << 28) - 1)
/* The machine frame at this rbp, of a stack that user space finishes. */
#define LANG_MARK_FP (1u << 31)
/* The machine frame stays, because its own name may say more. */
#define LANG_MARK_STAYS (1u << 30)

/*
 * The coding of a text that was read from an interpreter. Pieces: each begins with 16 bits, its bytes and
 * LANG_PIECE_WIDE, and is Latin-1, or UTF-16 if wide.
 */
enum lang_text { LANG_BYTES, LANG_LATIN1, LANG_UCS2, LANG_UCS4, LANG_PIECES };
#define LANG_PIECE_WIDE 0x8000

/*
 * The first word of a record in lang_ring is the language; with this bit the record is a struct lang_code,
 * otherwise a struct lang_function.
 */
#define LANG_RECORD_CODE (1u << 31)

/*
 * Compiled code at first sight: from a position in it to functions and positions in them. Java: the code of
 * one place, n struct lang_place, innermost first. JavaScript: see javascript.h. Only the first n bytes are
 * sent.
 */
struct lang_code {
	__u32 language; /* with LANG_RECORD_CODE */
	__u32 pid, id;
	__u32 tier; /* enum lang_tier of common/stream/record_values.h */
	__u32 n;    /* bytes */
	__u32 parts[7]; /* by language */
	__u8 bytes[LANG_TABLE];
};

struct lang_place {
	__u32 function; /* id */
	__u32 position;
};

/* The values of enum lang_state that the programs report. */
enum { LANG_STATE_UNREADABLE = 4, LANG_STATE_OVER_BUDGET = 5, LANG_STATE_DEPTH = 7 };

/* Bits of lang_function.flags: FUNCTION_... of common/stream/record_values.h. */
enum { LANG_FLAG_TOP_LEVEL = 1, LANG_FLAG_BUILTIN = 2, LANG_FLAG_EVAL = 4 };

/* A function at first sight. Only the first `table` bytes of lines are sent. */
struct lang_function {
	__u32 language, pid, id;
	__u32 line;   /* first line; 0: unknown */
	__u32 table;  /* bytes of lines */
	__u32 flags;  /* FUNCTION_... of common/stream/record_values.h */
	__u32 version; /* the image's */
	__u16 name_n, class_n, path_n;
	__u8 name_text, class_text, path_text; /* enum lang_text */
	__u8 joint; /* character between class and name: '.', '#', ':' for "::"; 0: no class */
	__u8 prefix; /* bytes of the name that come before the class, as "block in " */
	__u8 width;
	__u32 start, end, script, units; /* width to text: only JavaScript (javascript.h) */
	__u64 text;
	__u64 bias;  /* the process's: run-time address less linked address */
	__u32 image; /* the process's */
	__u32 pad2;
	__u8 name[LANG_NAME], class[LANG_NAME], path[LANG_PATH];
	__u8 lines[LANG_TABLE];
};

#endif
