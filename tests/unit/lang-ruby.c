/*
 * Modules of Ruby's frames, from outside:
 *	lang-ruby identify FILE...	prints each file's image, and the sizes of its loops
 *	lang-ruby lines <FILE		of tests/data/lang/lines.rb: prints lines that differ, and how many
 *	lang-ruby broken FILE		checks damaged copies of the file, an interpreter
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/check.h"

#include "common/base/le.h"
#include "common/lang/ruby.h"
#include "common/ruby/ruby_lines.h"
#include "common/lang/runtime.h"

enum { TABLE_MOST = 16 << 10, LINE_MOST = 1 << 20, COPIES = 300 };

static bool identify_file(const char *path, struct lang_image *image)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_file *f;
	bool found;

	if (fd < 0 || elf_open(fd, &f) != ELF_OPENED)
		return false;
	found = runtime_identify(f, image);
	elf_close(f);
	return found && image->language == LANG_RUBY;
}

static int identify_files(char **paths)
{
	for (; *paths; paths++) {
		struct lang_image image;

		if (!identify_file(*paths, &image)) {
			printf("no interpreter\n");
			continue;
		}
		printf("version %06" PRIx32 " usable %" PRIu32 " valid %d context %" PRIu32 " first %" PRIu32
		       " words %" PRIu32 " frame %" PRIu32 " class %" PRIu32 " loops",
		       image.version, image.usable, runtime_valid(&image), image.at[RB_EC],
		       image.at[RB_TLS_FIRST], image.at[RB_TLS_WORDS], image.at[RB_CFP_BYTES],
		       image.at[RB_CLASS]);
		for (size_t i = 0; i < LANG_LOOPS && image.loops[i].end; i++)
			printf(" %" PRIu64, (uint64_t)(image.loops[i].end - image.loops[i].start));
		printf("\n");
	}
	return fflush(stdout) != 0;
}

/* Reads hexadecimal digits up to a space. */
static size_t read_hex(char **text, uint8_t *to)
{
	size_t n = 0;
	unsigned int byte;

	for (; n < TABLE_MOST && sscanf(*text, "%2x", &byte) == 1 && **text != ' '; *text += 2)
		to[n++] = (uint8_t)byte;
	return n;
}

static int compare_lines(void)
{
	static char text[LINE_MOST];
	static uint8_t table[TABLE_MOST];
	size_t sequences = 0, positions = 0, none = 0, wrong = 0;

	while (fgets(text, sizeof(text), stdin)) {
		char *p = text;
		uint32_t version = (uint32_t)strtoul(p, &p, 10), position, want, line;
		struct slice s = { table, 0 };
		int used;

		p++;
		s.n = read_hex(&p, table);
		sequences++;
		for (; sscanf(p, " %" SCNu32 ":%" SCNu32 "%n", &position, &want, &used) == 2; p += used) {
			positions++;
			if (!ruby_line(version, s, position, &line))
				none++;
			else if (line != want && wrong++ < 5)
				printf("%zu: line of %" PRIu32 " is %" PRIu32 ", not %" PRIu32 "\n",
				       sequences, position, line, want);
		}
	}
	printf("%zu sequences, %zu positions, %zu without a line, %zu wrong\n", sequences, positions, none,
	       wrong);
	return fflush(stdout) != 0;
}

/*
 * Writes the bytes to a file without a name and identifies it. Returns 2 for a usable image, 1 for
 * another, 0 for none.
 */
static int identify_bytes(const uint8_t *bytes, size_t n)
{
	FILE *file = tmpfile();
	struct lang_image image;
	struct elf_file *f;
	int is = 0;

	if (!file || fwrite(bytes, 1, n, file) != n || fflush(file) != 0)
		abort();
	if (elf_open(dup(fileno(file)), &f) == ELF_OPENED) {
		if (runtime_identify(f, &image))
			is = image.usable && runtime_valid(&image) ? 2 : 1;
		if (is && !runtime_valid(&image))
			abort();
		elf_close(f);
	}
	fclose(file);
	return is;
}

static int check_broken(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), seen[3] = { 0 };
	off_t end = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
	size_t n = end > 0 ? (size_t)end : 0;
	uint8_t *bytes = malloc(n + 1);

	if (!bytes || n == 0 || pread(fd, bytes, n, 0) != (ssize_t)n)
		return 1;
	check_is(identify_bytes(bytes, n), 2, "the whole file is usable");
	for (int i = 0; i < COPIES; i++) {
		size_t at = random_below(i % 2 ? n : n < 4096 ? n : 4096);
		uint8_t old = bytes[at];

		bytes[at] = (uint8_t)random_u64();
		seen[identify_bytes(bytes, n)]++;
		bytes[at] = old;
	}
	check(seen[2] > 0, "copies with a changed byte give an image that is valid, or none");
	for (int i = 0; i < COPIES; i++)
		seen[identify_bytes(bytes, random_below(n))]++;
	check(seen[0] > 0, "so do copies that are cut");
	free(bytes);
	close(fd);
	return checks_done();
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "identify") == 0)
		return identify_files(argv + 2);
	if (argc == 2 && strcmp(argv[1], "lines") == 0)
		return compare_lines();
	if (argc == 3 && strcmp(argv[1], "broken") == 0)
		return check_broken(argv[2]);
	return 2;
}
