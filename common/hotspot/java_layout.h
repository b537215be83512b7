/*
 * Reads from a live process how its libjvm lays out data: the tables gHotSpotVMStructs and gHotSpotVMTypes,
 * by which HotSpot describes itself to debuggers.
 *
 *	struct java_memory memory = { read, arg };
 *	struct java_build build;
 *	char why[JAVA_WHY];
 *
 *	if (java_layout_read(&memory, &image, bias, &build, why) == JAVA_FOUND)
 *		...build.layout...
 *
 * image: of java_identify. bias: run-time address less linked address, of libjvm in this process.
 *
 * The process is untrusted. Reading is limited to 16 MiB, each number is in the range that java.h gives, and
 * a table without a needed member is refused. Results are copies.
 *
 * Members are found by name, and each has alternatives for releases from 8 on. Source: vmStructs.cpp of
 * OpenJDK 8 to 27, src/hotspot/share/runtime/.
 */
#ifndef CPROF_HOTSPOT_JAVA_LAYOUT_H
#define CPROF_HOTSPOT_JAVA_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/lang/java.h"
#include "common/lang/lang.h"

struct java_memory {
	/* Reads up to n bytes. Returns how many were readable, from the first one on. */
	size_t (*read)(void *arg, uint64_t from, void *to, size_t n);
	void *arg;
};

/* Offsets that only java_heap.c needs. */
enum java_host_at {
	JAVA_ARRAY_LENGTH, /* GrowableArray<CodeHeap*>: 32 bits */
	JAVA_ARRAY_DATA,
	JAVA_HEAP_MEMORY, /* CodeHeap: two VirtualSpaces */
	JAVA_HEAP_MAP,
	JAVA_HEAP_SHIFT,
	JAVA_SPACE_START, /* VirtualSpace: its reserved range */
	JAVA_SPACE_END,
	JAVA_SPACE_LOW,	  /* the first address in use */
	JAVA_QUEUE_START, /* StubQueue: the interpreter's code, and its size in 32 bits */
	JAVA_QUEUE_SIZE,
	JAVA_JDK_MAJOR, /* JDK_Version: 8 bits */
	JAVA_HOST_AT,
};

/* Addresses of HotSpot's variables in the process; 0: it has no such variable. */
enum java_static {
	JAVA_STATIC_HEAPS, /* from 9 on */
	JAVA_STATIC_HEAP,  /* 8 */
	JAVA_STATIC_INTERPRETER,
	JAVA_STATIC_JDK,   /* JDK_Version, up to 21 */
	JAVA_STATIC_MAJOR, /* 32 bits; the version of HotSpot, which is that of the JDK from 9 on */
	JAVA_STATICS,
};

struct java_build {
	struct java_layout layout;
	uint16_t host[JAVA_HOST_AT];
	uint64_t statics[JAVA_STATICS];
};

enum java_found {
	JAVA_FOUND,
	JAVA_LATER,	 /* the JVM has not set it yet */
	JAVA_UNREADABLE, /* its memory is not readable, or no longer */
	JAVA_REFUSED,	 /* why is a sentence's end, as "libjvm describes no nmethod._compile_id" */
};

enum { JAVA_WHY = 128 };

enum java_found java_layout_read(const struct java_memory *m, const struct lang_image *image, uint64_t bias,
				 struct java_build *b, char why[static JAVA_WHY]);
/* Returns false if a number is out of its range: for layouts from another process. */
bool java_layout_valid(const struct java_layout *l);

/* Reads all of n bytes. */
bool java_read(const struct java_memory *m, uint64_t from, void *to, size_t n);
/* Returns 0 if unreadable. */
uint64_t java_read64(const struct java_memory *m, uint64_t from);
uint32_t java_read32(const struct java_memory *m, uint64_t from);

#endif
