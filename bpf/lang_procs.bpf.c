/*
 * Notices at exec and fork which processes run an interpreter, so that their first sample has its frames. The
 * side-band says so up to a quarter of a second later.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/lang/exe.bpf.h"

const volatile unsigned int tgid_at = 0; /* struct task_struct */
const volatile unsigned int mm_at = 0, exe_at = 0, code_at = 0, f_inode_at = 0, i_ino_at = 0, i_sb_at = 0,
			    s_dev_at = 0;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct lang_proc);
} lang_procs SEC(".maps");

/* include/trace/events/sched.h: the new image is in place already */
SEC("raw_tracepoint/sched_process_exec")
int lang_exec(struct bpf_raw_tracepoint_args *ctx)
{
	struct lang_at at = { mm_at, exe_at, code_at, f_inode_at, i_ino_at, i_sb_at, s_dev_at };
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	struct lang_file key = { 0, 0 };
	struct lang_proc proc = { 0 };
	__u64 code = lang_executable(&at, &key);
	struct lang_exe *exe = bpf_map_lookup_elem(&lang_files, &key);

	(void)ctx;
	if (exe) {
		proc.image = exe->image;
		proc.generation = lang_generation(bpf_ktime_get_ns());
		if (exe->library)
			proc.searches = LANG_SEARCHES;
		else
			proc.bias = code - exe->text;
		bpf_map_update_elem(&lang_procs, &pid, &proc, BPF_ANY);
	} else {
		bpf_map_delete_elem(&lang_procs, &pid);
	}
	return 0;
}

/* A child has its parent's memory, and so its interpreter. */
SEC("raw_tracepoint/task_newtask")
int lang_fork(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 parent = bpf_get_current_pid_tgid() >> 32, tgid = kernel32(ctx->args[0] + tgid_at);
	struct lang_proc *proc, copy;

	if (tgid == parent || tgid == 0)
		return 0;
	proc = bpf_map_lookup_elem(&lang_procs, &parent);
	if (proc) {
		copy = *proc;
		copy.generation = lang_generation(bpf_ktime_get_ns());
		bpf_map_update_elem(&lang_procs, &tgid, &copy, BPF_ANY);
	}
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
