# For tests of cprof-archive: captures of whole files, with names from the files and from an archive.

# Go's own build ID, as the recorder has it
go_id() { readelf -n "$1" 2>/dev/null | awk '/^ *Go / { go = 1 } go && /description data:/ { sub(/.*data: /, ""); gsub(/ /, ""); print; exit }'; }

# code FILE STEP: addresses in the sections with code, one every STEP bytes; in small sections (stubs), every
# four bytes
code() {
	readelf -SW "$1" | sed 's/^ *\[ *[0-9]*\] *//' | awk -v step="$2" '
	function dec(h,  i, v) { v = 0; for (i = 1; i <= length(h); i++) v = v * 16 + index("0123456789abcdef", substr(h, i, 1)) - 1; return v }
	$2 == "PROGBITS" && $7 ~ /X/ { n = dec($5); by = n < 4096 ? 4 : step; for (i = 0; i < n; i += by) printf "%d\n", dec($3) + i }'
}

# capture FILE STEP [ID [PATH]]
capture() {
	{ segment; process 1; file 1 "${4:-$1}" "${3:-$(build_id "$1")}"; loads 1 1 "$1"; code "$1" "$2" | frames; finish; } | cprof-dump -r
}

# named OUTPUT OPTION... CAPTURE: the names that cprof-sym finds
named() { o=$1; shift; cprof-sym "$@" 2>"$tmp/err" >"$tmp/named.bin" && names "$tmp/named.bin" >"$o"; }

# where DIR ID: the archived file of that build
where() { echo "$1/.build-id/$(echo "$2" | cut -c1-2)/$(echo "$2" | cut -c3-).debug"; }

# some FILE N: succeeds if it has at least N named frames
some() { [ "$(grep -vc ' -$' "$1")" -ge "$2" ]; }
