#include "cmd/cprof-record/programs/bpf_sampler.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

#include "bpf/sample.skel.h"
#include "cmd/cprof-record/host/refusal.h"
#include "cmd/cprof-record/programs/bpf_lang.h"
#include "cmd/cprof-record/programs/bpf_settings.h"

/* Best first. */
static const struct bpf_way ways[] = {
	{ true, false, true, REGS_BY_HELPER }, /* 6.1 */
	{ true, true, true, REGS_BY_HELPER },  /* 5.15 */
	{ true, true, true, REGS_BY_STACK },   /* 5.10, with BTF */
	{ true, true, false, REGS_BY_STACK },  /* 5.8 */
	{ true, true, false, REGS_BY_SP },
	{ false, true, false, REGS_BY_SP },
};

/* Creates the store of the unwind tables that the program walks by. */
static bool open_store(struct bpf_sampler *s, const struct options *o)
{
	struct store_backing backing = { bpf_tables_add, &s->tables };

	s->store = store_new(&backing, o->memory.unwind_mem);
	return s->store != NULL;
}

/* Chooses the program for ticks: the walk by tables is apart and loaded later, if tail calls can reach it. */
static struct bpf_program *choose_program(struct sample_bpf *s, const struct bpf_way *way)
{
	static const char *const names[] = { "sample", "sample_whole", "walk_stack" };
	size_t chosen = way->by_table && !way->calls;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct bpf_program *p = bpf_object__find_program_by_name(s->obj, names[i]);

		if (p) /* other architectures have the first alone */
			bpf_program__set_autoload(p, i == chosen);
	}
	return bpf_object__find_program_by_name(s->obj, names[chosen]);
}

/* Registers the end of a sample that the walk has completed. */
static bool register_finish(const struct sample_bpf *s, const struct bpf_way *way)
{
	return !way->calls || bpf_lang_finish(s->maps.calls, 0, s->progs.finish);
}

static bool load_way(struct bpf_sampler *s, const struct options *o, const struct idle_ranges *idle,
		     const struct bpf_way *way)
{
	bool loaded;
	int saved;

	refusal_clear();
	s->bpf = sample_bpf__open();
	if (!s->bpf)
		return false;
	bpf_settings_apply(s->bpf, o, idle, way);
	s->ticks = choose_program(s->bpf, way);
	loaded = percpu_configure(&s->percpu, s->bpf, o) &&
		 (!way->by_table || bpf_tables_prepare(&s->tables, s->bpf)) &&
		 sample_bpf__load(s->bpf) == 0 && register_finish(s->bpf, way);
	s->walks = way->by_table && !way->calls;
	if (loaded && (!way->by_table || open_store(s, o)))
		return true;
	saved = errno;
	bpf_tables_release(&s->tables);
	percpu_release(&s->percpu);
	sample_bpf__destroy(s->bpf);
	s->bpf = NULL;
	errno = saved;
	return false;
}

static bool load_best_way(struct bpf_sampler *s, const struct options *o, const struct idle_ranges *idle)
{
	size_t n = sizeof(ways) / sizeof(ways[0]);
	bool helper = libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_task_pt_regs, NULL) != 0;

	for (size_t i = 0; i < n; i++) {
		if (ways[i].by_table ? o->unwind == BY_FP || o->kernel_only :
				       o->unwind == BY_TABLE && !o->kernel_only)
			continue;
		if (ways[i].by_table && ways[i].regs == REGS_BY_HELPER && !helper)
			continue;
		if (load_way(s, o, idle, &ways[i]))
			return true;
		if (ways[i].by_table) {
			s->walk_errno = errno;
			s->walk_refused = refusal_program() != NULL;
		}
		if (errno == EPERM) /* the others need the same rights */
			return false;
	}
	return false;
}

bool bpf_sampler_load(struct bpf_sampler *s, const struct options *o, const struct idle_ranges *idle)
{
	uint32_t one = 1;

	if (!load_best_way(s, o, idle))
		return false;
	for (size_t i = 0; i < o->n_pids + o->n_tids; i++) {
		uint32_t id = (uint32_t)(o->n_pids ? o->pids : o->tids)[i];

		bpf_map_update_elem(bpf_map__fd(s->bpf->maps.wanted), &id, &one, BPF_ANY);
	}
	for (size_t i = 0; i < o->n_groups; i++) {
		if (!bpf_sampler_group(s, i, o->groups[i].fd))
			return false;
	}
	return percpu_init(&s->percpu, s->bpf);
}

bool bpf_sampler_group(const struct bpf_sampler *s, size_t place, int fd)
{
	uint32_t at = (uint32_t)place;

	return bpf_map_update_elem(bpf_map__fd(s->bpf->maps.groups), &at, &fd, BPF_ANY) == 0;
}

void bpf_sampler_release(struct bpf_sampler *s)
{
	store_free(s->store);
	bpf_tables_release(&s->tables);
	percpu_release(&s->percpu);
	sample_bpf__destroy(s->bpf);
	*s = (struct bpf_sampler){ 0 };
}
