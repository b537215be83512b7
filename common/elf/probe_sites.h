/*
 * The places in an ELF file at which the kernel sets probes (uprobes).
 *
 *	struct probe_sites sites = { 0 };
 *
 *	if (probe_sites_symbol(f, "main", 0, &sites) != PROBE_SITES_FOUND)
 *		...
 *	for (size_t i = 0; i < sites.n; i++)
 *		...sites.items[i].offset...
 *	probe_sites_release(&sites);
 *
 * A function may have several places: static functions of one name, or the old and the new version of a
 * symbol. A static probe (USDT) has one wherever it was inlined. Its notes are in the section .note.stapsdt,
 * owner "stapsdt", type 3: three addresses (the instruction, the section .stapsdt.base as it was linked, a
 * semaphore), then provider, name and arguments, each with a NUL. prelink moves the code without the notes,
 * so addresses are corrected by the distance between both bases. Source: "UserSpaceProbeImplementation" of
 * the SystemTap wiki.
 */
#ifndef CPROF_ELF_PROBE_SITES_H
#define CPROF_ELF_PROBE_SITES_H

#include "common/elf/elffile.h"

enum { PROBE_SITES_MAX = 1024, PROBE_CODE = 16 };

struct probe_site {
	uint64_t offset; /* the instruction, in the file */
	/* Offset of a 16-bit counter in the file, by which the program knows of the probe; 0: none. */
	uint64_t semaphore;
	uint8_t code[PROBE_CODE]; /* the bytes there, or zeros */
	char *args;		  /* arguments of a static probe, as in the note; otherwise NULL */
};

/* Ascending by offset, each once. */
struct probe_sites {
	struct probe_site *items;
	size_t n, cap;
};

enum probe_sites_found {
	PROBE_SITES_FOUND,
	PROBE_SITES_UNKNOWN,  /* no symbol or probe has this name */
	PROBE_SITES_NOT_CODE, /* the address is not in an executable segment */
	PROBE_SITES_TOO_MANY,
	PROBE_SITES_NO_MEMORY,
};

/* Finds the instruction at this distance from the start of each function of the name. */
enum probe_sites_found probe_sites_symbol(const struct elf_file *f, const char *name, uint64_t distance,
					  struct probe_sites *to);
/* Finds the instruction at a linked address, as nm(1) prints it. */
enum probe_sites_found probe_sites_address(const struct elf_file *f, uint64_t vaddr, struct probe_sites *to);
/* Finds all places of a static probe. */
enum probe_sites_found probe_sites_usdt(const struct elf_file *f, const char *provider, const char *name,
					struct probe_sites *to);
void probe_sites_release(struct probe_sites *s);

#endif
