/*
 * Prints unwind tables.
 *
 *	unwind-table rows FILE	prints the rule of each range, from the start of .text on
 *	unwind-table raw FILE	prints the rows themselves
 *	unwind-table size	paths on stdin: rows, bytes, rules and time of each
 *	unwind-table memory FILE	prints the kB that building took at most, and the rows
 */
#include <fcntl.h>
#include <libelf.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "common/base/intern.h"
#include "tests/unit/unwind-table.h"

static bool build_one(const char *path, struct unwind_table *t, uint64_t *text, uint64_t *n, bool quiet)
{
	struct elf_file *f;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	enum unwind_built built = UNWIND_DAMAGED;

	*text = *n = 0;
	*t = (struct unwind_table){ 0 };
	if (fd < 0 || elf_open(fd, &f) != ELF_OPENED)
		return false;
	built = unwind_build(f, t);
	for (size_t i = 0; i < f->n_segments; i++) {
		if (f->segments[i].exec) {
			*text = f->segments[i].offset;
			*n = f->segments[i].filesz;
		}
	}
	elf_close(f);
	if (built != UNWIND_BUILT && !quiet)
		printf("%s\n", built == UNWIND_NOTHING ? "nothing" : built == UNWIND_DAMAGED ? "damaged" : "too large");
	return built == UNWIND_BUILT;
}

static int run_rows(const char *path)
{
	struct unwind_rule last = { .kind = UNWIND_KINDS };
	struct unwind_table t;
	uint64_t text, n;
	bool with_rbx;

	if (!build_one(path, &t, &text, &n, false))
		return 1;
	with_rbx = has_rbx(&t);
	for (uint64_t i = 0; i < n; i++) {
		struct unwind_rule r = unwind_table_find(&t, text + i);

		if (i && memcmp(&r, &last, sizeof(r)) == 0)
			continue;
		last = r;
		printf("%lu ", (unsigned long)i);
		print_rule(&r, with_rbx);
		printf("\n");
	}
	unwind_table_release(&t);
	return 0;
}

static int run_raw(const char *path)
{
	struct unwind_table t;
	uint64_t text, n;
	bool with_rbx;

	if (!build_one(path, &t, &text, &n, false))
		return 1;
	with_rbx = has_rbx(&t);
	for (size_t p = 0; p < t.n_pages; p++) {
		for (size_t i = 0; i < t.pages[p].n; i++) {
			uint32_t row = t.rows[t.pages[p].first + i];

			printf("%#lx ", (unsigned long)((t.first_page + p) << UNWIND_PAGE_SHIFT | row >> 16));
			print_rule(&t.rules[row & 0xffff], with_rbx);
			printf("\n");
		}
	}
	unwind_table_release(&t);
	return 0;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Counts rules that no file before had: all tables share one dictionary. */
static size_t new_rules(const struct unwind_table *t, struct intern *seen)
{
	size_t before = seen->n;
	uint32_t id;

	for (size_t i = 0; i < t->n_rules; i++)
		intern_add(seen, (struct slice){ (const uint8_t *)&t->rules[i], sizeof(t->rules[i]) }, &id);
	return seen->n - before;
}

static int run_size(void)
{
	static char *paths[PATHS_MAX];
	size_t n = read_paths(paths), rows = 0, bytes = 0, rules = 0, files = 0;
	struct intern seen;
	double all = 0;

	intern_init(&seen);
	for (size_t i = 0; i < n; i++) {
		struct unwind_table t;
		uint64_t text, size;
		double start = now(), took;
		size_t own;

		if (!build_one(paths[i], &t, &text, &size, true))
			continue;
		took = now() - start;
		own = t.n_rows * sizeof(*t.rows) + t.n_pages * sizeof(*t.pages);
		printf("%8zu rows %9zu bytes %6zu rules %8.2f ms %7zu functions %4zu bad  %s\n", t.n_rows, own, t.n_rules, took,
		       t.functions, t.bad, paths[i]);
		rows += t.n_rows;
		bytes += own;
		rules += new_rules(&t, &seen);
		all += took;
		files++;
		unwind_table_release(&t);
	}
	printf("%8zu rows %9zu bytes %6zu rules %8.2f ms in %zu files\n", rows, bytes, rules, all, files);
	intern_release(&seen);
	return 0;
}

static long most_memory(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

static int run_memory(const char *path)
{
	long before = most_memory();
	struct unwind_table t;
	uint64_t text, n;

	if (!build_one(path, &t, &text, &n, false))
		return 1;
	printf("%ld kB for %zu rows\n", most_memory() - before, t.n_rows);
	unwind_table_release(&t);
	return 0;
}

int main(int argc, char **argv)
{
	elf_version(EV_CURRENT);
	if (argc == 3 && strcmp(argv[1], "rows") == 0)
		return run_rows(argv[2]);
	if (argc == 3 && strcmp(argv[1], "raw") == 0)
		return run_raw(argv[2]);
	if (argc == 2 && strcmp(argv[1], "size") == 0)
		return run_size();
	if (argc == 3 && strcmp(argv[1], "memory") == 0)
		return run_memory(argv[2]);
	fprintf(stderr, "usage: unwind-table rows FILE | raw FILE | size | memory FILE\n");
	return 2;
}
