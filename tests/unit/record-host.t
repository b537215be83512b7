#!/bin/sh
# Facts of the host, lists of CPUs
. "$(dirname "$0")/../lib/lib.sh"
side=$BUILD/tests/record-side

"$side" facts >"$tmp/facts"
fact() { sed -n "s/^$1=//p" "$tmp/facts"; }
is "host" "$(fact host)" "$(uname -n)"
is "kernel-release" "$(fact kernel-release)" "$(uname -r)"
is "arch" "$(fact arch)" "$(uname -m)"
is "boot-id" "$(fact boot-id)" "$(cat /proc/sys/kernel/random/boot_id)"
machine=$(cat /etc/machine-id 2>/dev/null)
if [ "$(printf %s "$machine" | wc -c)" = 32 ]; then
	is "machine-id is derived" "$(fact machine-id)" "$("$BUILD/tests/base-sha256" machine "$machine")"
	unlike "  and not the one that identifies the host" "$(cat "$tmp/facts")" "$machine"
else
	skip "machine-id is derived" "no /etc/machine-id"
	skip "  and not the one that identifies the host" "no /etc/machine-id"
fi
is "cpus-online" "$(fact cpus-online)" "$(cat /sys/devices/system/cpu/online)"
like "cpus-possible" "$(fact cpus-possible)" '^[1-9][0-9]*$'
like "start-realtime-ns" "$(fact start-realtime-ns)" '^[0-9]{19}$'

cpus() { # DESCRIPTION LIST WANT
	is "$1" "$("$side" cpus "$2")" "$3"
}
cpus "one" 0 0
cpus "a range" 0-3 "0 1 2 3"
cpus "both" 0-2,8 "0 1 2 8"
cpus "any order, each once" 8,0-2,1,8 "0 1 2 8"
cpus "the highest" 65535 65535
for bad in "" , 0, ,0 -1 1- 3-1 a 0x1 " 1" "1 " +1 1,,2 1--2 65536 0-65536 99999999999999999999 1.5; do
	cpus "not a list: '$bad'" "$bad" "invalid list of CPUs \"$bad\" (expected one like 0-3,8)"
done
is "online now" "$("$side" choose | tr ' ' '\n' | wc -l)" "$(getconf _NPROCESSORS_ONLN)"
first=$("$side" choose | cut -d' ' -f1)
is "chosen ones that are online" "$("$side" choose "$first")" "$first"
is "chosen ones that are not" "$("$side" choose "$first,65535")" "CPU 65535 is not online"
done_testing
