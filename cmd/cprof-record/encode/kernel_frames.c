#include "cmd/cprof-record/encode/kernel_frames.h"

#include "common/base/hash.h"

enum {
	SWITCH_DEPTH = 8, /* innermost frames among which __schedule is */
	HIT_DEPTH = 8, /* innermost frames among which the caller of a tracepoint's program is */
	GONE_DEPTH = 16, /* outermost frames among which the functions that drop the user stack are */
	ASKED_MOST = 10000, /* searches in vain: after these, there are no names */
};

static bool is_named(struct kernel_frames *k, uint64_t address, const char *name)
{
	struct kernel_symbol symbol;

	return ksym_find(k->ksym, address - 1, &symbol) && slice_is(symbol.name, name);
}

bool kernel_frames_no_user(struct kernel_frames *k, const uint64_t *address, int n)
{
	static const char *const names[] = { "do_exit", "bprm_execve", "load_elf_binary" };

	if (n > 0 && (is_named(k, address[n - 1], "ret_from_fork_asm") || is_named(k, address[n - 1], "ret_from_fork")))
		return true;
	for (int i = n - 1; i >= 0 && i >= n - GONE_DEPTH; i--)
		for (size_t j = 0; j < sizeof(names) / sizeof(names[0]); j++)
			if (is_named(k, address[i], names[j]))
				return true;
	return false;
}

/* Is it named like "bpf_trampoline_6442545134"? There are many of these. */
static bool is_trampoline(struct kernel_frames *k, uint64_t address)
{
	struct kernel_symbol symbol;

	return ksym_find(k->ksym, address - 1, &symbol) && slice_begins(symbol.name, "bpf_trampoline_");
}

/*
 * Counts the frames around schedule when it returns through on_back: that of the trampoline that called it,
 * and, if the trampoline was called and not jumped to, one of the beginning of schedule. back: the
 * trampoline's is gone already.
 */
static int count_around_switch(struct kernel_frames *k, const uint64_t *address, int n, bool back)
{
	int i = 0;

	if (!back && n > 0 && (address[0] == k->trampoline || is_trampoline(k, address[0])))
		k->trampoline = address[i++];
	if (i == n || (!back && i == 0))
		return 0;
	if (address[i] != k->schedule[3] && is_named(k, address[i], "schedule"))
		k->schedule[3] = address[i];
	return i + (address[i] == k->schedule[3]);
}

/*
 * Counts the innermost frames that belong to the switch. In the stack of a thread that leaves the CPU these
 * are the program's, the tracepoint's, __schedule and mostly schedule: the same in all stacks, and missing in
 * those of threads that slept before recording began. They are found by name once, then by their addresses.
 */
int kernel_frames_leaving(struct kernel_frames *k, const uint64_t *address, int n, bool exact)
{
	int i = 0;

	while (i < n && i < SWITCH_DEPTH && address[i] != k->schedule[0])
		i++;
	if (i == n || i == SWITCH_DEPTH) {
		i = 0;
		while (i < n && i < SWITCH_DEPTH && k->schedule_asked < ASKED_MOST && !is_named(k, address[i], "__schedule"))
			i++;
		k->schedule_asked++;
		if (i == n || i == SWITCH_DEPTH || k->schedule_asked > ASKED_MOST)
			return 0;
		k->schedule[0] = address[i];
	}
	if (i + 1 < n && address[i + 1] != k->schedule[1] && address[i + 1] != k->schedule[2])
		k->schedule[is_named(k, address[i + 1], "schedule") ? 1 : 2] = address[i + 1];
	i += 1 + (i + 1 < n && address[i + 1] == k->schedule[1]);
	return i + (exact ? count_around_switch(k, address + i, n - i, false) : 0);
}

int kernel_frames_returning(struct kernel_frames *k, const uint64_t *address, int n)
{
	return count_around_switch(k, address, n, true);
}

/* Is it bpf_trace_run2, __bpf_trace_sys_enter or __traceiter_sys_enter? Which of them differs by kernel. */
static bool calls_program(struct kernel_frames *k, uint64_t address)
{
	static const char *const names[] = { "bpf_trace_run", "__bpf_trace_", "__traceiter_" };
	struct known_caller *known = &k->known[hash_u64(address) % KERNEL_FRAMES_KNOWN];
	struct kernel_symbol symbol;

	if (known->address == address)
		return known->is;
	*known = (struct known_caller){ .address = address };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && ksym_find(k->ksym, address - 1, &symbol); i++)
		known->is = known->is || slice_begins(symbol.name, names[i]);
	return known->is;
}

/* The same for a tracepoint whose program perf does not call: these frames, and the program's before them. */
int kernel_frames_hit(struct kernel_frames *k, const uint64_t *address, int n)
{
	int i = 0;

	while (i < n && i < HIT_DEPTH && !calls_program(k, address[i]))
		i++;
	if (i == n || i == HIT_DEPTH)
		return 0;
	while (i < n && calls_program(k, address[i]))
		i++;
	return i;
}
