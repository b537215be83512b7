#include "cmd/cprof-record/config/descriptors.h"

#include <dirent.h>
#include <stdio.h>

/* Measured, with a reserve: files, sockets, BPF objects during loading. */
enum {
	OWN = 24,
	BPF = 64,
	BPF_OFF_CPU = 28,
	BPF_EVENT = 12,
	BPF_CALLS = 20,
	BPF_CPU = 1,     /* the side-band's event */
	BPF_SAMPLED = 2, /* an event and its link */
};

size_t descriptors_for_bpf(const struct options *o, size_t online, size_t sampled)
{
	size_t n = BPF + online * BPF_CPU + (o->ticks ? sampled * BPF_SAMPLED : 0);

	if (o->off_cpu)
		n += BPF_OFF_CPU;
	if (o->calls)
		n += BPF_CALLS + o->calls->probe.sites.n * BPF_SAMPLED;
	for (size_t i = 0; i < o->n_events; i++) {
		const struct event *e = &o->events[i];

		n += BPF_EVENT + (e->raw ? 1 : (e->probe ? e->probe->sites.n : sampled) * BPF_SAMPLED);
	}
	return n;
}

static size_t count_threads(pid_t pid)
{
	char path[64];
	size_t n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	for (struct dirent *e; d && (e = readdir(d));)
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return n;
}

size_t descriptors_for_perf(const struct options *o, size_t online)
{
	size_t tasks = o->n_tids;

	for (size_t i = 0; i < o->n_pids; i++)
		tasks += count_threads(o->pids[i]);
	return OWN + online * (tasks ? tasks : 1);
}
