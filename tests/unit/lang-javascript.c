/*
 * Identifies V8 in a file.
 *
 *	lang-javascript FILE		prints version, usability, offsets and sizes, one a line
 *	lang-javascript damage FILE N	TAP: N copies with changed bytes, and N that are cut; no image may be invalid
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/lang/javascript.h"
#include "common/lang/runtime.h"
#include "tests/lib/check.h"

/* The bytes stay until the program ends. */
static struct slice read_file(const char *path)
{
	static uint8_t *p;
	struct slice s = { NULL, 0 };
	int fd = open(path, O_RDONLY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0 || !(p = malloc((size_t)st.st_size)))
		exit(1);
	while (s.n < (size_t)st.st_size) {
		ssize_t n = read(fd, p + s.n, (size_t)st.st_size - s.n);

		if (n <= 0)
			break;
		s.n += (size_t)n;
	}
	close(fd);
	s.p = p;
	return s;
}

/* Returns false if the image is one that must not reach the BPF programs. */
static bool identify(struct slice bytes, struct lang_image *image, bool *found)
{
	struct elf_file *f;

	*found = false;
	if (elf_open_bytes(bytes, &f) != ELF_OPENED)
		return true;
	*found = runtime_identify(f, image) && image->language == LANG_JAVASCRIPT;
	elf_close(f);
	return !*found || runtime_valid(image);
}

static int show(const char *path)
{
	struct slice file = read_file(path);
	struct lang_image im;
	uint32_t sum = 0;
	bool found;

	if (!identify(file, &im, &found) || !found) {
		puts("none");
		return 1;
	}
	printf("version %x usable %u\n", im.version, im.usable);
	for (size_t i = 0; i < JS_AT; i++)
		printf("%u%s", im.at[i], i + 1 == JS_AT ? "\n" : i % 16 == 15 ? "\n" : " ");
	for (size_t i = 0; i < 3 * (size_t)im.bytecodes; i++)
		sum += im.lengths[i];
	printf("bytecodes %u lengths %u\n", im.bytecodes, sum);
	for (size_t i = 0; i < 3; i++)
		printf("range %u\n", (unsigned int)(im.loops[i].end - im.loops[i].start));
	return 0;
}

static int damage(const char *path, unsigned int n)
{
	struct slice file = read_file(path);
	uint8_t *copy = malloc(file.n);
	struct lang_image im;
	bool good = true, found;

	if (!copy)
		return 1;
	for (unsigned int i = 0; i < n; i++) {
		memcpy(copy, file.p, file.n);
		for (unsigned int k = 0; k < 1u << i % 12; k++) {
			/* headers and tables are at both ends */
			uint64_t at = random_below(i % 3 == 0 ? file.n : 4096);

			copy[i % 3 == 1 ? file.n - 1 - at : at] = (uint8_t)random_u64();
		}
		good &= identify((struct slice){ copy, file.n }, &im, &found);
	}
	check(good, "changed bytes give no invalid image");
	good = true;
	for (unsigned int i = 0; i < n; i++)
		good &= identify((struct slice){ file.p, random_below(file.n) }, &im, &found);
	check(good, "nor does a cut file");
	free(copy);
	return checks_done();
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "damage") == 0)
		return damage(argv[2], (unsigned int)strtoul(argv[3], NULL, 10));
	return argc == 2 ? show(argv[1]) : 2;
}
