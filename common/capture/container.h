/*
 * Which container a control group is: from its path alone.
 *
 *	struct container c;
 *
 *	if (container_of(path, &c))
 *		...c.id, c.pod, container_runtime_name(c.runtime)...
 *	buf_clear(&text);
 *	container_label(&text, path);	// "0123456789ab", "pod …/0123456789ab", or the path where it is none
 *
 * Known are the paths that docker, containerd (also under Kubernetes, and nerdctl), CRI-O, podman, LXC and
 * systemd-nspawn give their groups, by the cgroupfs and by the systemd driver, of version 1 and 2. The innermost
 * part that looks like one counts; groups inside of a container ("/init.scope") belong to it. Monitors that
 * runtimes put beside a container (conmon) are none.
 */
#ifndef CPROF_CAPTURE_CONTAINER_H
#define CPROF_CAPTURE_CONTAINER_H

#include "common/base/buf.h"

enum container_runtime {
	RUNTIME_UNKNOWN, /* an id, and nothing said whose */
	RUNTIME_DOCKER,
	RUNTIME_CONTAINERD,
	RUNTIME_CRIO,
	RUNTIME_PODMAN,
	RUNTIME_LXC,
	RUNTIME_NSPAWN,
};

enum { CONTAINER_SHORT = 12 }; /* of an id's 64 digits, as docker ps shows it */

/* The slices lie in the path. */
struct container {
	enum container_runtime runtime;
	struct slice id;  /* 64 hexadecimal digits, or of LXC and nspawn a name */
	struct slice pod; /* Kubernetes' uid, its `-` perhaps written as `_`; empty: none */
};

/* False where the path is no container's. */
bool container_of(struct slice path, struct container *c);
const char *container_runtime_name(enum container_runtime runtime);
/* The id's first 12 digits, or its name; the whole path of a group that is no container. */
void container_label(struct buf *out, struct slice path);
/* The pod's uid with `-`. */
void container_pod(struct buf *out, const struct container *c);
/*
 * Is it the container that someone means by these letters: the beginning of its id (at least 4 digits), its whole name, or
 * the pod's uid?
 */
bool container_is(const struct container *c, struct slice wanted);

#endif
