/*
 * SHA-256 and HMAC-SHA256 (FIPS 180-4, RFC 2104), for hashes that must not be reversible: XXH3 in hash.h is
 * not a cryptographic hash.
 *
 *	uint8_t mac[SHA256_BYTES];
 *
 *	hmac_sha256(mac, key, text);
 */
#ifndef CPROF_BASE_SHA256_H
#define CPROF_BASE_SHA256_H

#include "common/base/cursor.h"

enum { SHA256_BYTES = 32, SHA256_BLOCK = 64 };

struct sha256 {
	uint32_t state[8];
	uint64_t bytes; /* added so far */
	uint8_t block[SHA256_BLOCK];
};

void sha256_begin(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *p, size_t n);
void sha256_end(struct sha256 *s, uint8_t digest[SHA256_BYTES]);

void hmac_sha256(uint8_t mac[SHA256_BYTES], struct slice key, struct slice text);

#endif
