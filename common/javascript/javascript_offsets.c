#include <stdlib.h>
#include <string.h>

#include "common/javascript/javascript_internal.h"

enum { V11 = 0x0b0000, V12 = 0x0c0000, NEVER = 1 << 20 };

/*
 * The metadata: 32-bit constants with C names, made by V8's tools/gen-postmortem-metadata.py. Names end with
 * the C++ type of the member, which changes between versions, so a name that ends in "__" is a prefix.
 */
static const struct row {
	const char *name; /* after "v8dbg_" */
	uint32_t at;
	int32_t factor, plus; /* the offset is value × factor + plus; factor 0: as it is */
	bool optional;
} rows[] = {
	{ "class_JSFunction__shared__", JS_FUNCTION_SHARED, 0, 0, false },
	{ "off_fp_context", JS_FRAME_CONTEXT, -1, 0, false },
	{ "off_fp_function", JS_FRAME_FUNCTION, -1, 0, false },
	{ "off_fp_bytecode_array", JS_FRAME_BYTECODE, -1, 0, true },
	{ "off_fp_bytecode_offset", JS_FRAME_OFFSET, -1, 0, true },
	{ "frametype_EntryFrame", JS_MARKER_ENTRY, 0, 0, false },
	{ "frametype_ConstructEntryFrame", JS_MARKER_CONSTRUCT_ENTRY, 0, 0, false },
	{ "frametype_ExitFrame", JS_MARKER_EXIT, 0, 0, false },
	{ "frametype_BuiltinExitFrame", JS_MARKER_BUILTIN_EXIT, 0, 0, false },
	{ "frametype_WasmFrame", JS_MARKER_WASM, 0, 0, true },
	{ "frametype_IrregexpFrame", JS_MARKER_REGEXP, 0, 0, true },
	{ "class_Map__instance_type__", JS_MAP_TYPE, 0, 0, false },
	{ "class_SharedFunctionInfo__name_or_scope_info__", JS_SHARED_NAME, 0, 0, false },
	{ "class_SharedFunctionInfo__script_or_debug_info__", JS_SHARED_SCRIPT, 0, 0, true },
	{ "class_SharedFunctionInfo__script__", JS_SHARED_SCRIPT, 0, 0, true },
	{ "class_SharedFunctionInfo__flags__", JS_SHARED_FLAGS, 0, 0, false },
	{ "class_Script__source__", JS_SCRIPT_SOURCE, 0, 0, true },
	{ "class_Script__name__", JS_SCRIPT_NAME, 0, 0, false },
	{ "class_Script__line_ends__", JS_SCRIPT_ID, 0, 8, false }, /* the id follows it */
	/* Indexes of words after the map. */
	{ "scopeinfo_idx_ncontextlocals", JS_SCOPE_LOCALS, 8, 8, false },
	{ "scopeinfo_idx_first_vars", JS_SCOPE_VARS, 8, 8, false },
	{ "class_InstructionStream__instruction_start__", JS_CODE_HEADER, 0, 0, true },
	{ "class_Code__instruction_start__", JS_CODE_START, 0, 0, true },
	{ "class_Code__flags__", JS_CODE_FLAGS, 0, 0, true },
	{ "class_Code__instruction_size__", JS_CODE_SIZE, 0, 0, true },
	{ "class_Code__deoptimization_data__", JS_CODE_DEOPT, 0, 0, true },
	{ "CodeKindBaseline", JS_CODE_BASELINE, 0, 0, true },
	/* Indexes of elements. */
	{ "DeoptimizationDataInlinedFunctionCountIndex", JS_DEOPT_COUNT, 8, JS_ARRAY_DATA, true },
	{ "DeoptimizationDataLiteralArrayIndex", JS_DEOPT_LITERALS, 8, JS_ARRAY_DATA, true },
	{ "DeoptimizationDataSharedFunctionInfoIndex", JS_DEOPT_SHARED, 8, JS_ARRAY_DATA, true },
	{ "DeoptimizationDataSharedFunctionInfoWrapperIndex", JS_DEOPT_SHARED, 8, JS_ARRAY_DATA, true },
	{ "DeoptimizationDataWrappedSharedFunctionInfoIndex", JS_DEOPT_SHARED, 8, JS_ARRAY_DATA, true },
	{ "DeoptimizationDataInliningPositionsIndex", JS_DEOPT_INLINING, 8, JS_ARRAY_DATA, true },
	{ "class_SharedFunctionInfoWrapper__shared_info__", JS_WRAPPER_SHARED, 0, 0, true },
	{ "class_BytecodeArray__wrapper__", JS_BYTECODE_TABLE, 0, 8, true }, /* the table follows it */
	{ "class_BytecodeArray__data__", JS_BYTECODE_DATA, 0, 0, true },
	{ "FirstJSFunctionType", JS_TYPE_FUNCTION_FIRST, 0, 0, true },
	{ "LastJSFunctionType", JS_TYPE_FUNCTION_LAST, 0, 0, true },
	{ "type_SharedFunctionInfo__", JS_TYPE_SHARED, 0, 0, false },
	{ "type_SharedFunctionInfoWrapper__", JS_TYPE_WRAPPER, 0, 0, true },
	{ "type_ScopeInfo__", JS_TYPE_SCOPE, 0, 0, false },
	{ "type_Script__", JS_TYPE_SCRIPT, 0, 0, false },
	{ "type_Code__", JS_TYPE_CODE, 0, 0, false },
	{ "type_BytecodeArray__", JS_TYPE_BYTECODE, 0, 0, false },
	{ "type_FixedArray__", JS_TYPE_ARRAY, 0, 0, false },
	{ "type_TrustedFixedArray__", JS_TYPE_TRUSTED_ARRAY, 0, 0, true },
	{ "type_ProtectedFixedArray__", JS_TYPE_PROTECTED_ARRAY, 0, 0, true },
	{ "type_WeakFixedArray__", JS_TYPE_WEAK_ARRAY, 0, 0, false },
	{ "type_TrustedWeakFixedArray__", JS_TYPE_TRUSTED_WEAK_ARRAY, 0, 0, true },
	{ "type_ProtectedWeakFixedArray__", JS_TYPE_PROTECTED_WEAK_ARRAY, 0, 0, true },
	{ "type_ByteArray__", JS_TYPE_BYTES, 0, 0, false },
	{ "type_TrustedByteArray__", JS_TYPE_TRUSTED_BYTES, 0, 0, true },
	{ "FirstNonstringType", JS_TYPE_NOT_STRING, 0, 0, false },
};

/* Values that javascript.h has as constants. */
static const struct constant {
	const char *name;
	int32_t value;
} constants[] = {
	{ "TaggedSize", 8 },
	{ "SmiTag", 0 },
	{ "SmiTagMask", 1 },
	{ "HeapObjectTag", 1 },
	{ "SmiValueShift", 1 },
	{ "SmiShiftSize", JS_SMALL_SHIFT - 1 },
	{ "StringRepresentationMask", JS_STRING_FORM },
	{ "SeqStringTag", JS_STRING_SEQUENTIAL },
	{ "ConsStringTag", JS_STRING_CONS },
	{ "ExternalStringTag", JS_STRING_EXTERNAL },
	{ "SlicedStringTag", JS_STRING_SLICED },
	{ "ThinStringTag", JS_STRING_THIN },
	{ "StringEncodingMask", JS_STRING_ONE_BYTE },
	{ "OneByteStringTag", JS_STRING_ONE_BYTE },
	{ "class_FixedArrayBase__length__", JS_ARRAY_LENGTH },
	{ "class_FixedArray__data__", JS_ARRAY_DATA },
	{ "class_String__length__", JS_STRING_LENGTH },
	{ "class_SeqOneByteString__chars__", JS_STRING_CHARS },
	{ "class_SeqTwoByteString__chars__", JS_STRING_CHARS },
	{ "class_ConsString__first__", JS_STRING_CONS_FIRST },
	{ "class_ConsString__second__", JS_STRING_CONS_SECOND },
	{ "class_SlicedString__parent__", JS_STRING_PARENT },
	{ "class_SlicedString__offset__", JS_STRING_OFFSET },
	{ "class_ThinString__actual__", JS_STRING_ACTUAL },
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]), CONSTANTS = sizeof(constants) / sizeof(constants[0]) };

struct reading {
	const struct elf_file *f;
	struct lang_image *image;
	bool found[ROWS], agrees[CONSTANTS];
	bool known[JS_AT]; /* the offset has its value */
	bool bad;	   /* a value is out of range */
	int32_t type_function;
};

static bool fits(const char *name, const char *pattern)
{
	size_t n = strlen(pattern);

	return strncmp(name, pattern, n) == 0 && (name[n] == '\0' || (n > 2 && pattern[n - 1] == '_'));
}

/* A constant 0 has no bytes in the file: the compiler puts it into .bss. */
static bool read_value(const struct elf_file *f, uint64_t vaddr, int32_t *value)
{
	*value = 0;
	return runtime_read(f, vaddr, value, sizeof(*value)) ||
	       runtime_contains(f, vaddr, sizeof(*value), false);
}

static void set_offset(struct reading *r, size_t row, int32_t value)
{
	int64_t offset = value;

	if (rows[row].factor)
		offset *= rows[row].factor;
	offset += rows[row].plus;
	r->found[row] = true;
	r->known[rows[row].at] = true;
	if (offset < 0 || offset > NEVER)
		r->bad = true;
	else
		r->image->at[rows[row].at] = (uint32_t)offset;
}

static void take_symbol(void *arg, const struct runtime_symbol *s)
{
	struct reading *r = arg;
	const char *name = s->name + 6;
	int32_t value;

	if (strncmp(s->name, "v8dbg_", 6) != 0 || !read_value(r->f, s->value, &value))
		return;
	for (size_t i = 0; i < ROWS; i++) {
		if (!r->found[i] && fits(name, rows[i].name))
			set_offset(r, i, value);
	}
	for (size_t i = 0; i < CONSTANTS; i++) {
		if (fits(name, constants[i].name))
			r->agrees[i] = value == constants[i].value;
	}
	if (fits(name, "type_JSFunction__"))
		r->type_function = value;
}

static void set_missing(struct reading *r, uint32_t at, uint32_t value)
{
	if (!r->known[at])
		r->image->at[at] = value;
}

/* Up to V8 10, instructions follow the Code. Later they are in an InstructionStream, which points to it. */
static void complete_code(struct reading *r)
{
	uint32_t *at = r->image->at;
	bool stream = r->known[JS_CODE_HEADER];

	if (!stream) {
		at[JS_CODE_HEADER] = at[JS_CODE_START];
		at[JS_CODE_START] = 0;
		set_missing(r, JS_CODE_DEOPT, 16);
		set_missing(r, JS_CODE_FLAGS, at[JS_CODE_SIZE] + 8);
	} else {
		at[JS_CODE_POINTER] = 8;
		set_missing(r, JS_CODE_DEOPT, r->image->version < V12 ? 16 : 8);
		/* in 11: after the deoptimization data, the position table, and the stream */
		set_missing(r, JS_CODE_START, at[JS_CODE_DEOPT] + 24);
		set_missing(r, JS_CODE_FLAGS, at[JS_CODE_START] + 8);
		set_missing(r, JS_CODE_SIZE, at[JS_CODE_START] + (at[JS_CODE_DEOPT] == 16 ? 16 : 12));
	}
	at[JS_CODE_TABLE] = at[JS_CODE_DEOPT] + 8;
	at[JS_CODE_ALIGN] = r->image->version < 0x090600 ? 32 : 64;
	set_missing(r, JS_CODE_BASELINE, 11);
	set_missing(r, JS_DEOPT_COUNT, JS_ARRAY_DATA + 8);
	set_missing(r, JS_DEOPT_LITERALS, JS_ARRAY_DATA + 16);
	set_missing(r, JS_DEOPT_SHARED, JS_ARRAY_DATA + 48);
	set_missing(r, JS_DEOPT_INLINING, JS_ARRAY_DATA + 56);
}

static void complete_types(struct reading *r)
{
	uint32_t *at = r->image->at;

	for (uint32_t i = JS_TYPE_FUNCTION_FIRST; i <= JS_TYPE_NOT_STRING; i++)
		set_missing(r, i, JS_NO_TYPE);
	if (at[JS_TYPE_FUNCTION_FIRST] == JS_NO_TYPE && r->type_function > 0 &&
	    r->type_function < JS_NO_TYPE) {
		at[JS_TYPE_FUNCTION_FIRST] = (uint32_t)r->type_function;
		at[JS_TYPE_FUNCTION_LAST] = (uint32_t)r->type_function + 15; /* functions and constructors */
	}
}

/* Fills offsets that this version does not export. */
static void complete(struct reading *r)
{
	uint32_t *at = r->image->at;

	set_missing(r, JS_FRAME_BYTECODE, at[JS_FRAME_FUNCTION] + 16);
	set_missing(r, JS_FRAME_OFFSET, at[JS_FRAME_FUNCTION] + 24);
	set_missing(r, JS_SCRIPT_SOURCE, 8);
	at[JS_SHARED_BYTES] = at[JS_SHARED_FLAGS] + 16; /* with the id of the function's literal */
	if (at[JS_SCOPE_VARS] == 48) {			/* positions are two words before the names */
		at[JS_SCOPE_START] = at[JS_SCOPE_VARS] - 16;
	}
	at[JS_BYTECODE_LENGTH] = JS_ARRAY_LENGTH;
	set_missing(r, JS_BYTECODE_TABLE, 32);
	set_missing(r, JS_BYTECODE_DATA, 54);
	complete_code(r);
	complete_types(r);
}

static bool is_complete(const struct reading *r)
{
	for (size_t i = 0; i < ROWS; i++) {
		if (!rows[i].optional && !r->found[i])
			return false;
	}
	for (size_t i = 0; i < CONSTANTS; i++) {
		if (!r->agrees[i])
			return false;
	}
	return !r->bad && r->known[JS_SHARED_SCRIPT] && r->image->at[JS_TYPE_FUNCTION_FIRST] != JS_NO_TYPE &&
	       (r->known[JS_CODE_HEADER] || r->known[JS_CODE_START]);
}

bool javascript_offsets(const struct elf_file *f, struct lang_image *image, bool *complete_image)
{
	struct reading r = { .f = f, .image = image };

	runtime_each_dynamic(f, take_symbol, &r);
	if (!r.found[0])
		return false;
	complete(&r);
	*complete_image = is_complete(&r);
	return true;
}
