/*
 * Reads the instructions of short functions of interpreters (x86-64).
 *
 *	struct cursor c = cursor_over(code, sizeof(code));
 *
 *	code_start(&c);
 *	if (code_skip(&c, "\x8b\x3d", 2) && code_disp(&c, &disp))	// mov disp(%rip),%edi
 *		...
 *
 * Nothing is read beyond the cursor's end.
 */
#ifndef CPROF_LANG_RUNTIME_CODE_H
#define CPROF_LANG_RUNTIME_CODE_H

#include "common/base/cursor.h"

/* Skips these bytes. Returns false, and stays, if others come next. */
bool code_skip(struct cursor *c, const char *bytes, size_t n);
/* Skips what a function may begin with: endbr64, and the stack's part. */
void code_start(struct cursor *c);
/* Reads a number of four bytes. Returns false at the end. */
bool code_disp(struct cursor *c, int32_t *disp);

#endif
