#!/bin/sh
# The ends of long waits: the right thread, a timer or a disk, and never a bystander.
. "$(dirname "$0")/../lib/lib.sh"
may_record_all
blame=$BUILD/tests/blame

# woken FILE: lines "COMM WAKER SLEPT BY" for the waits in which a thread slept; the names are the last ones
woken() {
	cprof-dump "$1" | awk '
		{
			for (k in f) delete f[k]
			for (i = 2; i <= NF; i++) {
				p = index($i, "=")
				f[substr($i, 1, p - 1)] = substr($i, p + 1)
			}
		}
		$1 == "comm" { gsub(/"/, "", f["comm"]); name[f["thread"]] = f["comm"] }
		$1 == "woken" && f["slept"] + 0 {
			print name[f["thread"]], f["waker"] + 0 ? name[f["waker"]] : "-", f["slept"], f["by"]
		}'
}
# share PATTERN: percent of the time in such lines that was ended by "WAKER BY" like PATTERN; -1: no line
share() {
	while read -r _ waker slept by; do echo "$slept $waker $by"; done >"$tmp/lines"
	grep -E "^[0-9]+ ($1)\$" "$tmp/lines" >"$tmp/hits"
	awk 'FILENAME ~ /hits$/ { n += $1; next } { all += $1 } END { print all ? int(100 * n / all) : -1 }' \
		"$tmp/hits" "$tmp/lines"
}
# atleast TEXT NUMBER LEAST
atleast() { if [ "$2" -ge "$3" ]; then pass "$1"; else fail "$1: $2"; fi; }

# 200 wakings of each kind, while a process "innocent" spins on each CPU
dd if=/dev/zero of="$tmp/file" bs=1M count=16 conv=fsync 2>/dev/null
status "timers, disks and networks beside bystanders" 0 \
	cprof-record -q --off-cpu=100us -o "$tmp/raw.bin" -- "$BUILD/tests/woken" devices 200 "$tmp/file"
woken "$tmp/raw.bin" | grep '^sleeper ' >"$tmp/woken"
is "  no waking is blamed on a task, but for packets on their sender" \
	"$(grep ' task$' "$tmp/woken" | grep -v '^sleeper \(sender\|kworker\)')" ""
atleast "  timers end nearly all of the sleep" \
	"$(grep -v ' disk$\| network$\| sender ' "$tmp/woken" | share '- timer')" 90
atleast "  most of 400, because a late one does not wait" \
	"$(grep -c '^sleeper - [0-9]* timer$' "$tmp/woken")" 300
least=400
if grep -q ' disk$' "$tmp/woken"; then
	least=500
	is "  a disk has no waker" "$(grep ' disk$' "$tmp/woken" | grep -v '^sleeper - ')" ""
else
	skip "  a disk has no waker" "no wait for a disk here"
fi
atleast "  $least wakings in all" "$(grep -c '' "$tmp/woken")" $least
like "cprof-dump shows a waking" "$(cprof-dump "$tmp/raw.bin" | grep '^woken ')" \
	'^woken time=[0-9]+ thread=[0-9]+ slept=[0-9]+ queued=[0-9]+ by=timer waker=0'

# Threads that wake others
status "a lock" 0 cprof-record -q --off-cpu -o "$tmp/raw.bin" -- "$blame" convoy 2
woken "$tmp/raw.bin" >"$tmp/woken"
atleast "  whoever holds it ends the waits for it" \
	"$(grep '^want' "$tmp/woken" | grep -v ' timer$' | share '(holder|want[0-9]) task')" 95
status "sockets" 0 cprof-record -q --off-cpu -o "$tmp/raw.bin" -- "$blame" pipeline 2
woken "$tmp/raw.bin" | grep -v ' timer$' | grep -v '^front client\|^app front' >"$tmp/woken"
for pair in client:front front:app app:db; do
	atleast "  ${pair%:*} is woken by ${pair#*:}" \
		"$(grep "^${pair%:*} " "$tmp/woken" | share "${pair#*:} task")" 95
done
status "threads that end" 0 cprof-record -q --off-cpu -o "$tmp/raw.bin" -- "$blame" join 2
atleast "  the joined threads end the waits" \
	"$(woken "$tmp/raw.bin" | grep '^blame ' | share '(light|heavy) task')" 95

# An image's stacks are not those of the image before, even at the same addresses.
status "a waker that executes itself" 0 \
	cprof-record -q --off-cpu -o "$tmp/raw.bin" -- "$BUILD/tests/woken" again 3
cprof-dump "$tmp/raw.bin" | sed -n 's/^woken .* by=task .* user=\([0-9]*\) .*/\1/p' >"$tmp/users"
atleast "  ends the waits of three images" "$(grep -c '' "$tmp/users")" 12
is "  and has a user stack in each" "$(awk '$1 && $1 < 16' "$tmp/users" | sort -u)" "" # 0: it is not recorded

# A process of its own: wakers outside of the recording have a name.
"$blame" pipeline 4 >/dev/null &
client=$!
sleep 0.5
status "one of four processes" 0 cprof-record -q --off-cpu -p "$client" -o "$tmp/raw.bin" 1
wait $client
woken "$tmp/raw.bin" | grep '^client ' | grep -v ' timer$' >"$tmp/woken"
atleast "  its waker's name is there" "$(share 'front task' <"$tmp/woken")" 95
is "  and no sample of it" "$(cprof-fold -p --wall "$tmp/raw.bin" | cut -d';' -f1 | sort -u)" "client-$client"
done_testing
