/*
 * Identifies PHP in a file.
 *
 *	lang-php FILE		prints version, usability, two offsets, and sizes of the loops
 *	lang-php damage FILE N	TAP: N copies with changed bytes, and N that are cut; no image may be invalid
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/lang/php.h"
#include "common/lang/runtime.h"
#include "tests/lib/check.h"

static struct slice read_file(const char *path)
{
	struct slice s = { NULL, 0 };
	int fd = open(path, O_RDONLY);
	struct stat st;
	uint8_t *p;

	if (fd < 0 || fstat(fd, &st) != 0 || !(p = malloc((size_t)st.st_size)))
		exit(1);
	for (ssize_t n = 1; n > 0 && s.n < (size_t)st.st_size; s.n += n > 0 ? (size_t)n : 0)
		n = read(fd, p + s.n, (size_t)st.st_size - s.n);
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
	*found = runtime_identify(f, image) && image->language == LANG_PHP;
	elf_close(f);
	return !*found || runtime_valid(image);
}

static int show(const char *path)
{
	struct slice file = read_file(path);
	struct lang_image im;
	bool found, good = identify(file, &im, &found);

	free((uint8_t *)file.p);
	if (!good || !found) {
		puts("none");
		return 1;
	}
	printf("%x usable=%u current=%u path=%u", im.version, im.usable, im.at[PHP_CURRENT], im.at[PHP_PATH]);
	printf(" loop=%u", (unsigned int)(im.loops[0].end - im.loops[0].start));
	printf(" rare=%u\n", (unsigned int)(im.loops[1].end - im.loops[1].start));
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
	free((uint8_t *)file.p);
	return checks_done();
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "damage") == 0)
		return damage(argv[2], (unsigned int)strtoul(argv[3], NULL, 10));
	return argc == 2 ? show(argv[1]) : 2;
}
