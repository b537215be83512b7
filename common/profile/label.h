/*
 * A frame's name as every consumer of folded text accepts it: valid UTF-8 without `;`, control
 * characters, line separators or spaces at its ends, never empty and never of megabytes.
 *
 *	buf_clear(&b);
 *	label_append(&b, name);		// "a;b\n" becomes "a:b?"
 */
#ifndef CPROF_PROFILE_LABEL_H
#define CPROF_PROFILE_LABEL_H

#include "common/base/buf.h"

enum { LABEL_MAX = 16 << 10 }; /* a longer name loses its middle: "[...]" stands for it */

/* What stands for frames or bytes that were cut out so that a line stays short enough. */
#define LABEL_CUT "[...]"

/*
 * Appends the name to out: `;` becomes `:`, anything else that is not allowed `?`, an empty name
 * "[unknown]". The result is never longer than s, but for the empty name.
 */
void label_append(struct buf *out, struct slice s);

/* A stack of names with `;` between them, which label_append would all leave as they are? It may say no too often. */
bool label_is_stack(struct slice s);
/* The first of its names. */
struct slice label_root(struct slice stack);
/* Appends the stack, each of its names as label_append does. */
void label_append_stack(struct buf *out, struct slice s);

/*
 * Appends text of any origin to a line for a terminal. Control characters, line separators, characters that change the direction
 * of the text after them, and invalid UTF-8 become \xNN, a byte each; everything else stays.
 */
void label_append_shown(struct buf *out, struct slice s);

#endif
