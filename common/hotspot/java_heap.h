/*
 * Reads the code heaps of a live JVM: their ranges, and the blobs of code in them.
 *
 *	struct java_process p;
 *
 *	if (java_process_read(&memory, &build, &p, why) == JAVA_FOUND)	// build of java_layout_read
 *		n = java_blobs(&memory, &build.layout, &p, blobs, most);
 *
 * The process is untrusted. Ranges are in user space and inside each other as java_process_valid demands, and
 * a name has only printable characters. Results are copies.
 *
 * Sources: OpenJDK, src/hotspot/share/memory/heap.hpp (CodeHeap, HeapBlock), code/codeBlob.hpp,
 * interpreter/abstractInterpreter.hpp.
 */
#ifndef CPROF_HOTSPOT_JAVA_HEAP_H
#define CPROF_HOTSPOT_JAVA_HEAP_H

#include "common/hotspot/java_layout.h"

enum { JAVA_BLOB_NAME_ROOM = 64, JAVA_BLOBS_MOST = 1024 };

/* Code that is not of a method. */
struct java_blob {
	uint64_t start, end;		/* its memory */
	char name[JAVA_BLOB_NAME_ROOM]; /* "StubRoutines (1)", "new_instance Runtime1 stub"; cut */
};

/* Reads all but layout (the index), generation and the return barrier. */
enum java_found java_process_read(const struct java_memory *m, const struct java_build *b,
				  struct java_process *p, char why[static JAVA_WHY]);
/* Returns false if a number is out of its range: for processes from another process. */
bool java_process_valid(const struct java_process *p);

/*
 * Reads up to `most` blobs that are not of methods, in ascending order, from the heap that has the
 * interpreter. Sets p's return barrier if one of them is that stub. Returns their number.
 */
size_t java_blobs(const struct java_memory *m, const struct java_layout *l, struct java_process *p,
		  struct java_blob *blobs, size_t most);

#endif
