/*
 * Decides if a file is still the one that ran. Only for files without build IDs, which answer that better.
 *
 *	struct module_identity is = { .inode = 77, .host = identity_host(machine_id, boot_id), .path = path };
 *
 *	if (identity_of(fd, &is) == IDENTITY_OTHER)
 *		...the code that ran is not in it...
 */
#ifndef CPROF_LOCATE_IDENTITY_H
#define CPROF_LOCATE_IDENTITY_H

#include "common/base/cursor.h"

/* Which machine a capture comes from. */
enum identity_host {
	HOST_OTHER = 0, /* or unknown */
	HOST_HERE = 1,  /* this one, before its last boot: inodes still mean the same */
	HOST_BOOT = 2,  /* this one, same boot: devices mean the same, too */
};

/* A process that had the file mapped. */
struct module_user {
	uint64_t pid, start;         /* as in the PROCESS record; 0: unknown */
	uint64_t map_start, map_end; /* the mapping's addresses */
	struct slice cgroup;         /* path; empty: unknown */
};

/* The recorded properties of a file. */
struct module_identity {
	uint64_t dev_major, dev_minor, inode, generation; /* 0: unknown */
	struct slice build_id, path;
	struct slice image; /* not empty: these bytes are the file (the vDSO) */
	enum identity_host host;
	uint64_t seen; /* nanoseconds since 1970 when it was seen mapped; 0: unknown */
	struct module_user user; /* valid only if host is HOST_BOOT */
};

enum identity {
	IDENTITY_UNKNOWN = 0, /* there is nothing to compare */
	IDENTITY_SAME = 1,
	IDENTITY_OTHER = 2, /* another file, or written to since */
};

/* Returns the host of a segment with these two header fields. */
enum identity_host identity_host(struct slice machine_id, struct slice boot_id);
/* Compares inode, inode generation, device and time of the last write. */
enum identity identity_of(int fd, const struct module_identity *is);
/* Like identity_of, for a file known to be the mapped one: compares only the time of the last write. */
enum identity identity_of_mapped(int fd, const struct module_identity *is);

#endif
