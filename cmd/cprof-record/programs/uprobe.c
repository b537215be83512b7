#include "cmd/cprof-record/programs/uprobe.h"

#include <bpf/libbpf.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "cmd/cprof-record/host/btf.h"
#include "cmd/cprof-record/host/host.h"
#include "cmd/cprof-record/rings/perf_ring.h"

enum {
	SEMAPHORE_SHIFT = 32, /* /sys/bus/event_source/devices/uprobe/format/ref_ctr_offset */
	BATCH = 16,	      /* hits that are timed together */
	BATCHES = 32,
	ENOUGH_NS = 4000000, /* time for them */
};

/* Kinds of instructions by their cost. */
enum kind { KIND_EMULATED, KIND_STEPPED, KIND_CALL, KINDS };

/* Each returns its argument, and has an instruction of a kind, at its second label if it has one. */
long uprobe_emulated(long v), uprobe_stepped(long v), uprobe_leaf(long v);
extern const char uprobe_leaf_nop[];

#if defined(__x86_64__)
#define MOVE "	movq %rdi, %rax\n"
#define STEP "	leaq (%rdi), %rax\n"
#define LEAF \
	"	movq %rdi, -8(%rsp)\nuprobe_leaf_nop:\n	.byte 0x0f, 0x1f, 0x44, 0, 0\n	movq -8(%rsp), %rax\n"
#else
#define MOVE ""
#define STEP "	mov x1, x0\n"
#define LEAF "uprobe_leaf_nop:\n	nop\n"
#endif

__asm__(".text\n	.balign 64\n"
	"	.type uprobe_emulated, %function\nuprobe_emulated:\n	nop\n" MOVE
	"	ret\n	.size uprobe_emulated, .-uprobe_emulated\n"
	"	.type uprobe_stepped, %function\nuprobe_stepped:\n" STEP
	"	ret\n	.size uprobe_stepped, .-uprobe_stepped\n"
	"	.type uprobe_leaf, %function\nuprobe_leaf:\n" LEAF
	"	ret\n	.size uprobe_leaf, .-uprobe_leaf\n");

/* Linux 6.0 removed that lock for probes; this member, a little newer, shows it. */
bool uprobe_keeps_out(void)
{
	struct btf_place member = { "bpf_trace_run_ctx", "is_uprobe", 0 };

	return !btf_find(BTF_KERNEL, &member, 1);
}

int uprobe_open(const struct probe *p, size_t site, unsigned int cpu)
{
	const struct probe_site *s = &p->sites.items[site];
	struct perf_event_attr attr = { .type = p->type,
					.config = s->semaphore << SEMAPHORE_SHIFT,
					.disabled = 1 };
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", p->fd);
	attr.config1 = (uintptr_t)path;
	attr.config2 = s->offset;
	return event_open(&attr, -1, (int)cpu);
}

/* Sources: arch/x86/kernel/uprobes.c, branch_setup_xol_ops and push_setup_xol_ops. */
static enum kind kind_of(const struct probe_site *s)
{
	static const uint8_t nop5[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
#if defined(__x86_64__)
	uint8_t code = s->code[0], second = s->code[1];

	if (memcmp(s->code, nop5, sizeof(nop5)) == 0)
		return KIND_CALL;
	if (code == 0x90 || (code >= 0x50 && code <= 0x57) || code == 0xe8 || code == 0xe9 || code == 0xeb ||
	    (code & 0xf0) == 0x70 || (code == 0x0f && (second & 0xf0) == 0x80))
		return KIND_EMULATED;
#else
	static const uint8_t nop[] = { 0x1f, 0x20, 0x03, 0xd5 };

	(void)nop5;
	if (memcmp(s->code, nop, sizeof(nop)) == 0)
		return KIND_EMULATED;
#endif
	return KIND_STEPPED;
}

struct own_code {
	uintptr_t address;
	uint64_t offset;
};

static int find_own(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct own_code *c = arg;

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && c->address - info->dlpi_addr - p->p_vaddr < p->p_filesz) {
			c->offset = c->address - info->dlpi_addr - p->p_vaddr + p->p_offset;
			return 1;
		}
	}
	return 0;
}

/* Calls a function until enough time is over. harms: it returned something else once. */
static void time_calls(long (*function)(long), struct uprobe_cost *cost)
{
	uint64_t begin = host_mono_ns(), now = begin, best = UINT64_MAX;

	for (int i = 0; i < BATCHES && now - begin < ENOUGH_NS; i++) {
		uint64_t before = host_mono_ns();

		for (long k = 1; k <= BATCH; k++)
			cost->harms |= function(k) != k;
		now = host_mono_ns();
		if (now - before < best)
			best = now - before;
	}
	cost->ns = (unsigned int)(best / BATCH);
}

static void measure_kind(enum kind kind, uint32_t type, const struct bpf_program *program,
			 struct uprobe_cost *cost)
{
	static long (*const functions[])(long) = { uprobe_emulated, uprobe_stepped, uprobe_leaf };
	struct own_code code = { kind == KIND_CALL ? (uintptr_t)uprobe_leaf_nop : (uintptr_t)functions[kind],
				 0 };
	struct probe_site site = { 0 };
	struct probe own = { .fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
			     .type = type,
			     .sites = { &site, 1, 1 } };
	struct bpf_link *link = NULL;
	int fd = -1;

	if (own.fd >= 0 && dl_iterate_phdr(find_own, &code)) {
		site.offset = code.offset;
		fd = uprobe_open(&own, 0, (unsigned int)sched_getcpu());
	}
	if (fd >= 0)
		link = bpf_program__attach_perf_event(program, fd);
	if (link)
		time_calls(functions[kind], cost);
	if (link)
		bpf_link__destroy(link); /* closes the event too */
	else if (fd >= 0)
		close(fd);
	if (own.fd >= 0)
		close(own.fd);
}

void uprobe_measure(const struct probe *p, const struct bpf_program *program, struct uprobe_cost *cost)
{
	static struct uprobe_cost of[KINDS];
	static bool known[KINDS];

	*cost = (struct uprobe_cost){ 0 };
	for (size_t i = 0; i < p->sites.n; i++) {
		enum kind kind = kind_of(&p->sites.items[i]);

		if (!known[kind])
			measure_kind(kind, p->type, program, &of[kind]);
		known[kind] = true;
		cost->harms |= of[kind].harms;
		if (of[kind].ns > cost->ns)
			cost->ns = of[kind].ns;
	}
}
