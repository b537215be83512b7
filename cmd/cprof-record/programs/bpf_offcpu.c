#include "cmd/cprof-record/programs/bpf_offcpu.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "bpf/offcpu.skel.h"
#include "bpf/sample.skel.h"
#include "cmd/cprof-record/host/btf.h"
#include "cmd/cprof-record/host/diagnose.h"
#include "cmd/cprof-record/host/refusal.h"
#include "cmd/cprof-record/programs/bpf_beside.h"
#include "cmd/cprof-record/programs/bpf_lang.h"
#include "cmd/cprof-record/programs/bpf_scratch.h"

enum { LOOK_BYTES = 64 << 10 };

struct offcpu {
	struct offcpu_bpf *bpf;
	struct bpf_link *looking; /* the iterator's link */
	struct buf held;          /* output of the iterator that was not drained yet: sizes and items */
	struct wait_counts *counts; /* by possible CPU */
	int possible;
	struct bpf_scratch scratches; /* by CPU, then the iterator's */
};

static void configure(struct offcpu_bpf *b, const struct options *o, const struct sample_bpf *sample,
		      bool by_tables, int cpus)
{
	bpf_map__set_max_entries(b->maps.ring, o->memory.off_cpu_ring);
	b->rodata->ring_bytes = o->memory.off_cpu_ring;
	b->rodata->cpus = (unsigned int)cpus;
	b->rodata->min_ns = o->off_cpu_ns;
	b->rodata->some_cpus = o->cpus.n > 0;
	bpf_beside_configure(b, o, sample, by_tables, MEMORY_OFF_CPU_STACK);
	for (size_t i = 0; i < o->n_groups; i++)
		b->bss->group_ids[i] = o->groups[i].id;
}

static bool choose_cpus(struct offcpu *o, const struct options *options)
{
	uint32_t zero = 0;

	for (int cpu = 0; cpu < o->possible; cpu++)
		o->counts[cpu].off = !options_samples(options, (unsigned int)cpu);
	return bpf_map_update_elem(bpf_map__fd(o->bpf->maps.waits), &zero, o->counts, BPF_ANY) == 0;
}

/* The iterator's scratch follows those of the CPUs. */
static bool load_programs(struct offcpu *o, const struct sample_bpf *sample)
{
	int prototype = bpf_scratch_configure(&o->scratches, o->bpf->maps.scratches,
					      (uint32_t)o->possible + 1,
					      SAMPLE_STACK_MAX - MEMORY_OFF_CPU_STACK);
	bool loaded;
	int saved;

	if (prototype < 0)
		return false;
	loaded = bpf_beside_share(o->bpf, sample) && offcpu_bpf__load(o->bpf) == 0;
	saved = errno;
	close(prototype);
	errno = saved;
	return loaded;
}

/* Does the kernel count for how long quotas throttled the queue of a group? From 6.6 on. */
static bool kernel_counts_throttled(void)
{
	struct btf_place counter = { "cfs_rq", "throttled_clock_self_time", 0 };

	return btf_find(BTF_KERNEL, &counter, 1);
}

/*
 * Finds where and how the kernel counts nested interrupts: in a variable of its own, or from 6.2 to 6.14 in
 * pcpu_hot. include/linux/preempt.h has the bits. Kernels that count who disabled interrupts, and have a variable
 * for that, have the count in bits 16 to 23, and interrupts and NMIs after them.
 */
static void find_context(struct offcpu_bpf *b)
{
	struct btf_place own[] = { { BTF_PER_CPU, "runqueues", 0 }, { BTF_PER_CPU, "__preempt_count", 0 },
				   { BTF_PER_CPU, "current_task", 0 } };
	struct btf_place part[] = { { BTF_PER_CPU, "runqueues", 0 }, { BTF_PER_CPU, "pcpu_hot", 0 },
				    { "pcpu_hot", "preempt_count", 0 }, { "pcpu_hot", "current_task", 0 } };
	struct btf_place disabled = { BTF_PER_CPU, "local_interrupt_disable_state", 0 };

	if (btf_find(BTF_KERNEL, own, 3)) {
		b->rodata->interrupts_at = own[1].at;
		b->rodata->current_at = own[2].at;
	} else if (btf_find(BTF_KERNEL, part, 4)) {
		own[0].at = part[0].at;
		b->rodata->interrupts_at = part[1].at + part[2].at;
		b->rodata->current_at = part[1].at + part[3].at;
	} else {
		return;
	}
	b->rodata->queue_at = own[0].at;
	b->rodata->interrupts = btf_find(BTF_KERNEL, &disabled, 1) ? 0x7f000100 : 0x00ff0100;
	b->rodata->has_context = 1;
}

/* exact: with on_back. */
static bool load_object(struct offcpu *o, const struct options *options, const struct cpu_list *online,
			const struct sample_bpf *sample, bool by_tables, bool exact)
{
	o->bpf = offcpu_bpf__open();
	if (!o->bpf)
		return false;
	configure(o->bpf, options, sample, by_tables, o->possible);
	find_context(o->bpf);
	bpf_program__set_autoload(o->bpf->progs.on_back, exact);
	bpf_program__set_autoload(o->bpf->progs.on_migrate, kernel_counts_throttled());
	o->bpf->rodata->has_calls = by_tables && sample->rodata->has_calls;
	bpf_program__set_autoload(o->bpf->progs.finish_switch, o->bpf->rodata->has_calls);
	if (!load_programs(o, sample) || !bpf_scratch_add_all(&o->scratches, online) ||
	    !bpf_scratch_add(&o->scratches, (uint32_t)o->possible))
		return false;
	if (exact && !(o->bpf->links.on_back = bpf_program__attach(o->bpf->progs.on_back)))
		return false;
	o->bpf->bss->exact = exact;
	return choose_cpus(o, options);
}

/* Attaches an empty program where on_back would go. Loading all other programs in vain would cost more. */
static bool returns_are_heard(void)
{
	struct bpf_insn nothing[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K },
				      { .code = BPF_JMP | BPF_EXIT } };
	LIBBPF_OPTS(bpf_prog_load_opts, o, .expected_attach_type = BPF_TRACE_FEXIT);
	const char *asked = getenv("CPROF_OFF_CPU");
	int id, program, link = -1;

	if (asked && strcmp(asked, "adaptive") == 0)
		return false;
	id = libbpf_find_vmlinux_btf_id("schedule", BPF_TRACE_FEXIT);
	if (id <= 0)
		return false;
	o.attach_btf_id = (uint32_t)id;
	program = bpf_prog_load(BPF_PROG_TYPE_TRACING, "heard", "GPL", nothing, 2, &o);
	if (program >= 0) {
		link = bpf_raw_tracepoint_open(NULL, program);
		close(program);
	}
	if (link >= 0)
		close(link);
	return link >= 0;
}

static void say_why(struct buf *error)
{
	struct buf why = { 0 };
	int saved = errno;

	diagnose_bpf(saved, &why);
	buf_printf(error, "--off-cpu is not available%s: %s",
		   refusal_program() ? "" : " (it requires BTF and Linux 5.19 or newer)", buf_cstr(&why));
	buf_release(&why);
}

struct offcpu *offcpu_open(const struct options *options, const struct cpu_list *online,
			   const struct sample_bpf *sample, bool by_tables, struct buf *error)
{
	struct offcpu *o = calloc(1, sizeof(*o));

	if (o) {
		o->possible = libbpf_num_possible_cpus();
		o->counts = calloc(o->possible > 0 ? (size_t)o->possible : 1, sizeof(*o->counts));
	}
	if (!o || !o->counts) {
		buf_text(error, "out of memory");
		offcpu_close(o);
		return NULL;
	}
	if (returns_are_heard() && load_object(o, options, online, sample, by_tables, true))
		return o;
	offcpu_bpf__destroy(o->bpf);
	o->bpf = NULL;
	errno = 0;
	if (load_object(o, options, online, sample, by_tables, false))
		return o;
	say_why(error);
	offcpu_close(o);
	return NULL;
}

void offcpu_languages(const struct offcpu *o, struct bpf_lang *l)
{
	if (!o->bpf->rodata->has_calls)
		return;
	bpf_lang_add_hook(l, &(struct bpf_lang_hook){ o->bpf->progs.on_switch, o->bpf->maps.calls,
						      o->bpf->maps.scratches, o->bpf->maps.ring,
						      o->bpf->rodata->stack_limit, "sched_switch" });
	bpf_lang_finish(o->bpf->maps.calls, 0, o->bpf->progs.finish_switch);
}

void offcpu_close(struct offcpu *o)
{
	if (!o)
		return;
	bpf_link__destroy(o->looking);
	offcpu_bpf__destroy(o->bpf);
	buf_release(&o->held);
	free(o->counts);
	free(o);
}

/* Runs the iterator over all threads, and keeps its output. */
static bool run_iterator(struct offcpu *o, enum look what)
{
	int fd = bpf_iter_create(bpf_link__fd(o->looking));
	ssize_t got = -1;

	if (fd < 0)
		return false;
	o->bpf->bss->mode = what;
	while (buf_reserve(&o->held, LOOK_BYTES)) {
		got = read(fd, o->held.p + o->held.n, LOOK_BYTES);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (got <= 0)
			break;
		o->held.n += (size_t)got;
	}
	close(fd);
	return got == 0;
}

bool offcpu_begin(struct offcpu *o, struct buf *error)
{
	struct bpf_program *const programs[] = { o->bpf->progs.on_new, o->bpf->progs.on_first,
						 o->bpf->progs.on_exec, o->bpf->progs.on_rename,
						 o->bpf->progs.on_migrate, o->bpf->progs.on_switch,
						 o->bpf->progs.on_waking };
	struct bpf_link **const links[] = { &o->bpf->links.on_new, &o->bpf->links.on_first,
					    &o->bpf->links.on_exec, &o->bpf->links.on_rename,
					    &o->bpf->links.on_migrate, &o->bpf->links.on_switch,
					    &o->bpf->links.on_waking };

	errno = 0;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (!bpf_program__autoload(programs[i]))
			continue;
		*links[i] = bpf_program__attach(programs[i]);
		if (!*links[i]) {
			say_why(error);
			return false;
		}
	}
	o->looking = bpf_program__attach_iter(o->bpf->progs.look, NULL);
	if (o->looking && run_iterator(o, LOOK_BEGIN))
		return true;
	say_why(error);
	return false;
}

bool offcpu_add_cpu(struct offcpu *o, unsigned int cpu)
{
	return bpf_scratch_add(&o->scratches, cpu);
}

bool offcpu_exact(const struct offcpu *o)
{
	return o->bpf->bss->exact;
}

bool offcpu_throttled(const struct offcpu *o)
{
	return bpf_program__autoload(o->bpf->progs.on_migrate);
}

bool offcpu_report_waits(struct offcpu *o)
{
	return run_iterator(o, LOOK_REPORT);
}

void offcpu_regroup(struct offcpu *o, size_t place, uint64_t id)
{
	o->bpf->bss->group_ids[place] = id;
}

void offcpu_stop(struct offcpu *o)
{
	if (!o->looking)
		return;
	offcpu_bpf__detach(o->bpf);
	run_iterator(o, LOOK_END);
	bpf_link__destroy(o->looking);
	o->looking = NULL;
}

int offcpu_ring(const struct offcpu *o)
{
	return bpf_map__fd(o->bpf->maps.ring);
}

void offcpu_drain(struct offcpu *o, struct queue *q)
{
	size_t at = 0;
	uint32_t n;

	while (at + sizeof(n) <= o->held.n) {
		struct sample_head head;

		memcpy(&n, o->held.p + at, sizeof(n));
		at += sizeof(n);
		if (n < sizeof(head) || n > o->held.n - at)
			break;
		memcpy(&head, o->held.p + at, sizeof(head));
		queue_push(q, ITEM_SAMPLE, head.time, o->held.p + at, n);
		at += n;
	}
	buf_release(&o->held);
}

void offcpu_know_interrupt(struct offcpu *o, uint64_t fingerprint, enum woken_by by)
{
	uint32_t known = (uint32_t)by + KNOWN_BY;

	/* If it fails, the next waking from there has its stack, too. */
	bpf_map_update_elem(bpf_map__fd(o->bpf->maps.known_interrupts), &fingerprint, &known, BPF_ANY);
}

void offcpu_restart(struct offcpu *o)
{
	o->bpf->data->epoch++;
}

void offcpu_counts(const struct offcpu *o, struct wait_counts *c)
{
	uint32_t zero = 0;

	*c = (struct wait_counts){ .off = 0 };
	if (bpf_map_lookup_elem(bpf_map__fd(o->bpf->maps.waits), &zero, o->counts) != 0)
		return;
	for (int cpu = 0; cpu < o->possible; cpu++) {
		for (int i = 0; i < WAIT_COUNTS; i++)
			c->n[i] += o->counts[cpu].n[i];
	}
}
