#include "cmd/cprof-record/config/event_spec.h"

#include <bpf/btf.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmd/cprof-record/host/host.h"
#include "cmd/shared/command_line.h"

enum { COUNT_MAX = 1000000000 };

/* The stream always has the first name. */
static const struct known {
	const char *name, *alias;
	enum event_kind kind;
	uint64_t config;
} known[] = {
	{ "page-faults", "faults", EVENT_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "minor-faults", NULL, EVENT_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", NULL, EVENT_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "context-switches", "cs", EVENT_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", "migrations", EVENT_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "alignment-faults", NULL, EVENT_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS },
	{ "emulation-faults", NULL, EVENT_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS },
	{ "cycles", "cpu-cycles", EVENT_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", NULL, EVENT_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", NULL, EVENT_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", NULL, EVENT_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", "branch-instructions", EVENT_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", NULL, EVENT_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "bus-cycles", NULL, EVENT_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ "stalled-cycles-frontend", NULL, EVENT_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "stalled-cycles-backend", NULL, EVENT_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "ref-cycles", NULL, EVENT_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
};

static enum event_found find_known(struct event *e, const char *name, struct buf *error)
{
	const char *words[sizeof(known) / sizeof(known[0]) + 1] = { NULL }, *guess;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const struct known *k = &known[i];

		if (strcmp(name, k->name) != 0 && (!k->alias || strcmp(name, k->alias) != 0))
			continue;
		e->name = k->name;
		e->kind = k->kind;
		e->type = k->kind == EVENT_HARDWARE ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE;
		e->config = k->config;
		return EVENT_FOUND;
	}
	buf_text(error, "cpu-clock");
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		buf_printf(error, ", %s", known[i].name);
		words[i] = known[i].name;
	}
	buf_text(error,
		 ", a tracepoint like sched:sched_process_exec, or a probe like uprobe:/bin/bash:readline");
	guess = cli_guess(name, words);
	if (guess)
		buf_printf(error, "; did you mean %s?", guess);
	return EVENT_UNKNOWN;
}

/* Both names become directory names in a path, so no other characters are accepted. */
static bool is_tracepoint(const char *name)
{
	const char *colon = strchr(name, ':');

	for (const char *p = name; *p; p++) {
		if (!isalnum((unsigned char)*p) && *p != '_' && *p != '-' && p != colon)
			return false;
	}
	return colon && colon > name && colon[1];
}

static bool read_id(const char *root, const struct event *e, struct buf *id)
{
	int group = (int)strcspn(e->name, ":");
	struct buf path = { 0 };
	bool good;

	buf_printf(&path, "%s/events/%.*s/%s/id", root, group, e->name, e->name + group + 1);
	good = !path.failed && host_read(buf_cstr(&path), id) && id->n;
	buf_release(&path);
	return good;
}

/* Returns true for an event made at run time (kprobe, uprobe): its name tells nothing about kernel code. */
static bool is_made(const char *root, const struct event *e)
{
	struct buf path = { 0 }, made = { 0 };
	char *copy = strdup(e->name);
	bool is = true;

	buf_printf(&path, "%s/dynamic_events", root);
	if (copy && !path.failed && (host_read(buf_cstr(&path), &made) || errno == ENOENT)) {
		copy[strcspn(copy, ":")] = '/';
		is = strstr(buf_cstr(&made), copy) != NULL;
	}
	free(copy);
	buf_release(&made);
	buf_release(&path);
	return is;
}

/*
 * Returns the name of the raw tracepoint, or NULL. Tracepoints of single system calls exist only in perf.
 * Those of modules are left to perf: two modules may have one of the same name. BTF names all others.
 */
static const char *find_raw(const char *root, const struct event *e)
{
	const char *name = strchr(e->name, ':') + 1;
	struct buf type = { 0 };
	struct btf *btf;
	bool is = false;

	buf_printf(&type, "btf_trace_%s", name);
	btf = type.failed || is_made(root, e) ? NULL : btf__load_vmlinux_btf();
	is = btf && btf__find_by_name_kind(btf, buf_cstr(&type), BTF_KIND_TYPEDEF) > 0;
	btf__free(btf);
	buf_release(&type);
	return is ? name : NULL;
}

static bool find_below(const char *root, struct event *e)
{
	struct buf id = { 0 };
	bool found = read_id(root, e, &id);
	int why = errno;

	if (found) {
		e->config = strtoull(buf_cstr(&id), NULL, 10);
		e->raw = find_raw(root, e);
	}
	buf_release(&id);
	errno = why;
	return found;
}

/*
 * Opens a tracefs that is not attached to any directory (fsopen(2), Linux 5.2), for machines without a
 * mounted one: recording must not leave a mount there. -1: not available.
 */
static int mount_unseen(void)
{
	int fs = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC), mount = -1;

	if (fs < 0)
		return -1;
	if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		mount = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	close(fs);
	return mount;
}

static bool find_unseen(struct event *e, bool *there)
{
	int mount = mount_unseen();
	char root[32];
	bool found;

	if (mount < 0)
		return false;
	*there = true;
	snprintf(root, sizeof(root), "/proc/self/fd/%d", mount);
	found = find_below(root, e);
	close(mount);
	return found;
}

static enum event_found find_tracepoint(struct event *e, struct buf *error)
{
	static const char *const roots[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	bool there = false, denied = false, seen;

	e->kind = EVENT_TRACEPOINT;
	e->type = PERF_TYPE_TRACEPOINT;
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		char events[64];

		if (find_below(roots[i], e))
			return EVENT_FOUND;
		denied = denied || errno == EACCES;
		snprintf(events, sizeof(events), "%s/events", roots[i]);
		there = there || access(events, F_OK) == 0;
	}
	seen = there;
	if (!denied && !there && find_unseen(e, &there))
		return EVENT_FOUND;
	if (denied)
		buf_text(error, "reading /sys/kernel/tracing requires root, or permission from root");
	else if (!there)
		buf_text(error, "cannot read tracepoints without tracefs (mount -t tracefs tracefs /sys/kernel/tracing)");
	else
		buf_printf(error, "a tracepoint of this kernel, as listed in /sys/kernel/tracing/available_events%s",
			   seen ? "" : " after mount -t tracefs tracefs /sys/kernel/tracing");
	return denied || !there ? EVENT_REFUSED : EVENT_UNKNOWN;
}

/* "page-faults/100". The text of a probe has a path: there the count is a number after the last slash. */
static bool take_count(struct event *e, char *text)
{
	bool probe = probe_is(text);
	char *slash = probe ? strrchr(text, '/') : strchr(text, '/'), *end;

	if (!slash || (probe && (!slash[1] || slash[1 + strspn(slash + 1, "0123456789")])))
		return true;
	*slash = '\0';
	e->count = isdigit((unsigned char)slash[1]) ? strtoull(slash + 1, &end, 10) : 0;
	return e->count && !*end && e->count <= COUNT_MAX;
}

/* The event found keeps the text if it is a tracepoint's name. */
static enum event_found find_named(struct event *e, char *text, struct buf *error)
{
	if (!take_count(e, text)) {
		buf_printf(error, "a number of events per sample from 1 to %d at its end, as in page-faults/100", COUNT_MAX);
		return EVENT_UNKNOWN;
	}
	if (!is_tracepoint(text) && !probe_is(text))
		return find_known(e, text, error);
	e->name = text;
	if (probe_is(text)) {
		e->kind = EVENT_PROBE;
		return probe_find(&e->probe, text, error);
	}
	return find_tracepoint(e, error);
}

enum event_found event_find(struct event *e, const char *text, struct buf *error)
{
	char *copy = strdup(text);
	enum event_found found;

	*e = (struct event){ 0 };
	if (!copy) {
		buf_text(error, "out of memory");
		return EVENT_REFUSED;
	}
	found = find_named(e, copy, error);
	if (found != EVENT_FOUND || e->name != copy)
		free(copy);
	return found;
}

uint64_t event_period(const struct event *e)
{
	return e->count ? e->count : e->kind != EVENT_HARDWARE;
}
