/*
 * Where files are: the file of a module, and the debug file that belongs to it.
 *
 * With --symfs every recorded path is looked for in that directory as if it were the root, symbolic
 * links included, and nowhere else.
 */
#ifndef CPROF_RESOLVE_FINDER_H
#define CPROF_RESOLVE_FINDER_H

#include "common/base/buf.h"
#include "common/elf/elffile.h"
#include "common/resolve/identity.h"
#include "common/stream/record.h"

struct finder {
	const char *symfs;
	const char *const *debug_dirs;
	size_t n_debug_dirs;
	int root; /* descriptor of symfs, or -1 */
};

void finder_init(struct finder *f, const char *symfs, const char *const *debug_dirs, size_t n_debug_dirs);
void finder_release(struct finder *f);

/*
 * Opens the recorded path, without " (deleted)" if there is no file of the whole name. The file is
 * the right one: where a build ID is given, it has it; where none is, it is not one that can be told
 * to be another (in a tree, which may hold copies, it always could). *by_path: nothing but its path
 * says so. opened becomes the path that was opened or tried last. SOURCE_OK, or why not; *file is then
 * NULL.
 */
enum source_status finder_open(const struct finder *f, const struct module_identity *is, struct elf_file **file,
			       struct buf *opened, bool *by_path);

/*
 * The next debug file: by build ID under each directory, then by the name in .gnu_debuglink beside
 * the file, in .debug beside it, and under each directory. A candidate must have the build ID, or, if
 * there is none, the CRC that the link names; and be another file than the one it is for. *step
 * begins at 0 and goes on where the last call ended, for a caller that does not like what it got.
 * NULL: there are no more.
 */
struct elf_file *finder_debug(const struct finder *f, size_t *step, const struct elf_file *file,
			      struct slice build_id, struct slice path, struct buf *opened);

#endif
