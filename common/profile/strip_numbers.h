/*
 * Names without the numbers that compilers and virtual machines put into them. The numbers differ between
 * builds or runs and so keep equal stacks apart.
 *
 *	buf_clear(&b);
 *	strip_numbers_append(&b, slice_of("Task$$Lambda$14/0x0000000800c03"));	// "Task$$Lambda$?/0x?"
 *
 * These, and nothing else:
 *
 *	.llvm.N .__uniq.N .lto_priv.N	cut off: the name without it is the function's own
 *	::h and 16 hexadecimal digits	cut off, where the name or its mark (`_[k]`) ends: Rust's hash
 *	.isra.N .part.N .constprop.N .cold.N .localalias.N	"?" for N: separate code, and N says only
 *					which came first
 *	0xHEX				"0x?", but not within a place in a file, "[libx.so+0x1f]"
 *	lambda$, in whatever case	"?" for every number after it that follows `$` or `/`
 *	$ProxyN, GeneratedMethodAccessorN and their like	"?" for N
 *
 * Other numbers stay, also those of anonymous classes (`Foo$1`), because they tell functions apart.
 */
#ifndef CPROF_PROFILE_STRIP_NUMBERS_H
#define CPROF_PROFILE_STRIP_NUMBERS_H

#include "common/base/buf.h"

/* Appends the name; the result is never longer than the name, and empty only if the name is. */
void strip_numbers_append(struct buf *out, struct slice name);

#endif
