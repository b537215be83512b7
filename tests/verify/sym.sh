#!/bin/sh
# 200,000 random addresses of each of some large files against the brute-force reference over readelf. No
# difference is allowed: if several names are equally good, the rules of cprof-sym(1) leave one. About three
# minutes; tests/cmd/sym-choice.t is the short form. Operands: other files.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/sym-lib.sh"
: "${VERIFY_ADDRESSES:=200000}"

# Use a Go program, because it keeps its .symtab; Debian's go command has lost it.
golang() {
	command -v go >/dev/null || return
	printf 'package main\nimport ("fmt"; "os")\nfunc main() { fmt.Println(os.Args) }\n' >"$tmp/hello.go"
	(cd "$tmp" && GOCACHE="$tmp/gocache" GO111MODULE=off GOFLAGS= go build -o "$tmp/hello" hello.go) >"$tmp/go.err" 2>&1 &&
		echo "$tmp/hello"
}

[ $# -gt 0 ] || set -- "$(command -v node)" /usr/lib/*/libLLVM-*.so.1 "$HOME"/.rustup/toolchains/*/lib/libLLVM.so.* \
	"$(ldd /bin/sh | awk '/libc\.so/ { print $3 }')" /usr/lib/go*/bin/go "$(golang)" "$(command -v gdb)" "$(command -v clang)"
done=
for file; do
	file=$(readlink -f "$file")
	[ -f "$file" ] || continue
	case $done in *" $file "*) continue ;; esac
	done="$done $file "
	sample "$file" "$VERIFY_ADDRESSES" >"$tmp/addresses"
	compare "$file" "$file" "$tmp/addresses"
done
done_testing
