#include "cmd/cprof-record/unwind/table_build.h"

#include <sys/stat.h>
#include <unistd.h>

#include "common/base/le.h"
#include "common/lang/runtime.h"

static enum unwind_built write_table(const struct unwind_table *t, struct buf *out)
{
	unwind_table_write(t, out);
	return out->failed ? UNWIND_NO_MEMORY : UNWIND_BUILT;
}

enum unwind_built table_build_file(table_build_of_file *build, int fd, uint8_t *interpreter, struct buf *out)
{
	static const enum unwind_built unopened[] = {
		[ELF_NOT_ELF] = UNWIND_NOTHING,
		[ELF_DAMAGED] = UNWIND_DAMAGED,
		[ELF_NO_MEMORY] = UNWIND_NO_MEMORY,
	};
	struct unwind_table t = { 0 };
	struct lang_image image;
	enum unwind_built result;
	struct elf_file *f;
	enum elf_opened opened = elf_open(fd, &f);

	if (opened != ELF_OPENED)
		return elf_refusal(opened) ? UNWIND_DAMAGED : unopened[opened];
	le32_store(interpreter, runtime_identify(f, &image));
	memcpy(interpreter + 4, &image, sizeof(image));
	result = build(f, &t);
	return result == UNWIND_BUILT ? write_table(&t, out) : result;
}

enum unwind_built table_build_codes(table_build_of_codes *build, int fd, struct buf *out)
{
	struct unwind_table t = { 0 };
	enum unwind_built result;
	struct buf codes = { 0 };
	struct stat st;
	size_t n = fstat(fd, &st) == 0 ? (size_t)st.st_size : 0;

	if (!buf_reserve(&codes, n) || pread(fd, codes.p, n, 0) != (ssize_t)n)
		return UNWIND_NO_MEMORY;
	result = build((struct slice){ codes.p, n }, &t);
	return result == UNWIND_BUILT ? write_table(&t, out) : result;
}
