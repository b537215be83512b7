#include "cmd/cprof-record/programs/run_queues.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

#include "bpf/sample.skel.h"
#include "cmd/cprof-record/host/btf.h"
#include "cmd/cprof-record/host/diagnose.h"

enum {
	CPUS_EACH = 64, /* with more CPUs, not each sample is counted at */
	CPUS_MOST = 4096,
};

void run_queues_configure(struct sample_bpf *s, bool wanted)
{
	struct btf_place places[] = {
		{ "task_struct", "se", 0 },	 { "sched_entity", "cfs_rq", 0 }, { "cfs_rq", "rq", 0 },
		{ "rq", "curr", 0 },		 { "task_struct", "tgid", 0 },
		{ "task_struct", "cgroups", 0 }, { "css_set", "dfl_cgrp", 0 },
	};
	int cpus = libbpf_num_possible_cpus();

	bpf_program__set_autoload(s->progs.find_queue, wanted);
	if (!wanted)
		return;
	if (cpus < 1 || !btf_find(BTF_KERNEL, places, sizeof(places) / sizeof(places[0])))
		return; /* run_queues_begin says so */
	cpus = cpus < CPUS_MOST ? cpus : CPUS_MOST;
	bpf_map__set_max_entries(s->maps.run_queues, (uint32_t)cpus);
	s->rodata->parallel_cpus = (unsigned int)cpus;
	s->rodata->parallel_each = (unsigned int)(cpus + CPUS_EACH - 1) / CPUS_EACH;
	s->rodata->cfs_in_task = places[0].at + places[1].at;
	s->rodata->queue_in_cfs = places[2].at;
	s->rodata->curr_in_queue = places[3].at;
	s->rodata->tgid_in_task = places[4].at;
	s->rodata->css_in_task = places[5].at;
	s->rodata->group_in_css = places[6].at;
}

/* Finds the run queue of the CPU. False with errno: ENXIO if the CPU is offline. */
static bool find_queue(struct sample_bpf *s, unsigned int cpu)
{
	LIBBPF_OPTS(bpf_test_run_opts, run, .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);
	unsigned long long queue = 0;

	if (bpf_prog_test_run_opts(bpf_program__fd(s->progs.find_queue), &run) != 0 ||
	    bpf_map_lookup_elem(bpf_map__fd(s->maps.run_queues), &cpu, &queue) != 0)
		return false;
	errno = ENODATA;
	return queue != 0;
}

bool run_queues_begin(struct sample_bpf *s, bool wanted, const struct cpu_list *online, struct buf *error)
{
	if (!wanted)
		return true;
	if (!s->rodata->parallel_cpus) {
		buf_text(error, "--latency is not available: the kernel does not describe its run queues "
				"(it requires BTF and CONFIG_FAIR_GROUP_SCHED)");
		return false;
	}
	for (size_t i = 0; i < online->n && online->items[i] < s->rodata->parallel_cpus; i++) {
		if (find_queue(s, online->items[i]) || errno == ENXIO)
			continue;
		buf_text(error, "--latency is not available (it requires Linux 5.10 or newer): ");
		diagnose_bpf(errno, error);
		return false;
	}
	return true;
}

void run_queues_add(struct sample_bpf *s, unsigned int cpu)
{
	if (cpu < s->rodata->parallel_cpus)
		find_queue(s, cpu);
}
