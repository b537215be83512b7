# For tests of --by: a capture of random stacks, and the truth about each sample from the same generator.
# shellcheck shell=sh

# Three programs, four threads, two CPUs, two containers and a group. main is in two programs, malloc in two
# libraries; work of cc1 has two lines. The truth: thread, CPU, container, system call, then frames as
# function/module/line, separated by tabs.
by_capture() { # CAPTURE TRUTH
	awk -v truth="$2" 'function frame(f, m, l, a, p) {
		n_frames++
		printf "frame id=%d process=%d kind=exact address=%s\n", n_frames, p, a
		name[n_frames] = f "/" m "/" l
	}
	function file(n, path, p) {
		printf "file id=%d major=8 minor=1 inode=%d generation=0 build-id=0%d path=\"%s\"\n",
			n, n, n, path
		map = "mapping time=10 process=%d start=0x%d00000 length=0x2000 offset=0x1000 prot=5"
		printf map " file=%d\n",
			p, n, n
	}
	BEGIN {
		srand(11)
		print "segment major=1 minor=1 least=1"
		print "meta key=\"start-realtime-ns\" value=\"1795269800000000000\""
		print "meta key=\"start-monotonic-ns\" value=\"1000000000\""
		print "event id=1 name=\"cpu-clock\" unit=\"ns\" period=1000 millihertz=99000"
		split("cc1 as sh", comms, " ")
		for (p = 1; p <= 3; p++)
			printf "process id=%d time=10 pid=%d nspid=0 parent=0 start=5 gen=0 via=snapshot\n",
				p, 40 + p
		for (t = 1; t <= 4; t++) {
			p = t < 4 ? t : 1
			owner[t] = p
			thread[t] = comms[p] "-" 40 + p "/" (t < 4 ? 40 + p : 50)
			printf "thread id=%d time=10 process=%d tid=%d\n", t, p, t < 4 ? 40 + p : 50
			printf "comm time=10 thread=%d comm=\"%s\"\n", t, comms[p]
		}
		id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
		printf "cgroup id=7 path=\"/docker/%s\"\ncgroup id=8 path=\"/system.slice/b.service\"\n", id
		print "member time=10 process=1 cgroup=7\nmember time=10 process=2 cgroup=7"
		print "member time=10 process=3 cgroup=8"
		box[1] = box[2] = substr(id, 1, 12); box[3] = "/system.slice/b.service"
		file(1, "/usr/bin/cc1", 1); file(2, "/usr/bin/as", 2); file(3, "/lib/libc.so.6", 1)
		file(4, "/lib/musl.so", 2)
		file(5, "/bin/sh", 3)
		frame("main", "cc1", "cc1.c:3", "0x100100", 1); frame("work", "cc1", "cc1.c:9", "0x100200", 1)
		frame("work", "cc1", "cc1.c:10", "0x100210", 1)
		frame("malloc", "libc.so.6", "malloc.c:5", "0x300100", 1)
		frame("main", "as", "as.c:4", "0x200100", 2); frame("emit", "as", "as.c:8", "0x200200", 2)
		frame("malloc", "musl.so", "[no line]", "0x400100", 2)
		frame("run", "sh", "[no line]", "0x500100", 3); frame("fork1", "sh", "sh.c:7", "0x500200", 3)
		first[1] = 1; last[1] = 4; first[2] = 5; last[2] = 7; first[3] = 8; last[3] = 9
		kernel = n_frames + 1
		list = "do_syscall_64 __x64_sys_read vfs_read ksys_write page_fault __do_sys_clone3"
		split(list, kernels, " ")
		for (i = 1; i <= 6; i++) {
			a = sprintf("0xffffffff8100%d000", i)
			frame(kernels[i], "[kernel]", "[no line]", a, 0)
			printf "ksym time=10 address=%s size=0x100 name=\"%s\" module=\"\"\n", a, kernels[i]
		}
		node = 15
		for (s = 1; s <= 400; s++) {
			t = 1 + int(rand() * 4); p = owner[t]; cpu = int(rand() * 2)
			stack = ""; call = "[no system call]"; user = krn = 0
			for (d = 1 + int(rand() * 4); d > 0; d--) {
				f = first[p] + int(rand() * (last[p] - first[p] + 1))
				printf "node id=%d parent=%d frame=%d\n", ++node, user, f
				user = node; stack = stack "\t" name[f]
			}
			k = int(rand() * 5)
			chain = k == 0 ? "1 2 3" : k == 1 ? "1 4" : k == 2 ? "5" : k == 3 ? "1 6 5" : ""
			call = k == 0 ? "read" : k == 1 ? "write" : k == 3 ? "clone3" : call
			for (n = split(chain, c, " "); n > 0; n--) {
				f = kernel + c[split(chain, c, " ") - n + 1] - 1
				printf "node id=%d parent=%d frame=%d\n", ++node, krn, f
				krn = node; stack = stack "\t" name[f]
			}
			printf "sample time=%d event=1 cpu=%d thread=%d user=%d kernel=%d weight=1000\n",
				1e9 + s * 1e7, cpu, t, user, krn
			print thread[t] "\tCPU " cpu "\t" box[p] "\t" call stack >truth
		}
		text = 0
		for (f = 1; f < kernel; f++) {
			split(name[f], part, "/")
			src = 0; line = 0
			printf "string id=%d text=\"%s\"\n", nm = ++text, part[1]
			if (part[3] ~ /:/) {
				split(part[3], place, ":"); src = ++text; line = place[2]
				printf "string id=%d text=\"/src/%s\"\n", src, place[1]
			}
			symbol = "symbol frame=%d from=0 level=0 source=symtab name=%d offset=0 file=%d"
			printf symbol " line=%d\n",
				f, nm, src, line
		}
		print "end time=9000000000 reason=closed samples=400\nflush"
	}' | cprof-dump -r >"$1"
}

# Rows of the truth, flat and cum by keys: thread cpu container syscall comm, function module line file
by_rows() { # TRUTH KEYS [FUNCTION that the stack must have]
	awk -F '\t' -v keys="$2" -v want="${3:-}" '
	function value(key, i,   part) {
		split($i, part, "/")
		if (key == "function") return part[1]
		if (key == "module") return part[2]
		if (key == "line") return part[3]
		if (key == "file") { sub(/:.*/, "", part[3]); sub(/no line/, "no file", part[3]) }
		if (key == "file") return part[3]
		if (key == "thread") return $1
		if (key == "process") { t = $1; sub("/.*", "", t); return t }
		if (key == "comm") { t = $1; sub("-.*", "", t); return t }
		return key == "cpu" ? $2 : key == "container" ? $3 : $4
	}
	BEGIN { n = split(keys, key, ",") }
	{
		frames = 0; has = want == ""
		for (k = 1; k <= n; k++) frames += key[k] ~ /^(function|module|line|file)$/
		for (i = 5; i <= NF; i++) has = has || value("function", i) == want
		if (!has) next
		split("", seen)
		for (i = frames ? 5 : NF; i <= NF; i++) {
			row = value(key[1], i)
			for (k = 2; k <= n; k++) row = row "\t" value(key[k], i)
			if (!seen[row]++) cum[row]++
		}
		flat[row]++
	}
	END { for (row in cum) print row "\t" flat[row] + 0 "\t" cum[row] }' "$1" | LC_ALL=C sort
}
