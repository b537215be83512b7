#include "common/capture/container.h"

enum { ID_DIGITS = 64, WANTED_LEAST = 4 };

static bool is_hex(struct slice s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (!(s.p[i] >= '0' && s.p[i] <= '9') && !(s.p[i] >= 'a' && s.p[i] <= 'f'))
			return false;
	}
	return s.n > 0;
}

/* Parses a part that has a prefix before the id, as in systemd's scopes and in names from the runtimes. */
static bool is_prefixed(struct slice part, struct container *c)
{
	static const struct {
		const char *prefix;
		enum container_runtime runtime;
	} known[] = {
		{ "docker-", RUNTIME_DOCKER },	     { "cri-containerd-", RUNTIME_CONTAINERD },
		{ "nerdctl-", RUNTIME_CONTAINERD },  { "containerd-", RUNTIME_CONTAINERD },
		{ "crio-", RUNTIME_CRIO },	     { "libpod-payload-", RUNTIME_PODMAN },
		{ "libpod-", RUNTIME_PODMAN },
	};

	slice_cut_end(&part, ".scope");
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct slice id = part;

		if (slice_cut_start(&id, known[i].prefix) && id.n == ID_DIGITS && is_hex(id)) {
			c->id = id;
			c->runtime = known[i].runtime;
			return true;
		}
	}
	return false;
}

/* Parses a part of the cgroupfs driver: the bare id, below a group that tells the runtime. */
static bool is_bare(struct slice part, struct slice before, struct container *c)
{
	struct slice id = part;

	/* The Kubernetes plugin of containerd, with systemd's names in cgroupfs: "cri-containerd:…:ID" */
	for (size_t i = part.n; i-- > 0;) {
		if (part.p[i] == ':') {
			id = (struct slice){ part.p + i + 1, part.n - i - 1 };
			break;
		}
	}
	if (id.n != ID_DIGITS || !is_hex(id))
		return false;
	c->id = id;
	c->runtime = slice_is(before, "docker") ? RUNTIME_DOCKER :
		     id.n != part.n || slice_is(before, "default") || slice_is(before, "k8s.io") ? RUNTIME_CONTAINERD :
		     RUNTIME_UNKNOWN;
	return true;
}

/* Parses the name of an LXC or systemd-nspawn machine. */
static bool is_named(struct slice part, struct slice before, struct container *c)
{
	struct slice name = part;

	if (slice_cut_start(&name, "lxc.payload.") || (slice_is(before, "lxc") && name.n && !slice_is(name, "init.scope"))) {
		c->runtime = RUNTIME_LXC;
	} else if ((slice_cut_start(&name, "machine-") || slice_cut_start(&name, "systemd-nspawn@")) &&
		   (slice_cut_end(&name, ".scope") || slice_cut_end(&name, ".service"))) {
		c->runtime = RUNTIME_NSPAWN;
	} else {
		return false;
	}
	c->id = name;
	return name.n > 0;
}

/* Returns true for 8-4-4-4-12 digits, or for the 32 digits of a node's static pods. */
static bool is_uid(struct slice s)
{
	if (s.n == 32)
		return is_hex(s);
	if (s.n != 36)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? s.p[i] != '-' && s.p[i] != '_' : !is_hex((struct slice){ s.p + i, 1 }))
			return false;
	}
	return true;
}

/* Parses "pod<uid>" or "kubepods-burstable-pod<uid>.slice". */
static bool is_pod(struct slice part, struct slice *uid)
{
	slice_cut_end(&part, ".slice");
	for (size_t i = 0; i + 3 < part.n; i++) {
		struct slice rest = { part.p + i, part.n - i };

		if ((i == 0 || part.p[i - 1] == '-') && slice_cut_start(&rest, "pod") && is_uid(rest)) {
			*uid = rest;
			return true;
		}
	}
	return false;
}

static size_t first_of(struct slice s, uint8_t byte)
{
	size_t i = 0;

	while (i < s.n && s.p[i] != byte)
		i++;
	return i;
}

bool container_of(struct slice path, struct container *c)
{
	struct slice before = { path.p, 0 };
	bool found = false;

	*c = (struct container){ 0 };
	for (size_t at = 0; at < path.n;) {
		size_t end = at;
		struct slice part;
		struct container one = { 0 };

		while (end < path.n && path.p[end] != '/')
			end++;
		part = (struct slice){ path.p + at, end - at };
		at = end + 1;
		if (!part.n)
			continue;
		if (is_prefixed(part, &one) || is_bare(part, before, &one) || is_named(part, before, &one)) {
			is_pod((struct slice){ part.p, first_of(part, ':') }, &c->pod);
			c->id = one.id;
			c->runtime = one.runtime;
			found = true;
		} else {
			is_pod(part, &c->pod);
		}
		before = part;
	}
	return found;
}

const char *container_runtime_name(enum container_runtime runtime)
{
	static const char *const names[] = {
		[RUNTIME_UNKNOWN] = "container", [RUNTIME_DOCKER] = "docker", [RUNTIME_CONTAINERD] = "containerd",
		[RUNTIME_CRIO] = "cri-o",	 [RUNTIME_PODMAN] = "podman", [RUNTIME_LXC] = "lxc",
		[RUNTIME_NSPAWN] = "nspawn",
	};

	return names[runtime];
}

void container_label(struct buf *out, struct slice path)
{
	struct container c;

	if (!container_of(path, &c))
		buf_bytes(out, path.p, path.n);
	else
		buf_bytes(out, c.id.p, c.id.n == ID_DIGITS ? CONTAINER_SHORT : c.id.n);
}

void container_pod(struct buf *out, const struct container *c)
{
	for (size_t i = 0; i < c->pod.n; i++)
		buf_byte(out, c->pod.p[i] == '_' ? '-' : c->pod.p[i]);
}

static bool same_uid(struct slice pod, struct slice wanted)
{
	if (pod.n == 0 || pod.n != wanted.n)
		return false;
	for (size_t i = 0; i < pod.n; i++) {
		if (pod.p[i] != wanted.p[i] && !(pod.p[i] == '_' && wanted.p[i] == '-'))
			return false;
	}
	return true;
}

bool container_is(const struct container *c, struct slice wanted)
{
	if (same_uid(c->pod, wanted))
		return true;
	if (c->id.n == ID_DIGITS)
		return wanted.n >= WANTED_LEAST && wanted.n <= ID_DIGITS && memcmp(c->id.p, wanted.p, wanted.n) == 0;
	return c->id.n == wanted.n && memcmp(c->id.p, wanted.p, wanted.n) == 0;
}
