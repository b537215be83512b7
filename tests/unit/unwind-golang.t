#!/bin/sh
# Go's table compared with .debug_frame, with a program executed in single steps, and by itself
. "$(dirname "$0")/../lib/lib.sh"

# Tables made by hand, valid and damaged, need no compiler.
ok "tables of each layout, sound and damaged" "$BUILD/tests/unwind-golang-made" 300

if ! command -v go >/dev/null 2>&1; then
	skip "what Go's compiler writes" "there is no go"
	done_testing
fi

mkdir "$tmp/src0" "$tmp/src1"
cp "$tests/data/unwind-golang.go" "$tmp/src0/main.go"
cp "$tests/data/unwind-golang.go" "$tmp/src1/main.go"
cat >"$tmp/src1/c.go" <<'END'
package main

// static int twice(int n) { return 2 * n; }
import "C"

func init() { println(C.twice(21)) }
END
# Keep the packages that it compiles for the next time.
export GOCACHE="$BUILD/tests/go-cache" GOPATH="$tmp/path" GO111MODULE=off GOPROXY=off GOTOOLCHAIN=local GOFLAGS=

# build NAME CGO OPTION...: builds the program, and again without any symbol
build() {
	name=$1 cgo=$2
	shift 2
	(cd "$tmp/src$cgo" && CGO_ENABLED=$cgo go build "$@" -o "$tmp/$name" . &&
		CGO_ENABLED=$cgo go build "$@" -ldflags '-s -w' -o "$tmp/$name.stripped" .) >"$tmp/$name.log" 2>&1
}

beside() {
	said=$("$BUILD/tests/unwind-golang" check 100000 "$tmp/$1" "$tmp/$2" 2>&1)
	diag "$1: $said"
	like "$1: no CFA is another than in .debug_frame" "$said" "good=1 equal=[89][0-9]{4} .* wrong=0$"
	like "$1: nothing is missing" "$said" "only_there=0 "
}

for form in plain pie cgo cgo-pie; do
	case $form in
	plain) build plain 0 ;;
	pie) build pie 0 -buildmode=pie ;;
	cgo) build cgo 1 ;;
	cgo-pie) build cgo-pie 1 -buildmode=pie ;;
	esac || { skip "$form" "it cannot be built here: $(tail -1 "$tmp/$form.log")"; continue; }
	beside $form $form
	beside $form.stripped $form
	ok "$form: stripped or not is the same" "$BUILD/tests/unwind-golang" same "$tmp/$form" "$tmp/$form.stripped"
done

# rule FUNCTION: prints its first and last rule, in the program without cgo
rule() {
	at=$(nm "$tmp/plain" | awk -v name="$1" '$3 == name || $3 == name ".abi0" { sub(/^0+/, "", $1); print $1; exit }')
	"$BUILD/tests/unwind-golang" at "$tmp/plain" "$at"
}
is "goroutines end in goexit" "$(rule runtime.goexit)" "stop"
is "threads end in mstart" "$(rule runtime.mstart)" "stop"
is "the process ends in rt0_go" "$(rule runtime.rt0_go)" "stop"
is "a signal's frame" "$(rule runtime.sigreturn)$(rule runtime.sigreturn__sigaction)" "signal"

# Twice: a rule must match the program's real stack.
"$BUILD/tests/unwind-golang-live" 30000 "$tmp/plain.stripped" >"$tmp/out" 2>/dev/null
st=$?
if [ "$(uname -m)" != x86_64 ]; then
	skip "stepped" "this reads the registers of x86-64"
elif [ $st = 77 ]; then
	skip "stepped" "nothing may be traced here"
else
	diag "$(cat "$tmp/out")"
	like "stepped: each instruction's rule is right" "$(head -1 "$tmp/out")" "right=2[0-9]{4} .* wrong=0$"
	like "stepped: each stack is whole and right" "$(tail -1 "$tmp/out")" "complete=[1-9][0-9]* .* wrong=0$"
fi
done_testing
