/*
 * Fuzzes bytes as an ELF file with an interpreter: each image is valid, and its loops are code of the file.
 */
#include "tests/lib/fuzz.h"

#include "common/elf/mapped.h"
#include "common/lang/runtime.h"

static bool guarded;

static void demand(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct elf_file *f;
	struct lang_image image;

	if (!guarded)
		demand(guarded = mapped_guard());
	if (elf_open_bytes((struct slice){ bytes, n }, &f) != ELF_OPENED)
		return 0;
	if (runtime_identify(f, &image)) {
		demand(runtime_valid(&image));
		for (size_t i = 0; i < LANG_LOOPS; i++) {
			const struct lang_loop *l = &image.loops[i];

			demand(l->end == 0 ||
			       (l->start < l->end && runtime_contains(f, l->start, l->end - l->start, true)));
		}
		if (image.usable)
			image.at[random_below(LANG_AT)] = (uint32_t)random_u64();
		runtime_valid(&image);
	}
	elf_close(f);
	return 0;
}

#ifndef FUZZING
int main(int argc, char **argv)
{
	return fuzz_replay(argc, argv);
}
#endif
