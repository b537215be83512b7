/*
 * Compares the parts of functions that their branches show with those that symbols name:
 *	unwind-parts FILE	FILE has .symtab. Prints "N functions with .cold, F found, W wrong"
 * A function without .cold must have no part.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/array.h"
#include "common/lang/runtime.h"
#include "common/unwind/function_parts.h"

enum { NAME = 96 };

struct named {
	uint64_t start, end;
	char name[NAME];
};

static struct named *items;
static size_t n, cap;

static void keep_symbol(void *arg, const struct runtime_symbol *s)
{
	(void)arg;
	if (!s->size || strlen(s->name) >= NAME || !grow_array(&items, &cap, n, sizeof(*items)))
		return;
	items[n].start = s->value;
	items[n].end = s->value + s->size;
	snprintf(items[n++].name, NAME, "%s", s->name);
}

/* Returns true if there is a symbol of this name, with .cold after it, at this address. */
static bool is_cold(const char *name, uint64_t start)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < n; i++) {
		if (items[i].start == start && strncmp(items[i].name, name, length) == 0 &&
		    strncmp(items[i].name + length, ".cold", 5) == 0)
			return true;
	}
	return false;
}

static bool has_cold(const char *name)
{
	char cold[NAME + 8];

	snprintf(cold, sizeof(cold), "%s.cold", name);
	for (size_t i = 0; i < n; i++) {
		if (strcmp(items[i].name, cold) == 0)
			return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	struct function_range parts[4];
	struct function_list l;
	struct elf_file *f;
	size_t with = 0, found = 0, wrong = 0;

	if (argc != 2 || elf_open(open(argv[1], O_RDONLY | O_CLOEXEC), &f) != ELF_OPENED ||
	    !functions_read(f, &l))
		return 2;
	runtime_each_symbol(f, keep_symbol, NULL);
	for (size_t i = 0; i < n; i++) {
		size_t k = function_parts(f, &l, items[i].start, parts, 4);
		bool right = false;

		with += has_cold(items[i].name);
		for (size_t p = 0; p < k; p++) {
			right = right || is_cold(items[i].name, parts[p].start);
			if (!is_cold(items[i].name, parts[p].start) && !strstr(items[i].name, ".cold") &&
			    wrong++ < 5)
				printf("%s: 0x%jx\n", items[i].name, (uintmax_t)parts[p].start);
		}
		found += right;
	}
	printf("%zu functions with .cold, %zu found, %zu wrong\n", with, found, wrong);
	functions_release(&l);
	elf_close(f);
	free(items);
	return fflush(stdout) != 0;
}
