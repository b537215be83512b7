/*
 * How a process that is going to read hostile bytes gives up what it could do harm with.
 *
 *	int keep[] = { sock };
 *
 *	confine_signals();
 *	if (!confine_descriptors(keep, 1) ||		// sock is CONFINE_FIRST now, all else is closed
 *	    !confine_privileges() || !confine_limit(RLIMIT_CORE, 0, 0) ||
 *	    !confine_parent(parent) ||			// behind the privileges: a change of user undoes it
 *	    (!confine_calls() && geteuid() == 0))
 *		_exit(1);
 *
 * For children that were forked and execute no other program. Nothing of it can be taken back.
 */
#ifndef CPROF_RECORD_CONFINE_H
#define CPROF_RECORD_CONFINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	CONFINE_FIRST = 3,      /* the number of the first descriptor that is kept */
	CONFINE_NOBODY = 65534, /* where the next is not to be had: a user namespace that does not map it */
};

/* User and group that nobody is given: another process of theirs could send signals to ours. */
#define CONFINE_USER 4294705153u

#if defined(__SANITIZE_ADDRESS__)
#define CONFINE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CONFINE_SANITIZED 1
#endif
#endif
#ifndef CONFINE_SANITIZED
#define CONFINE_SANITIZED 0 /* the sanitizers' runtime maps terabytes, calls much, and speaks on standard error */
#endif

/* Default actions, nothing blocked; but what a terminal sends to all of a pipeline is not for us. */
void confine_signals(void);
/* The n descriptors become CONFINE_FIRST and so on; 0 to 2 give nothing and take nothing; all others are closed. */
bool confine_descriptors(const int *keep, size_t n);
/*
 * No capabilities in any set, none to be had by exec, no core, no tracer; as root, where that can be: another
 * user and a root directory with nothing in it. True: the capabilities are gone for good.
 */
bool confine_privileges(void);
/* Lowers a limit to these; what is lower already stays. */
bool confine_limit(int resource, uint64_t soft, uint64_t hard);
/* Dies when its parent does; false where that has happened. */
bool confine_parent(pid_t parent);
/*
 * From here on memory, the descriptors that are open and the end are all that the kernel gives: no file is
 * opened, no socket made, no process begun or signalled; such calls fail with EPERM. False where this kernel
 * has no filters. True without any under sanitizers.
 */
bool confine_calls(void);

#endif
