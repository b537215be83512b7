/*
 * Names as Java's programmers write them, from the names in HotSpot's memory.
 *
 *	java_class_name(&out, class);		// "java/util/HashMap$Node": "java.util.HashMap$Node"
 *	java_source_path(&out, class, file);	// "java/util/HashMap.java"
 *	java_stub_name(&out, blob);		// "StubRoutines (1)": "StubRoutines (initial stubs)"
 *
 * Classes that are made at run time have numbers in their names, which differ between runs: a place in
 * memory, or how many were made before. They are left out, so that profiles of two runs can be compared:
 * "Task$$Lambda$14+0x0000000800c03" is "Task$$Lambda", and "jdk.proxy2.$Proxy12" is "jdk.proxy.$Proxy".
 *
 * Texts are modified UTF-8 (Java Virtual Machine Specification, 4.4.7), and the results are UTF-8. On lack of
 * memory out->failed is set.
 */
#ifndef CPROF_HOTSPOT_JAVA_NAMES_H
#define CPROF_HOTSPOT_JAVA_NAMES_H

#include "common/base/buf.h"

void java_text(struct buf *out, struct slice text);
void java_class_name(struct buf *out, struct slice class);
/* The name of a blob of stubs: JDK 8 to 17 number some of them. */
void java_stub_name(struct buf *out, struct slice name);
/* The path of the class's source below a directory of sources; appends nothing without a file. */
void java_source_path(struct buf *out, struct slice class, struct slice file);

#endif
