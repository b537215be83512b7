#include "common/lang/java.h"

#include "common/lang/runtime.h"

enum { SPAN_MOST = 1 << 28 }; /* bytes between two variables */

static const char *const names[JAVA_SYMBOLS] = {
	[JAVA_STRUCTS] = "gHotSpotVMStructs",
	[JAVA_STRUCTS_STRIDE] = "gHotSpotVMStructEntryArrayStride",
	[JAVA_STRUCTS_TYPE] = "gHotSpotVMStructEntryTypeNameOffset",
	[JAVA_STRUCTS_FIELD] = "gHotSpotVMStructEntryFieldNameOffset",
	[JAVA_STRUCTS_STATIC] = "gHotSpotVMStructEntryIsStaticOffset",
	[JAVA_STRUCTS_OFFSET] = "gHotSpotVMStructEntryOffsetOffset",
	[JAVA_STRUCTS_ADDRESS] = "gHotSpotVMStructEntryAddressOffset",
	[JAVA_TYPES] = "gHotSpotVMTypes",
	[JAVA_TYPES_STRIDE] = "gHotSpotVMTypeEntryArrayStride",
	[JAVA_TYPES_TYPE] = "gHotSpotVMTypeEntryTypeNameOffset",
	[JAVA_TYPES_SIZE] = "gHotSpotVMTypeEntrySizeOffset",
};

/* Returns false if a variable is missing, or is not data of the file. */
static bool place_symbols(const struct elf_file *f, const struct runtime_symbol *s, struct lang_image *image)
{
	image->state = UINT64_MAX;
	for (size_t i = 0; i < JAVA_SYMBOLS; i++)
		image->state = s[i].value < image->state ? s[i].value : image->state;
	for (size_t i = 0; i < JAVA_SYMBOLS; i++) {
		uint64_t at = s[i].value - image->state;

		if (at > SPAN_MOST || !runtime_contains(f, s[i].value, sizeof(uint64_t), false))
			return false;
		image->at[i] = (uint32_t)at;
	}
	return true;
}

bool java_identify(const struct elf_file *f, struct lang_image *image)
{
	struct runtime_symbol s[JAVA_SYMBOLS] = { 0 };

	for (size_t i = 0; i < JAVA_SYMBOLS; i++)
		s[i].name = names[i];
	runtime_symbols(f, s, JAVA_SYMBOLS);
	if (!s[JAVA_STRUCTS].value)
		return false;
	image->language = LANG_JAVA;
	image->usable = place_symbols(f, s, image) && java_valid(image);
	return true;
}

bool java_valid(const struct lang_image *image)
{
	for (size_t i = 0; i < JAVA_SYMBOLS; i++) {
		if (image->at[i] > SPAN_MOST)
			return false;
	}
	return image->state != 0 && image->state <= UINT64_MAX - SPAN_MOST - sizeof(uint64_t);
}
