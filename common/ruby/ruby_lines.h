/*
 * Lines of Ruby's instruction sequences, 2.7 to 4.0.
 *
 *	uint32_t line;
 *
 *	if (ruby_line(0x030102, table, position, &line))
 *		...
 *
 * version: as in struct lang_image. position: index of the instruction's first word. Returns false if
 * the position has no line, as some that Ruby adds, and if the table was cut before.
 *
 * The table is made by the BPF program (bpf/lang/ruby.bpf.h) and begins with two numbers of 32 bits:
 * entries, and words of the sequence. With several entries, struct succ_index_table (iseq.c) follows: the
 * set of positions at which entries begin. It gives the rank of a position, and so its entry. Then come
 * the entries, struct iseq_insn_info_entry of iseq.h, each beginning with the line.
 */
#ifndef CPROF_RUBY_LINES_H
#define CPROF_RUBY_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/slice.h"

/* Bytes of an entry: from 3.1 on, it has a number of the syntax tree, too. */
uint32_t ruby_line_entry(uint32_t version);
bool ruby_line(uint32_t version, struct slice table, uint32_t position, uint32_t *line);

#endif
