#include "common/lang/runtime.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "common/elf/unwind_sections.h"

enum { OFFSET_MOST = 1 << 30, DYNAMIC_MOST = 512, NAME_MOST = 64 };

static const struct {
	bool (*identify)(const struct elf_file *f, struct lang_image *image);
	bool (*valid)(const struct lang_image *image);
} languages[LANG_KINDS] = {
	[LANG_PYTHON] = { python_identify, python_valid },
	[LANG_RUBY] = { ruby_identify, ruby_valid },
	[LANG_PHP] = { php_identify, php_valid },
	[LANG_PERL] = { perl_identify, perl_valid },
	[LANG_JAVASCRIPT] = { javascript_identify, javascript_valid },
	[LANG_JAVA] = { java_identify, java_valid },
};

static void find_code(const struct elf_file *f, struct lang_image *image)
{
	struct runtime_header h;

	image->dynamic = runtime_header(f, PT_DYNAMIC, &h) ? h.vaddr : 0;
	image->text = UINT64_MAX;
	for (size_t i = 0; i < f->n_segments; i++) {
		const struct elf_segment *s = &f->segments[i];

		if (!s->exec || s->vaddr >= image->text)
			continue;
		image->text = s->vaddr;
		image->text_offset = s->offset;
	}
}

/* Reads a text of the file, cut to its room. Returns false if there is none. */
static bool read_text(const struct elf_file *f, uint64_t offset, char text[static NAME_MOST])
{
	ssize_t n = offset > INT64_MAX ? -1 : pread(f->fd, text, NAME_MOST - 1, (off_t)offset);

	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* A program that musl-gcc linked requires "libc.so", one of Alpine "libc.musl-x86_64.so.1". */
static bool is_musl(const char *library)
{
	return strncmp(library, "libc.musl", 9) == 0 || strcmp(library, "libc.so") == 0;
}

/* Returns true if the file requires musl's library. Without section headers, too. */
static bool needs_musl(const struct elf_file *f)
{
	struct runtime_header h;
	Elf64_Dyn dynamic[DYNAMIC_MOST];
	size_t n;
	uint64_t strings = 0;
	char name[NAME_MOST];

	if (!runtime_header(f, PT_DYNAMIC, &h))
		return false;
	n = h.filesz / sizeof(dynamic[0]) < DYNAMIC_MOST ? h.filesz / sizeof(dynamic[0]) : DYNAMIC_MOST;
	if (!runtime_read(f, h.vaddr, dynamic, n * sizeof(dynamic[0])))
		return false;
	for (size_t i = 0; i < n; i++)
		strings = dynamic[i].d_tag == DT_STRTAB ? dynamic[i].d_un.d_ptr : strings;
	for (size_t i = 0; i < n && dynamic[i].d_tag != DT_NULL; i++) {
		memset(name, 0, sizeof(name));
		if (dynamic[i].d_tag == DT_NEEDED &&
		    runtime_read(f, strings + dynamic[i].d_un.d_val, name, sizeof("libc.musl")) &&
		    is_musl(name))
			return true;
	}
	return false;
}

static uint32_t find_libc(const struct elf_file *f)
{
	struct runtime_header h;
	char text[NAME_MOST];

	if (runtime_header(f, PT_INTERP, &h) && read_text(f, h.offset, text) && strstr(text, "ld-musl"))
		return LANG_MUSL;
	return needs_musl(f) ? LANG_MUSL : LANG_GLIBC;
}

bool runtime_identify(const struct elf_file *f, struct lang_image *image)
{
	if (!unwind_sections_usable(f)) {
		memset(image, 0, sizeof(*image));
		return false;
	}
	for (size_t i = 0; i < LANG_KINDS; i++) {
		memset(image, 0, sizeof(*image));
		find_code(f, image);
		if (!languages[i].identify || !languages[i].identify(f, image))
			continue;
		image->libc = find_libc(f);
		return true;
	}
	return false;
}

bool runtime_valid(const struct lang_image *image)
{
	if (image->language == LANG_NONE || image->language >= LANG_KINDS || image->usable > 1 ||
	    image->libc > LANG_MUSL)
		return false;
	for (size_t i = 0; i < LANG_AT; i++) {
		if (image->at[i] > OFFSET_MOST)
			return false;
	}
	for (size_t i = 0; i < LANG_LOOPS; i++) {
		if (image->loops[i].start > image->loops[i].end)
			return false;
	}
	return !image->usable ||
	       (languages[image->language].valid && languages[image->language].valid(image));
}
