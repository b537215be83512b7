/*
 * Inlined calls and lines of a file's addresses, as cprof finds them.
 *	dwarf-lines [-s] [-a FILE] [-m BYTES] FILE <ADDRESSES	"ADDRESS", then "NAME<tab>FILE:LINE" inward, then an empty line
 *	dwarf-lines -t [-n TIMES] FILE <ADDRESSES	what it takes: to open and flatten, and warm
 * -s: with .dwo files; -a: the dwz file; -m: what may be held of flattened units.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/dwarf/lines.h"

static struct elf_file *open_file(const char *path)
{
	struct elf_file *f;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd >= 0 && elf_open(fd, &f) == ELF_OPENED ? f : NULL;
}

static struct elf_file *open_alt(void *arg, struct slice name, struct slice build_id)
{
	(void)name;
	(void)build_id;
	return arg ? open_file(arg) : NULL;
}

static void print_chain(const struct lines *l, const struct lines_chain *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		printf("%s\t%s:%u\n", (const char *)lines_text(l, c->level[i].name).p,
		       (const char *)lines_text(l, c->level[i].file).p, c->level[i].line);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* others may use the machine, too */
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t ask_all(struct lines *l, const uint64_t *addresses, size_t n)
{
	struct lines_chain c;
	uint64_t levels = 0;

	for (size_t i = 0; i < n; i++)
		levels += lines_find(l, addresses[i], &c) > 0 ? c.n : 0;
	return levels;
}

static int measure(struct elf_file *f, const struct lines_options *o, const uint64_t *addresses, size_t n, long times)
{
	struct lines *l;
	double t0 = seconds(), t1, t2, t3;
	uint64_t levels = 0;

	if (lines_open(f, o, &l) != LINES_OPENED)
		return 1;
	t1 = seconds();
	ask_all(l, addresses, n);
	t2 = seconds();
	for (long i = 0; i < times; i++)
		levels += ask_all(l, addresses, n);
	t3 = seconds();
	printf("open=%.6f cold=%.6f warm=%.9f levels=%" PRIu64 " bytes=%zu\n", t1 - t0, t2 - t0,
	       (t3 - t2) / (double)times / (double)n, levels / (uint64_t)times, lines_bytes(l));
	lines_close(l);
	return 0;
}

int main(int argc, char **argv)
{
	struct lines_options o = { .open_alt = open_alt };
	struct elf_file *f;
	struct lines *l;
	struct lines_chain c;
	enum lines_opened opened;
	uint64_t *addresses = NULL;
	size_t n = 0, cap = 0;
	char text[64];
	bool timed = false;
	long times = 20;
	int option;

	while ((option = getopt(argc, argv, "a:m:n:st")) != -1) {
		if (option == 'a')
			o.arg = optarg;
		else if (option == 'm')
			o.bytes_max = strtoul(optarg, NULL, 10);
		else if (option == 'n')
			times = strtol(optarg, NULL, 10);
		else if (option == 's')
			o.split = true;
		else if (option == 't')
			timed = true;
		else
			return 2;
	}
	f = optind < argc ? open_file(argv[optind]) : NULL;
	if (!f)
		return 1;
	while (fgets(text, sizeof(text), stdin) && grow_array(&addresses, &cap, n, sizeof(*addresses)))
		addresses[n++] = strtoull(text, NULL, 16);
	if (timed)
		return n && times > 0 ? measure(f, &o, addresses, n, times) : 2;
	opened = lines_open(f, &o, &l);
	elf_close(f);
	if (opened != LINES_OPENED) {
		printf("not opened: %d\n", opened);
		free(addresses);
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		int found = lines_find(l, addresses[i], &c);

		printf("0x%" PRIx64 "\n", addresses[i]);
		if (found < 0)
			return 1;
		if (found)
			print_chain(l, &c);
		putchar('\n');
	}
	lines_close(l);
	free(addresses);
	return 0;
}
