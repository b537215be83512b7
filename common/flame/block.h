/*
 * The data of a page: the whole tree with its names, in a form that a browser reads within a blink.
 *
 *	struct buf raw = { 0 };
 *
 *	block_append(&raw, &picture);
 *	if (raw.failed) ...out of memory...
 *
 * After the eight bytes "cprofv2\n" all numbers are varints (see buf_varint), a text is its length and its bytes:
 *
 *	flags       1: two sides, 2: has moments, 4: the root is at the top, 8: some frame is known not to be user code,
 *	            16: there are several runs
 *	texts       title, subtitle, unit, name of the first side, of the second (empty where there is one side)
 *	options     number of them, then name and value of each
 *	ledger      number of lines, then name and value of each
 *	labels      number of them, then for each: enum kind, text, and with two sides enum verdict of self and total
 *	tree        number of nodes without the invisible root; the root's number of children; then of each node in
 *	            pre-order, siblings by name: label * 2, number of children, self weight, with two sides also the
 *	            second side's; or, as most are, label * 2 + 1: one child and no self weight; with two sides then
 *	            enum verdict of the total
 *	moments     length of a slice in nanoseconds, number of slices, number of entries, then of each: slice less that
 *	            of the entry before, node (the first one is 1), weight
 *	runs        number of them but for the first one, then of each: its first slice less that of the one before
 */
#ifndef CPROF_FLAME_BLOCK_H
#define CPROF_FLAME_BLOCK_H

#include "common/flame/picture.h"

/* Where the tree begins: what comes before is mostly names. */
size_t block_append(struct buf *out, const struct picture *pic);

#endif
