/*
 * perl in files, from outside:
 *	lang-perl identify FILE...	prints each file's image, the offsets by name; loops as their sizes
 *	lang-perl broken FILE		checks copies of the file, an interpreter, that are damaged
 */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/check.h"

#include "common/elf/unwind_sections.h"
#include "common/lang/perl.h"
#include "common/lang/runtime.h"

static const char *const names[] = { "keyed", "curcop", "stackinfo", "named-aux", "nextstate" };
enum { NAMES = sizeof(names) / sizeof(names[0]) };

static struct elf_file *open_file(const char *path)
{
	struct elf_file *f;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd >= 0 && elf_open(fd, &f) == ELF_OPENED ? f : NULL;
}

static void print_image(const struct lang_image *image)
{
	printf("language %" PRIu32 " version %06" PRIx32 " usable %" PRIu32 " valid %d state %d text %d", image->language, image->version,
	       image->usable, runtime_valid(image), image->state != 0, image->text != 0);
	for (size_t i = 0; i < LANG_LOOPS && image->loops[i].end; i++)
		printf(" loop %" PRIu64, (uint64_t)(image->loops[i].end - image->loops[i].start));
	for (size_t i = 0; i < NAMES; i++)
		printf(" %s %" PRIu32, names[i], image->at[i]);
	printf("\n");
}

static int identify_files(char **paths)
{
	struct lang_image image;

	for (; *paths; paths++) {
		struct elf_file *f = open_file(*paths);

		if (!f || !runtime_identify(f, &image))
			printf("no interpreter\n");
		else
			print_image(&image);
		elf_close(f);
	}
	return fflush(stdout) != 0;
}

/* Finds a symbol of .dynsym in the bytes of the file. */
static uint8_t *find_symbol(const struct elf_file *f, uint8_t *bytes, const char *name)
{
	struct section t, s;
	Elf64_Ehdr e;
	Elf64_Shdr h;

	if (!section_find(f, ".dynsym", &t) || !section_find(f, ".dynstr", &s))
		return NULL;
	memcpy(&e, bytes, sizeof(e));
	for (size_t i = 0; i < e.e_shnum; i++) {
		memcpy(&h, bytes + e.e_shoff + i * sizeof(h), sizeof(h));
		for (size_t at = 0; h.sh_type == SHT_DYNSYM && at < h.sh_size; at += sizeof(Elf64_Sym)) {
			Elf64_Sym symbol;

			memcpy(&symbol, bytes + h.sh_offset + at, sizeof(symbol));
			if (strcmp((const char *)s.bytes.p + symbol.st_name, name) == 0)
				return bytes + h.sh_offset + at;
		}
	}
	return NULL;
}

/* The state of a damaged copy: 0 no interpreter, 1 not usable, 2 usable, 3 not valid. */
static int identify_bytes(const uint8_t *bytes, size_t n)
{
	struct elf_file *f;
	struct lang_image image;
	int state = 0;

	if (elf_open_bytes((struct slice){ bytes, n }, &f) != ELF_OPENED)
		return 0;
	if (runtime_identify(f, &image))
		state = runtime_valid(&image) ? 1 + (int)image.usable : 3;
	elf_close(f);
	return state;
}

static const uint64_t values[] = { 1ull << 32, 1ull << 47, 1ull << 63, UINT64_MAX - 7, UINT64_MAX };
enum { VALUES = sizeof(values) / sizeof(values[0]) };

/* most: the state at most if the symbol has another address, and if it has another size */
static void check_symbol(const struct elf_file *f, uint8_t *bytes, size_t n, const char *name, int most, int most_size)
{
	uint8_t *at = find_symbol(f, bytes, name);
	Elf64_Sym was, now;
	int wrong = 0;
	char text[128];

	if (!at)
		return;
	memcpy(&was, at, sizeof(was));
	for (size_t i = 0; i < VALUES; i++) {
		now = was;
		now.st_value = values[i];
		memcpy(at, &now, sizeof(now));
		wrong += identify_bytes(bytes, n) > most;
		now = was;
		now.st_size = values[i];
		memcpy(at, &now, sizeof(now));
		wrong += identify_bytes(bytes, n) > most_size;
	}
	memcpy(at, &was, sizeof(was));
	snprintf(text, sizeof(text), "%s with other numbers", name);
	check(!wrong, text);
}

static int check_broken(const char *path)
{
	struct elf_file *f = open_file(path);
	int fd = open(path, O_RDONLY | O_CLOEXEC), usable = 0;
	size_t n = fd >= 0 ? (size_t)lseek(fd, 0, SEEK_END) : 0;
	uint8_t *bytes = malloc(n + 1);

	if (!f || !bytes || pread(fd, bytes, n, 0) != (ssize_t)n)
		return 1;
	check_is(identify_bytes(bytes, n), 2, "the whole file is usable");
	check_symbol(f, bytes, n, "PL_thr_key", 1, 2);
	check_symbol(f, bytes, n, "PL_curcop", 1, 2);
	check_symbol(f, bytes, n, "PL_curstackinfo", 1, 2);
	check_symbol(f, bytes, n, "PL_version", 1, 2);
	check_symbol(f, bytes, n, "Perl_runops_standard", 1, 2);
	check_symbol(f, bytes, n, "Perl_runops_debug", 2, 2);
	for (size_t i = 1; i < 64; i++)
		usable += identify_bytes(bytes, n * i / 64) > 1;
	check(!usable, "truncated copies are not usable");
	free(bytes);
	elf_close(f);
	close(fd);
	return checks_done();
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "identify") == 0)
		return identify_files(argv + 2);
	return argc == 3 && strcmp(argv[1], "broken") == 0 ? check_broken(argv[2]) : 2;
}
