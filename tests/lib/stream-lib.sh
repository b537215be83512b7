# For benchmarks of names: addresses of one binary as in a capture, and the cost of a command on it. The
# caller sets BUILD and tmp.

depth=30 # frames of a stack

claim() { # WHAT VALUE most|least LIMIT UNIT
	awk -v what="$1" -v value="$2" -v which="$3" -v limit="$4" -v unit="$5" 'BEGIN {
		if (value == "") exit
		printf "  %-58s %7.2f%s, claimed: at %s %g%s: %s\n", what, value, unit, which, limit, unit,
			((which == "most" ? value <= limit : value >= limit) ? "met" : "not met") }'
}

# place FILE: sets offset, start and size of its largest executable segment; base, its start in the file's own
# addresses; bias, added to these in the process; and id, its build ID
place() {
	set -- "$1" $(readelf -lW "$1" 2>/dev/null | awk '$1 == "LOAD" && / R E / { print $2, $3, $5 }' | sort -k3 | tail -1)
	offset=$(($2)) start=$(($3)) size=$(($4))
	base=$((start / 4096 * 4096))
	case $(readelf -hW "$1" | awk '/Type:/ { print $2 }') in DYN) bias=$((0x7f0000000000)) ;; *) bias=0 ;; esac
	id=$(readelf -n "$1" 2>/dev/null | awk '/Build ID:/ { print $3; exit }')
}

# stacks N: prints N addresses as in a profile: 2,000 different stacks of the addresses on stdin, the
# first ones often
stacks() {
	awk -v n="$1" -v depth=$depth '{ a[d++] = $1 } END {
		srand(7)
		for (i = 0; i < 2000 * depth; i++) stack[i] = a[int(rand() * d)]
		for (i = 0; i < n; i++) {
			if (i % depth == 0) s = int(2000 * rand() ^ 3) * depth
			print stack[s + i % depth]
		}
	}'
}

# stream FILE: makes a capture of a process that runs the file, from its addresses, one a line; after place
stream() {
	awk -v depth=$depth -v bias=$bias -v file="$1" -v id="$id" -v start=$((base + bias)) \
		-v length_=$(((size + start - base + 4095) / 4096 * 4096)) -v offset=$((offset / 4096 * 4096)) '
	function hex(h,  i, v) { v = 0; for (i = 3; i <= length(h); i++) v = v * 16 + index("0123456789abcdef", substr(h, i, 1)) - 1; return v }
	function out(  i) {
		for (i = 0; i < f; i++) print F[i]
		for (i = 0; i < n; i++) print N[i]
		for (i = 0; i < s; i++) print S[i]
		print "flush"
		f = n = s = 0
	}
	BEGIN {
		parent = 0
		print "segment major=1 minor=0 least=1\nevent id=1 name=\"cpu-clock\" unit=\"ns\" period=1 millihertz=99000\nflush"
		print "process id=1 time=1 pid=42 nspid=0 parent=0 start=5 gen=0 via=snapshot\nthread id=1 time=1 process=1 tid=42"
		print "file id=1 major=8 minor=1 inode=77 generation=0 build-id=" id " path=\"" file "\""
		print "mapping time=1 process=1 start=" start " length=" length_ " offset=" offset " prot=5 file=1"
	}
	{
		if (!($1 in frame)) {
			frame[$1] = ++frames
			F[f++] = sprintf("frame id=%d process=1 kind=exact address=%.0f", frames, hex($1) + bias)
		}
		if (!((parent, frame[$1]) in node)) {
			node[parent, frame[$1]] = ++nodes + 15
			N[n++] = sprintf("node id=%d parent=%d frame=%d", nodes + 15, parent, frame[$1])
		}
		parent = node[parent, frame[$1]]
		if (++at == depth) sample()
		if (n >= 12000 || s >= 12000) out()
	}
	function sample() {
		S[s++] = sprintf("sample time=%d event=1 cpu=0 thread=1 user=%d kernel=0 weight=1", NR, parent)
		at = parent = 0
	}
	END { if (at) sample(); out(); print "end time=" NR " reason=closed samples=0\nflush" }
	' | cprof-dump -r
}

# best COMMAND...: sets us and kib to the best of $runs; us is empty if it fails
runs=3
best() {
	us=
	for _ in $(seq $runs); do
		"$BUILD/tests/peak" "$tmp/spent" sh -c "exec $*" >"$tmp/said" 2>/dev/null || { us=; return 1; }
		read -r kib t <"$tmp/spent"
		if [ -z "$us" ] || [ "$t" -lt "$us" ]; then us=$t; fi
	done
}
