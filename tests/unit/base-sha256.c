/*
 * Prints digests of standard input: "digest" and "digest N" (read in pieces of N bytes), "hmac KEY" with a
 * key in hexadecimal digits; or "machine LINE": the id of a host with that line in /etc/machine-id.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/base/machineid.h"
#include "common/base/sha256.h"

static void print(const uint8_t digest[SHA256_BYTES])
{
	for (int i = 0; i < SHA256_BYTES; i++)
		printf("%02x", digest[i]);
	printf("\n");
}

int main(int argc, char **argv)
{
	static uint8_t text[1 << 20];
	char id[MACHINE_ID_TEXT];
	uint8_t digest[SHA256_BYTES], key[256];
	size_t n, piece, keyed = 0;
	struct sha256 s;

	if (argc == 3 && strcmp(argv[1], "machine") == 0) {
		puts(machine_id_derive(id, slice_of(argv[2])) ? id : "none");
		return 0;
	}
	if (argc < 2)
		return 2;
	n = fread(text, 1, sizeof(text), stdin);
	if (argc == 3 && strcmp(argv[1], "hmac") == 0) {
		for (const char *p = argv[2]; p[0] && p[1] && keyed < sizeof(key); p += 2) {
			char two[3] = { p[0], p[1], 0 };

			key[keyed++] = (uint8_t)strtoul(two, NULL, 16);
		}
		hmac_sha256(digest, (struct slice){ key, keyed }, (struct slice){ text, n });
		print(digest);
		return 0;
	}
	piece = argc == 3 ? strtoul(argv[2], NULL, 10) : sizeof(text);
	sha256_begin(&s);
	for (size_t at = 0; piece && at < n; at += piece)
		sha256_add(&s, text + at, n - at < piece ? n - at : piece);
	sha256_end(&s, digest);
	print(digest);
	return 0;
}
