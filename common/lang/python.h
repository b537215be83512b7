/*
 * Offsets in CPython's structures, 3.7 to 3.15: indexes of lang_image.at.
 *
 * All are from sources of CPython: Include/internal/pycore_runtime.h, pycore_frame.h, pycore_debug_offsets.h,
 * Include/cpython/code.h, unicodeobject.h.
 */
#ifndef CPROF_LANG_PYTHON_H
#define CPROF_LANG_PYTHON_H

enum python_at {
	PY_TSS_KEY,       /* in _PyRuntime: autoTSSkey._key */
	PY_TLS,           /* 3.15: the thread state's address is this many bytes below the thread pointer */
	PY_THREAD_FRAME,  /* in the thread state: the current frame, or the C frame that has it */
	PY_CFRAME,        /* 3.11, 3.12: 1 + offset of the current frame in the C frame; 0: there is none */
	PY_FRAME_BYTES,   /* bytes of a frame to read, up to PY_FRAME_MOST */
	PY_FRAME_CODE, PY_FRAME_PREVIOUS, PY_FRAME_INSTR, PY_FRAME_OWNER,
	PY_ENTRY,         /* enum python_entry */
	PY_CODE_PATH, PY_CODE_NAME, PY_CODE_QUALNAME, /* qualname 0: there is none, before 3.11 */
	PY_CODE_LINE, PY_CODE_TABLE,
	PY_CODE_BYTES,    /* start of the bytecode; 0: the frame holds an index */
	PY_STR_ASCII, PY_STR_COMPACT, /* offsets of the characters */
	PY_TAGGED,        /* pointers in frames have tags in their low bits */
	/*
	 * 3.15 in a library: the thread state's address is at `offset` in the library's block of thread-local
	 * variables. The loader writes the block's number into a word of the library. *(thread pointer + 8)
	 * is the thread's array of block addresses (DTV). Its entries have 16 bytes in glibc, 8 in musl.
	 */
	PY_TLS_WORD,      /* 1 + address of the word less image->text; 0: none */
	PY_TLS_OFFSET,
	/*
	 * 1 + index of the first range that loops[0] calls. This range and later ones run parts of the loop
	 * in machine frames of their own (handlers of a tail-call interpreter, ".part" functions). 0: no such
	 * range.
	 */
	PY_LOOP_CALLED,
	/* Before 3.11. A frame's first argument, from the frame on; 0: the code has a qualified name */
	PY_FRAME_LOCALS,
	PY_CODE_LOCALS,	  /* in a code object: the number of locals; arguments that are in cells come after them */
	PY_FUNCTION_CODE, PY_FUNCTION_NAME, /* in a function: its code, its qualified name */
	/*
	 * Before 3.12. In _PyRuntime: gilstate.tstate_current, the thread state that has the interpreter
	 * lock. The key has the first one of a thread, even while it runs a subinterpreter. 0: none.
	 */
	PY_CURRENT,
	PY_THREAD_ID,     /* in the thread state: the address of the thread's control block */
	PY_AT,
};

/* Bytes that the BPF programs read at once: of a frame, and of a code object. */
enum { PY_FRAME_MOST = 128, PY_CODE_MOST = 256 };

/* How the outermost frame of one call of the loop is marked. */
enum python_entry {
	PY_ENTRY_EACH,  /* up to 3.10: each frame */
	PY_ENTRY_BYTE,  /* 3.11: a byte of the frame */
	PY_ENTRY_SHIM,  /* from 3.12 on: the next frame is a shim, whose owner is 3 or higher */
};

#endif
