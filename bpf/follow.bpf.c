/*
 * Children of a recorded process are recorded too, from their first instruction. Their stacks are walked by
 * their parent's mappings, which are also their own.
 *
 * The side-band reports a fork up to a quarter of a second later; this program adds the child to the filter
 * while the kernel creates it. It reads a task_struct, whose layout comes from BTF: without BTF the recorder
 * follows children by the side-band. It uses offsets rather than relocations, for which libbpf would read all
 * of BTF.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/spaces.h"

const volatile unsigned int filter = 0, by_table = 0;
const volatile unsigned int tgid_at = 0; /* in struct task_struct */

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
	unsigned int parent = bpf_get_current_pid_tgid() >> 32, tgid = 0, one = 1;
	struct unwind_space *space, copy;

	if (bpf_probe_read_kernel(&tgid, sizeof(tgid), (void *)(ctx->args[0] + tgid_at)) || tgid == parent)
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
