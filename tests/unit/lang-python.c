/*
 * Modules of Python's frames, from outside:
 *	lang-python identify FILE...	prints each file's image, the offsets by name; loops as their sizes
 *	lang-python facts FILE		prints the numbers of the file that make its image, as in python.txt
 *	lang-python lines <FILE		of tests/data/lang/lines.py: prints lines that differ, and how many
 *	lang-python broken FILE		checks damaged copies of the file, an interpreter
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/lib/check.h"

#include "common/base/buf.h"
#include "common/elf/unwind_sections.h"
#include "common/lang/python.h"
#include "common/python/python_lines.h"
#include "common/lang/runtime.h"

static const char *const names[PY_AT] = {
	"tss-key",	  "tls",	 "thread-frame", "cframe",	"frame-bytes", "frame-code",
	"frame-previous", "frame-instr", "frame-owner",	 "entry",	"code-path",   "code-name",
	"code-qualname",  "code-line",	 "code-table",	 "code-bytes",	"str-ascii",   "str-compact",
	"tagged",	  "tls-word",	 "tls-offset",	 "loop-called",
	"frame-locals",	  "code-locals", "function-code", "function-name",
	"current",	  "thread-id",
};

static struct elf_file *open_file(const char *path)
{
	struct elf_file *f;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd >= 0 && elf_open(fd, &f) == ELF_OPENED ? f : NULL;
}

static void print_image(const struct lang_image *image)
{
	printf("version %06" PRIx32 " usable %" PRIu32 " libc %" PRIu32 " valid %d state %d type %d text %d",
	       image->version, image->usable, image->libc, runtime_valid(image), image->state != 0,
	       image->type != 0, image->text != 0);
	for (size_t i = 0; i < LANG_LOOPS && image->loops[i].end; i++)
		printf(" loop %" PRIu64, (uint64_t)(image->loops[i].end - image->loops[i].start));
	for (size_t i = 0; i < PY_AT; i++) {
		if (image->at[i])
			printf(" %s %" PRIu32, names[i], image->at[i]);
	}
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

/*
 * VERSION SIZE TABLE: Py_Version; tp_basicsize of PyCode_Type; the 64-bit numbers at the start of _PyRuntime
 * or -.
 */
static int print_facts(const char *path)
{
	struct runtime_symbol s[] = { { "Py_Version", 0, 0 },
				      { "PyCode_Type", 0, 0 },
				      { "_PyRuntime", 0, 0 } };
	struct elf_file *f = open_file(path);
	uint64_t size = 0, table[112] = { 0 };
	uint32_t version = 0;

	if (!f)
		return 1;
	runtime_symbols(f, s, 3);
	if (s[0].value)
		runtime_read(f, s[0].value, &version, sizeof(version));
	runtime_read(f, s[1].value + 32, &size, sizeof(size));
	runtime_read(f, s[2].value, table, sizeof(table));
	printf("%#" PRIx32 " %" PRIu64 " ", version, size);
	if (memcmp(table, "xdebugpy", 8) != 0)
		printf("-");
	else /* as long as in 3.15 at most; interpreters_head is 48 after its end */
		for (size_t i = 0; i < 112 && i < (table[5] - 48) / 8; i++)
			printf("%s%" PRIu64, i ? "," : "", table[i]);
	printf("\n");
	elf_close(f);
	return fflush(stdout) != 0;
}

/* Decodes hexadecimal digits. */
static size_t take_hex(const char *text, uint8_t *to, size_t most)
{
	size_t n = 0;
	unsigned int byte;

	while (n < most && sscanf(text + 2 * n, "%2x", &byte) == 1)
		to[n++] = (uint8_t)byte;
	return n;
}

/* A cut table gives the line of the whole one, or none; before 3.10, a cut shows only in its length. */
static bool check_cut(uint32_t version, struct slice t, uint32_t first, uint32_t offset, uint32_t want)
{
	uint32_t line;

	if (version < 0x030a00)
		return true;
	t.n = t.n ? random_below(t.n) : 0;
	return !python_line(version, t, first, offset, &line) || line == want;
}

/*
 * Each line: version, first line, table (- if empty), then OFFSET:LINE, line 0 where there is none.
 * The last line is "end".
 */
static int compare_lines(void)
{
	static uint8_t table[1 << 20];
	char *text = NULL;
	size_t cap = 0, functions = 0, offsets = 0, wrong = 0;
	bool whole = false;

	while (getline(&text, &cap, stdin) > 0 && !(whole = strcmp(text, "end\n") == 0)) {
		uint32_t version = (uint32_t)strtoul(strtok(text, " "), NULL, 16),
			 first = (uint32_t)strtoul(strtok(NULL, " "), NULL, 10);
		const char *word = strtok(NULL, " \n");
		struct slice t = { table, *word == '-' ? 0 : take_hex(word, table, sizeof(table)) };

		functions++;
		while ((word = strtok(NULL, " \n"))) {
			uint32_t offset = 0, want = 0, line = 0;

			if (sscanf(word, "%" SCNu32 ":%" SCNu32, &offset, &want) != 2)
				return 1;
			if (!python_line(version, t, first, offset, &line))
				line = 0;
			offsets++;
			if ((line != want || !check_cut(version, t, first, offset, want)) && wrong++ < 5)
				printf("version %06" PRIx32 ", first line %" PRIu32 ", offset %" PRIu32
				       ": line %" PRIu32 ", not %" PRIu32 "\n",
				       version, first, offset, line, want);
		}
	}
	free(text);
	printf("%zu functions, %zu offsets, %zu wrong%s\n", functions, offsets, wrong, whole ? "" : ", cut short");
	return wrong || !whole;
}

/* Finds the place of a symbol in .dynsym, as an offset in the file. */
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
		if (h.sh_type != SHT_DYNSYM)
			continue;
		for (size_t at = 0; at < h.sh_size; at += sizeof(Elf64_Sym)) {
			Elf64_Sym symbol;

			memcpy(&symbol, bytes + h.sh_offset + at, sizeof(symbol));
			if (strcmp((const char *)s.bytes.p + symbol.st_name, name) == 0)
				return bytes + h.sh_offset + at;
		}
	}
	return NULL;
}

/* The state of a damaged copy: 0 no interpreter, 1 not usable, 2 usable. */
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

/* From the third on, they are outside of each file. */
static const uint64_t values[] = {
	1, 0xfffff, 1ull << 32, 1ull << 47, 1ull << 63, UINT64_MAX - 7, UINT64_MAX
};
enum { VALUES = sizeof(values) / sizeof(values[0]), OUTSIDE = 2 };

static void check_symbol(const struct elf_file *f, uint8_t *bytes, size_t n, const char *name)
{
	uint8_t *at = find_symbol(f, bytes, name);
	Elf64_Sym was, now;
	int usable = 0;
	char text[128];

	if (!at)
		return;
	memcpy(&was, at, sizeof(was));
	for (size_t i = OUTSIDE; i < VALUES; i++) {
		now = was;
		now.st_value = values[i];
		memcpy(at, &now, sizeof(now));
		usable += identify_bytes(bytes, n) > 1;
		now = was;
		now.st_size = values[i];
		memcpy(at, &now, sizeof(now));
		usable += identify_bytes(bytes, n) > 2;
	}
	memcpy(at, &was, sizeof(was));
	snprintf(text, sizeof(text), "%s outside of the file is not usable", name);
	check(!usable, text);
}

static void check_cuts(const uint8_t *bytes, size_t n)
{
	int usable = 0;

	for (size_t i = 1; i < 64; i++)
		usable += identify_bytes(bytes, n * i / 64) > 1;
	check(!usable, "truncated copies are not usable");
}

/* The table of 3.13 and later: each of its numbers has each of the values. */
static void check_table(const struct elf_file *f, uint8_t *bytes, size_t n)
{
	struct section s;
	uint8_t *table = NULL;
	int invalid = 0, usable = 0;

	if (section_find(f, ".PyRuntime", &s) && s.bytes.n > 584 && memcmp(s.bytes.p, "xdebugpy", 8) == 0)
		table = memmem(bytes, n, s.bytes.p, 3 * 8);
	if (!table)
		return;
	for (size_t at = 0; at < 3 * 8; at += 8) {
		uint8_t was[8];

		memcpy(was, table + at, 8);
		for (size_t i = 0; i < VALUES; i++) {
			memcpy(table + at, &values[i], 8);
			usable += identify_bytes(bytes, n) > 1;
		}
		memcpy(table + at, was, 8);
	}
	check(!usable, "a wrong cookie, version or kind of build is not usable");
	for (size_t at = 3 * 8; at < 584; at += 8) {
		uint8_t was[8];

		memcpy(was, table + at, 8);
		for (size_t i = 0; i < VALUES; i += 3) {
			memcpy(table + at, &values[i], 8);
			invalid += identify_bytes(bytes, n) > 2;
		}
		memcpy(table + at, was, 8);
	}
	check(!invalid, "a table with huge numbers is not usable, or valid");
}

static int check_broken(const char *path)
{
	static const char *const symbols[] = { "_PyRuntime", "PyCode_Type", "_PyEval_EvalFrameDefault" };
	struct elf_file *f = open_file(path);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t n = fd >= 0 ? (size_t)lseek(fd, 0, SEEK_END) : 0;
	uint8_t *bytes = malloc(n + 1);

	if (!f || !bytes || pread(fd, bytes, n, 0) != (ssize_t)n)
		return 1;
	check_is(identify_bytes(bytes, n), 2, "the whole file is usable");
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
		check_symbol(f, bytes, n, symbols[i]);
	check_cuts(bytes, n);
	check_table(f, bytes, n);
	free(bytes);
	elf_close(f);
	close(fd);
	return checks_done();
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "identify") == 0)
		return identify_files(argv + 2);
	if (argc == 2 && strcmp(argv[1], "lines") == 0)
		return compare_lines();
	if (argc == 3 && strcmp(argv[1], "facts") == 0)
		return print_facts(argv[2]);
	return argc == 3 && strcmp(argv[1], "broken") == 0 ? check_broken(argv[2]) : 2;
}
