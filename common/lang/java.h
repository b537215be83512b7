/*
 * HotSpot: the layout of a JVM's data, and the processes that run one. Structures only, for BPF and for the
 * host.
 *
 * A libjvm describes itself by tables (vmStructs), so nothing here depends on a version's offsets. User
 * space reads the tables of each process (common/hotspot/java_layout.h), and checks each number before the
 * BPF programs use it. The numbers are the process's own claims: with lies in them, only stacks of this
 * process are wrong.
 *
 * Names of HotSpot's members are in the table of common/hotspot/java_layout.c.
 */
#ifndef CPROF_LANG_JAVA_H
#define CPROF_LANG_JAVA_H

#include <linux/types.h>

enum {
	JAVA_LAYOUTS = 64,	/* different layouts at a time: those of builds of libjvm */
	JAVA_PROCS = 1024,	/* processes with a JVM at a time */
	JAVA_HEAPS = 4,		/* code heaps of a process */
	JAVA_BLOB_MOST = 384,	/* bytes that one read of a CodeBlob or nmethod takes, at most */
	JAVA_OBJECT_MOST = 384, /* each offset is below this number, with its member's size */
	JAVA_SIZE_MOST = 1024,	/* each size of a structure is at most this number */
	JAVA_LEVELS = 32,	/* inlined methods at one pc, and their caller */
	JAVA_NO_BCI = 0xffff,	/* the bytecode index is unknown; those of methods are below 65,535 */
	JAVA_SEGMENT_FREE = 0xff, /* in the segment map: no block */
};

/*
 * Numbers of a layout, in bytes. Offsets are from the start of the object that the first word names: HEAP:
 * CodeHeap::block, BLOB: CodeBlob, NM: nmethod (the same address as its CodeBlob), METHOD: Method, CONST:
 * ConstMethod, POOL: ConstantPool, KLASS: Klass, SYMBOL: Symbol. 0: this build has no such member, where
 * the comment says "or 0".
 */
enum java_at {
	JAVA_HEAP_HEADER, /* bytes of a block before its CodeBlob */
	JAVA_HEAP_LENGTH, /* 32 bits: segments of the block */
	JAVA_HEAP_USED,	  /* 8 bits: 0: the block is free */
	JAVA_BLOB_NAME,	  /* pointer to a C string */
	JAVA_BLOB_FRAME_SIZE, /* 32 bits: words of a frame, with return address and rbp */
	JAVA_BLOB_FRAME_DONE, /* _frame_complete_offset: read 16 bits, signed; from the code's start */
	/* Where the code is, as JAVA_CODE says. */
	JAVA_BLOB_CODE_BEGIN,
	JAVA_BLOB_CODE_END,
	JAVA_CODE,	    /* enum java_code */
	JAVA_NM_BYTES,	    /* one read of so many bytes at an nmethod has all members; a multiple of 8 */
	JAVA_NM_METHOD,	    /* pointer */
	JAVA_NM_COMPILE_ID, /* 32 bits */
	JAVA_NM_LEVEL,	    /* 8 bits: 1 to 3 C1, 4 C2, 0 native wrapper */
	JAVA_NM_ORIG_PC,    /* 32 bits: from rsp of a deoptimized frame to its real pc */
	/* The handler that replaces return addresses, as JAVA_DEOPT says. */
	JAVA_NM_DEOPT,
	JAVA_NM_DEOPT_MH,   /* the same, for calls of method handles; or 0 */
	JAVA_DEOPT,	    /* enum java_code */
	JAVA_DEBUG,	    /* enum java_debug */
	JAVA_NM_PCS,	    /* 32 bits: to the first PcDesc. From the nmethod; IMMUTABLE: from that data */
	JAVA_NM_SCOPES,	    /* OFFSETS: 32 bits, from the nmethod; POINTER: pointer; IMMUTABLE: 32 bits */
	JAVA_NM_PCS_END,    /* OFFSETS, POINTER: 32 bits, where the PcDescs end. IMMUTABLE: 0, see below */
	/*
	 * OFFSETS, POINTER: 0; the scopes end where the PcDescs begin. IMMUTABLE: 32 bits, the size of the
	 * data, where the scopes end at the latest; the PcDescs end where the scopes begin.
	 */
	JAVA_NM_SCOPES_END,
	JAVA_NM_IMMUTABLE,  /* pointer to data; or 0 */
	JAVA_METADATA,	    /* enum java_metadata */
	JAVA_NM_METADATA,
	JAVA_NM_METADATA_BASE, /* DATA: 32 bits, the data's offset; MUTABLE: pointer to data; or 0 */
	JAVA_METHOD_CONST,  /* pointer */
	JAVA_CONST_BYTES,   /* the size of ConstMethod; bytecodes follow it, and lines follow bytecodes */
	JAVA_CONST_POOL,    /* pointer */
	JAVA_CONST_WORDS,   /* 32 bits: of 8 bytes, with bytecodes and lines */
	JAVA_CONST_CODE,    /* 16 bits: bytes of bytecode */
	JAVA_CONST_NAME,    /* 16 bits: index in the pool */
	JAVA_CONST_SIGNATURE, /* 16 bits: index in the pool */
	JAVA_CONST_FLAGS,   /* bit 0: has a line table */
	JAVA_POOL_BYTES,    /* the size of ConstantPool; entries of 8 bytes follow: Symbol *, mask bit 0 */
	JAVA_POOL_LENGTH,   /* 32 bits: entries */
	JAVA_POOL_HOLDER,   /* pointer to the InstanceKlass */
	JAVA_POOL_SOURCE,   /* 16 bits: index of the source file's name; or 0 */
	JAVA_KLASS_SOURCE,  /* the same, in InstanceKlass; or 0 */
	JAVA_KLASS_NAME,    /* pointer to a Symbol */
	JAVA_SYMBOL_LENGTH, /* 16 bits */
	JAVA_SYMBOL_BODY,   /* modified UTF-8 */
	JAVA_ENTRY_BYTES,   /* the size of ContinuationEntry, which is at rsp of a return barrier; or 0 */
	JAVA_BCP_SLOT,	    /* words below rbp of an interpreted frame to its bytecode pointer */
	JAVA_U5_MORE,	    /* 1: bytes of numbers in UNSIGNED5 are one more, so none is 0 */
	JAVA_AT,
};

/* How places in code are stored. */
enum java_code {
	JAVA_CODE_POINTER, /* 64 bits: an address */
	JAVA_CODE_OFFSET,  /* 32 bits: from the CodeBlob */
};

/* Where the debug information of an nmethod is. */
enum java_debug {
	JAVA_DEBUG_OFFSETS,   /* 8: all in the nmethod */
	JAVA_DEBUG_POINTER,   /* 9 to 22: the same, but for a pointer to the scopes */
	JAVA_DEBUG_IMMUTABLE, /* from 23 on: in memory of its own */
};

/* Where the array of Method * and Klass * is, to which scopes refer with indexes from 1 on. */
enum java_metadata {
	JAVA_METADATA_NM,      /* 32 bits: offset from the nmethod; ends where the scopes begin */
	JAVA_METADATA_DATA,    /* 23, 24: 16 bits, offset from the data in the nmethod */
	JAVA_METADATA_MUTABLE, /* from 25 on: 32 bits, offset from the mutable data */
};

/* How a build of libjvm lays out its data. */
struct java_layout {
	__u32 version; /* the major version of the JDK */
	__u32 pad;
	__u16 at[64]; /* by enum java_at */
};

/* A code heap. These addresses are of reserved memory, and do not change. */
struct java_heap {
	__u64 start, end;
	__u64 map; /* the segment map: a byte for each segment of the heap */
};

/* A process with a JVM. */
struct java_process {
	__u32 layout;	  /* index among the layouts */
	__u32 generation; /* for keys of methods and code: new with each JVM, never 0 */
	__u32 shift;	  /* log2 of the bytes of a segment */
	__u32 n_heaps;	  /* 1 to JAVA_HEAPS; further ones are 0 */
	struct java_heap heaps[JAVA_HEAPS];
	__u64 interpreter, interpreter_end;
	__u64 barrier, barrier_end; /* the stub that virtual threads return to; 0, 0: there is none */
};

/* Variables of libjvm: indexes of lang_image.at, as offsets from lang_image.state. */
enum java_symbol {
	JAVA_STRUCTS, /* pointer to the first entry; the others are 64 bits, too */
	JAVA_STRUCTS_STRIDE,
	JAVA_STRUCTS_TYPE, /* offsets in an entry */
	JAVA_STRUCTS_FIELD,
	JAVA_STRUCTS_STATIC,
	JAVA_STRUCTS_OFFSET,
	JAVA_STRUCTS_ADDRESS,
	JAVA_TYPES,
	JAVA_TYPES_STRIDE,
	JAVA_TYPES_TYPE,
	JAVA_TYPES_SIZE,
	JAVA_SYMBOLS,
};

#endif
