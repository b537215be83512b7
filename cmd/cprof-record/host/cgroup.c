#include "cmd/cprof-record/host/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cprof-record/host/cgroup_names.h"
#include "cmd/cprof-record/host/host.h"
#include "common/base/hash.h"
#include "common/base/idmap.h"
#include "common/base/intern.h"
#include "common/capture/container.h"

enum {
	HANDLE_KERNFS = 0xfe, /* type of a file handle that is an inode number of kernfs */
	DEPTH_MAX = 64,       /* the limit of a walk; the kernel's own limit is cgroup.max.depth */
	GROUPS_MAX = 1 << 20, /* paths that are kept */
	TRIM_LEAST = 4096,
};

#define CGROUP_INIT_INO 0xeffffffb /* include/linux/proc_ns.h: the initial cgroup namespace */

#define WALK_PERIOD_NS 1000000000u
#define MADE_UP_ID (UINT64_C(1) << 63)

struct cgroups {
	int mount;            /* directory of the mount; -1: there is none */
	char *at;             /* its path */
	char *root;           /* the part of the hierarchy that is mounted; "" for all of it */
	bool no_handles;      /* the kernel does not let us open by number */
	struct cgroup_names *made;  /* NULL: the kernel does not report new groups */
	uint64_t walked;      /* time of the last walk */
	struct intern paths;
	struct idmap ids;     /* id to path id */
	struct idmap unknown; /* ids that the kernel does not know */
};

/* Mount points have blanks and similar characters as \040. */
static void unescape(char *text)
{
	char *to = text;

	for (char *p = text; *p; to++) {
		if (p[0] == '\\' && p[1] >= '0' && p[1] <= '3' && p[2] && p[3]) {
			*to = (char)((p[1] - '0') << 6 | (p[2] - '0') << 3 | (p[3] - '0'));
			p += 4;
		} else {
			*to = *p++;
		}
	}
	*to = '\0';
}

/* "id parent major:minor root point options … - type source options" */
static bool parse_mount(char *line, const char *controller, char **root, char **point)
{
	char *save, *field = strtok_r(line, " ", &save), *word;

	for (int i = 0; field && i < 3; i++)
		field = strtok_r(NULL, " ", &save);
	*root = field;
	*point = strtok_r(NULL, " ", &save);
	while ((field = strtok_r(NULL, " ", &save)) && strcmp(field, "-") != 0)
		;
	field = strtok_r(NULL, " ", &save);
	if (!*root || !*point || !field || strcmp(field, controller ? "cgroup" : "cgroup2") != 0)
		return false;
	strtok_r(NULL, " ", &save);
	for (word = strtok_r(NULL, " ,\n", &save); controller && word && strcmp(word, controller) != 0;)
		word = strtok_r(NULL, " ,\n", &save);
	return !controller || word;
}

/* Opens the first mount of cgroup2 or of a version 1 controller, wherever it is. */
static void find_mount(struct cgroups *cs, const char *controller)
{
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	char *line = NULL, *root, *point;
	size_t cap = 0;

	while (mounts && cs->mount < 0 && getline(&line, &cap, mounts) > 0) {
		if (!parse_mount(line, controller, &root, &point))
			continue;
		unescape(root);
		unescape(point);
		cs->mount = open(point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (cs->mount < 0)
			continue;
		free(cs->at);
		free(cs->root);
		cs->at = strdup(point);
		/* "/.." and above: the mount is wider than our cgroup namespace, which has no name for it. */
		cs->root = strdup(strcmp(root, "/") == 0 || strncmp(root, "/..", 3) == 0 ? "" : root);
	}
	free(line);
	if (mounts)
		fclose(mounts);
	if (cs->mount >= 0 && (!cs->at || !cs->root)) {
		close(cs->mount);
		cs->mount = -1;
	}
}

static struct cgroups *open_hierarchy(const char *controller)
{
	struct cgroups *cs = calloc(1, sizeof(*cs));

	if (!cs)
		return NULL;
	cs->mount = -1;
	intern_init(&cs->paths);
	idmap_init(&cs->ids);
	idmap_init(&cs->unknown);
	find_mount(cs, controller);
	return cs;
}

struct cgroups *cgroups_new(void)
{
	return open_hierarchy(NULL);
}

void cgroups_free(struct cgroups *cs)
{
	if (!cs)
		return;
	if (cs->mount >= 0)
		close(cs->mount);
	free(cs->at);
	free(cs->root);
	cgroup_names_free(cs->made);
	intern_release(&cs->paths);
	idmap_release(&cs->ids);
	idmap_release(&cs->unknown);
	free(cs);
}

/* The kernel reports paths as the initial namespace sees them. */
void cgroups_watch(struct cgroups *cs)
{
	struct stat st;

	if (cs->mount >= 0 && !cs->made && stat("/proc/self/ns/cgroup", &st) == 0 && st.st_ino == CGROUP_INIT_INO)
		cs->made = cgroup_names_new();
}

void cgroups_trim(struct cgroups *cs)
{
	if (cs->ids.n + cs->unknown.n < TRIM_LEAST)
		return;
	intern_release(&cs->paths);
	idmap_release(&cs->ids);
	idmap_release(&cs->unknown);
	cs->walked = 0;
}

static const char *known_path(const struct cgroups *cs, uint64_t id)
{
	uint32_t path;

	return idmap_find(&cs->ids, id, &path) ? (const char *)intern_get(&cs->paths, path).p : NULL;
}

static void learn_path(struct cgroups *cs, uint64_t id, const char *path)
{
	uint32_t n;

	if (cs->ids.n < GROUPS_MAX && intern_add(&cs->paths, slice_of(path), &n))
		idmap_set(&cs->ids, id, n);
}

/* Finds the path of an open directory below the mount; "" if it cannot be found. */
static void path_of_fd(const struct cgroups *cs, int fd, char *path, size_t size)
{
	char link[64], full[PATH_MAX];
	size_t at = strlen(cs->at);
	struct stat st;
	ssize_t n;

	path[0] = '\0';
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, full, sizeof(full) - 1);
	if (n <= 0 || fstat(fd, &st) != 0 || st.st_nlink == 0)
		return;
	full[n] = '\0';
	if (strncmp(full, cs->at, at) == 0 && (full[at] == '/' || full[at] == '\0'))
		snprintf(path, size, "%s%s", cs->root, full[at] || *cs->root ? full + at : "/");
}

/* Returns the path of a recently created group, which may be gone. NULL: none, or cut and not even_cut. */
static const char *made_lately(struct cgroups *cs, uint64_t id, bool even_cut)
{
	struct buf path = { 0 };
	bool cut;

	if (cs->made && cgroup_names_find(cs->made, id, &path, &cut) && (even_cut || !cut))
		learn_path(cs, id, buf_cstr(&path));
	buf_release(&path);
	return known_path(cs, id);
}

/* Asks the kernel for the directory of this number. Returns true if the answer is final. */
static bool open_by_id(struct cgroups *cs, uint64_t id)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + sizeof(id)];
	} h = { .handle = { .handle_bytes = sizeof(id), .handle_type = HANDLE_KERNFS } };
	char path[PATH_MAX];
	int fd;

	memcpy(h.handle.f_handle, &id, sizeof(id));
	fd = open_by_handle_at(cs->mount, &h.handle, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		if (errno == ESTALE || errno == ENOENT)
			return true;
		cs->no_handles = errno == EPERM || errno == EINVAL || errno == EOPNOTSUPP || errno == ENOSYS;
		return false;
	}
	path_of_fd(cs, fd, path, sizeof(path));
	close(fd);
	if (path[0])
		learn_path(cs, id, path);
	return true;
}

static void walk_directory(struct cgroups *cs, int dir_fd, struct buf *path, int depth)
{
	size_t n = path->n;
	struct dirent *e;
	struct stat st;
	DIR *dir;

	if (fstat(dir_fd, &st) == 0)
		learn_path(cs, st.st_ino, n ? buf_cstr(path) : "/");
	dir = fdopendir(dir_fd);
	if (!dir) {
		close(dir_fd);
		return;
	}
	while (depth < DEPTH_MAX && (e = readdir(dir))) {
		int fd;

		if (e->d_type != DT_DIR || strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		fd = openat(dirfd(dir), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			continue;
		buf_byte(path, '/');
		buf_text(path, e->d_name);
		walk_directory(cs, fd, path, depth + 1);
		path->n = n;
	}
	closedir(dir);
}

/* Returns false if the last walk was less than WALK_PERIOD_NS ago. */
static bool walk_all(struct cgroups *cs)
{
	uint64_t now = host_mono_ns();
	struct buf path = { 0 };
	int fd;

	if (cs->walked && now - cs->walked < WALK_PERIOD_NS)
		return false;
	cs->walked = now;
	fd = openat(cs->mount, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	buf_text(&path, cs->root);
	if (fd >= 0)
		walk_directory(cs, fd, &path, 0);
	buf_release(&path);
	return true;
}

/* Looks up a group that exists. */
static const char *look_up_id(struct cgroups *cs, uint64_t id)
{
	const char *path;

	if (!cs->no_handles && open_by_id(cs, id)) {
		path = known_path(cs, id);
		if (!path && cs->unknown.n < GROUPS_MAX)
			idmap_set(&cs->unknown, id, 0);
		return path;
	}
	if (walk_all(cs) && !known_path(cs, id) && cs->unknown.n < GROUPS_MAX)
		idmap_set(&cs->unknown, id, 0); /* it is gone: do not walk for it each second */
	return known_path(cs, id);
}

const char *cgroup_path(struct cgroups *cs, uint64_t id)
{
	const char *path = known_path(cs, id);
	uint32_t no;

	if (path || cs->mount < 0 || id == 0 || id & MADE_UP_ID || idmap_find(&cs->unknown, id, &no))
		return path;
	path = made_lately(cs, id, false);
	if (!path)
		path = look_up_id(cs, id);
	return path ? path : made_lately(cs, id, true);
}

/* --- the group of a process ------------------------------------------------------------------ */

/* Ranks a version 1 hierarchy by how well it is trusted to know the container; 0: not at all. */
static int rank_controllers(const char *controllers)
{
	static const char *const names[] = { "pids", "cpu,cpuacct", "cpu", "memory", "name=systemd" };

	for (int i = 0; i < (int)(sizeof(names) / sizeof(*names)); i++)
		if (strcmp(controllers, names[i]) == 0)
			return i + 1;
	return 0;
}

/* Finds the inode number of a version 2 path's directory below our mount. */
static bool directory_id(const struct cgroups *cs, const char *path, uint64_t *id)
{
	size_t root = cs->root ? strlen(cs->root) : 0;
	struct stat st;

	if (cs->mount < 0)
		return false;
	if (root && strncmp(path, cs->root, root) == 0 && (path[root] == '/' || path[root] == '\0'))
		path += root;
	while (*path == '/')
		path++;
	if (fstatat(cs->mount, *path ? path : ".", &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(st.st_mode))
		return false;
	*id = st.st_ino;
	return true;
}

static uint64_t made_up_id(const char *path)
{
	return hash_bytes(path, strlen(path)) | MADE_UP_ID;
}

bool cgroup_of_text(struct cgroups *cs, char *text, uint64_t *id, struct buf *path)
{
	const char *v2 = NULL, *v1 = NULL;
	int best = 0;
	char *save, *line = strtok_r(text, "\n", &save);

	for (; line; line = strtok_r(NULL, "\n", &save)) {
		char *controllers = strchr(line, ':'), *colon = controllers ? strchr(controllers + 1, ':') : NULL;
		int rank;

		if (!colon)
			continue;
		*colon++ = '\0';
		rank = rank_controllers(++controllers);
		if (!*controllers)
			v2 = colon;
		else if (rank > best && strcmp(colon, "/") != 0) {
			best = rank;
			v1 = colon;
		}
	}
	if (v1 && (!v2 || strcmp(v2, "/") == 0)) {
		*id = made_up_id(v1);
		v2 = v1;
	} else if (!v2) {
		return false;
	} else if (!directory_id(cs, v2, id)) {
		*id = made_up_id(v2);
	}
	if (!known_path(cs, *id))
		learn_path(cs, *id, v2);
	buf_text(path, known_path(cs, *id) ? known_path(cs, *id) : v2);
	return !path->failed;
}

bool cgroup_of_pid(struct cgroups *cs, pid_t pid, uint64_t *id, struct buf *path)
{
	struct buf text = { 0 };
	char name[64];
	bool ok;

	snprintf(name, sizeof(name), "/proc/%d/cgroup", (int)pid);
	ok = host_read(name, &text);
	if (ok)
		ok = cgroup_of_text(cs, (char *)(uintptr_t)buf_cstr(&text), id, path);
	buf_release(&text);
	return ok;
}

/* --- a group by its path --------------------------------------------------------------------- */

static bool no_hierarchy(struct cgroups *cs, struct buf *error)
{
	if (cs && cs->mount >= 0)
		return false;
	buf_text(error, "control groups of version 2 are not mounted");
	return true;
}

enum cgroup_found cgroup_look(struct cgroup_place *p)
{
	struct stat st;
	int fd;

	if (stat(p->path, &st) != 0)
		return CGROUP_GONE;
	if (st.st_ino == p->id)
		return CGROUP_SAME;
	fd = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return CGROUP_GONE;
	if (p->fd >= 0)
		close(p->fd);
	p->fd = fd;
	p->id = fstat(fd, &st) == 0 ? st.st_ino : 0;
	return CGROUP_OTHER;
}

/* Returns the part below the mount of a path in the hierarchy or in the file system. */
static const char *path_below(const struct cgroups *cs, const char *path)
{
	size_t at = strlen(cs->at);

	if (strncmp(path, cs->at, at) == 0 && (path[at] == '/' || path[at] == '\0'))
		path += at;
	return path + strspn(path, "/");
}

/* Does the path lead up? A recorder with capabilities must not look for files where its user may not. */
static bool leads_up(const char *path, struct buf *error)
{
	for (const char *at = path; (at = strstr(at, "..")); at += 2) {
		if ((at != path && at[-1] != '/') || (at[2] && at[2] != '/'))
			continue;
		buf_printf(error, "invalid control group \"%s\" (expected a path without ..)", path);
		return true;
	}
	return false;
}

bool cgroup_open(struct cgroup_place *p, const char *path, struct buf *error)
{
	struct cgroups *cs = cgroups_new();

	*p = (struct cgroup_place){ .fd = -1 };
	if (!leads_up(path, error) && !no_hierarchy(cs, error)) {
		path = path_below(cs, path);
		if (asprintf(&p->path, "%s/%s", cs->at, path) < 0)
			buf_text(error, "out of memory");
		else if (cgroup_look(p) != CGROUP_OTHER)
			buf_printf(error, "there is no control group /%s below %s: %s", path, cs->at, strerror(errno));
	}
	cgroups_free(cs);
	return p->fd >= 0;
}

/* Returns the path of the group's cpu.stat in a hierarchy if that counts throttling; otherwise NULL. */
static char *find_cpu_stat(const struct cgroups *cs, const char *path)
{
	struct buf text = { 0 };
	char *name = NULL;

	if (!cs || cs->mount < 0 || asprintf(&name, "%s/%s/cpu.stat", cs->at, path_below(cs, path)) < 0)
		return NULL;
	if (!host_read(name, &text) || !strstr(buf_cstr(&text), "nr_periods ")) {
		free(name);
		name = NULL;
	}
	buf_release(&text);
	return name;
}

static void say_unthrottled(const struct cgroups *v2, const struct cgroups *v1, const char *path, struct buf *error)
{
	path = path_below(v2, path);
	if (!*path)
		buf_text(error, "the root of all control groups has no quota");
	else if (v1 && v1->mount >= 0)
		buf_printf(error, "the control group /%s has no quota: the cpu controller is in the version 1 hierarchy at %s, which has no "
				  "group of this name", path, v1->at);
	else
		buf_printf(error, "the control group /%s has no quota: cpu is not in its cgroup.controllers (write +cpu to the "
				  "cgroup.subtree_control of the group above it)", path);
}

char *cgroup_cpu_stat(const char *path, struct buf *error)
{
	struct cgroups *v2 = open_hierarchy(NULL), *v1 = open_hierarchy("cpu");
	struct cgroup_place place = { .fd = -1 };
	bool up = leads_up(path, error);
	char *name = up ? NULL : find_cpu_stat(v2, path);

	if (!name && !up)
		name = find_cpu_stat(v1, path);
	if (!name && !up && v2 && cgroup_open(&place, path, error))
		say_unthrottled(v2, v1, path, error);
	if (place.fd >= 0)
		close(place.fd);
	free(place.path);
	cgroups_free(v2);
	cgroups_free(v1);
	return name;
}

struct found {
	struct slice wanted;
	struct buf path, other; /* the first two containers, by their outermost groups */
	size_t containers;
};

static bool is_below(struct buf *group, const char *path)
{
	return group->n && strncmp(path, buf_cstr(group), group->n) == 0 && path[group->n] == '/';
}

/*
 * Counts the group if it is a wanted container. A group inside that container is not counted again. A group
 * with the same name elsewhere is: users make groups of any name where groups are delegated to them.
 */
static void look_at_group(struct found *f, const char *path)
{
	struct container c;

	if (!container_of(slice_of(path), &c) || !container_is(&c, f->wanted) || is_below(&f->path, path) ||
	    is_below(&f->other, path))
		return;
	f->containers++;
	if (f->containers <= 2)
		buf_text(f->containers == 1 ? &f->path : &f->other, path);
}

static void search_directory(struct found *f, int dir_fd, struct buf *path, int depth)
{
	DIR *dir = fdopendir(dir_fd);
	size_t n = path->n;
	struct dirent *e;

	if (!dir) {
		close(dir_fd);
		return;
	}
	while (depth > 0 && (e = readdir(dir))) {
		int fd;

		if (e->d_name[0] == '.' || (e->d_type != DT_DIR && e->d_type != DT_UNKNOWN))
			continue;
		path->n = n;
		buf_printf(path, "/%s", e->d_name);
		look_at_group(f, buf_cstr(path));
		fd = openat(dirfd(dir), e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (fd >= 0)
			search_directory(f, fd, path, depth - 1);
	}
	path->n = n;
	closedir(dir);
}

bool cgroup_open_container(struct cgroup_place *p, const char *wanted, struct buf *error)
{
	struct found f = { .wanted = slice_of(wanted) };
	struct cgroups *cs = cgroups_new();
	struct buf path = { 0 };
	bool opened = false;
	int fd;

	if (no_hierarchy(cs, error)) {
		cgroups_free(cs);
		return false;
	}
	fd = openat(cs->mount, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		search_directory(&f, fd, &path, DEPTH_MAX);
	if (f.containers == 1)
		opened = cgroup_open(p, buf_cstr(&f.path), error);
	else if (f.containers)
		buf_printf(error, "\"%s\" is the name of %zu containers (%s, %s): give more of the ID, "
				  "or use --cgroup", wanted, f.containers, buf_cstr(&f.path),
			   buf_cstr(&f.other));
	else
		buf_printf(error, "no control group below %s belongs to a container \"%s\"", cs->at, wanted);
	buf_release(&f.path);
	buf_release(&f.other);
	buf_release(&path);
	cgroups_free(cs);
	return opened;
}
