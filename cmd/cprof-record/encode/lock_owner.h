/*
 * The kind of the lock that a thread waits for, and its holder, from the words at a futex. The kernel knows
 * neither: they are known from the layout of glibc's locks, and only if the word at the place of the owner is
 * a thread that may hold the lock. In a process of another PID namespace it is another number, and no holder
 * is found.
 *
 *	struct lock_found found = lock_owner_find(&futex, tid, is_thread, context);
 *
 *	if (found.address)
 *		...found.kind, found.tid...
 *
 * Layouts: struct __pthread_mutex_s and struct __pthread_rwlock_arch_t of 64-bit glibc, tested with 2.36;
 * futex(2) for the word of a mutex with priority inheritance, and of a robust one.
 */
#ifndef CPROF_RECORD_ENCODE_LOCK_OWNER_H
#define CPROF_RECORD_ENCODE_LOCK_OWNER_H

#include <stdbool.h>

#include "bpf/offcpu.h"
#include "common/stream/record.h"

struct lock_found {
	enum lock_kind kind;
	uint64_t address; /* record_lock.address; 0: the thread does not wait for a futex */
	uint32_t tid;     /* the holder's; 0: unknown */
};

/* Is tid a thread of the waiting process, or, if shared, of any process? */
typedef bool lock_is_thread(const void *context, uint32_t tid, bool shared);

/* tid: the waiting thread. */
struct lock_found lock_owner_find(const struct futex *f, uint32_t tid, lock_is_thread *is_thread,
				  const void *context);

#endif
