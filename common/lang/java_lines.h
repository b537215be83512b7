/*
 * Lines of Java methods, as HotSpot keeps them in a class (compressedStream.hpp, constMethod.hpp).
 *
 *	if (java_line(25, table, bci, &line))
 *		...
 *
 * version: the JDK's major number. The table is a list of pairs in no order of lines: one byte holds small
 * steps of both, 0xff announces two signed numbers, 0 is the end. Returns false if no entry is at or before
 * the bytecode index, or if the table was cut before its end.
 */
#ifndef CPROF_LANG_JAVA_LINES_H
#define CPROF_LANG_JAVA_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/slice.h"

/*
 * Takes an UNSIGNED5 number from the table, at *at. JDK 20 and newer do not use the byte 0. Returns false if
 * the table ends before the number does.
 */
bool java_unsigned5(uint32_t version, struct slice table, size_t *at, uint32_t *number);
bool java_line(uint32_t version, struct slice table, uint32_t bci, uint32_t *line);

#endif
