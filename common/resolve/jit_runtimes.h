/*
 * Counts frames in code that known runtimes compile while they run, so that a user learns which of them needs
 * an option to name its functions.
 *
 *	struct jit_runtimes t = { 0 };
 *	struct jit_runtime_count *all = calloc(n_processes, sizeof(*all));
 *
 *	...for each place: its process runs jit_runtimes_file(path), if that is not 0; a place in memory that
 *	...is no file counts as .named or .unnamed...
 *	jit_runtimes_add(&t, all, n_processes);
 *	for (unsigned int i = 1; i < JIT_RUNTIMES; i++)
 *		if (jit_runtimes_lacks(&t, i))
 *			...t.counts[i].unnamed frames of jit_runtimes_name(i)...
 *
 * A runtime is recognised by the base names of its files. Languages whose functions the recorder names without
 * help are not among them: Python, Ruby, PHP and Perl.
 */
#ifndef CPROF_RESOLVE_JIT_RUNTIMES_H
#define CPROF_RESOLVE_JIT_RUNTIMES_H

#include <stdbool.h>

#include "common/base/slice.h"

enum { JIT_RUNTIMES = 16 }; /* more than there are; 0 is none */

/* Frames of one process, or of all processes of a runtime. */
struct jit_runtime_count {
	unsigned int runtime;
	uint64_t named, unnamed;
};

struct jit_runtimes {
	struct jit_runtime_count counts[JIT_RUNTIMES];
};

/* Returns the runtime that a file of this path belongs to; 0: none. */
unsigned int jit_runtimes_file(struct slice path);
void jit_runtimes_add(struct jit_runtimes *t, const struct jit_runtime_count *processes, size_t n);
/* Returns true if at least half of the runtime's frames have no name. */
bool jit_runtimes_lacks(const struct jit_runtimes *t, unsigned int runtime);
/* Returns "Java", "Node.js", ...; NULL: there is no such runtime. */
const char *jit_runtimes_name(unsigned int runtime);

#endif
