#include "common/base/sha256.h"

#include <string.h>

static const uint32_t constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t be32_load(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void be32_store(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> (24 - 8 * i));
}

static uint32_t rotate_right(uint32_t v, unsigned int by)
{
	return v >> by | v << (32 - by);
}

/* The variable names are those of FIPS 180-4, 6.2.2. */
static void hash_block(uint32_t state[8], const uint8_t *block)
{
	uint32_t w[64], v[8];

	for (int t = 0; t < 16; t++)
		w[t] = be32_load(block + 4 * t);
	for (int t = 16; t < 64; t++) {
		uint32_t s0 = rotate_right(w[t - 15], 7) ^ rotate_right(w[t - 15], 18) ^ w[t - 15] >> 3;
		uint32_t s1 = rotate_right(w[t - 2], 17) ^ rotate_right(w[t - 2], 19) ^ w[t - 2] >> 10;

		w[t] = w[t - 16] + s0 + w[t - 7] + s1;
	}
	memcpy(v, state, sizeof(v));
	for (int t = 0; t < 64; t++) {
		uint32_t s1 = rotate_right(v[4], 6) ^ rotate_right(v[4], 11) ^ rotate_right(v[4], 25);
		uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
		uint32_t t1 = v[7] + s1 + choice + constants[t] + w[t];
		uint32_t s0 = rotate_right(v[0], 2) ^ rotate_right(v[0], 13) ^ rotate_right(v[0], 22);
		uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);

		memmove(v + 1, v, 7 * sizeof(*v));
		v[4] += t1;
		v[0] = t1 + s0 + majority;
	}
	for (int i = 0; i < 8; i++)
		state[i] += v[i];
}

void sha256_begin(struct sha256 *s)
{
	static const uint32_t first[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

	memcpy(s->state, first, sizeof(first));
	s->bytes = 0;
}

void sha256_add(struct sha256 *s, const void *p, size_t n)
{
	const uint8_t *from = p;

	while (n > 0) {
		size_t at = s->bytes % SHA256_BLOCK, some = n < SHA256_BLOCK - at ? n : SHA256_BLOCK - at;

		memcpy(s->block + at, from, some);
		s->bytes += some;
		from += some;
		n -= some;
		if (s->bytes % SHA256_BLOCK == 0)
			hash_block(s->state, s->block);
	}
}

void sha256_end(struct sha256 *s, uint8_t digest[SHA256_BYTES])
{
	uint64_t bits = s->bytes * 8;
	uint8_t length[8];

	sha256_add(s, "\x80", 1);
	while (s->bytes % SHA256_BLOCK != SHA256_BLOCK - sizeof(length))
		sha256_add(s, "", 1);
	be32_store(length, (uint32_t)(bits >> 32));
	be32_store(length + 4, (uint32_t)bits);
	sha256_add(s, length, sizeof(length));
	for (int i = 0; i < 8; i++)
		be32_store(digest + 4 * i, s->state[i]);
}

static void begin_keyed(struct sha256 *s, const uint8_t key[SHA256_BLOCK], uint8_t pad)
{
	uint8_t block[SHA256_BLOCK];

	for (int i = 0; i < SHA256_BLOCK; i++)
		block[i] = key[i] ^ pad;
	sha256_begin(s);
	sha256_add(s, block, sizeof(block));
}

void hmac_sha256(uint8_t mac[SHA256_BYTES], struct slice key, struct slice text)
{
	uint8_t block[SHA256_BLOCK] = { 0 };
	struct sha256 s;

	if (key.n > sizeof(block)) {
		sha256_begin(&s);
		sha256_add(&s, key.p, key.n);
		sha256_end(&s, block);
	} else if (key.n) {
		memcpy(block, key.p, key.n);
	}
	begin_keyed(&s, block, 0x36);
	sha256_add(&s, text.p, text.n);
	sha256_end(&s, mac);
	begin_keyed(&s, block, 0x5c);
	sha256_add(&s, mac, SHA256_BYTES);
	sha256_end(&s, mac);
}
