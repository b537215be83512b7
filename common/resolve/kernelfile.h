/*
 * Names of the kernel out of a file, for captures that have none: a vmlinux, a System.map, a copy of kallsyms.
 *
 *	struct kernel_files *k = kernel_files_new(&options, &error);
 *
 *	kernel_files_segment(k, capture);	// which file is it, and where was the kernel loaded?
 *	if (kernel_files_find(k, address, &symbol))
 *		...symbol.name, symbol.module; in the addresses of the capture...
 *	kernel_files_free(k);
 *
 * A vmlinux must have the build ID that the capture recorded. The kernel may have been loaded elsewhere than it was
 * linked for (KASLR): the capture says where its symbol _stext was, the file where that is in it.
 */
#ifndef CPROF_RESOLVE_KERNELFILE_H
#define CPROF_RESOLVE_KERNELFILE_H

#include "common/capture/capture.h"
#include "common/resolve/kallsyms.h"

struct kernel_options {
	const char *path; /* NULL: a vmlinux is searched for */
	bool has_offset;  /* or the capture says it */
	uint64_t offset;  /* of where it ran from where it was linked */
	const char *symfs;
	const char *const *debug_dirs; /* NULL: /usr/lib/debug, under symfs where that is set */
	size_t n_debug_dirs;
};

struct kernel_files;

/* NULL: the file that was named cannot be used, or no memory; error is a sentence. Options are lent. */
struct kernel_files *kernel_files_new(const struct kernel_options *o, struct buf *error);
void kernel_files_free(struct kernel_files *k);
/* To be called for each segment, once its header is there: opens what the search finds. */
void kernel_files_segment(struct kernel_files *k, const struct capture *c);
/* False: no name. It is lent until the next call. A size of 0: of a vmlinux, and only this address is meant. */
bool kernel_files_find(struct kernel_files *k, uint64_t address, struct kernel_symbol *out);
/* Was a file named, so that it is to be asked even where the capture has symbols? */
bool kernel_files_asked(const struct kernel_files *k);
/* NAME_SYMTAB of a vmlinux, NAME_KSYM of the others. */
enum name_source kernel_files_kind(const struct kernel_files *k);
/* What came of it for this segment: the file, or an empty path where none was found; and why not, or NULL. */
enum source_status kernel_files_state(const struct kernel_files *k, struct slice *path, const char **why);

#endif
