/*
 * Finds the file of a module, and the debug file that belongs to it.
 *
 * A file is searched for where the process that had it mapped sees it. If that process is still alive on this
 * machine: below its root, then among its mappings, which include deleted and replaced files. Then at its
 * path here; then below the roots of other processes in the same container; and, by its build ID, below any
 * other root. A file of another user below the process's root gives way to a trusted one here. With --symfs
 * every recorded path is looked up below that directory as if it were the root, symbolic links included,
 * and nowhere else.
 */
#ifndef CPROF_LOCATE_FINDER_H
#define CPROF_LOCATE_FINDER_H

#include "common/base/buf.h"
#include "common/elf/elffile.h"
#include "common/locate/debuginfod.h"
#include "common/locate/identity.h"
#include "common/locate/procroot.h"
#include "common/locate/unread.h"
#include "common/stream/record.h"

struct finder {
	const char *symfs;
	const char *const *debug_dirs;
	size_t n_debug_dirs;
	int tree;          /* descriptor of symfs, or -1 */
	/* the root in which the last module's file was found; fd is -1 if that is ours */
	struct procroot found;
	bool doubtful; /* that file is used, and finder_trusts does not accept it */
	struct procroots roots;
	struct debuginfod *debuginfod; /* NULL: no server is asked */
	/* files refused because they demand more memory than any program needs, and files noted by others */
	struct unread unread;
	struct buf cut; /* a truncated file that finder_debug found by the module's build ID; empty: none */
};

/*
 * The arguments are lent until finder_release. symfs: NULL or a tree; debug_dirs: NULL for the default ones.
 */
void finder_init(struct finder *f, const char *symfs, const char *const *debug_dirs, size_t n_debug_dirs);
void finder_release(struct finder *f);

/*
 * Opens the file of the recorded path; if there is no file of the whole name, the name without " (deleted)".
 * The file is verified. If a build ID is recorded, the file must have it. Otherwise the file must not be
 * recognizable as another one; in a --symfs tree, which may hold copies, this is not checked.
 *
 * Returns SOURCE_OK and sets *file; *by_path is true if only the path identifies the file. On failure *file
 * is NULL and the most important reason is returned: no permission, then another file, then not a usable ELF
 * file, then no file. opened is set to the path that was opened, or to the one that the reason is about.
 */
enum source_status finder_open(struct finder *f, const struct module_identity *is, struct elf_file **file,
			       struct buf *opened, bool *by_path);

/*
 * Returns true if the file may name the frames of other files that have its build ID, which anybody can copy:
 * root or the user of this process owns it, or it is in the --symfs tree.
 */
bool finder_trusts(const struct finder *f, const struct elf_file *file);
/* Returns true if another process's view may help, after a finder_open that returned this status. */
bool finder_may_retry(const struct module_identity *is, enum source_status status);
/* Returns the one of two reasons that is to be reported. */
enum source_status finder_worse(enum source_status a, enum source_status b);

/*
 * Returns the next debug file, NULL if there are no more. The order: by build ID under each directory, and in
 * the process's root; by the name in .gnu_debuglink beside the file, in .debug beside it, and under each
 * directory; from debuginfod; and, if there is no file, the executable from debuginfod.
 *
 * A candidate must have the build ID or, without one, the CRC that the link names, and must not be the file
 * itself. Candidates beside the module's file and in its process's root must be trusted, unless that file
 * is doubtful itself.
 * *step is 0 at first; a caller that rejects a file calls again to continue the search. Call this after the
 * finder_open of the same module.
 */
struct elf_file *finder_debug(struct finder *f, size_t *step, const struct elf_file *file,
			      const struct module_identity *is, struct buf *opened);

/*
 * Returns the dwz file that a debug file names, NULL if it is not available. An absolute name is looked up in
 * the file system that the module was found in, then here; a relative one from the debug file, which was
 * opened as base; then by build ID, as debug files are. The file must have that build ID. Call this after the
 * finder_open of the same module.
 */
struct elf_file *finder_alt(struct finder *f, struct slice name, struct slice build_id, struct slice base);

#endif
