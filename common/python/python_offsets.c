/*
 * Up to 3.12, the offsets are rows. 3.13 and later have a table of their own, _Py_DebugOffsets, at the start
 * of _PyRuntime. It consists of 64-bit numbers without names, and each version inserts some, so the names are
 * here.
 *
 * Sources: Include/internal/pycore_runtime.h (3.13) and pycore_debug_offsets.h (3.14, 3.15).
 */
#include <string.h>

#include "common/base/le.h"
#include "common/base/slice.h"
#include "common/python/python_internal.h"

static const struct row {
	unsigned int minor;
	uint32_t at[PY_AT];
} rows[] = {
	{ 7,
	  { [PY_TSS_KEY] = 1508,
	    [PY_THREAD_FRAME] = 24,
	    [PY_FRAME_BYTES] = 112,
	    [PY_FRAME_CODE] = 32,
	    [PY_FRAME_PREVIOUS] = 24,
	    [PY_FRAME_INSTR] = 104,
	    [PY_ENTRY] = PY_ENTRY_EACH,
	    [PY_CODE_PATH] = 96,
	    [PY_CODE_NAME] = 104,
	    [PY_CODE_LINE] = 36,
	    [PY_CODE_TABLE] = 112,
	    [PY_STR_ASCII] = 48,
	    [PY_STR_COMPACT] = 72,
	    [PY_CURRENT] = 1480,
	    [PY_THREAD_ID] = 176,
	    [PY_FRAME_LOCALS] = 360,
	    [PY_CODE_LOCALS] = 24,
	    [PY_FUNCTION_CODE] = 16,
	    [PY_FUNCTION_NAME] = 104 } },
	{ 8,
	  { [PY_TSS_KEY] = 1396,
	    [PY_THREAD_FRAME] = 24,
	    [PY_FRAME_BYTES] = 112,
	    [PY_FRAME_CODE] = 32,
	    [PY_FRAME_PREVIOUS] = 24,
	    [PY_FRAME_INSTR] = 104,
	    [PY_ENTRY] = PY_ENTRY_EACH,
	    [PY_CODE_PATH] = 104,
	    [PY_CODE_NAME] = 112,
	    [PY_CODE_LINE] = 40,
	    [PY_CODE_TABLE] = 120,
	    [PY_STR_ASCII] = 48,
	    [PY_STR_COMPACT] = 72,
	    [PY_CURRENT] = 1368,
	    [PY_THREAD_ID] = 176,
	    [PY_FRAME_LOCALS] = 360,
	    [PY_CODE_LOCALS] = 28,
	    [PY_FUNCTION_CODE] = 16,
	    [PY_FUNCTION_NAME] = 104 } },
	{ 9,
	  { [PY_TSS_KEY] = 588,
	    [PY_THREAD_FRAME] = 24,
	    [PY_FRAME_BYTES] = 112,
	    [PY_FRAME_CODE] = 32,
	    [PY_FRAME_PREVIOUS] = 24,
	    [PY_FRAME_INSTR] = 104,
	    [PY_ENTRY] = PY_ENTRY_EACH,
	    [PY_CODE_PATH] = 104,
	    [PY_CODE_NAME] = 112,
	    [PY_CODE_LINE] = 40,
	    [PY_CODE_TABLE] = 120,
	    [PY_STR_ASCII] = 48,
	    [PY_STR_COMPACT] = 72,
	    [PY_CURRENT] = 568,
	    [PY_THREAD_ID] = 176,
	    [PY_FRAME_LOCALS] = 360,
	    [PY_CODE_LOCALS] = 28,
	    [PY_FUNCTION_CODE] = 16,
	    [PY_FUNCTION_NAME] = 104 } },
	{ 10,
	  { [PY_TSS_KEY] = 588,
	    [PY_THREAD_FRAME] = 24,
	    [PY_FRAME_BYTES] = 104,
	    [PY_FRAME_CODE] = 32,
	    [PY_FRAME_PREVIOUS] = 24,
	    [PY_FRAME_INSTR] = 96,
	    [PY_ENTRY] = PY_ENTRY_EACH,
	    [PY_CODE_PATH] = 104,
	    [PY_CODE_NAME] = 112,
	    [PY_CODE_LINE] = 40,
	    [PY_CODE_TABLE] = 120,
	    [PY_STR_ASCII] = 48,
	    [PY_STR_COMPACT] = 72,
	    [PY_CURRENT] = 568,
	    [PY_THREAD_ID] = 176,
	    [PY_FRAME_LOCALS] = 352,
	    [PY_CODE_LOCALS] = 28,
	    [PY_FUNCTION_CODE] = 48,
	    [PY_FUNCTION_NAME] = 40 } },
	{ 11,
	  { [PY_TSS_KEY] = 596,
	    [PY_THREAD_FRAME] = 56,
	    [PY_CFRAME] = 1 + 8,
	    [PY_FRAME_BYTES] = 72,
	    [PY_FRAME_CODE] = 32,
	    [PY_FRAME_PREVIOUS] = 48,
	    [PY_FRAME_INSTR] = 56,
	    [PY_FRAME_OWNER] = 68,
	    [PY_ENTRY] = PY_ENTRY_BYTE,
	    [PY_CODE_PATH] = 112,
	    [PY_CODE_NAME] = 120,
	    [PY_CODE_QUALNAME] = 128,
	    [PY_CODE_LINE] = 72,
	    [PY_CODE_TABLE] = 136,
	    [PY_CODE_BYTES] = 184,
	    [PY_STR_ASCII] = 48,
	    [PY_STR_COMPACT] = 72,
	    [PY_CURRENT] = 576,
	    [PY_THREAD_ID] = 152 } },
	{ 12,
	  { [PY_TSS_KEY] = 1548,
	    [PY_THREAD_FRAME] = 56,
	    [PY_CFRAME] = 1 + 0,
	    [PY_FRAME_BYTES] = 72,
	    [PY_FRAME_CODE] = 0,
	    [PY_FRAME_PREVIOUS] = 8,
	    [PY_FRAME_INSTR] = 56,
	    [PY_FRAME_OWNER] = 70,
	    [PY_ENTRY] = PY_ENTRY_SHIM,
	    [PY_CODE_PATH] = 112,
	    [PY_CODE_NAME] = 120,
	    [PY_CODE_QUALNAME] = 128,
	    [PY_CODE_LINE] = 68,
	    [PY_CODE_TABLE] = 136,
	    [PY_CODE_BYTES] = 192,
	    [PY_STR_ASCII] = 40,
	    [PY_STR_COMPACT] = 56 } },
};

/*
 * The table: its head, and the names of its numbers. The first number of each object is its size, except in
 * llist. The key is not in the table: a thread's state is in thread-specific data up to 3.14, then in a
 * variable.
 */
enum { HEAD = 24, FIELDS_MOST = 112, BYTES_MOST = HEAD + FIELDS_MOST * 8, HEAD_LIST = 48 };

#define RUNTIME "runtime.size runtime.finalizing runtime.interpreters_head "
#define INTERP "interp.size interp.id interp.next interp.threads_head "
#define MODULES "interp.gc interp.imports_modules interp.sysdict interp.builtins interp.ceval_gil "
#define GIL "interp.gil interp.gil_enabled interp.gil_locked interp.gil_holder "
#define GENERATION "interp.code_object_generation interp.tlbc_generation "
#define THREAD "thread.size thread.prev thread.next thread.interp thread.current_frame "
#define IDS "thread.thread_id thread.native_thread_id thread.datastack_chunk thread.status "
#define FRAME "frame.size frame.previous frame.executable frame.instr_ptr frame.localsplus frame.owner "
#define STACK "frame.stackpointer frame.tlbc_index "
#define NAMES "code.size code.filename code.name code.qualname code.linetable code.firstlineno code.argcount "
#define CODE NAMES "code.localsplusnames code.localspluskinds code.co_code_adaptive "
#define OBJECT "object.size object.ob_type "
#define TYPE "type.size type.tp_name type.tp_repr type.tp_flags "
#define LISTS "tuple.size tuple.ob_item tuple.ob_size list.size list.ob_item list.ob_size "
#define SET "set.size set.used set.table set.mask "
#define DICT "dict.size dict.ma_keys dict.ma_values "
#define NUMBERS DICT "float.size float.ob_fval long.size long.lv_tag long.ob_digit "
#define BYTES "bytes.size bytes.ob_size bytes.ob_sval "
#define STRINGS BYTES "str.size str.state str.length str.ascii_size "
#define GC "gc.size gc.collecting "
#define TASKS "gen.size gen.gi_name gen.gi_iframe gen.gi_frame_state llist.next llist.prev "
#define SUPPORT "debugger.eval_breaker debugger.support debugger.enabled debugger.pending_call "
#define DEBUGGER SUPPORT "debugger.script_path debugger.script_path_size "

static const struct fields {
	unsigned int minor, n;
	uint32_t key;
	const char *names;
} versions[] = {
	{ 13, 70, 2164,
	  RUNTIME INTERP MODULES GIL THREAD IDS FRAME CODE OBJECT TYPE LISTS NUMBERS STRINGS GC },
	{ 14, 92, 2340,
	  RUNTIME INTERP "interp.threads_main " MODULES GIL GENERATION THREAD IDS FRAME STACK CODE
	  "code.co_tlbc " OBJECT TYPE LISTS SET NUMBERS STRINGS GC TASKS DEBUGGER },
	{ 15, 108, 0,
	  RUNTIME INTERP "interp.threads_main " MODULES GIL GENERATION THREAD
	  "thread.base_frame thread.last_profiled_frame thread.last_profiled_frame_seq " IDS
	  "thread.holds_gil thread.gil_requested thread.current_exception thread.exc_state "
	  "err_stackitem.exc_value " FRAME STACK CODE "code.co_tlbc " OBJECT TYPE
	  "type.tp_basicsize type.tp_dictoffset heap_type.size heap_type.ht_cached_keys "
	  LISTS SET NUMBERS STRINGS "str.compact_size " GC
	  "gc.frame gc.generation_stats_size gc.generation_stats " TASKS DEBUGGER },
};

/* The numbers that are used, and the most that each may be. An offset is below the size of its object. */
static const struct use {
	const char *name;
	int at; /* -1: must be the number `most` */
	uint32_t most;
} uses[] = {
	{ "thread.current_frame", PY_THREAD_FRAME, 4096 },
	{ "frame.executable", PY_FRAME_CODE, PY_FRAME_MOST },
	{ "frame.previous", PY_FRAME_PREVIOUS, PY_FRAME_MOST },
	{ "frame.instr_ptr", PY_FRAME_INSTR, PY_FRAME_MOST },
	{ "frame.owner", PY_FRAME_OWNER, PY_FRAME_MOST },
	{ "frame.localsplus", PY_FRAME_BYTES, PY_FRAME_MOST },
	{ "code.filename", PY_CODE_PATH, PY_CODE_MOST },
	{ "code.name", PY_CODE_NAME, PY_CODE_MOST },
	{ "code.qualname", PY_CODE_QUALNAME, PY_CODE_MOST },
	{ "code.firstlineno", PY_CODE_LINE, PY_CODE_MOST },
	{ "code.linetable", PY_CODE_TABLE, PY_CODE_MOST },
	{ "code.co_code_adaptive", PY_CODE_BYTES, PY_CODE_MOST },
	{ "str.ascii_size", PY_STR_ASCII, PY_CODE_MOST },
	{ "object.ob_type", -1, 8 },
	{ "str.length", -1, 16 },
	{ "str.state", -1, 32 },
	{ "bytes.ob_size", -1, 16 },
	{ "bytes.ob_sval", -1, 32 },
};

struct table {
	uint8_t bytes[BYTES_MOST];
	const struct fields *fields;
};

/* Finds the number of this name. Returns UINT64_MAX if the version does not have it. */
static uint64_t find_field(const struct table *t, const char *name)
{
	size_t n = strlen(name), at = HEAD;

	for (const char *p = t->fields->names; *p; p = strchr(p, ' ') + 1, at += 8) {
		if (strncmp(p, name, n) == 0 && p[n] == ' ')
			return le64_load(t->bytes + at);
	}
	return UINT64_MAX;
}

/* Returns the size of the object that the field is in. */
static uint64_t object_size(const struct table *t, const char *field)
{
	char name[32];
	size_t n = (size_t)(strchr(field, '.') - field);

	memcpy(name, field, n);
	memcpy(name + n, ".size", sizeof(".size"));
	return find_field(t, name);
}

static bool take_field(const struct table *t, const struct use *u, uint32_t *at)
{
	uint64_t value = find_field(t, u->name), size = object_size(t, u->name);

	/* The characters of an empty str are after its head: at the end of the object. */
	if (value > u->most || value > size || (u->at < 0 && value != u->most))
		return false;
	if (u->at >= 0)
		at[u->at] = (uint32_t)value;
	return true;
}

/*
 * Before the final release of a version its numbers change, but the table is followed by the same members in
 * all.
 */
static bool is_length(const struct table *t)
{
	return find_field(t, "runtime.interpreters_head") == HEAD + t->fields->n * 8 + HEAD_LIST;
}

/* An unknown version is read by the newest list, if it fits. */
static const struct fields *choose_fields(uint32_t minor)
{
	size_t n = sizeof(versions) / sizeof(versions[0]);

	for (size_t i = 0; i < n; i++) {
		if (versions[i].minor == minor)
			return &versions[i];
	}
	return minor > versions[n - 1].minor ? &versions[n - 1] : NULL;
}

static bool read_table(const struct elf_file *f, struct lang_image *image)
{
	struct table t = { .fields = choose_fields(image->version >> 8 & 0xff) };
	uint64_t compact;

	if (!t.fields || !runtime_read(f, image->state, t.bytes, HEAD + t.fields->n * 8) ||
	    memcmp(t.bytes, "xdebugpy", 8) != 0 || le64_load(t.bytes + 8) >> 8 != image->version ||
	    le64_load(t.bytes + 16) != 0 || !is_length(&t))
		return false;
	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
		if (!take_field(&t, &uses[i], image->at))
			return false;
	}
	compact = find_field(&t, "str.compact_size");
	image->at[PY_STR_COMPACT] =
		compact <= PY_CODE_MOST ? (uint32_t)compact : image->at[PY_STR_ASCII] + 16;
	image->at[PY_TSS_KEY] = t.fields->key;
	image->at[PY_ENTRY] = PY_ENTRY_SHIM;
	image->at[PY_TAGGED] = t.fields->minor >= 14;
	return true;
}

bool python_offsets(const struct elf_file *f, struct lang_image *image)
{
	uint32_t minor = image->version >> 8 & 0xff, called = image->at[PY_LOOP_CALLED];

	if (image->version >> 16 != 3)
		return false;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].minor != minor)
			continue;
		memcpy(image->at, rows[i].at, sizeof(rows[i].at));
		image->at[PY_LOOP_CALLED] = called;
		return true;
	}
	return read_table(f, image);
}
