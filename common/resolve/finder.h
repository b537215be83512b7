/*
 * Where files are: the file of a module, and the debug file that belongs to it.
 *
 * A file is looked for where the process that had it mapped sees it. That process lives still, on this
 * machine: below its root, then among what it has mapped, which also has what was deleted or replaced.
 * Then at its path here; then, where other processes live in the same container, below their
 * root; and by its build ID below any other. With --symfs every recorded path is looked for in
 * that directory as if it were the root, symbolic links included, and nowhere else.
 */
#ifndef CPROF_RESOLVE_FINDER_H
#define CPROF_RESOLVE_FINDER_H

#include "common/base/buf.h"
#include "common/elf/elffile.h"
#include "common/resolve/debuginfod.h"
#include "common/resolve/identity.h"
#include "common/resolve/procroot.h"
#include "common/resolve/unread.h"
#include "common/stream/record.h"

struct finder {
	const char *symfs;
	const char *const *debug_dirs;
	size_t n_debug_dirs;
	int tree;          /* descriptor of symfs, or -1 */
	struct procroot found; /* where the module's file was found last; its fd is -1 where that is our root */
	struct procroots roots;
	struct debuginfod *debuginfod; /* NULL: not to be asked */
	struct unread unread; /* files that ask for more than any program does, and what others put there */
	struct buf cut; /* a file that finder_debug found by the module's build ID, but not whole; empty: none */
};

void finder_init(struct finder *f, const char *symfs, const char *const *debug_dirs, size_t n_debug_dirs);
void finder_release(struct finder *f);

/*
 * Opens the file of the recorded path, without " (deleted)" if there is no file of the whole name. The
 * file is the right one: where a build ID is given, it has it; where none is, it is not one that can be
 * told to be another (in a tree, which may hold copies, it always could). *by_path: nothing but its path
 * says so. opened becomes the path that was opened, or the one of the status. SOURCE_OK, or why not, and
 * of several reasons the one that matters most: that we may not look, that there is another file, that
 * it is no ELF file, that there is none. *file is then NULL.
 */
enum source_status finder_open(struct finder *f, const struct module_identity *is, struct elf_file **file,
			       struct buf *opened, bool *by_path);

/* May another process's view help, after a finder_open that gave this? */
bool finder_may_retry(const struct module_identity *is, enum source_status status);
/* The one of two reasons that is to be told. */
enum source_status finder_worse(enum source_status a, enum source_status b);

/*
 * The next debug file: by build ID under each directory, of the process's root too, then by the name in
 * .gnu_debuglink beside the file, in .debug beside it, and under each directory; last from debuginfod, and
 * where there is no file the executable from there. A candidate must have the build ID, or, if
 * there is none, the CRC that the link names; and be another file than the one it is for. *step
 * begins at 0 and goes on where the last call ended, for a caller that does not like what it got. To
 * be called after the finder_open of the same module. NULL: there are no more.
 */
struct elf_file *finder_debug(struct finder *f, size_t *step, const struct elf_file *file,
			      const struct module_identity *is, struct buf *opened);

/*
 * The dwz file that a debug file names, as it stands there: absolute in the file system that the module was found in or
 * here, or relative to the debug file, which was opened as base; else by its build ID, as debug files are. It has that build
 * ID. To be called after the finder_open of the same module. NULL: it is not to be had.
 */
struct elf_file *finder_alt(struct finder *f, struct slice name, struct slice build_id, struct slice base);

#endif
