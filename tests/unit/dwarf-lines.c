/*
 * Prints inlined calls and lines of a file's addresses, as cprof finds them.
 *	dwarf-lines [-cs] [-a FILE] [-m BYTES] FILE <ADDRESSES
 *		"ADDRESS", then "NAME<tab>FILE:LINE" inward, then an empty line
 *	dwarf-lines -t [-n TIMES] FILE <ADDRESSES
 *		the time to open and flatten, and for a warm look-up
 * -s: with .dwo files; -a: the dwz file; -m: bytes of flattened units to keep at most; -c: prints on standard
 * error how often a unit was flattened.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/dwarf/lines.h"

struct flat;
struct unit;

static unsigned long n_flattened;

struct flat *__real_unit_flatten(struct lines *l, const struct unit *u);
struct flat *__wrap_unit_flatten(struct lines *l, const struct unit *u);

/* Replaces the function in unit.c: the Makefile passes --wrap to the linker. */
struct flat *__wrap_unit_flatten(struct lines *l, const struct unit *u)
{
	n_flattened++;
	return __real_unit_flatten(l, u);
}

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

static void put_text(struct buf *out, struct slice s)
{
	buf_bytes(out, s.p, s.n);
}

static void put_decimal(struct buf *out, uint32_t v)
{
	char digits[10];
	size_t n = sizeof(digits);

	do {
		digits[--n] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	buf_bytes(out, digits + n, sizeof(digits) - n);
}

static void put_address(struct buf *out, uint64_t v)
{
	char digits[20] = "";
	size_t n = sizeof(digits);

	digits[--n] = '\n';
	do {
		digits[--n] = "0123456789abcdef"[v & 15];
		v >>= 4;
	} while (v);
	digits[--n] = 'x';
	digits[--n] = '0';
	buf_bytes(out, digits + n, sizeof(digits) - n);
}

/* Avoids printf, which would take longer than the look-up. */
static void put_chain(struct buf *out, const struct lines *l, const struct lines_chain *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		put_text(out, lines_text(l, c->level[i].name));
		buf_byte(out, '\t');
		put_text(out, lines_text(l, c->level[i].file));
		buf_byte(out, ':');
		put_decimal(out, c->level[i].line);
		buf_byte(out, '\n');
	}
}

/* Prints all addresses with their chains. Returns false if out of memory or if they cannot be written. */
static bool print_all(struct lines *l, const uint64_t *addresses, size_t n)
{
	enum { PIECE = 1 << 16 };
	struct lines_chain c;
	struct buf out = { 0 };
	bool good = true;

	for (size_t i = 0; good && i < n; i++) {
		int found = lines_find(l, addresses[i], &c);

		put_address(&out, addresses[i]);
		if (found > 0)
			put_chain(&out, l, &c);
		buf_byte(&out, '\n');
		good = found >= 0 && !out.failed;
		if (out.n >= PIECE || i + 1 == n) {
			good = good && fwrite(out.p, 1, out.n, stdout) == out.n;
			buf_clear(&out);
		}
	}
	buf_release(&out);
	return good;
}

static uint64_t *read_addresses(size_t *n)
{
	uint64_t *addresses = NULL;
	size_t cap = 0;
	char *line = NULL;
	size_t room = 0;

	for (*n = 0; getline(&line, &room, stdin) > 0 && extend_array(&addresses, &cap, *n, sizeof(*addresses)); ++*n)
		addresses[*n] = strtoull(line, NULL, 16);
	free(line);
	return addresses;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* other processes may use the CPUs, too */
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
	enum lines_opened opened;
	uint64_t *addresses;
	size_t n;
	bool timed = false, counted = false, good;
	long times = 20;
	int option;

	while ((option = getopt(argc, argv, "a:cm:n:st")) != -1) {
		if (option == 'a')
			o.arg = optarg;
		else if (option == 'c')
			counted = true;
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
	addresses = read_addresses(&n);
	if (timed)
		return n && times > 0 ? measure(f, &o, addresses, n, times) : 2;
	opened = lines_open(f, &o, &l);
	elf_close(f);
	if (opened != LINES_OPENED) {
		printf("not opened: %d\n", opened);
		free(addresses);
		return 0;
	}
	good = print_all(l, addresses, n);
	lines_close(l);
	if (counted)
		fprintf(stderr, "%lu\n", n_flattened);
	free(addresses);
	return good ? 0 : 1;
}
