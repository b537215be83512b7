/*
 * A frame's name as every consumer of folded text accepts it: valid UTF-8 without `;`, control
 * characters, line separators or spaces at its ends, never empty and never of megabytes.
 *
 *	buf_clear(&b);
 *	sanitize_append(&b, name);		// "a;b\n" becomes "a:b?"
 */
#ifndef CPROF_PROFILE_SANITIZE_H
#define CPROF_PROFILE_SANITIZE_H

#include "common/base/buf.h"

enum { SANITIZE_MAX = 16 << 10 }; /* bytes; a longer name loses its middle, replaced by SANITIZE_CUT */

/* Replaces frames or bytes that were cut out so that a line stays short enough. */
#define SANITIZE_CUT "[...]"

/*
 * Appends the name to out: `;` becomes `:`, any other forbidden character `?`, an empty name "[unknown]". The
 * result is never longer than s, except for an empty name.
 */
void sanitize_append(struct buf *out, struct slice s);

/* Returns whether sanitize_append would change no name of the stack. May return false for a good stack. */
bool sanitize_is_stack(struct slice s);
/* Returns the first name of the stack, a part of its text. */
struct slice sanitize_root(struct slice stack);
/* Appends the stack, with each of its names as sanitize_append writes it. */
void sanitize_append_stack(struct buf *out, struct slice s);

/*
 * Appends text of any origin to a line for a terminal. Control characters, line separators, characters that
 * change the direction of the text after them, and invalid UTF-8 become \xNN for each byte; everything else
 * stays.
 */
void sanitize_append_shown(struct buf *out, struct slice s);

#endif
