#!/bin/sh
# contrib/demo.sh with recorders that refuse or crash
. "$(dirname "$0")/../lib/lib.sh"

fake=$tmp/build
mkdir -p "$fake/bin" "$fake/contrib"
for p in dump fold flame sym top; do ln -s "$BIN/cprof-$p" "$fake/bin/"; done
printf '#!/bin/sh\n' >"$fake/contrib/demo"
chmod +x "$fake/contrib/demo"
cprof-dump -r "$tests/data/small.txt" >"$tmp/small.bin" || exit 1

# demo COMMANDS: runs the demo with a recorder of these shell commands; its calls are logged in $tmp/calls
demo() {
	: >"$tmp/calls"
	printf '#!/bin/sh\necho "$*" >>"%s/calls"\n%s\n' "$tmp" "$1" >"$fake/bin/cprof-record"
	chmod +x "$fake/bin/cprof-record"
	BUILD=$fake BIN=$fake/bin SECONDS_OF_DEMO=0 sh "$top/contrib/demo.sh" >"$tmp/out" 2>&1
	echo $?
}
writes="case \$1 in -o) cp '$tmp/small.bin' \"\$2\" ;; *) cat '$tmp/small.bin' ;; esac"

is "a recorder that works" "$(demo "$writes")" 0
like "  its flame graph" "$(cat "$tmp/out")" '^The flame graph is .*/demo\.html'
ok "  is there" grep -q '</html>' "$fake/demo.html"

for signal in SEGV:139 ABRT:134; do
	status=${signal#*:} signal=${signal%:*}
	is "a recorder that crashes: the status is the shell's for SIG$signal" "$(demo "kill -$signal \$\$")" "$status"
	like "  it is called a crash" "$(cat "$tmp/out")" "^cprof-record crashed: signal $signal\\.\$"
	unlike "  and not a refusal" "$(cat "$tmp/out")" 'allowed|cannot be recorded'
	is "  no other recording follows" "$(wc -l <"$tmp/calls" | tr -d ' ')" 1
done

if [ "$(id -u)" = 0 ]; then
	is "a recorder that may not sample the system" "$(demo "case \$1 in -a) echo 'cprof-record: no' >&2; exit 1 ;; esac; $writes")" 0
	like "  its reason" "$(cat "$tmp/out")" '^cprof-record: no$'
	like "  is the reason to record the workload alone" "$(cat "$tmp/out")" 'cannot be recorded here, for the reason above'
	ok "  which gives a flame graph" grep -q '</html>' "$fake/demo.html"
fi
is "a recorder that may sample nothing" "$(demo 'exit 1')" 1
done_testing
