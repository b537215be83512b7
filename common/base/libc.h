/*
 * Functions of glibc that musl lacks. Include this header for statx, renameat2 and mallopt.
 *
 *	statx: since musl 1.2.5, and there without stx_mnt_id; here as the kernel's headers have it
 *	renameat2: not yet in musl 1.2.5
 *	mallopt: never; returns 0, for failure
 */
#ifndef CPROF_BASE_LIBC_H
#define CPROF_BASE_LIBC_H

#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <sys/stat.h>

#ifndef __GLIBC__

#include <sys/syscall.h>
#include <unistd.h>

/* Other names: versions of musl that have these declare them differently. */
#define statx kernel_statx
#define statx_timestamp kernel_statx_timestamp
#define renameat2 kernel_renameat2

#include <linux/stat.h>

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE (1 << 0)
#endif

static inline int statx(int dir, const char *path, int how, unsigned int wanted, struct statx *st)
{
	return (int)syscall(SYS_statx, dir, path, how, wanted, st);
}

static inline int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned int how)
{
	return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, how);
}

enum { M_TRIM_THRESHOLD, M_MMAP_THRESHOLD };

static inline int mallopt(int option, int value)
{
	(void)option;
	(void)value;
	return 0;
}

#endif

#endif
