/* Modules are forgotten where they have grown too large, and found again. Operand: an ELF file. */
#include <stdio.h>
#include <stdlib.h>

#include "common/resolve/modules.h"

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

int main(int argc, char **argv)
{
	struct modules_options options = { .demangle = DEMANGLE_NONE };
	uint64_t offset = strtoull(argc > 2 ? argv[2] : "0", NULL, 0);

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
