/*
 * The wire form of a block; see cprof-stream(5).
 *
 *	0  4  sync pattern 89 63 70 66 ("\x89cpf")
 *	4  1  type
 *	5  1  flags: none is defined; a reader leaves out a block with a flag that it does not know
 *	6  2  zero
 *	8  4  length of the payload, at most BLOCK_MAX
 *	12 4  segment: low half of the XXH3 of the header block's payload
 *	16 4  sequence number in the segment; the header block has 0
 *	20 4  low half of the XXH3 of bytes 0 to 19
 *	24 8  XXH3 of the payload
 *
 * All numbers are little-endian. The payload of a header block begins with three 16-bit numbers: the writer's
 * major and minor version, and the least major version that a reader must know.
 */
#ifndef CPROF_STREAM_BLOCK_H
#define CPROF_STREAM_BLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/base/hash.h"
#include "common/base/le.h"

enum { BLOCK_HEAD = 32, BLOCK_MAX = 1 << 20, BLOCK_VERSION_BYTES = 6 };

enum block_type { BLOCK_HEADER = 1, BLOCK_RECORDS = 2 };

#define BLOCK_SYNC "\x89" "cpf"
enum { BLOCK_SYNC_BYTES = 4 };

/* Checks the pattern, the checksum and the length limit of a head of BLOCK_HEAD bytes. */
static inline bool block_head_is_good(const uint8_t *head)
{
	return memcmp(head, BLOCK_SYNC, BLOCK_SYNC_BYTES) == 0 &&
	       le32_load(head + 20) == (uint32_t)hash_bytes(head, 20) && le32_load(head + 8) <= BLOCK_MAX;
}

#endif
