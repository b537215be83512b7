#include "cmd/cprof-record/programs/bpf_calls.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "bpf/sample.skel.h"
#include "bpf/usdt_stacks.skel.h"
#include "cmd/cprof-record/host/btf.h"
#include "cmd/cprof-record/host/diagnose.h"
#include "cmd/cprof-record/programs/bpf_beside.h"
#include "common/stream/record.h"

struct bpf_calls {
	const struct call_probes *probes;
	struct usdt_stacks_bpf *bpf;
	struct bpf_lang_calls maps;
	struct bpf_link **links; /* by place */
	size_t n;
	struct uprobe_cost cost;
	int possible; /* CPUs */
	struct usdt_counts *cpus;
};

/* Without bpf_find_vma (Linux 5.17), fibers share the stack of their thread. */
static bool find_mappings(struct usdt_stacks_bpf *b)
{
	struct btf_place task = { "task_struct", "pid", 0 };
	struct btf_place vma[] = { { "vm_area_struct", "vm_start", 0 }, { "vm_area_struct", "vm_end", 0 } };

	if (!btf_find(BTF_KERNEL, &task, 1))
		return false;
	b->rodata->tid_at = task.at;
	if (btf_find(BTF_KERNEL, vma, 2) &&
	    libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_find_vma, NULL) == 1) {
		b->rodata->find_fibers = 1;
		b->rodata->start_at = vma[0].at;
		b->rodata->end_at = vma[1].at;
	}
	return true;
}

static bool load_programs(struct bpf_calls *c, const struct options *o, const struct sample_bpf *sample)
{
	struct usdt_stacks_bpf *b = c->bpf = usdt_stacks_bpf__open();
	uint32_t first;

	if (!b)
		return false;
	b->rodata->id_step = bpf_lang_ids(&first);
	b->rodata->id_first = first;
	b->rodata->from_start = o->command != NULL;
	b->rodata->filter_pids = sample->rodata->filter_pids;
	if (!find_mappings(b)) {
		errno = ENOTSUP;
		return false;
	}
	return bpf_beside_reuse((const struct bpf_beside_map[]){ { b->maps.wanted, sample->maps.wanted },
								 { b->maps.groups, sample->maps.groups } },
				2) &&
	       usdt_stacks_bpf__load(b) == 0;
}

static struct event_arg arg_of(const struct probe_arg *from)
{
	return (struct event_arg){ from->value,	 from->reg,  from->index,     from->shift,
				   from->memory, from->size, from->is_signed, 0 };
}

static bool publish_sites(const struct bpf_calls *c)
{
	static const enum call_arg texts[USDT_TEXTS] = {
		[USDT_CLASS] = CALL_CLASS, [USDT_NAME] = CALL_NAME, [USDT_PATH] = CALL_PATH
	};
	static const enum usdt_what whats[] = {
		[CALL_ENTRY] = USDT_ENTRY, [CALL_RETURN] = USDT_RETURN, [CALL_RESET] = USDT_RESET
	};

	for (uint32_t i = 0; i < c->probes->probe.sites.n; i++) {
		const struct call_site *from = &c->probes->sites[i];
		struct usdt_site s = { .what = (uint8_t)whats[from->what],
				       .joint = (uint8_t)c->probes->joint,
				       .flags = from->builtin ? FUNCTION_BUILTIN : 0,
				       .language = c->probes->language };

		for (int k = 0; k < USDT_TEXTS; k++) {
			s.has_text[k] = from->has[texts[k]];
			s.texts[k] = arg_of(&from->args[texts[k]]);
		}
		s.has_line = from->has[CALL_LINE];
		s.line = arg_of(&from->args[CALL_LINE]);
		if (bpf_map_update_elem(bpf_map__fd(c->bpf->maps.usdt_sites), &i, &s, BPF_ANY) != 0)
			return false;
	}
	return true;
}

struct bpf_calls *bpf_calls_open(const struct options *o, const struct sample_bpf *sample, struct buf *error)
{
	struct bpf_calls *c = calloc(1, sizeof(*c));
	size_t n = o->calls->probe.sites.n;

	if (c) {
		c->probes = o->calls;
		c->possible = libbpf_num_possible_cpus();
		c->links = calloc(n, sizeof(*c->links));
		c->cpus = calloc(c->possible > 0 ? (size_t)c->possible : 1, sizeof(*c->cpus));
	}
	errno = n > USDT_SITES ? E2BIG : ENOMEM;
	if (c && c->links && c->cpus && n <= USDT_SITES && load_programs(c, o, sample) && publish_sites(c)) {
		c->maps = (struct bpf_lang_calls){ c->bpf->maps.lang_ring, c->bpf->maps.usdt_threads,
						   c->bpf->maps.usdt_stacks, c->bpf->maps.usdt_functions };
		uprobe_measure(&c->probes->probe, c->bpf->progs.on_call, &c->cost);
		return c;
	}
	buf_text(error, "--usdt-stacks: ");
	diagnose_bpf(errno, error);
	bpf_calls_close(c);
	return NULL;
}

const struct bpf_lang_calls *bpf_calls_maps(const struct bpf_calls *c)
{
	return &c->maps;
}

static bool set_probe(struct bpf_calls *c, size_t at, unsigned int cpu)
{
	LIBBPF_OPTS(bpf_perf_event_opts, place);
	int fd = uprobe_open(&c->probes->probe, at, cpu), saved;

	if (fd < 0)
		return false;
	place.bpf_cookie = at;
	c->links[at] = bpf_program__attach_perf_event_opts(c->bpf->progs.on_call, fd, &place);
	if (c->links[at])
		return true;
	saved = errno;
	close(fd);
	errno = saved;
	return false;
}

bool bpf_calls_begin(struct bpf_calls *c, unsigned int cpu, struct buf *error)
{
	bool good = true;

	c->bpf->links.exec_thread = bpf_program__attach(c->bpf->progs.exec_thread);
	c->bpf->links.new_thread = bpf_program__attach(c->bpf->progs.new_thread);
	c->bpf->links.exit_thread = bpf_program__attach(c->bpf->progs.exit_thread);
	good = c->bpf->links.exec_thread && c->bpf->links.new_thread && c->bpf->links.exit_thread;
	/* Returns before entries: an entry that comes between them has its return. */
	for (int entries = 0; good && entries < 2; entries++) {
		for (size_t i = 0; good && i < c->probes->probe.sites.n; i++) {
			if ((c->probes->sites[i].what == CALL_ENTRY) == (entries == 1))
				good = set_probe(c, i, cpu);
		}
	}
	c->bpf->bss->on = good;
	if (good)
		return true;
	buf_text(error, "--usdt-stacks: ");
	diagnose_perf(errno, true, error);
	return false;
}

void bpf_calls_stop(struct bpf_calls *c)
{
	if (c->bpf)
		c->bpf->bss->on = 0;
	for (size_t i = 0; c->links && i < c->probes->probe.sites.n; i++) {
		bpf_link__destroy(c->links[i]); /* closes the event too */
		c->links[i] = NULL;
	}
}

void bpf_calls_close(struct bpf_calls *c)
{
	if (!c)
		return;
	bpf_calls_stop(c);
	usdt_stacks_bpf__destroy(c->bpf);
	free(c->links);
	free(c->cpus);
	free(c);
}

void bpf_calls_counts(const struct bpf_calls *c, struct bpf_calls_counts *counts)
{
	uint32_t zero = 0;
	uint64_t own;

	*counts = (struct bpf_calls_counts){ 0 };
	if (bpf_map_lookup_elem(bpf_map__fd(c->bpf->maps.usdt_counted), &zero, c->cpus) != 0)
		return;
	for (int cpu = 0; cpu < c->possible; cpu++) {
		for (int i = 0; i < USDT_COUNTS; i++)
			counts->n[i] += c->cpus[cpu].n[i];
	}
	own = counts->n[USDT_HITS] - counts->n[USDT_FILTERED];
	counts->spent_ns = counts->n[USDT_RUN_NS] + counts->n[USDT_HITS] * c->cost.ns;
	counts->added_ns =
		counts->n[USDT_HITS]
			? (uint64_t)((double)counts->spent_ns * (double)own / (double)counts->n[USDT_HITS])
			: 0;
}

struct uprobe_cost bpf_calls_cost(const struct bpf_calls *c)
{
	return c->cost;
}
