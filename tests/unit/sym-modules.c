/*
 * Checks that modules are evicted if they have grown too large, and found again. Operands: an ELF file, an
 * offset in it. Or: evict, and three files of made-elf.h, number 0, 1 and 2; the memory has room for only
 * one, and the second is replaced by the third.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/base/intern.h"
#include "common/elf/mapped.h"
#include "common/resolve/modules.h"
#include "tests/lib/made-elf.h"

static struct modules *modules;
static struct module_identity file;

static const char *name_at(uint64_t offset)
{
	struct module_place place = { .offset = offset };
	struct module_name name;
	uint32_t id;

	if (!modules_get(modules, &file, &id) || modules_name(modules, id, &place, &name) != 1)
		return "-";
	return (const char *)intern_get(modules_texts(modules), name.text).p;
}

/* Returns whether function i of this file has its name. */
static bool is_named(uint32_t module, unsigned int number, uint32_t i)
{
	struct module_place place = { .offset = MADE_TEXT + (uint64_t)i * MADE_STEP + 3 };
	struct module_name name;
	char begin[64];
	int n = snprintf(begin, sizeof(begin), "f%u_%u_", number, i);

	return modules_name(modules, module, &place, &name) == 1 && name.offset == 3 &&
	       strncmp((const char *)intern_get(modules_texts(modules), name.text).p, begin, (size_t)n) == 0;
}

static int evict(char **paths)
{
	enum { ROOM = 1 << 20 };
	struct modules_options options = { .demangle = DEMANGLE_NONE, .max_mem = ROOM };
	uint32_t ids[2], i;

	if (!mapped_guard() || !(modules = modules_new(&options)))
		return 1;
	for (i = 0; i < 2; i++) {
		struct module_identity is = { .path = slice_of(paths[i]) };

		if (!modules_get(modules, &is, &ids[i]))
			return 1;
	}
	for (i = 0; i < 100; i++) {
		if (!is_named(ids[i % 2], i % 2, i) || modules_bytes(modules) > ROOM) {
			printf("%u: %zu bytes\n", i, modules_bytes(modules));
			return 1;
		}
	}
	/* The first is in memory now. For the second, only names that were looked up before are known. */
	if (!is_named(ids[0], 0, 1000) || rename(paths[2], paths[1]) != 0 || !is_named(ids[1], 1, 1) ||
	    is_named(ids[1], 1, 1001) || is_named(ids[1], 2, 1001))
		return 1;
	printf("%s\n", source_status_name(modules_state(modules, ids[1]).status));
	if (modules_state(modules, ids[1]).status != SOURCE_CHANGED || !is_named(ids[0], 0, 1002))
		return 1;
	modules_free(modules);
	return 0;
}

int main(int argc, char **argv)
{
	struct modules_options options = { .demangle = DEMANGLE_NONE };
	uint64_t offset = strtoull(argc > 2 ? argv[2] : "0", NULL, 0);

	if (argc == 5 && strcmp(argv[1], "evict") == 0)
		return evict(argv + 2);
	modules = modules_new(&options);
	if (argc < 3 || !modules)
		return 1;
	file.path = slice_of(argv[1]);
	printf("%s ", name_at(offset));
	printf("%zu\n", modules_count(modules));
	if (!modules_tidy(modules, SIZE_MAX))
		return 1;
	printf("%zu\n", modules_count(modules));
	if (!modules_tidy(modules, 0))
		return 1;
	printf("%zu\n", modules_count(modules));
	printf("%s ", name_at(offset));
	printf("%zu\n", modules_count(modules));
	modules_free(modules);
	return 0;
}
