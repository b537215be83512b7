/*
 * A sandbox: gives up the rights with which a process that reads hostile bytes could do harm.
 *
 *	int keep[] = { sock };
 *
 *	sandbox_signals();
 *	if (!sandbox_descriptors(keep, 1) ||		// sock is SANDBOX_FIRST now, all others are closed
 *	    !sandbox_privileges() || !sandbox_limit(RLIMIT_CORE, 0, 0) ||
 *	    !sandbox_parent(parent) ||			// after the privileges: a change of user undoes it
 *	    (!sandbox_calls() && geteuid() == 0))
 *		_exit(1);
 *
 * For forked children that execute no other program. None of it can be undone.
 */
#ifndef CPROF_RECORD_HELPER_SANDBOX_H
#define CPROF_RECORD_HELPER_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	SANDBOX_FIRST = 3,      /* the number of the first descriptor that is kept */
	SANDBOX_NOBODY = 65534, /* the fallback in a user namespace that does not map SANDBOX_USER */
};

/* A user and group id that nobody else has: another process with the same id could send signals to ours. */
#define SANDBOX_USER 4294705153u

#if defined(__SANITIZE_ADDRESS__)
#define SANDBOX_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANDBOX_SANITIZED 1
#endif
#endif
#ifndef SANDBOX_SANITIZED
#define SANDBOX_SANITIZED 0 /* 1: the runtime maps terabytes, makes many calls and writes to standard error */
#endif

/* Restores default actions and unblocks all signals, but ignores those sent to a whole pipeline. */
void sandbox_signals(void);
/*
 * Moves the n descriptors, at most 4, to SANDBOX_FIRST and up. Reads from 0 to 2 find the end of file, and
 * writes fail. Closes all others. Returns false on failure.
 */
bool sandbox_descriptors(const int *keep, size_t n);
/*
 * Drops the capabilities in all sets, and forbids gaining any by exec, core dumps and tracers. As root, also
 * changes to another user and to an empty root directory if possible. True: the capabilities are gone for
 * good.
 */
bool sandbox_privileges(void);
/* Lowers a resource limit to these values; never raises one. Returns false on failure. */
bool sandbox_limit(int resource, uint64_t soft, uint64_t hard);
/* Returns the bytes of this process that RLIMIT_AS counts; 0: unknown, because it sees no /proc. */
uint64_t sandbox_size(void);
/* Lets the kernel kill this process when its parent dies. Returns false if the parent is dead already. */
bool sandbox_parent(pid_t parent);
/*
 * Installs a seccomp filter that allows only memory, open descriptors and exiting. Calls that open files,
 * create sockets, or start or signal processes fail with EPERM. Returns false if this kernel has no seccomp
 * filters. Under sanitizers it installs none and returns true.
 */
bool sandbox_calls(void);

#endif
