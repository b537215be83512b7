/*
 * Is the file that lies there now the one that ran? Build IDs answer that; this is for files without.
 *
 *	struct module_identity is = { .inode = 77, .host = identity_host(machine_id, boot_id), .path = path };
 *
 *	if (identity_of(fd, &is) == IDENTITY_OTHER)
 *		...the code that ran is not in it...
 */
#ifndef CPROF_RESOLVE_IDENTITY_H
#define CPROF_RESOLVE_IDENTITY_H

#include "common/base/cursor.h"

/* Which machine a capture comes from. */
enum identity_host {
	HOST_OTHER = 0, /* or unknown */
	HOST_HERE = 1,  /* this one, before it was booted the last time: inodes mean the same */
	HOST_BOOT = 2,  /* this one as it runs now: devices do, too */
};

/* A process that had it mapped. */
struct module_user {
	uint64_t pid, start;         /* as PROCESS says; 0: unknown */
	uint64_t map_start, map_end; /* where */
	struct slice cgroup;         /* path; empty: unknown */
};

/* What the stream says of a file. */
struct module_identity {
	uint64_t dev_major, dev_minor, inode, generation; /* 0 where unknown */
	struct slice build_id, path;
	struct slice image; /* not empty: these bytes are the file (the vDSO) */
	enum identity_host host;
	uint64_t seen; /* nanoseconds since 1970: by then it was mapped; 0: unknown */
	struct module_user user; /* means something where host is HOST_BOOT */
};

enum identity {
	IDENTITY_UNKNOWN = 0, /* there is nothing to compare */
	IDENTITY_SAME = 1,
	IDENTITY_OTHER = 2, /* or written since */
};

/* The host of a segment with these two fields in its header. */
enum identity_host identity_host(struct slice machine_id, struct slice boot_id);
/* Compares inode, its generation, the device and the time of the last write. */
enum identity identity_of(int fd, const struct module_identity *is);
/* The same of a file that is known to be the mapped one: only the time of the last write is left to ask. */
enum identity identity_of_mapped(int fd, const struct module_identity *is);

#endif
