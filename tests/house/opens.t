#!/bin/sh
# Files that may open files: only foreign.c, and the opener for the recorder, may open paths from another
# process, a mapping, a capture or an ELF file. Every other file that opens anything is listed, with the
# number of calls and the reason why they are harmless.
. "$(dirname "$0")/../lib/lib.sh"
cd "$top" || exit 1

# FILE CALLS REASON
cat >"$tmp/allowed" <<'END'
cmd/shared/cli.c 1 /dev/null
cmd/shared/operands/directory.c 5 the directory that the user named, files in it; headers of operands; a file that -o would replace
cmd/shared/operands/operand_file.c 1 the operand that the user named
cmd/shared/result_file.c 1 the file of -o that the user named
cmd/shared/naming.c 1 /dev/null
cmd/cprof-top/keyboard.c 1 /dev/tty
cmd/cprof-record/host/btf.c 1 /sys/kernel/btf
cmd/cprof-record/host/cgroup.c 8 /proc/self and directories of control groups, which the kernel makes
cmd/cprof-record/config/descriptors.c 1 /proc/PID/task, a directory of the kernel's
cmd/cprof-record/config/probe_spec.c 1 the file that the user named
cmd/cprof-record/programs/uprobe.c 1 /proc/self/exe
cmd/cprof-record/output/rotate.c 6 the directory and the files that the user named, held by its descriptor
common/foreign/helper.c 2 /proc/self/maps, /proc/PID/stat
cmd/cprof-record/output/hooks.c 1 /dev/null
cmd/cprof-record/host/host.c 2 texts of the kernel's by fixed names
cmd/cprof-record/helper/nsfile.c 2 handles (O_PATH) for the opener
cmd/cprof-record/host/kernel_symbols.c 4 /sys/kernel, /proc/kallsyms, /boot
cmd/cprof-record/host/ksym.c 1 /proc/kallsyms
cmd/cprof-record/output/metrics_file.c 2 the file that the user named
common/foreign/mounts.c 3 mountinfo, a text of the kernel's
cmd/cprof-record/helper/opener_process.c 2 the opener: handles on roots and mapped files
cmd/cprof-record/output/output.c 1 /dev/null
cmd/cprof-record/output/file_process.c 1 the file that the user named
cmd/cprof-record/source/engine_perf.c 1 /proc/PID/task, a directory of the kernel's
cmd/cprof-record/process/reread.c 1 the name of a thread in /proc/PID/task, a text of the kernel's
cmd/cprof-record/process/proc_scan.c 5 texts and directories of /proc/PID, which the kernel makes
cmd/cprof-record/helper/maps_process.c 1 /proc/PID/maps, a text of the kernel's
cmd/cprof-record/encode/user_names.c 1 /etc/passwd
cmd/cprof-record/host/priority.c 2 /proc/self/autogroup, /proc/self/oom_score_adj
cmd/cprof-record/helper/sandbox.c 1 /proc/self/statm
cmd/cprof-record/host/vdso.c 1 /proc/self/maps
cmd/cprof-record/host/trigger.c 1 /proc/pressure and /proc/loadavg
cmd/cprof-sym/main.c 1 the key that the user named
common/foreign/foreign.c 4 the opener of the offline tools
common/folded/stack_sums.c 1 a file without a name in the user's TMPDIR
common/annotate/source_text.c 2 handles on the directories of --source-dir and --symfs
common/locate/finder.c 1 a handle on the directory of --symfs
common/locate/identity.c 1 the machine's and the boot's own numbers
common/resolve/kernelfile.c 1 a handle on the directory of --symfs
common/locate/procroot.c 7 handles on roots, programs and mappings; texts and directories of /proc/PID
common/locate/build_id_dir.c 5 directories of the archive, and files that are made there
END

# count_calls FILE...: prints "FILE CALLS" for files with calls. Comments do not count.
count_calls() {
	awk 'FNR == 1 { comment = 0 }
		/^[ \t]*\/\*/ && !/\*\// { comment = 1 }
		comment { if (/\*\//) comment = 0; next }
		{ gsub(/\/\*[^*]*\*\//, ""); $0 = " " $0
		  n[FILENAME] += gsub(/[^A-Za-z_](open|openat|open64|fopen|freopen|opendir|creat|open_by_handle_at|scandir|nftw|fts_open) *\(|SYS_open/, "") }
		END { for (f in n) if (n[f]) print f, n[f] }' "$@" | LC_ALL=C sort
}
cat >"$tmp/x.c" <<'END'
/*
 * int fd = open(path, O_RDONLY);
 */
int a(const char *p) { return open(p, O_RDONLY); } /* open() */
int b(const char *p) { return reopen(p) + foreign_open(0, p) + (int)syscall(SYS_openat2, 0, p, 0, 0); }
END
is "calls are seen, and no others" "$(count_calls "$tmp/x.c")" "$tmp/x.c 2"
count_calls $(find common cmd -name '*.[ch]') >"$tmp/found"
cut -d' ' -f1,2 "$tmp/allowed" | LC_ALL=C sort >"$tmp/wanted"
same "each file that opens files is known, with its calls" "$tmp/wanted" "$tmp/found"

# The strings with which the kernel is asked for another process's file
is "files behind mappings are found by the opener" "$(grep -lE '"[^"]*map_files' $(find common cmd -name '*.c' | sort) | tr '\n' ' ')" \
	"cmd/cprof-record/helper/opener_process.c common/locate/procroot.c "
is "roots of processes are entered by the opener" "$(grep -lE '"[^"]*/root' $(find cmd -name '*.c' | sort) | tr '\n' ' ')" "cmd/cprof-record/helper/opener_process.c "
done_testing
