/*
 * Names of users, from /etc/passwd when recording begins. Users of a directory service have no name here: a
 * query for one could wait for the network.
 *
 *	struct user_names users;
 *
 *	user_names_read(&users);
 *	name = user_names_find(&users, 1000);	// "alice", or empty
 *	user_names_release(&users);
 */
#ifndef CPROF_RECORD_USER_NAMES_H
#define CPROF_RECORD_USER_NAMES_H

#include "common/base/idmap.h"
#include "common/base/intern.h"

struct user_names {
	struct intern names;
	struct idmap by_uid; /* uid to number in names */
};

/*
 * Leaves the object empty if the file cannot be read. Only its first megabyte is read. If a uid has several
 * names, the first one counts. A recorder in a container reads the container's file, unless the host's is
 * mounted there.
 */
void user_names_read(struct user_names *u);
void user_names_release(struct user_names *u);
/* Returns a name that is valid as long as the object, or an empty slice. */
struct slice user_names_find(const struct user_names *u, uint32_t uid);

#endif
