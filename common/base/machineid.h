/*
 * The host's id in captures. machine-id(5) asks programs not to expose /etc/machine-id, because the ids that
 * other programs derive from it could then be computed. Ours is derived the same way, by HMAC-SHA256 with the
 * id as the key, which cannot be reversed.
 *
 *	char id[MACHINE_ID_TEXT];
 *
 *	if (machine_id_derive(id, slice_of("0123...")))
 *		...id is that of systemd-id128 machine-id --app-specific=c0c7ff83-9a3c-4fd8-a0f2-39a2d0e0b54c...
 */
#ifndef CPROF_BASE_MACHINEID_H
#define CPROF_BASE_MACHINEID_H

#include "common/base/cursor.h"

enum { MACHINE_ID_BYTES = 16, MACHINE_ID_TEXT = 2 * MACHINE_ID_BYTES + 1 };

/* Derives the id from the line in /etc/machine-id. Returns false if the line is not 32 hexadecimal digits. */
bool machine_id_derive(char id[MACHINE_ID_TEXT], struct slice line);

#endif
