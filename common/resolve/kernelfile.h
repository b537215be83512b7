/*
 * Kernel names from a file, for captures that have none: a vmlinux, a System.map, or a copy of kallsyms.
 *
 *	struct kernel_files *k = kernel_files_new(&options, &error);
 *
 *	kernel_files_segment(k, capture);	// finds the file, and where the kernel was loaded
 *	if (kernel_files_find(k, address, &symbol))
 *		...symbol.name, symbol.module; in the addresses of the capture...
 *	kernel_files_free(k);
 *
 * A vmlinux must have the recorded build ID. The kernel may have been loaded at another address than it was
 * linked for (KASLR): the offset is that between the capture's _stext and the file's.
 */
#ifndef CPROF_RESOLVE_KERNELFILE_H
#define CPROF_RESOLVE_KERNELFILE_H

#include "common/capture/capture.h"
#include "common/resolve/kallsyms.h"

struct kernel_options {
	const char *path; /* NULL: search for a vmlinux */
	bool has_offset;  /* false: computed from the capture */
	uint64_t offset;  /* from the linked address to the loaded one */
	const char *symfs;
	const char *const *debug_dirs; /* NULL: /usr/lib/debug, below symfs if that is set */
	size_t n_debug_dirs;
};

struct kernel_files;

/* Returns NULL if the given file is unusable or memory is out; error is then a sentence. Options are lent. */
struct kernel_files *kernel_files_new(const struct kernel_options *o, struct buf *error);
void kernel_files_free(struct kernel_files *k);
/* Call this for each segment, once its header has been read. Opens the file that the search finds. */
void kernel_files_segment(struct kernel_files *k, const struct capture *c);
/*
 * Returns false if the address has no name. out is lent until the next call. Size 0 comes from a vmlinux: the
 * symbol is valid for this address only.
 */
bool kernel_files_find(struct kernel_files *k, uint64_t address, struct kernel_symbol *out);
/* Returns true if the user named a file, which is used even if the capture has symbols. */
bool kernel_files_asked(const struct kernel_files *k);
/* Returns NAME_SYMTAB for a vmlinux, NAME_KSYM for the others. */
enum name_source kernel_files_kind(const struct kernel_files *k);
/* Returns this segment's result. path is empty if no file was found; *why: the reason if it was rejected. */
enum source_status kernel_files_state(const struct kernel_files *k, struct slice *path, const char **why);

#endif
