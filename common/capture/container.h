/*
 * Recognizes the container of a control group by the cgroup's path alone.
 *
 *	struct container c;
 *
 *	if (container_of(path, &c))
 *		...c.id, c.pod, container_runtime_name(c.runtime)...
 *	buf_clear(&text);
 *	container_label(&text, path);	// "0123456789ab", or the path if it is not a container's
 *
 * The known paths are those of docker, containerd (also under Kubernetes, and nerdctl), CRI-O, podman, LXC
 * and systemd-nspawn, with the cgroupfs and the systemd driver, for cgroup version 1 and 2. The innermost
 * part that looks like a container counts. Groups inside a container ("/init.scope") belong to it. Monitors
 * that runtimes run beside a container (conmon) do not.
 */
#ifndef CPROF_CAPTURE_CONTAINER_H
#define CPROF_CAPTURE_CONTAINER_H

#include "common/base/buf.h"

enum container_runtime {
	RUNTIME_UNKNOWN, /* an id without a sign of its runtime */
	RUNTIME_DOCKER,
	RUNTIME_CONTAINERD,
	RUNTIME_CRIO,
	RUNTIME_PODMAN,
	RUNTIME_LXC,
	RUNTIME_NSPAWN,
};

enum { CONTAINER_SHORT = 12 }; /* digits shown of an id's 64, as in docker ps */

/* The slices point into the path. */
struct container {
	enum container_runtime runtime;
	struct slice id;  /* 64 hexadecimal digits; for LXC and nspawn a name */
	struct slice pod; /* uid of the Kubernetes pod, its `-` possibly written as `_`; empty: none */
};

/* Returns false if the path is not a container's. */
bool container_of(struct slice path, struct container *c);
const char *container_runtime_name(enum container_runtime runtime);
/* Appends the first 12 digits of the id, or the name; for a group that is not a container, the whole path. */
void container_label(struct buf *out, struct slice path);
/* Appends the pod's uid with `-`. */
void container_pod(struct buf *out, const struct container *c);
/*
 * Returns true if a user can mean this container by wanted: the beginning of its id (at least 4 digits), its
 * whole name, or the pod's uid.
 */
bool container_is(const struct container *c, struct slice wanted);

#endif
