/*
 * V8's structures, 9.4 to 14.6 (Node.js 16 to 26): structures only, for BPF and for the host. 64-bit, without
 * pointer compression.
 *
 * Offsets are in bytes from an object's own address, which is a tagged pointer less 1. The source is the
 * file's own metadata, the v8dbg_ symbols of .dynsym. common/javascript has those that V8 does not export.
 */
#ifndef CPROF_LANG_JAVASCRIPT_H
#define CPROF_LANG_JAVASCRIPT_H

#include <linux/types.h>

/* Indexes of lang_image.at. */
enum javascript_at {
	/* In a frame: the slot is this many bytes below the frame pointer. */
	JS_FRAME_CONTEXT,  /* context, or a marker: a small number, 2 × a frame type */
	JS_FRAME_FUNCTION,
	JS_FRAME_BYTECODE, /* BytecodeArray; interpreter and Sparkplug */
	JS_FRAME_OFFSET,   /* bytecode offset as a small integer, from the tagged BytecodeArray on; interpreter */
	/* Frame types; 0: this version has no such frame. */
	JS_MARKER_ENTRY, JS_MARKER_CONSTRUCT_ENTRY, JS_MARKER_EXIT, JS_MARKER_BUILTIN_EXIT,
	JS_MARKER_WASM, JS_MARKER_REGEXP,
	/* Objects */
	JS_MAP_TYPE, /* in Map: the instance type, 16 bits */
	JS_FUNCTION_SHARED,
	JS_SHARED_NAME,   /* name_or_scope_info */
	JS_SHARED_SCRIPT, /* Script, undefined, or DebugInfo */
	JS_SHARED_FLAGS,
	JS_SHARED_BYTES,  /* bytes that are read of it, at most JS_SHARED_MOST */
	JS_SCRIPT_SOURCE, JS_SCRIPT_NAME, JS_SCRIPT_ID,
	JS_SCOPE_LOCALS,  /* in ScopeInfo: number of context locals, a small integer */
	JS_SCOPE_VARS,    /* where names and infos of the locals begin */
	JS_SCOPE_START,   /* start position, with the end position in the next word; 0: they follow the names */
	/* Compiled code */
	JS_CODE_HEADER,   /* bytes from the object before the instructions to the first instruction */
	JS_CODE_ALIGN,    /* the instructions begin at a multiple of it */
	JS_CODE_POINTER,  /* in that object: the pointer to Code; 0: the object is the Code itself */
	JS_CODE_START,    /* in Code: address of the instructions; 0: they follow the Code */
	JS_CODE_FLAGS,    /* 32 bits; & JS_CODE_KIND_MASK is its kind */
	JS_CODE_SIZE,     /* bytes of instructions, 32 bits */
	JS_CODE_DEOPT,    /* deoptimization data, of optimized code */
	JS_CODE_TABLE,    /* position table; of baseline code: its table of bytecode offsets */
	JS_CODE_BASELINE, /* the kind of Sparkplug's code; + 1 Maglev, + 2 TurboFan */
	/* In the deoptimization data, a FixedArray: */
	JS_DEOPT_COUNT,    /* number of inlined functions, a small integer */
	JS_DEOPT_LITERALS, /* array whose first elements are the inlined functions' SharedFunctionInfos */
	JS_DEOPT_SHARED,   /* SharedFunctionInfo of the code itself, or its wrapper */
	JS_DEOPT_INLINING, /* array of bytes: 16 for each inlined call */
	JS_WRAPPER_SHARED, /* in SharedFunctionInfoWrapper; 0: there are no wrappers */
	JS_BYTECODE_LENGTH, /* in BytecodeArray: number of its bytes, a small integer */
	JS_BYTECODE_TABLE,  /* position table */
	JS_BYTECODE_DATA,   /* the bytes */
	/* Instance types; 0xffff: this version has no such type. */
	JS_TYPE_FUNCTION_FIRST, JS_TYPE_FUNCTION_LAST,
	JS_TYPE_SHARED, JS_TYPE_WRAPPER, JS_TYPE_SCOPE, JS_TYPE_SCRIPT, JS_TYPE_CODE, JS_TYPE_BYTECODE,
	JS_TYPE_ARRAY, JS_TYPE_TRUSTED_ARRAY, JS_TYPE_PROTECTED_ARRAY, /* FixedArray and its relatives */
	JS_TYPE_WEAK_ARRAY, JS_TYPE_TRUSTED_WEAK_ARRAY, JS_TYPE_PROTECTED_WEAK_ARRAY,
	JS_TYPE_BYTES, JS_TYPE_TRUSTED_BYTES, /* ByteArray */
	JS_TYPE_NOT_STRING, /* types below it are strings */
	JS_AT,
};

enum { JS_NO_TYPE = 0xffff, JS_SHARED_MOST = 80, JS_CODE_KIND_MASK = 15 };

/*
 * The same in all versions; a file whose metadata say otherwise is not usable.
 *
 * The low bits of a word: 01 pointer, 11 weak pointer, 0 small integer, in the upper 32 bits. An object whose
 * first word has low bit 0 is being moved; that word is its new address.
 */
enum {
	JS_SMALL_SHIFT = 32,
	JS_ARRAY_LENGTH = 8, /* in FixedArray and ByteArray: a small integer */
	JS_ARRAY_DATA = 16,
	/* Instance types of strings: */
	JS_STRING_FORM = 7, /* mask */
	JS_STRING_SEQUENTIAL = 0, JS_STRING_CONS = 1, JS_STRING_EXTERNAL = 2, JS_STRING_SLICED = 3,
	JS_STRING_THIN = 5,
	JS_STRING_ONE_BYTE = 8, /* Latin-1; of sequential and external ones. Without: UTF-16 */
	/* In strings: */
	JS_STRING_LENGTH = 12, /* 32 bits */
	JS_STRING_CHARS = 16,
	JS_STRING_CONS_FIRST = 16, JS_STRING_CONS_SECOND = 24,
	JS_STRING_PARENT = 16, JS_STRING_OFFSET = 24, /* sliced; the offset is a small integer */
	JS_STRING_ACTUAL = 16,	      /* thin */
	JS_STRING_EXTERNAL_DATA = 24, /* address of the characters */
};

/*
 * In lang_image.loops: linked addresses of V8's builtins; of the interpreter's entry; of its bytecode
 * handlers. 0, 0: unknown. The part of the file may be mapped again at other addresses, so compare by offset
 * in the file.
 */
enum { JS_BUILTINS, JS_TRAMPOLINE, JS_HANDLERS };

/*
 * Members of struct lang_function for JavaScript:
 *
 * name, path: in any coding. The path is Script's name: a path, "file://..." or "node:internal/..."; empty
 * for eval and new Function.
 * flags: FUNCTION_BUILTIN if it has no Script, FUNCTION_INFERRED if the name is the inferred one.
 * start, end: positions in UTF-16 units; both 0: unknown.
 * script: Script's id. units: length of the script's text; 0: unknown.
 * text: address of the characters, if the source is an external string; width: bytes of a unit, 1 or 2.
 *
 * Code of WebAssembly and of regular expressions: FUNCTION_BUILTIN, named "(wasm)" or "(regexp)".
 */

/*
 * Members of struct lang_code for JavaScript. tier: interpreted for a BytecodeArray. parts: bytes of the
 * parts of `bytes`, which follow each other in this order, and the index of the image.
 */
enum javascript_part {
	JS_PART_POSITIONS, /* V8's position table: of the code, or of the bytecode (interpreted, baseline) */
	JS_PART_INLININGS, /* inlining positions, 16 bytes each: u64 source position, i32 index of a function */
	JS_PART_FUNCTIONS, /* ids of inlined functions, u32 each; 0: unknown. In order of the literals */
	JS_PART_OFFSETS,   /* baseline: table of bytecode offsets */
	JS_PART_BYTECODES, /* baseline: the bytecodes */
	JS_PART_IMAGE,
	JS_PART_FUNCTION,  /* id of the code's own function */
};

/*
 * The position of a mark (lang_mark.at). Interpreted: bytes from the first bytecode. Compiled code: bytes
 * from the first instruction to the one that runs; for a return address, to the byte before it. Without
 * code: LANG_MARK_AT.
 */

#endif
