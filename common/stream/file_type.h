/*
 * Recognizes input that is not a stream, by its first bytes, for the message that refuses it.
 *
 *	const char *known = file_type_known(start);	// "an ELF file, not a cprof stream"
 *
 *	if (!known && file_type_is_text(start))
 *		...text, not a cprof stream...
 */
#ifndef CPROF_STREAM_FILE_TYPE_H
#define CPROF_STREAM_FILE_TYPE_H

#include "common/base/slice.h"

/* Returns a message about another known file type with these first bytes, a constant; or NULL. */
const char *file_type_known(struct slice start);
/* Returns true if the first bytes have no control characters besides those of text. */
bool file_type_is_text(struct slice start);

#endif
