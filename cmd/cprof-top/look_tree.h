/*
 * A live call tree, as a part of look.h: the frames on the way to the marked line, and the subtree that is
 * shown. A path has the labels of its frames, the outermost first, each with a newline after it.
 */
#ifndef CPROF_TOP_LOOK_TREE_H
#define CPROF_TOP_LOOK_TREE_H

#include "cmd/cprof-top/look.h"

/* Leaves of the tree what the last step and the search do. Returns false if out of memory. */
bool look_tree_cut(const struct look *l, struct profile *seen);
/* Appends the path of a shown row in the profile seen; nothing for a line that stands for several frames. */
void look_tree_path(const struct look *l, const struct profile *seen, size_t row, struct buf *out);
/*
 * Makes the step into the marked row, or into the first one. Returns false, without a step, if the row is the
 * top already, or cannot be opened.
 */
bool look_tree_step(const struct look *l, const struct profile *seen, struct look_step *step);

#endif
