/*
 * Prints the contents of a Go program's own table.
 *
 *	names-golang list FILE			the start and the name of each function
 *	names-golang chain FILE < ADDRESSES	for each address (hexadecimal): name, file:line, inward
 *	names-golang random FILE N		N random addresses of its code
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "common/go/gonames.h"
#include "tests/lib/check.h"

static void list(const struct elf_file *f, struct gonames *g)
{
	uint32_t before = GONAME_NONE;

	for (size_t s = 0; s < f->n_segments; s++) {
		for (uint64_t i = 0; f->segments[s].exec && i < f->segments[s].filesz; i++) {
			uint32_t at = gonames_find(g, f->segments[s].vaddr + i);
			struct slice name;

			if (at == before || at == GONAME_NONE)
				continue;
			before = at;
			name = gonames_name(g, at);
			printf("%llx %.*s\n", (unsigned long long)gonames_start(g, at), (int)name.n, (const char *)name.p);
		}
	}
}

static void chains(const struct gonames *g)
{
	struct goname_call calls[GONAMES_DEPTH];
	unsigned long long vaddr;

	while (scanf("%llx", &vaddr) == 1) {
		size_t n = gonames_chain(g, vaddr, calls);

		for (size_t i = 0; i < n; i++)
			printf("%.*s %.*s:%u\n", (int)calls[i].name.n, (const char *)calls[i].name.p, (int)calls[i].file.n,
			       (const char *)calls[i].file.p, calls[i].line);
		printf("\n");
	}
}

static void random_addresses(const struct elf_file *f, const struct gonames *g, unsigned long n)
{
	const struct elf_segment *code = NULL;

	for (size_t i = 0; i < f->n_segments && !code; i++)
		code = f->segments[i].exec ? &f->segments[i] : NULL;
	while (code && n > 0) {
		uint64_t vaddr = code->vaddr + random_below(code->filesz);

		if (gonames_find(g, vaddr) == GONAME_NONE)
			continue;
		printf("%llx\n", (unsigned long long)vaddr);
		n--;
	}
}

int main(int argc, char **argv)
{
	struct elf_file *f;
	struct gonames *g;

	if (argc < 3 || elf_open(open(argv[2], O_RDONLY | O_CLOEXEC), &f) != ELF_OPENED) {
		fprintf(stderr, "usage: names-golang list FILE | chain FILE | random FILE N\n");
		return 2;
	}
	if (!gonames_open(f, &g) || !g) {
		fprintf(stderr, "%s: no table\n", argv[2]);
		return 1;
	}
	if (strcmp(argv[1], "list") == 0)
		list(f, g);
	else if (strcmp(argv[1], "chain") == 0)
		chains(g);
	else
		random_addresses(f, g, argc > 3 ? strtoul(argv[3], NULL, 10) : 1);
	gonames_free(g);
	elf_close(f);
	return fflush(stdout) != 0;
}
