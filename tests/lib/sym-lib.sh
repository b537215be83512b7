# For tests of cprof-sym: captures made from a few words, and names from a stream

build_id() { readelf -n "$1" 2>/dev/null | awk '/Build ID:/ { print $3; exit }'; }

# segment: begins a segment
segment() {
	echo 'segment major=1 minor=0 least=1'
	echo 'event id=1 name="cpu-clock" unit="ns" period=10101010 millihertz=99000'
	echo flush
}

# process ID [TIME]: process ID with thread ID
process() {
	echo "process id=$1 time=${2:-1} pid=$((100 + $1)) nspid=0 parent=0 start=5 gen=0 via=snapshot"
	echo "thread id=$1 time=${2:-1} process=$1 tid=$((100 + $1))"
}

# file ID PATH [BUILD_ID]
file() { echo "file id=$1 major=8 minor=1 inode=$((1000 + $1)) generation=0 build-id=${3:-} path=\"$2\""; }

# mapping PROCESS FILE START LENGTH OFFSET [TIME]
mapping() { echo "mapping time=${6:-1} process=$1 start=$3 length=$4 offset=$5 prot=5 file=$2"; }

# frames [PROCESS [KIND [FIRST [TIME]]]]: turns addresses, one a line, into frames from FIRST on, each with a
# sample
frames() {
	awk -v process="${1:-1}" -v kind="${2:-exact}" -v first="${3:-1}" -v time="${4:-1000}" -v thread="${5:-${1:-1}}" '
	{
		id = first + NR - 1
		print "frame id=" id " process=" process " kind=" kind " address=" $1
		print "node id=" id + 15 " parent=0 frame=" id
		user = process ? id + 15 : 0
		print "sample time=" time " event=1 cpu=0 thread=" thread " user=" user " kernel=" (process ? 0 : id + 15) " weight=1"
	}'
}

finish() { echo flush; echo 'end time=900000 reason=closed samples=0'; echo flush; }

# loads FILE_ID PROCESS FILE: the executable mappings of an ELF file, at the addresses it was linked for
loads() {
	readelf -lW "$3" | awk -v f="$1" -v p="$2" '
	$1 == "LOAD" && / R E |RWE/ { print "mapping time=1 process=" p " start=" page($3, 0) " length=" size($3, $5) " offset=" page($2, 0) " prot=5 file=" f }
	function dec(h,  i, v) { v = 0; h = tolower(substr(h, 3)); for (i = 1; i <= length(h); i++) v = v * 16 + index("0123456789abcdef", substr(h, i, 1)) - 1; return v }
	function page(h, up) { return sprintf("%.0f", dec(h) - dec(h) % 4096) }
	function size(v, n) { return sprintf("%.0f", (int((dec(v) + dec(n) + 4095) / 4096) - int(dec(v) / 4096)) * 4096) }'
}

# names: prints "ADDRESS NAME+OFFSET SOURCE [FROM]" from a stream, or "ADDRESS -" for unnamed frames, in the
# order of frames
names() {
	cprof-dump "$@" 2>/dev/null | awk '
	function text(s) { sub(/^[^"]*"/, "", s); sub(/"$/, "", s); return s }
	{ delete v; for (i = 2; i <= NF; i++) { eq = index($i, "="); if (eq) v[substr($i, 1, eq - 1)] = substr($i, eq + 1) } }
	$1 == "frame" { address[v["id"]] = v["address"]; order[++n] = v["id"] }
	$1 == "string" { s = $0; sub(/^string id=[0-9]* text=/, "", s); string[v["id"]] = text(s) }
	$1 == "symbol" { f = v["frame"]; names[f] = names[f] (names[f] == "" ? "" : "\n") address[f] " " \
		(v["source"] == "none" ? "-" : string[v["name"]] "+" v["offset"]) " " v["source"] (v["from"] + 0 ? " " v["from"] : "") }
	END { for (i = 1; i <= n; i++) { f = order[i]; print names[f] == "" ? address[f] " -" : names[f] } }'
}

# nameless: replaces names that only give a function's start by "-"
nameless() { sed 's/\[[^ ]*+0x[0-9a-f]*\]+[0-9]*\( bounds\)*$/-/'; }

# sources: "FILE STATUS KIND PATH"
sources() {
	cprof-dump "$@" 2>/dev/null | sed -n 's/^source file=\([^ ]*\) status=\([^ ]*\) kind=\([^ ]*\) path="\(.*\)"$/\1 \2 \3 \4/p'
}

# name_of STREAM: the output of names without addresses, for captures of one frame
name_of() { names "$@" | sed 's/^[^ ]* //'; }

# ask FILE [OPTION...]: prints the names of one ELF file at the addresses on stdin
ask() {
	f=$1
	shift
	{ segment; process 1; file 1 "$f" "$(build_id "$f")"; loads 1 1 "$f"; frames; finish; } |
		cprof-dump -r >"$tmp/ask.bin" && cprof-sym "$@" "$tmp/ask.bin" 2>"$tmp/err" >"$tmp/ask.sym" && names "$tmp/ask.sym"
}

# every_byte START END; mawk cannot print more than 31 bits in hexadecimal
every_byte() {
	awk 'BEGIN { for (a = '"$(($1))"'; a < '"$(($2))"'; a++) {
		low = a % 65536; high = (a - low) / 65536
		if (high) printf "0x%x%04x\n", high, low; else printf "0x%x\n", low } }'
}

# sample FILE N: prints N random addresses in its executable segments
sample() {
	readelf -lW "$1" | awk -v n="$2" '
	function dec(h,  i, v) { v = 0; h = substr(h, 3); for (i = 1; i <= length(h); i++) v = v * 16 + index("0123456789abcdef", substr(h, i, 1)) - 1; return v }
	$1 == "LOAD" && / R E / { start[++k] = dec($3); size[k] = dec($6); sum += size[k] }
	END { srand(11); for (i = 0; i < n; i++) { x = int(rand() * sum); for (j = 1; x >= size[j]; j++) x -= size[j]; printf "0x%x\n", start[j] + x } }'
}

# compare DESCRIPTION FILE ADDRESSES: the names there must equal those of the reference. Debug files, which
# readelf does not read, are left out; and a name from a table other than .symtab and .dynsym may appear where
# these have none.
compare() {
	mkdir -p "$tmp/none"
	readelf -SW -sW "$2" 2>/dev/null | "$BUILD/tests/sym-reference" 3<"$3" >"$tmp/want"
	sed 's/ .*//' "$tmp/want" | ask "$2" --demangle none --debug-dir "$tmp/none" >"$tmp/answers"
	awk 'NR == FNR { want[FNR] = $0; next }
		$2 == "-" { print $1, $2; next }
		{ source = $NF; sub(/ [a-z]*$/, ""); print source ~ /^(symtab|dynsym)$/ || $0 == want[FNR] ? $0 : $1 " -" }
		' "$tmp/want" "$tmp/answers" >"$tmp/got"
	[ -s "$tmp/want" ] || echo 'no answers' >>"$tmp/got"
	same "$1: $(wc -l <"$tmp/got") addresses, $(grep -c + "$tmp/want") of them with a name" "$tmp/got" "$tmp/want"
}
