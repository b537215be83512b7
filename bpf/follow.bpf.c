/*
 * Children of a process that is recorded are recorded too, from their first instruction, and their stacks
 * are walked by their parent's mappings, which are theirs.
 *
 * The side-band tells of a fork up to a quarter of a second later; this puts the child into the filter while
 * it is being made. It reads a task, so it needs BTF, and lives in an object of its own: without it the
 * recorder follows by the side-band.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "bpf/spaces.h"

const volatile unsigned int filter = 0, by_table = 0;

struct task_struct {
	int pid, tgid;
} __attribute__((preserve_access_index));

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, unsigned int);
	__type(value, unsigned int);
} wanted SEC(".maps");

/* include/trace/events/task.h: TP_PROTO(struct task_struct *task, unsigned long clone_flags) */
SEC("raw_tracepoint/task_newtask")
int follow(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *child = (void *)ctx->args[0];
	unsigned int parent = bpf_get_current_pid_tgid() >> 32;
	unsigned int tgid = BPF_CORE_READ(child, tgid), one = 1;
	struct unwind_space *space, copy;

	if (tgid == parent)
		return 0;
	if (filter && bpf_map_lookup_elem(&wanted, &parent))
		bpf_map_update_elem(&wanted, &tgid, &one, BPF_ANY);
	space = by_table ? bpf_map_lookup_elem(&spaces, &parent) : NULL;
	if (space) {
		copy = *space;
		bpf_map_update_elem(&spaces, &tgid, &copy, BPF_ANY);
	}
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
