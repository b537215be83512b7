/*
 * The names of control groups.
 *
 *	struct cgroups *cs = cgroups_new();
 *	const char *path = cgroup_path(cs, id);		// "/system.slice/cron.service", or NULL
 *
 * An id is what bpf_get_current_cgroup_id gives: the inode number of the group's directory in the
 * version 2 hierarchy, 64 bits and not used again before 2^32 groups. The kernel opens the directory
 * by that number where we may ask for it (CAP_DAC_READ_SEARCH, Linux 5.5): 1 µs. Else all directories
 * are walked, at most once a second. A group that is gone by then has a name only if the kernel told of it when it was
 * made (cgroups_watch). Paths begin with "/", the root of the hierarchy as this cgroup
 * namespace sees it.
 *
 * Where containers live in version 1 hierarchies alone, the version 2 group of all is the root. Their
 * path then comes from version 1 and has an id that is made up of it, with the highest bit set.
 */
#ifndef CPROF_RECORD_CGROUP_H
#define CPROF_RECORD_CGROUP_H

#include <sys/types.h>

#include "common/base/buf.h"

struct cgroups;

/* NULL without memory. A machine without cgroup2 gives an object that knows no path of its own. */
struct cgroups *cgroups_new(void);
void cgroups_free(struct cgroups *cs);
/*
 * From now on the kernel keeps the names of groups that are made, the newest thousand (groups.h), and they are known though they be
 * gone when they are asked for. Where it does not, nothing changes.
 */
void cgroups_watch(struct cgroups *cs);
/* Forgets all paths, where there are many: groups come and go, and those that are left are asked for again. */
void cgroups_trim(struct cgroups *cs);

/*
 * The path of a group, lent until cgroups_trim or cgroups_free; NULL where it is gone, or outside of what we can
 * see. Each group is looked up once, and its path is kept when it is gone.
 */
const char *cgroup_path(struct cgroups *cs, uint64_t id);

/*
 * The group of a process, by /proc/PID/cgroup: its id, and its path appended to path. False where the
 * process is gone, or in none. cgroup_path knows the id from then on.
 */
bool cgroup_of_pid(struct cgroups *cs, pid_t pid, uint64_t *id, struct buf *path);
/* The same for the text of such a file, for tests; the directory must exist for an id of version 2. */
bool cgroup_of_text(struct cgroups *cs, char *text, uint64_t *id, struct buf *path);

/* A place in the hierarchy of version 2: its group may be removed, as a service's is when it ends, and made again as another one. */
struct cgroup_place {
	char *path;  /* in the file system */
	int fd;      /* the directory of the group that was there last, open */
	uint64_t id; /* of that group */
	bool missed; /* for the caller: that nothing was there has been said */
};

/*
 * The place of a group that is there now, by its path in the hierarchy or in the file system; and that of the container
 * that container_is (container.h) takes the text for, or of its pod. False: error is a sentence.
 */
bool cgroup_open(struct cgroup_place *p, const char *path, struct buf *error);
bool cgroup_open_container(struct cgroup_place *p, const char *wanted, struct buf *error);

/*
 * The file that tells how often a group was throttled: cpu.stat of the group of version 2 where it has the cpu controller, else that
 * of the group of this path in version 1's cpu hierarchy. To be freed; NULL: error is a sentence.
 */
char *cgroup_cpu_stat(const char *path, struct buf *error);

/* What is at the place now: the same group, nothing, or another one, which p has then. */
enum cgroup_found { CGROUP_SAME, CGROUP_GONE, CGROUP_OTHER };
enum cgroup_found cgroup_look(struct cgroup_place *p);

#endif
