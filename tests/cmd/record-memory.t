#!/bin/sh
# Sizes of all per-CPU memory, within the budget of --mem: as planned, and in real recordings
. "$(dirname "$0")/../lib/lib.sh"
plan() { "$BUILD/tests/record-memory" "$@"; }
of() { echo "$2" | tr ' ' '\n' | sed -n "s/^$1=//p"; } # NAME PLAN
enough() { is "$1" "${2%% *}" enough; }
most() { if [ "$2" -le "$3" ]; then pass "$1"; else fail "$1"; diag "$2 is more than $3"; fi; }
least() { if [ "$2" -ge "$3" ]; then pass "$1"; else fail "$1"; diag "$2 is less than $3"; fi; }

# 99 Hz: 128 MB are enough up to 512 CPUs, with unwind tables as large as they may be.
for cpus in 1 2 3 16 64 100 128 256 511 512; do
	p=$(plan $cpus 99 0)
	enough "$cpus CPUs at 99 Hz" "$p"
	is "  the budget" "$(of budget "$p")" 131072
	most "  is kept" "$(of total "$p")" 131072
	least "  with room for unwind tables" "$(of tables "$p")" 12288
done
is "the per-CPU rings of 2 CPUs" "$(plan 2 99 0 | cut -d' ' -f2-4)" "percpu=1024 stack=64 sideband=512"
is "of 64" "$(plan 64 99 0 | cut -d' ' -f2-4)" "percpu=512 stack=64 sideband=256"
is "of 512" "$(plan 512 99 0 | cut -d' ' -f2-4)" "percpu=64 stack=8 sideband=16"

# By rate: a low one needs less, a high one more, and gets as much as it needs.
is "2 CPUs at 9 Hz" "$(of percpu "$(plan 2 9 0)")" 256
is "  at 4999 Hz" "$(of percpu "$(plan 2 4999 0)")" 2048
for hertz in 499 999 4999 20000; do
	p=$(plan 512 $hertz 0)
	enough "512 CPUs at $hertz Hz without a budget" "$p"
	least "  a ring has 0.3 s" "$(of percpu "$p")" $((hertz * 640 * 3 / 10240 < 2048 ? hertz * 640 * 3 / 10240 : 2048))
	is "  it takes as little as that" "$(of budget "$p")" "$(of enough "$p")"
	is "  the same budget, asked for" "$(plan 512 $hertz $((($(of enough "$p") + 1023) / 1024)) | cut -d' ' -f1)" enough
	is "  with less, samples may be lost" "$(plan 512 $hertz $(($(of enough "$p") / 1024 - 8)) | cut -d' ' -f1)" little
done

# Explicit sizes are respected, and a budget without room for them is refused.
p=$(plan 2 99 0 unwind-mem=4096)
enough "--unwind-mem 4G without a budget" "$p"
is "  is what tables get" "$(of tables "$p")" $((4096 * 1024))
is "  within a budget that is too small" "$(plan 2 99 1024 unwind-mem=4096 | cut -d' ' -f1)" none
p=$(plan 2 99 64 unwind-mem=32)
is "  within one that is not" "$(of tables "$p")" $((32 * 1024))
most "  all of it" "$(of total "$p")" 65536
p=$(plan 2 99 0 kept=512)
most "--ring adds to what is taken without a budget" "$(of total "$p")" $(((512 + 128) * 1024))
is "  and belongs to one" "$(plan 2 99 128 kept=512 | cut -d' ' -f1)" none
for cpus in 1 2 64 512 4096; do
	l=$(of least "$(plan $cpus 99 0)")
	is "$cpus CPUs in the least" "$(plan $cpus 99 $(((l + 1023) / 1024)) | grep -c '^none')" 0
	is "  and in less" "$(plan $cpus 99 $((l / 1024 - 1)) | cut -d' ' -f1)" none
done

# A budget of any size is kept with every combination of options; copied user stacks fit into a
# per-CPU ring twice.
for mem in 32 48 64 128 256 1024; do
	for what in '' off-cpu events=3 'off-cpu events=1' fp perf sampled=1; do
		for cpus in 2 24 200; do
			# shellcheck disable=SC2086 # words
			p=$(plan $cpus 499 $mem $what)
			[ "${p%% *}" != none ] || continue
			[ "$(of total "$p")" -le $((mem * 1024)) ] || echo "$cpus $mem $what: $p"
			[ "$(of percpu "$p")" = 0 ] || [ $(((20 + $(of stack "$p")) * 2)) -le "$(of percpu "$p")" ] || echo "$cpus $mem $what: $p"
		done
	done
done >"$tmp/over"
is "no plan takes more than its budget" "$(cat "$tmp/over")" ""
p=$(plan 2 99 0 off-cpu events=1)
is "the rings of waits and of other events, on 2 CPUs" "$(of off-cpu "$p") $(of events "$p")" "2048 8192"
p=$(plan 128 99 0 off-cpu events=1)
most "on 128 CPUs all of it" "$(of total "$p")" 131072
least "plain perf's ring" "$(of sideband "$(plan 2 99 0 perf)")" 2048
most "  on 64 CPUs" "$(of total "$(plan 64 99 0 perf)")" 131072

may_record_all
maps=$BUILD/tests/bpfmaps
for mem in '' 32M 24M; do
	status "a recording${mem:+ with --mem $mem}" 0 cprof-record -a ${mem:+--mem $mem} -o "$tmp/mem.bin" 1
	like "  loses nothing" "$(cat "$tmp/err")" '; nothing lost'
done
status "a budget that is too small" 2 cprof-record -a --mem 4M -o "$tmp/little.bin" 1
like "  is refused, with the least" "$(head -n 1 "$tmp/err")" '^cprof-record: invalid --mem "4M" \(expected at least [0-9]+M for [0-9]+ CPUs?\)$'
least=$(sed -n 's/.*at least \([0-9]*\)M.*/\1/p' "$tmp/err")
status "  which is taken" 0 cprof-record -a --mem "${least}M" -o "$tmp/little.bin" 0.2
status "  and one less is not" 2 cprof-record -a --mem $((least - 1))M -o "$tmp/little.bin" 0.2
status "--unwind-mem that leaves no room" 2 cprof-record -a --mem 64M --unwind-mem 64M -o "$tmp/little.bin" 0.2
like "  is named" "$(head -n 1 "$tmp/err")" 'expected at least [0-9]+M for [0-9]+ CPUs? with --unwind-mem\)$'
cprof-record -a -F 4999 --mem "${least}M" -o "$tmp/fast.bin" 0.2 2>"$tmp/err"
like "one that is small for the rate is said" "$(cat "$tmp/err")" "^cprof-record: --mem ${least}M is small for .* at 4999 Hz"
[ -x "$maps" ] || { skip "memory of the maps" "no bpfmaps"; done_testing; }

# in_maps ARGUMENT...: bytes of the maps of a recording that has begun, which is run by $possible. Without
# unwind tables, because they would grow with the programs that run on this machine.
possible=
in_maps() {
	rm -f "$tmp/run.bin"
	$possible cprof-record -q -a --unwind fp -o "$tmp/run.bin" "$@" &
	while kill -0 $! 2>/dev/null && ! cprof-dump "$tmp/run.bin" 2>/dev/null | grep -q '^cost'; do sleep 0.1; done
	"$maps" bytes $!
	kill -INT $!
	wait $!
}
cprof-record -a --unwind fp --mem 4M -o "$tmp/little.bin" 1 2>"$tmp/err"
least=$(sed -n 's/.*at least \([0-9]*\)M.*/\1/p' "$tmp/err")
small=$(in_maps --mem "${least}M") large=$(in_maps)
least "memory of the maps follows the budget" $((large - small)) 1500000

# Virtual machines have room for many CPUs. Another file covers the kernel's list of them in a mount
# namespace; this shell becomes COMMAND.
unshare -m true 2>/dev/null || { skip "memory by possible CPUs" "no mount namespace"; done_testing; }
echo 0-239 >"$tmp/possible"
with_room() { # COMMAND...
	exec unshare -m sh -c 'mount --bind "$1" /sys/devices/system/cpu/possible && shift && exec "$@"' - "$tmp/possible" "$@"
}
for what in --off-cpu '-e page-faults'; do
	# shellcheck disable=SC2086 # words
	few=$(in_maps $what) many=$(possible=with_room && in_maps $what)
	least "$what has maps" "$few" 1000000
	most "  and 240 possible CPUs do not make them larger" $((many - few)) 500000
done
done_testing
