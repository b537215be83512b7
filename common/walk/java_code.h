/*
 * HotSpot's code: the state of a walk through it, and which blob and which method is at an address. The first
 * part of java_walk.h.
 */
#ifndef CPROF_WALK_JAVA_CODE_H
#define CPROF_WALK_JAVA_CODE_H

#include "common/lang/java.h"
#include "common/walk/walk.h"

enum {
	JAVA_HOPS = 16,	       /* in the segment map, from a pc to the start of its block */
	JAVA_BLOB_READ = 512,  /* bytes of memory for a block's header and its blob, a power of two */
	JAVA_CONST_READ = 128, /* bytes of a ConstMethod without its bytecodes, a power of two */
	JAVA_PLACES = 4,
	JAVA_SCANS = 16, /* words of the stack that are looked at for a return address */
	JAVA_SCANS_CODE = 6,
	JAVA_FRAME_SPAN = 64 << 10, /* bytes of one frame */
	JAVA_BEFORE = 3, /* words of code before the pc that are looked at */
	JAVA_AROUND = 6, /* these, and those from the pc on */
	JAVA_NEXT = 68,		    /* not a walk_end: this place is not right */
};

enum java_kind {
	JAVA_NOTHING, /* no code is there */
	JAVA_COMPILED,
	JAVA_WRAPPER, /* calls a native method */
	JAVA_INTERPRETED,
	JAVA_GLUE, /* adapters and vtable stubs: they have no frame */
	JAVA_STUB,     /* a blob of its own */
	JAVA_ROUTINES, /* many stubs in one blob */
	JAVA_UNROLLS,  /* puts frames of the interpreter in place of one of compiled code */
	JAVA_FROZEN, /* the return barrier: the frames of a virtual thread that are above are in the heap */
};

/* How to take the caller's registers from a place. Bits. */
enum java_how {
	JAVA_BP_SAVED = 1, /* the caller's rbp is below the return address; otherwise rbp has not changed */
	JAVA_BP_GUESS = 2, /* it is, if it looks like a frame pointer */
	JAVA_RA_GIVEN = 4, /* the return address is java_walk.ra */
	JAVA_SP_GIVEN = 8, /* the caller's rsp is java_walk.sp; otherwise the place's CFA */
	JAVA_NATIVE = 16,  /* the caller may be native code */
	JAVA_WHOLE = 32,   /* the caller is not the interpreter: its frames are not whole yet */
};

struct java_spot {
	__u64 cfa; /* address above the return address */
	__u64 how;
};

/* The state of one walk. */
struct java_walk {
	struct java_process p;
	__u64 low, span; /* all code heaps are in this range */
	/* The blob that was found last; its bytes are in `blob_bytes`, after the block's header. */
	__u64 blob, begin, end, name, deopt, deopt_mh;
	__u32 kind;	  /* enum java_kind */
	__u32 frame_size; /* bytes */
	__u32 complete;	  /* bytes of the code before the frame is complete; of code that has no frame 0 */
	__u32 compile_id;
	/* The current frame, for java_seen. */
	__u64 pc;     /* compiled: the place in the code, also if the frame is deoptimized; 0: unknown */
	__u64 method; /* interpreted: the Method; 0: unknown */
	/* The method that java_method has read. Its ConstMethod is in const_bytes. */
	__u64 method_const, bytecodes;
	__u32 code_bytes;
	__u32 bci; /* or JAVA_NO_BCI */
	/* Where the caller's frame may be. */
	struct java_spot spots[JAVA_PLACES];
	__u64 scan, ra, sp;
	__u32 n, scans, scan_how;
	__u32 unreadable;
	__u64 around[JAVA_AROUND]; /* code */
	unsigned char blob_bytes[JAVA_BLOB_READ + 8];
	unsigned char const_bytes[JAVA_CONST_READ + 8];
};

/* NULL: there is none, and no step is made. */
static WALK_INLINE struct java_walk *java_state(WALK_ENV env);
static WALK_INLINE const struct java_layout *java_layout(WALK_ENV env);
/* Reads any memory of the process, n bytes of at most `most`, a power of two. Returns 0 on success. */
static WALK_INLINE int java_copy(WALK_ENV env, void *to, __u32 n, __u32 most, __u64 from);
/* Returns true if a call is known to end at this address. */
static WALK_INLINE int java_is_known(WALK_ENV env, __u64 address);
/* Makes the step if the current pc is a return address that was met before. JAVA_NEXT: it was not. */
static WALK_INLINE int java_recall(WALK_ENV env);
/* Sets what java_method sets, if this method was read a short time ago. Returns false if not. */
static WALK_INLINE int java_recall_method(WALK_ENV env, __u64 method);
/* Is called once for each other frame, when its blob and its kind are known. */
static WALK_INLINE void java_seen(WALK_ENV env, __u64 pc);
/* Is called after java_seen if the caller was where the size of the frame says. */
static WALK_INLINE void java_settled(WALK_ENV env);

/* Prepares the walk of a process, whose description is in j->p. */
static WALK_INLINE void java_begin(struct java_walk *j)
{
	__u64 low = ~0ull, high = 0;

	for (int i = 0; i < JAVA_HEAPS; i++) {
		const struct java_heap *h = &j->p.heaps[i];

		if (h->end > h->start && h->start < low)
			low = h->start;
		if (h->end > h->start && h->end > high)
			high = h->end;
	}
	j->low = low;
	j->span = high > low ? high - low : 0;
}

static WALK_INLINE __u32 java_at(const struct java_layout *y, enum java_at at)
{
	return y->at[at];
}

/* For loads of members that are not aligned, which BPF programs and x86-64 can do. */
#define JAVA_UNALIGNED __attribute__((no_sanitize("alignment")))

/* Members of the blob that was found last. The masks are for the verifier. */
JAVA_UNALIGNED static WALK_INLINE __u64 java_blob64(const struct java_walk *j, const struct java_layout *y,
						    enum java_at at)
{
	return *(const __u64 *)(j->blob_bytes +
				((y->at[JAVA_HEAP_HEADER] + y->at[at]) & (JAVA_BLOB_READ - 1)));
}

static WALK_INLINE __u32 java_blob32(const struct java_walk *j, const struct java_layout *y, enum java_at at)
{
	return (__u32)java_blob64(j, y, at);
}

JAVA_UNALIGNED static WALK_INLINE __u64 java_const64(const struct java_walk *j, __u32 at)
{
	return *(const __u64 *)(j->const_bytes + (at & (JAVA_CONST_READ - 1)));
}

static WALK_INLINE int java_is_within(__u64 address, __u64 start, __u64 end)
{
	return address - start < end - start;
}

/* Returns the first segment of the block that contains segment `at`; all bits set: there is none. */
WALK_FN __u64 java_block(WALK_ENV env, __u64 map, __u64 at)
{
	for (int i = 0; i < JAVA_HOPS; i++) {
		__u8 hop = JAVA_SEGMENT_FREE;

		if (java_copy(env, &hop, 1, 1, map + at))
			break;
		if (hop == 0)
			return at;
		if (hop == JAVA_SEGMENT_FREE || hop > at)
			break;
		at -= hop;
	}
	return ~0ull;
}

/*
 * Returns all bits set if the address is in the heap. Without a branch: each one doubles the verifier's
 * work.
 */
static WALK_INLINE __u64 java_heap_mask(const struct java_heap *h, __u64 address)
{
	__u64 out = ((address - h->start) | (h->end - 1 - address)) >> 63;

	walk_opaque(out);
	return out - 1;
}

/* Returns the address of the block's header that contains pc; 0: there is none. */
static WALK_INLINE __u64 java_find_block(WALK_ENV env, const struct java_walk *j, __u64 pc)
{
	__u64 start = 0, map = 0, at;

	for (int i = 0; i < JAVA_HEAPS; i++) {
		__u64 in = java_heap_mask(&j->p.heaps[i], pc);

		start |= j->p.heaps[i].start & in;
		map |= j->p.heaps[i].map & in;
	}
	if (!map)
		return 0;
	at = java_block(env, map, (pc - start) >> (j->p.shift & 31));
	return at == ~0ull ? 0 : start + (at << (j->p.shift & 31));
}

/*
 * Reads a block's header and its blob. At the end of the heap there may be less than the whole of an
 * nmethod.
 */
static WALK_INLINE int java_read_blob(WALK_ENV env, struct java_walk *j, const struct java_layout *y,
				      __u64 block)
{
	__u32 n = y->at[JAVA_HEAP_HEADER] + y->at[JAVA_NM_BYTES], rest = -(__u32)block & 4095;

	if (java_copy(env, j->blob_bytes, n, JAVA_BLOB_READ, block) == 0)
		return 0;
	return rest < n ? java_copy(env, j->blob_bytes, rest, JAVA_BLOB_READ, block) : -1;
}

/* Returns the kind of a blob by the first letters of its name. */
static WALK_INLINE __u32 java_kind_of(__u64 name)
{
	if (name == 0x6e2065766974616e) /* "native n"method, and not "native s"ignature handlers */
		return JAVA_WRAPPER;
	switch ((__u32)name) {
	case 0x74656d6e: /* "nmet"hod */
		return JAVA_COMPILED;
	case 0x65746e49: /* "Inte"rpreter */
		return JAVA_INTERPRETED;
	case 0x62617476: /* "vtab"le chunks */
	case 0x2f433249: /* "I2C/"C2I adapters */
	case 0x6874654d: /* "Meth"odHandles adapters */
	case 0x69776e75: /* "unwi"nd_exception: the frame of the method that throws is gone */
		return JAVA_GLUE;
	case 0x62757453: /* "Stub"Routines */
		return JAVA_ROUTINES;
	case 0x706f6544: /* "Deop"timizationBlob */
	case 0x6f636e55: /* "Unco"mmonTrapBlob */
		return JAVA_UNROLLS;
	default:
		return JAVA_STUB;
	}
}

static WALK_INLINE __u64 java_code_place(const struct java_walk *j, const struct java_layout *y,
					 enum java_at at, __u32 how)
{
	__u64 value = java_blob64(j, y, at);

	return how == JAVA_CODE_POINTER ? value : j->blob + (__u32)value;
}

/* Finds the blob that contains pc. Returns its enum java_kind, and stores it in the walk. */
WALK_FN int java_find(WALK_ENV env, __u64 pc)
{
	const struct java_layout *y = java_layout(env);
	struct java_walk *j = java_state(env);
	__u64 block, name = 0;
	__u32 offset;
	__s16 done;

	if (!j || !y)
		return JAVA_NOTHING;
	j->kind = JAVA_NOTHING;
	block = java_find_block(env, j, pc);
	if (!block || java_read_blob(env, j, y, block))
		return JAVA_NOTHING;
	if (!j->blob_bytes[y->at[JAVA_HEAP_USED] & (JAVA_BLOB_READ - 1)])
		return JAVA_NOTHING;
	j->blob = block + y->at[JAVA_HEAP_HEADER];
	j->begin = java_code_place(j, y, JAVA_BLOB_CODE_BEGIN, y->at[JAVA_CODE]);
	j->end = java_code_place(j, y, JAVA_BLOB_CODE_END, y->at[JAVA_CODE]);
	j->name = java_blob64(j, y, JAVA_BLOB_NAME);
	if (!java_is_within(pc, j->begin, j->end) || java_copy(env, &name, sizeof(name), 8, j->name))
		return JAVA_NOTHING;
	offset = java_blob32(j, y, JAVA_BLOB_FRAME_SIZE);
	j->frame_size = offset < JAVA_FRAME_SPAN / 8 ? offset * 8 : 0;
	done = (__s16)java_blob32(j, y, JAVA_BLOB_FRAME_DONE);
	j->complete = done > 0 ? (__u32)done : 0;
	j->compile_id = java_blob32(j, y, JAVA_NM_COMPILE_ID);
	j->deopt = java_code_place(j, y, JAVA_NM_DEOPT, y->at[JAVA_DEOPT]);
	j->deopt_mh =
		y->at[JAVA_NM_DEOPT_MH] ? java_code_place(j, y, JAVA_NM_DEOPT_MH, y->at[JAVA_DEOPT]) : 0;
	j->kind = java_kind_of(name);
	return (int)j->kind;
}

/* Reads a Method. Returns true if it looks like one; java_walk.method_const and the next members are set. */
WALK_FN int java_method(WALK_ENV env, __u64 method)
{
	const struct java_layout *y = java_layout(env);
	struct java_walk *j = java_state(env);
	__u64 at = 0;

	if (!j || !y || (method & 7) || !walk_is_code(method))
		return 0;
	if (java_copy(env, &at, sizeof(at), 8, method + y->at[JAVA_METHOD_CONST]) || (at & 7) ||
	    !walk_is_code(at) || java_copy(env, j->const_bytes, y->at[JAVA_CONST_BYTES], JAVA_CONST_READ, at))
		return 0;
	j->method_const = at;
	j->bytecodes = at + y->at[JAVA_CONST_BYTES];
	j->code_bytes = java_const64(j, y->at[JAVA_CONST_CODE]) & 0xffff;
	at = java_const64(j, y->at[JAVA_CONST_POOL]);
	return (at & 7) == 0 && walk_is_code(at);
}

#endif
