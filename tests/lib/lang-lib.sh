# Captures with frames of interpreted languages, made from stacks; after lib.sh.

# lang_text: turns lines "LANGUAGE SAMPLES FRAME..." on stdin, outermost frame first, into a capture as text.
# Each language is a process of its own, named after it. A frame is
#
#	m:NAME		machine code of the interpreter
#	c:NAME		machine code of a library
#	u:OFFSET	code of the interpreter without a name
#	v:OFFSET	code of the library without a name
#	p:NAME		code in memory with a name from a perf map
#	a:OFFSET	code in memory without a name
#	l:NAME:LINE	a function of the language in /app/main; its first line is 7
#	j:NAME:LINE	the same in /usr/lib/json
#	s:STATE		a frame of the language without a function
#	k:NAME		the kernel
lang_text() {
	awk -v q='"' '
	function frame_of(t,  kind, name, line, f) {
		if ((proc, t) in frame) return frame[proc, t]
		kind = substr(t, 1, 1); name = substr(t, 3); line = 0
		if (kind ~ /[lj]/ && match(name, /:[0-9]+$/)) {
			line = substr(name, RSTART + 1)
			name = substr(name, 1, RSTART - 1)
		}
		f = ++frames
		if (kind ~ /[lj]/) {
			if (!((proc, kind, name) in function_of)) {
				function_of[proc, kind, name] = ++functions
				print "function id=" functions, "script=" 2 * proc - (kind == "l"),
					"name=" q name q, "line=7 flags=0 start=0"
			}
			print "lang-frame id=" f, "process=" proc, "language=" $1,
				"function=" function_of[proc, kind, name], "line=" line + 0, "state=ok" none
		} else if (kind == "s") {
			print "lang-frame id=" f, "process=" proc, "language=" $1,
				"function=0 line=0 state=" name none
		} else if (kind == "k") {
			at = sprintf("0xffffffff8100%04x", 16 * f)
			print "frame id=" f, "process=0 kind=exact address=" at
			after = after "ksym time=9 address=" at " size=0x10 name=" q name q " module=\"\"\n"
		} else {
			at = kind ~ /[uva]/ ? name : sprintf("%04x", 16 * f)
			at = "0x" (kind ~ /[mu]/ ? 4 : kind ~ /[pa]/ ? 6 : 5) at
			print "frame id=" f, "process=" proc, "kind=exact address=" at
			if (kind !~ /[uva]/) {
				after = after "string id=" f " text=" q name q "\n"
				after = after "symbol frame=" f " from=0 level=0 source=" \
					(kind == "p" ? "perfmap" : "symtab") " name=" f \
					" offset=0 file=0 line=0\n"
			}
		}
		return frame[proc, t] = f
	}
	BEGIN {
		none = " tier=none inlined=0 position=0"
		nowhere = " units=0 file=0 offset=0x0 width=0"
		print "segment major=1 minor=5 least=1"
		print "meta key=\"start-realtime-ns\" value=\"1000000000000001000\""
		print "meta key=\"start-monotonic-ns\" value=\"1000\""
		print "event id=1 name=\"cpu-clock\" unit=\"ns\" period=10000000 millihertz=100000\nflush"
		print "file id=2 major=8 minor=1 inode=78 generation=0 build-id=0b path=\"/lib/libc.so.6\""
		nodes = 15; time = 1000
	}
	!($1 in process) {
		proc = process[$1] = ++n
		language = $1 == "c" ? "python" : $1
		print "process id=" n, "time=1 pid=" 100 + n, "nspid=0 parent=0 start=5 gen=0 via=snapshot"
		print "thread id=" n, "time=1 process=" n, "tid=" 100 + n
		print "comm time=1 thread=" n, "comm=" q $1 q
		print "file id=" 2 + n, "major=8 minor=1 inode=" 80 + n, "generation=0 build-id=0c0" n,
			"path=" q "/usr/bin/" $1 q
		mapped = "length=0x10000 offset=0x0 prot=5 file="
		print "mapping time=1 process=" n, "start=0x40000", mapped 2 + n
		print "mapping time=1 process=" n, "start=0x50000", mapped 2
		print "mapping time=1 process=" n, "start=0x60000", mapped 0
		print "script id=" 2 * n - 1, "language=" language, "process=" n, "path=\"/app/main\"" nowhere
		print "script id=" 2 * n, "language=" language, "process=0 path=\"/usr/lib/json\"" nowhere
	}
	{
		proc = process[$1]
		user = kernel = 0
		for (i = 3; i <= NF; i++) {
			f = frame_of($i)
			parent = $i ~ /^k:/ ? kernel : user
			if (!((parent, f) in node)) {
				node[parent, f] = ++nodes
				print "node id=" nodes " parent=" parent " frame=" f
			}
			if ($i ~ /^k:/) kernel = node[parent, f]; else user = node[parent, f]
		}
		for (i = 0; i < $2; i++)
			print "sample time=" ++time, "event=1 cpu=0 thread=" proc, "user=" user,
				"kernel=" kernel, "weight=10000000"
		samples += $2
	}
	END { printf "%send time=%d reason=closed samples=%d\nflush\n", after, time, samples }'
}

# lang_capture: the same as a capture
lang_capture() { lang_text | cprof-dump -r; }
