/*
 * Where members are in the kernel's structures, by its type information.
 *
 *	struct btf_place places[] = { { "task_struct", "tgid", 0 } };
 *
 *	if (btf_find(BTF_KERNEL, places, 1))
 *		...places[0].at...
 *
 * libbpf relocates programs by the same information, but reads and indexes all of it first, 5 MB for each object: 15 to 20 ms.
 * Here the file is read up to what is asked for, which is early in it.
 */
#ifndef CPROF_RECORD_BTF_H
#define CPROF_RECORD_BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BTF_KERNEL "/sys/kernel/btf/vmlinux"

enum { BTF_PLACES = 8 }; /* of one question, at most */

struct btf_place {
	const char *type, *member; /* a structure, and its direct member */
	uint32_t at;               /* bytes from the structure's beginning */
};

/* False if one of them is not there, is a bit-field, or the file cannot be read. */
bool btf_find(const char *path, struct btf_place *places, size_t n);

#endif
