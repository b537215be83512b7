/* Reads a Go program's table alone, without the rows that are made from it. */
#ifndef CPROF_TESTS_UNWIND_GOLANG_H
#define CPROF_TESTS_UNWIND_GOLANG_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>

#include "common/elf/elffile.h"
#include "common/unwind/golang.h"

/* A file, and the spans of its table. */
struct table {
	struct elf_file *f;
	struct spans s;
	bool good;
};

static inline bool table_open(struct table *t, const char *path)
{
	*t = (struct table){ 0 };
	if (elf_open(open(path, O_RDONLY | O_CLOEXEC), &t->f) != ELF_OPENED) {
		fprintf(stderr, "%s: no ELF file\n", path);
		return false;
	}
	t->good = golang_spans(t->f, &t->s);
	return true;
}

static inline void table_close(struct table *t)
{
	elf_close(t->f);
	spans_release(&t->s);
}

/* Searches the spans, which are in order. */
static inline const struct span *table_find(const struct table *t, uint64_t offset)
{
	size_t low = 0, high = t->s.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->s.items[middle].start <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low && offset < span_end(&t->s.items[low - 1]) ? &t->s.items[low - 1] : NULL;
}

#endif
