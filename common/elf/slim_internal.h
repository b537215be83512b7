/*
 * The plan of a new file, for the parts of slim.h: slim.c chooses the sections, slim_write.c lays out and
 * writes the file.
 *
 *	...s->pieces, s->blobs, s->segments...
 *	result = slim_lay_out(s);	// sets all offsets, and s->bytes
 */
#ifndef CPROF_ELF_SLIM_INTERNAL_H
#define CPROF_ELF_SLIM_INTERNAL_H

#include <gelf.h>

#include "common/base/buf.h"
#include "common/base/idmap.h"
#include "common/elf/slim.h"

/* An input file. */
struct slim_input {
	const struct elf_file *file;
	uint64_t size;
	size_t n;           /* sections */
	size_t names;       /* number of the section with section names */
	uint8_t *strings;   /* by section: 1 for the string table of a symbol table */
	uint32_t *becomes;  /* by section: its number in the new file; 0: none */
	struct idmap index; /* hash of a section's name and address to its number */
};

/* A section of the new file, or other bytes in it. */
struct piece {
	GElf_Shdr sh;
	const struct slim_input *input; /* the numbers in sh_link and sh_info are its sections */
	uint64_t at;                    /* offset in its file; unused without bytes and with own */
	uint8_t *own;                   /* bytes made here, or NULL */
};

struct slim {
	struct slim_input base, other; /* section numbers are those of base; either may have no file */
	struct piece *pieces;
	size_t n, cap;
	struct piece **order; /* the pieces with bytes, in the order of the file */
	size_t n_order;
	struct piece *blobs; /* notes of segments */
	size_t n_blobs, cap_blobs;
	GElf_Phdr *segments;
	size_t n_segments;
	struct buf names;
	size_t names_at; /* number of the section with section names */
	uint64_t headers_at, bytes, kept;
	uint32_t holds;
	GElf_Ehdr eh;
	bool dwarf, symtab, go, rela_dyn, wide, big;
};

/* Lays out the file: headers, sections, notes of segments, section headers. */
enum slim_result slim_lay_out(struct slim *s);
/* Appends a number of n bytes in the byte order of the file. */
void slim_number(struct buf *b, const struct slim *s, uint64_t v, unsigned int n);

#endif
