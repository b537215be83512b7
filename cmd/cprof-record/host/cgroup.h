/*
 * The names of control groups.
 *
 *	struct cgroups *cs = cgroups_new();
 *	const char *path = cgroup_path(cs, id);		// "/system.slice/cron.service", or NULL
 *
 * An id is the value of bpf_get_current_cgroup_id: the 64-bit inode number of the group's directory in
 * the version 2 hierarchy, not used again before 2^32 groups. With CAP_DAC_READ_SEARCH, Linux 5.5 and
 * later open the directory by that number in 1 µs. Otherwise all directories are walked, at most once a
 * second. A group that is gone by then has a name only if the kernel reported its creation
 * (cgroups_watch). Paths begin with "/", the root of the hierarchy as this cgroup namespace sees it.
 *
 * If containers exist only in version 1 hierarchies, the root is the version 2 group of every process.
 * The path then comes from version 1, and its id is a hash of the path with the highest bit set.
 */
#ifndef CPROF_RECORD_HOST_CGROUP_H
#define CPROF_RECORD_HOST_CGROUP_H

#include <sys/types.h>

#include "common/base/buf.h"

struct cgroups;

/* Returns NULL if out of memory. Without cgroup2, the object knows only paths from /proc/PID/cgroup. */
struct cgroups *cgroups_new(void);
void cgroups_free(struct cgroups *cs);
/*
 * Lets the kernel keep the names of new groups, the newest thousand (cgroup_names.h), so that cgroup_path finds
 * them even after they are gone. Has no effect if the kernel cannot do it.
 */
void cgroups_watch(struct cgroups *cs);
/* Forgets all paths if there are many: groups come and go, and the remaining ones are looked up again. */
void cgroups_trim(struct cgroups *cs);

/*
 * Returns the path of a group, lent until cgroups_trim or cgroups_free. NULL: the group is gone, or is not
 * visible from here. Each group is looked up once, and its path outlives the group.
 */
const char *cgroup_path(struct cgroups *cs, uint64_t id);

/*
 * Reads the group of a process from /proc/PID/cgroup: sets *id and appends its path to path. Returns false
 * if the process is gone or has no group. Afterwards cgroup_path knows the id.
 */
bool cgroup_of_pid(struct cgroups *cs, pid_t pid, uint64_t *id, struct buf *path);
/* The same for the text of such a file, for tests. An id of version 2 requires that the directory exists. */
bool cgroup_of_text(struct cgroups *cs, char *text, uint64_t *id, struct buf *path);

/* A path in the version 2 hierarchy. Its group may be removed, as when a service ends, and made again. */
struct cgroup_place {
	char *path;  /* in the file system */
	int fd;      /* the open directory of the last group seen there */
	uint64_t id; /* that group's id */
	bool missed; /* for the caller: it has reported that the group is missing */
};

/*
 * Open the place of a group that exists: by its path in the hierarchy or in the file system, or by the text
 * that container_is (container.h) accepts for a container or its pod. False: error is a sentence.
 */
bool cgroup_open(struct cgroup_place *p, const char *path, struct buf *error);
bool cgroup_open_container(struct cgroup_place *p, const char *wanted, struct buf *error);

/*
 * Returns the path of the cpu.stat file that counts how often a group was throttled: that of the version 2
 * group if it has the cpu controller, otherwise that of the same path in the version 1 cpu hierarchy. The
 * caller frees it. NULL: error is a sentence.
 */
char *cgroup_cpu_stat(const char *path, struct buf *error);

/* Looks at the place again: the same group, no group, or another group, to which p is then updated. */
enum cgroup_found { CGROUP_SAME, CGROUP_GONE, CGROUP_OTHER };
enum cgroup_found cgroup_look(struct cgroup_place *p);

#endif
