#include "common/javascript/javascript_internal.h"

_Static_assert((int)JS_AT <= (int)LANG_AT, "an image has room for all offsets");

enum { VERSION_FIRST = 0x090400, OBJECT_MOST = 4096 };

static uint32_t read_part(const struct elf_file *f, const struct runtime_symbol *s)
{
	int32_t part;

	if (!s->value || !runtime_read(f, s->value, &part, sizeof(part)) || part < 0 || part > UINT8_MAX)
		return 0;
	return (uint32_t)part;
}

/* V8 11.3.244 as 0x0b0300. */
static uint32_t find_version(const struct elf_file *f)
{
	struct runtime_symbol s[] = { { "_ZN2v88internal7Version6major_E", 0, 0 },
				      { "_ZN2v88internal7Version6minor_E", 0, 0 } };

	runtime_symbols(f, s, 2);
	return read_part(f, &s[0]) << 16 | read_part(f, &s[1]) << 8;
}

bool javascript_identify(const struct elf_file *f, struct lang_image *image)
{
	bool complete;

	image->version = find_version(f);
	if (!javascript_offsets(f, image, &complete))
		return false;
	image->language = LANG_JAVASCRIPT;
	javascript_builtins(f, image);
	image->usable = complete && image->version >= VERSION_FIRST && javascript_valid(image);
	return true;
}

/* Frames have few slots; they and the words of objects are aligned. */
static bool check_frame(const uint32_t *at)
{
	for (size_t i = JS_FRAME_CONTEXT; i <= JS_FRAME_OFFSET; i++) {
		if (at[i] < 8 || at[i] > 64 || at[i] % 8 != 0)
			return false;
	}
	return true;
}

static bool check_types(const uint32_t *at)
{
	for (size_t i = JS_TYPE_FUNCTION_FIRST; i <= JS_TYPE_NOT_STRING; i++) {
		if (at[i] > JS_NO_TYPE)
			return false;
	}
	return at[JS_TYPE_FUNCTION_FIRST] <= at[JS_TYPE_FUNCTION_LAST];
}

bool javascript_valid(const struct lang_image *image)
{
	const uint32_t *at = image->at;

	for (size_t i = JS_MAP_TYPE; i <= JS_BYTECODE_DATA; i++) {
		if (at[i] > OBJECT_MOST)
			return false;
	}
	return check_frame(at) && check_types(at) && at[JS_SHARED_BYTES] <= JS_SHARED_MOST &&
	       at[JS_SHARED_NAME] + 8 <= at[JS_SHARED_BYTES] &&
	       at[JS_SHARED_SCRIPT] + 8 <= at[JS_SHARED_BYTES] &&
	       at[JS_SHARED_FLAGS] + 4 <= at[JS_SHARED_BYTES] &&
	       (at[JS_CODE_ALIGN] == 32 || at[JS_CODE_ALIGN] == 64) && at[JS_CODE_HEADER] >= 16 &&
	       at[JS_CODE_BASELINE] <= JS_CODE_KIND_MASK && image->bytecodes <= LANG_LENGTHS / 3;
}
