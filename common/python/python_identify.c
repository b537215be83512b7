#include "common/python/python_internal.h"

enum { RUNTIME, CODE_TYPE, VERSION, LOOP, STATE, SYMBOLS };

/* The oldest version with _PyRuntime. */
enum { OLDEST = 0x030700, NO_KEY = 0x030f00 };

/* Finds the version: 0x030b02 for 3.11.2. */
static uint32_t find_version(const struct elf_file *f, uint64_t symbol)
{
	uint32_t version = 0;

	if (symbol && runtime_read(f, symbol, &version, sizeof(version)))
		return version >> 8;
	return python_version(f);
}

/*
 * PyTypeObject.tp_basicsize of PyCode_Type must be the size that the offsets come with, because builds with
 * other layouts have the same version (Py_TRACE_REFS). From 3.11 on the size counts up to the bytecode.
 */
static bool check_code_type(const struct elf_file *f, const struct lang_image *image)
{
	static const uint64_t sizes[] = { [7] = 144, [8] = 176, [9] = 176, [10] = 176 };
	uint32_t minor = image->version >> 8 & 0xff;
	uint64_t size = 0, want = image->at[PY_CODE_BYTES];

	if (minor < sizeof(sizes) / sizeof(sizes[0]))
		want = sizes[minor];
	return runtime_read(f, image->type + 32, &size, sizeof(size)) && size == want;
}

static bool find_thread(const struct elf_file *f, struct lang_image *image, uint64_t function)
{
	return image->version < NO_KEY ? image->at[PY_TSS_KEY] != 0 : python_tls(f, image, function);
}

bool python_identify(const struct elf_file *f, struct lang_image *image)
{
	struct runtime_symbol s[SYMBOLS] = {
		[RUNTIME] = { "_PyRuntime", 0, 0 },
		[CODE_TYPE] = { "PyCode_Type", 0, 0 },
		[VERSION] = { "Py_Version", 0, 0 },
		[LOOP] = { "_PyEval_EvalFrameDefault", 0, 0 },
		[STATE] = { "PyGILState_GetThisThreadState", 0, 0 },
	};

	runtime_symbols(f, s, SYMBOLS);
	if (!s[RUNTIME].value || !s[LOOP].value || !python_loops(f, image, &s[LOOP]))
		return false;
	image->language = LANG_PYTHON;
	image->version = find_version(f, s[VERSION].value);
	image->state = s[RUNTIME].value;
	image->type = s[CODE_TYPE].value;
	image->usable = image->version >= OLDEST && python_offsets(f, image) &&
			find_thread(f, image, s[STATE].value) && check_code_type(f, image) &&
			runtime_contains(f, image->state, s[RUNTIME].size, false) && python_valid(image);
	return true;
}

/* The bounds and alignments are those of lang_field and lang_object in bpf/lang/lang.bpf.h. */
static bool is_frame_offset(uint32_t at, uint32_t align)
{
	return at % align == 0 && at <= PY_FRAME_MOST - align;
}

static bool is_code_offset(uint32_t at, uint32_t align)
{
	return at % align == 0 && at <= PY_CODE_MOST - align;
}

/* The members of large structures. */
static bool is_far_offset(uint32_t at)
{
	return at < 1 << 16;
}

bool python_valid(const struct lang_image *image)
{
	const uint32_t *at = image->at;
	uint32_t bytes = at[PY_FRAME_BYTES], instr = at[PY_CODE_BYTES] ? 8 : 4;

	return image->state && image->type && image->version >> 16 == 3 && at[PY_ENTRY] <= PY_ENTRY_SHIM &&
	       at[PY_TAGGED] <= 1 && is_far_offset(at[PY_TSS_KEY]) && is_far_offset(at[PY_TLS]) &&
	       is_far_offset(at[PY_TLS_OFFSET]) && is_far_offset(at[PY_THREAD_FRAME]) &&
	       is_far_offset(at[PY_CFRAME]) && is_far_offset(at[PY_CURRENT]) &&
	       is_far_offset(at[PY_THREAD_ID]) &&
	       (at[PY_TSS_KEY] != 0) + (at[PY_TLS] != 0) + (at[PY_TLS_WORD] != 0) == 1 && bytes &&
	       bytes <= PY_FRAME_MOST && is_frame_offset(at[PY_FRAME_CODE], 8) &&
	       is_frame_offset(at[PY_FRAME_PREVIOUS], 8) && is_frame_offset(at[PY_FRAME_INSTR], instr) &&
	       is_frame_offset(at[PY_FRAME_OWNER], 1) && at[PY_FRAME_CODE] + 8 <= bytes &&
	       at[PY_FRAME_PREVIOUS] + 8 <= bytes && at[PY_FRAME_INSTR] + instr <= bytes &&
	       at[PY_FRAME_OWNER] < bytes && is_code_offset(at[PY_CODE_PATH], 8) &&
	       is_code_offset(at[PY_CODE_QUALNAME], 8) && at[PY_CODE_NAME] == at[PY_CODE_PATH] + 8 &&
	       is_code_offset(at[PY_CODE_NAME], 8) && is_code_offset(at[PY_CODE_TABLE], 8) &&
	       is_code_offset(at[PY_CODE_LINE], 4) && at[PY_STR_ASCII] >= 40 &&
	       at[PY_STR_ASCII] <= PY_CODE_MOST && at[PY_STR_COMPACT] > at[PY_STR_ASCII] &&
	       at[PY_STR_COMPACT] <= PY_CODE_MOST && at[PY_LOOP_CALLED] <= LANG_LOOPS &&
	       is_far_offset(at[PY_FRAME_LOCALS]) && is_code_offset(at[PY_CODE_LOCALS], 4) &&
	       is_far_offset(at[PY_FUNCTION_CODE]) && is_far_offset(at[PY_FUNCTION_NAME]);
}
