/*
 * The data of a page: the whole tree with its names, in a form that a browser parses at once.
 *
 *	struct buf raw = { 0 };
 *
 *	page_data_append(&raw, &picture);
 *	if (raw.failed) ...out of memory...
 *
 * After the eight bytes "cprofv2\n" all numbers are varints (see buf_varint). A text is its length and its
 * bytes.
 *
 *	flags       1: two sides, 2: has moments, 4: the root is at the top, 8: some frame is known not to be user code,
 *	            16: there are several runs, 32: moments have lanes, 64: labels have modules
 *	texts       title, subtitle, unit, name of the first side, of the second (empty if there is one side)
 *	options     their number, then name and value of each
 *	ledger      number of lines, then name and value of each
 *	labels      their number, then for each: enum kind, text, with two sides enum verdict of self, total
 *	modules     their number and the text of each; then for each label 0 (no module), 1 + 2 * its module, or
 *	            2 + 2 * its module if another label of the same text and kind has another one
 *	tree        number of nodes without the invisible root; the root's number of children; then nodes in
 *	            pre-order, siblings by name. A node with one child and no self weight: label * 2 + 1.
 *	            Any other node: label * 2, number of children, self weight, with two sides also the
 *	            second side's. With two sides, enum verdict of the total follows in both cases
 *	moments     length of a slice in nanoseconds, number of slices, number of entries, then for each:
 *	            slice minus that of the previous entry, node (the first one is 1), weight
 *	runs        their number without the first, then for each: first slice minus the previous run's
 *	lanes       see lanes_data.h
 */
#ifndef CPROF_PAGE_PAGE_DATA_H
#define CPROF_PAGE_PAGE_DATA_H

#include "common/flame/picture.h"

/*
 * Appends the block. Returns the offset of the tree in it; the bytes before are mostly names. Sets
 * out->failed if out of memory.
 */
size_t page_data_append(struct buf *out, const struct picture *pic);

#endif
