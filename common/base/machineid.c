#include "common/base/machineid.h"

#include <stdio.h>

#include "common/base/sha256.h"

static int hex_digit(uint8_t c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool machine_id_derive(char id[MACHINE_ID_TEXT], struct slice line)
{
	static const uint8_t application[MACHINE_ID_BYTES] = { 0xc0, 0xc7, 0xff, 0x83, 0x9a, 0x3c, 0x4f, 0xd8,
							       0xa0, 0xf2, 0x39, 0xa2, 0xd0, 0xe0, 0xb5, 0x4c };
	uint8_t key[MACHINE_ID_BYTES], mac[SHA256_BYTES];

	if (line.n != 2 * sizeof(key))
		return false;
	for (size_t i = 0; i < sizeof(key); i++) {
		int high = hex_digit(line.p[2 * i]), low = hex_digit(line.p[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		key[i] = (uint8_t)(high << 4 | low);
	}
	hmac_sha256(mac, (struct slice){ key, sizeof(key) }, (struct slice){ application, sizeof(application) });
	mac[6] = (mac[6] & 0x0f) | 0x40; /* version 4, as in a random UUID */
	mac[8] = (mac[8] & 0x3f) | 0x80; /* and the variant of RFC 9562 */
	for (size_t i = 0; i < MACHINE_ID_BYTES; i++)
		snprintf(id + 2 * i, 3, "%02x", mac[i]);
	return true;
}
