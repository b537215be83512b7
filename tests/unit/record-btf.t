#!/bin/sh
# Members of the kernel's structures are at the offsets that libbpf finds; a damaged file has none.
. "$(dirname "$0")/../lib/lib.sh"
side=$BUILD/tests/record-side
kernel=/sys/kernel/btf/vmlinux
[ -r $kernel ] || skip_all "the kernel has no type information"

for m in "task_struct tgid" "task_struct stack" "cgroup kn" "cgroup root" "kernfs_node id" "cgroup_root hierarchy_id" "pt_regs ip" "net dev_base_seq" \
	"linux_binprm file" "file f_path" "path dentry" "dentry d_name" "qstr name" ".data..percpu runqueues" \
	".data..percpu current_task" ".data..percpu pcpu_hot" ".data..percpu __preempt_count"; do
	want=$("$side" btf-by-libbpf $kernel $m)
	[ -n "$want" ] || { skip "$m" "this kernel has none"; continue; }
	is "$m" "$("$side" btf $kernel $m)" "$want"
done
all="task_struct tgid task_struct stack cgroup kn cgroup root kernfs_node id cgroup_root hierarchy_id"
is "several at once" "$("$side" btf $kernel $all | tr '\n' ' ')" \
	"$(set -- $all; while [ $# != 0 ]; do "$side" btf-by-libbpf $kernel "$1" "$2"; shift 2; done | tr '\n' ' ')"
is "a variable that there is not" "$("$side" btf $kernel .data..percpu tgid)" none
is "a structure that there is not" "$("$side" btf $kernel no_such_structure tgid)" none
is "a member that there is not" "$("$side" btf $kernel task_struct hierarchy_id)" none
is "one of two" "$("$side" btf $kernel task_struct tgid task_struct hierarchy_id)" none
is "a bit" "$("$side" btf $kernel task_struct sched_remote_wakeup)" none
is "a file that there is not" "$("$side" btf "$tmp/none" task_struct tgid)" none
: >"$tmp/empty"
is "an empty one" "$("$side" btf "$tmp/empty" task_struct tgid)" none
head -c 8192 /dev/zero >"$tmp/zeros"
is "zeros" "$("$side" btf "$tmp/zeros" task_struct tgid)" none
cat $kernel >"$tmp/whole"
bad=
for n in 1 8 23 24 25 4096 8191 65537 1000001; do
	head -c "$n" "$tmp/whole" >"$tmp/cut"
	[ "$("$side" btf "$tmp/cut" task_struct tgid)" = none ] || bad="$bad $n"
done
is "one that is cut" "$bad" ""
# Lengths and offsets in the header, and the first types, with bad values
bad=
for at in 0 2 4 8 12 16 20 24 28 32 36 40 60 100; do
	cp "$tmp/whole" "$tmp/hurt"
	printf '\377\377\377\377' | dd of="$tmp/hurt" bs=1 seek=$at conv=notrunc 2>/dev/null
	"$side" btf "$tmp/hurt" task_struct tgid no_such_structure tgid >"$tmp/out" 2>&1
	[ "$? $(cat "$tmp/out")" = "0 none" ] || bad="$bad $at"
done
is "one that is damaged ends in no member" "$bad" ""
done_testing
