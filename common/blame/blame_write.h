/* The end of blame_finish: puts the profile of the caller together from wall and the settled chains. */
#ifndef CPROF_BLAME_BLAME_WRITE_H
#define CPROF_BLAME_BLAME_WRITE_H

#include "common/blame/blame.h"

/* Returns false if out of memory, or if the sum of the weights does not fit into 64 bits. */
bool blame_write(struct blame *b);
/* Returns the name of what ended a wait, if that is not a known thread: "[timer]". by: enum woken_by */
const char *blame_name_of_by(uint64_t by);
/* Returns how many frames are outside of a node of wall, b->roots at most: the node is a function then. */
uint32_t blame_count_outer(const struct blame *b, uint32_t node);

#endif
