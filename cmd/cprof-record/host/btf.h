/*
 * Offsets of members in the kernel's structures, and of the variables that each CPU has, from the kernel's
 * type information (BTF).
 *
 *	struct btf_place places[] = { { "task_struct", "tgid", 0 } };
 *
 *	if (btf_find(BTF_KERNEL, places, 1))
 *		...places[0].at...
 *
 * libbpf relocates programs by the same information, but first reads and indexes all 5 MB of it for each
 * object, which takes 15 to 20 ms. btf_find stops as soon as it has found the members, which come early in
 * the file.
 */
#ifndef CPROF_RECORD_HOST_BTF_H
#define CPROF_RECORD_HOST_BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BTF_KERNEL "/sys/kernel/btf/vmlinux"
#define BTF_PER_CPU ".data..percpu" /* in place of a structure: the variables of a CPU */

enum { BTF_PLACES = 8 }; /* the most that one call can look up */

struct btf_place {
	/* A structure, and its member, which may be in a part without a name; or BTF_PER_CPU, and a variable. */
	const char *type, *member;
	uint32_t at;               /* result: bytes from the start of the structure */
};

/*
 * Fills in all n offsets. Returns false if a member is missing or is a bit-field, if n exceeds BTF_PLACES, or
 * if the file cannot be read.
 */
bool btf_find(const char *path, struct btf_place *places, size_t n);

#endif
