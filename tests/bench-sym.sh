#!/bin/sh
# cprof-sym beside perf script, llvm-symbolizer and addr2line on the same 1,000,000 frames of one
# large binary, end to end: start, reading of tables, names, output. In stacks of 30; once as a
# profile has them (2,000 different stacks of 20,000 different addresses, the first ones often), and
# once the worst case, in which no address comes twice.
#
#	tests/bench-sym.sh [BINARY]		node by default
#
# Each time is the best of three. addr2line is so slow that it gets 2,000 addresses, and its time for
# those beyond the first (which pays for the start) is scaled; the line says so.
set -u
here=$(cd "$(dirname "$0")" && pwd)
: "${BIN:=$(dirname "$here")/build/bin}"
PATH=$BIN:$PATH
export LC_ALL=C
file=$(readlink -f "${1:-$(command -v node || command -v clang || command -v gdb || command -v cprof-sym)}")
frames=1000000 depth=30
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cprof-bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT

# The largest executable segment: offset, address, size.
set -- $(readelf -lW "$file" | awk '$1 == "LOAD" && / R E / { print $2, $3, $5 }' | sort -k3 | tail -1)
offset=$(($1)) start=$(($2)) size=$(($3))
base=$((start / 4096 * 4096))
case $(readelf -hW "$file" | awk '/Type:/ { print $2 }') in DYN) bias=$((0x7f0000000000)) ;; *) bias=0 ;; esac
id=$(readelf -n "$file" 2>/dev/null | awk '/Build ID:/ { print $3; exit }')

# addresses DIFFERENT: one a line, as linked, each 30 a stack
addresses() {
	awk -v n=$frames -v d="$1" -v depth=$depth -v start=$start -v size=$size 'BEGIN {
		srand(7)
		for (i = 0; i < d; i++) a[i] = start + int(rand() * size)
		for (i = 0; d < n && i < 2000 * depth; i++) stack[i] = a[int(rand() * d)]
		for (i = 0; i < n; i++) {
			if (i % depth == 0) s = int(2000 * rand() ^ 3) * depth
			printf "0x%x\n", d < n ? stack[s + i % depth] : a[i]
		}
	}'
}

stream() {
	awk -v depth=$depth -v bias=$bias -v file="$file" -v id="$id" -v start=$((base + bias)) \
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
			F[f++] = sprintf("frame id=%d process=1 kind=exact address=%d", frames, hex($1) + bias)
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

# A perf pipe with the same stacks: attribute, comm, mapping, samples with call chains.
perf_pipe() {
	perl -e '
	my ($path, $start, $length, $offset, $depth, $bias) = @ARGV; @ARGV = (); binmode STDOUT;
	sub event { my ($type, $misc, $body) = @_; $body .= "\0" x (-length($body) & 7); print pack("Vvv", $type, $misc, 8 + length $body), $body }
	print "PERFILE2", pack("Q<", 16);
	my $attr = pack("VVQ<Q<Q<Q<Q<", 1, 128, 0, 10101010, 1 | 2 | 4 | 32, 0, 1 << 5);
	event(64, 0, $attr . "\0" x (128 - length $attr) . pack("Q<", 1));
	event(3, 0, pack("VVa16", 42, 42, "bench"));
	event(10, 2, pack("VVQ<Q<Q<VVQ<Q<VV", 42, 42, $start, $length, $offset, 8, 1, 77, 0, 5, 2) . $path . "\0");
	my ($t, @s) = (100);
	sub stack { event(9, 2, pack("Q<VVQ<Q<Q<*", $s[0], 42, 42, $t++, 1 + @s, ~0 - 511, @s)) if @s; @s = () }
	while (<STDIN>) { push @s, $bias + hex; stack() if @s == $depth } stack();
	' "$file" $((base + bias)) $(((size + start - base + 4095) / 4096 * 4096)) $((offset / 4096 * 4096)) $depth $bias
}

# best COMMAND...: the best of three, in microseconds
best() {
	least=
	for _ in 1 2 3; do
		t0=$(date +%s%N)
		sh -c "$*" >/dev/null 2>&1 || { echo; return; }
		t1=$(date +%s%N)
		t=$(((t1 - t0) / 1000))
		if [ -z "$least" ] || [ $t -lt "$least" ]; then least=$t; fi
	done
	echo "$least"
}

row() { # NAME MICROSECONDS NOTE
	if [ -z "$2" ]; then
		printf '  %-34s did not run\n' "$1"
	else
		awk -v name="$1" -v t="$2" -v ours="$ours" -v n=$frames -v note="${3:-}" 'BEGIN {
			printf "  %-34s %9.3f s %8.3f us a frame %8.1f times ours%s\n", name, t / 1e6, t / n, t / ours, note }'
	fi
}

printf '%s, %d MB, %d symbols in .symtab and .dynsym\n' "$file" $(($(wc -c <"$file") >> 20)) \
	"$(readelf -sW "$file" 2>/dev/null | grep -c '^ *[0-9]*:')"
for different in 20000 $frames; do
	addresses $different >"$tmp/addresses"
	stream <"$tmp/addresses" >"$tmp/in.cprof"
	printf '%d frames, at most %d different addresses:\n' $frames $different
	ours=$(best "cprof-sym <$tmp/in.cprof")
	row 'cprof-sym' "$ours"
	if command -v perf >/dev/null; then
		perf_pipe <"$tmp/addresses" >"$tmp/in.perf"
		row 'perf script -F ip,sym' "$(best "perf script -i - -F ip,sym <$tmp/in.perf")"
	fi
	if command -v llvm-symbolizer >/dev/null; then
		sed "s|^|$file |" "$tmp/addresses" >"$tmp/in.llvm"
		row 'llvm-symbolizer --no-inlines' "$(best "llvm-symbolizer --no-inlines <$tmp/in.llvm")"
		row 'llvm-symbolizer' "$(best "llvm-symbolizer <$tmp/in.llvm")"
	fi
	if command -v addr2line >/dev/null; then
		head -1 "$tmp/addresses" >"$tmp/one"
		head -2001 "$tmp/addresses" >"$tmp/some"
		one=$(best "addr2line -f -C -e $file <$tmp/one")
		some=$(best "addr2line -f -C -e $file <$tmp/some")
		row 'addr2line -f -C' $((one + (some - one) * (frames / 2000))) ' (scaled from 2,000)'
	fi
done
