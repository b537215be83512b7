/*
 * Measures naming in the process, without a stream around it. Operands: an ELF file, the way to demangle
 * ("none", "simplified"), a file of offsets in it, one a line in hexadecimal, and the number of passes over
 * them. Prints, a line each: the seconds for loading the file; the nanoseconds for a name at an address's
 * first look-up, one by one in the given order (cold), and the way cprof-sym looks up those of a block,
 * sorted and announced ahead (queued, with the sorting); and for addresses that were looked up before (warm).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "common/base/array.h"
#include "common/base/idmap.h"
#include "common/base/radix.h"
#include "common/elf/mapped.h"
#include "common/resolve/modules.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint64_t *read_offsets(const char *path, size_t *n)
{
	uint64_t *offsets = NULL;
	size_t cap = 0;
	FILE *in = fopen(path, "re");
	char line[64];

	*n = 0;
	while (in && fgets(line, sizeof(line), in) && grow_array(&offsets, &cap, *n, sizeof(*offsets)))
		offsets[(*n)++] = strtoull(line, NULL, 16);
	if (in)
		fclose(in);
	return offsets;
}

/* Keeps the distinct offsets, in the order of their first appearance. */
static size_t different(const uint64_t *offsets, size_t n, uint64_t *out)
{
	struct idmap seen;
	size_t kept = 0;
	uint32_t dummy;

	idmap_init(&seen);
	for (size_t i = 0; i < n; i++) {
		if (!idmap_find(&seen, offsets[i], &dummy) && idmap_set(&seen, offsets[i], 1))
			out[kept++] = offsets[i];
	}
	idmap_release(&seen);
	return kept;
}

/* Returns nanoseconds per offset. named counts those with a name; sum keeps all look-ups in the code. */
static double pass(struct modules *m, uint32_t id, const uint64_t *offsets, size_t n, size_t *named, uint64_t *sum)
{
	double begin = now();

	*named = 0;
	for (size_t i = 0; i < n; i++) {
		struct module_place place = { .offset = offsets[i] };
		struct module_name name;

		if (modules_name(m, id, &place, &name) == 1) {
			++*named;
			*sum += name.text + name.offset;
		}
	}
	return (now() - begin) / (double)n;
}

/* Looks names up as namer.c does for the new frames in a block of the stream. */
static double queued(struct modules *m, uint32_t id, const uint64_t *offsets, size_t n, uint64_t *sum)
{
	enum { BLOCK = 12000 };
	static const unsigned int ahead[] = { [EXPECT_FAR] = 12, [EXPECT_NEAR] = 5 };
	static struct radix_item items[BLOCK], spare[BLOCK];
	double begin = now();
	struct module_name name;

	for (size_t done = 0, some; done < n; done += some) {
		struct radix_item *sorted;

		some = n - done < BLOCK ? n - done : BLOCK;
		for (size_t i = 0; i < some; i++)
			items[i] = (struct radix_item){ offsets[done + i], (uint32_t)i };
		sorted = radix_sort(items, spare, some);
		for (size_t i = 0; i < some; i++) {
			struct module_place place = { .offset = sorted[i].key };

			for (unsigned int when = EXPECT_FAR; when <= EXPECT_NEAR; when++) {
				if (i + ahead[when] < some)
					modules_expect(m, id, sorted[i + ahead[when]].key, when);
			}
			if (modules_name_once(m, id, &place, &name) == 1)
				*sum += name.text + name.offset;
		}
	}
	return (now() - begin) / (double)n;
}

/* Starts over with nothing remembered. */
static struct modules *fresh(struct modules *m, const struct modules_options *options, const char *path, uint32_t *id)
{
	struct module_identity is = { .path = slice_of(path) };

	modules_free(m);
	m = modules_new(options);
	if (!m || !modules_get(m, &is, id))
		exit(1);
	return m;
}

int main(int argc, char **argv)
{
	struct modules_options options = { .demangle = DEMANGLE_NONE };
	const char *const no_dirs[] = { "/nonexistent" };
	uint64_t *offsets, *once, sum = 0;
	struct rusage usage;
	struct modules *m;
	size_t n, n_once, named;
	double begin;
	uint32_t id;

	if (argc < 5)
		return 2;
	options.debug_dirs = no_dirs;
	options.n_debug_dirs = 1;
	options.demangle = strcmp(argv[2], "none") == 0 ? DEMANGLE_NONE : DEMANGLE_SIMPLIFIED;
	offsets = read_offsets(argv[3], &n);
	once = n ? malloc(n * sizeof(*once)) : NULL;
	if (!once || !mapped_guard())
		return 1;
	n_once = different(offsets, n, once);
	m = fresh(NULL, &options, argv[1], &id);
	printf("queued %.1f ns\n", queued(m, id, once, n_once, &sum));
	begin = now();
	m = fresh(m, &options, argv[1], &id);
	printf("load %.6f seconds\n", (now() - begin) / 1e9);
	printf("cold %.1f ns, %zu different addresses", pass(m, id, once, n_once, &named, &sum), n_once);
	printf(", %zu named\n", named);
	for (int i = 0; i < atoi(argv[4]); i++)
		printf("warm %.1f ns, %zu addresses\n", pass(m, id, offsets, n, &named, &sum), n);
	modules_free(m);
	free(offsets);
	free(once);
	if (getrusage(RUSAGE_SELF, &usage) == 0)
		printf("peak %ld KiB (sum %" PRIx64 ")\n", usage.ru_maxrss, sum);
	return 0;
}
