/* Hash functions. hash_bytes is XXH3 of xxHash with 64 bits and seed 0. */
#ifndef CPROF_BASE_HASH_H
#define CPROF_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(const void *p, size_t n);

/* The finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): every input bit affects every output bit. */
static inline uint64_t hash_u64(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

#endif
