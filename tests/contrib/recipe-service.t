#!/bin/sh
# The systemd unit and the Kubernetes DaemonSet: their own command lines, run with their own capabilities,
# record the whole system.
. "$(dirname "$0")/../lib/lib.sh"
unit=$top/contrib/systemd/cprof.service pods=$top/contrib/kubernetes/daemonset.yaml

setting() { sed -n "s/^$1=//p" "$unit"; }
# args: prints the arguments of the container, one a line
args() { awk '/^ *args:/ { on = 1; next } on && /^ *- / { sub(/^ *- /, ""); gsub(/^"|"$/, ""); print; next } { on = 0 }' "$pods"; }
added() { awk '/^ *add:/ { on = 1; next } on && /^ *- / { print $2; next } { on = 0 }' "$pods"; }
names() { tr ' ' '\n' | sed 's/^CAP_//' | tr 'A-Z' 'a-z' | sort | tr '\n' ' ' | sed 's/ $//'; }

is "the unit needs four capabilities" "$(setting AmbientCapabilities | names)" "bpf perfmon sys_ptrace syslog"
is "  and can have no other" "$(setting CapabilityBoundingSet | names)" "bpf perfmon sys_ptrace syslog"
is "so does the container" "$(added | names)" "bpf perfmon sys_ptrace syslog"
is "  which drops the others" "$(awk '/drop:/ { getline; print $2 }' "$pods")" ALL
unlike "  and is not privileged" "$(cat "$pods")" '^ *(privileged|allowPrivilegeEscalation|hostNetwork|hostIPC): true'

yaml=
for p in python3 /usr/bin/python3; do
	[ "$yaml" ] || ! $p -c 'import yaml' 2>/dev/null || yaml=$p
done
if [ "$yaml" ]; then
	is "it is the YAML that it looks like" "$($yaml -c '
import sys, yaml
spec = yaml.safe_load(open(sys.argv[1]))["spec"]["template"]["spec"]
box, = spec["containers"]
assert spec["hostPID"] is True and box["securityContext"]["readOnlyRootFilesystem"] is True
assert {m["name"] for m in box["volumeMounts"]} == {v["name"] for v in spec["volumes"]}
assert all(isinstance(a, str) for a in box["args"]), "Kubernetes takes only strings"
print("\n".join(box["args"]))' "$pods" 2>&1)" "$(args)"
else
	skip "it is the YAML that it looks like" "there is no python3-yaml"
fi

if command -v systemd-analyze >/dev/null; then
	sed "s,^ExecStart=[^ ]*,ExecStart=$BIN/cprof-record,; /^Documentation/d" "$unit" >"$tmp/cprof.service"
	if systemd-analyze verify "$tmp/cprof.service" >"$tmp/said" 2>&1; then
		is "systemd finds nothing to complain of" "$(grep cprof "$tmp/said")" ""
	elif grep -q cprof.service "$tmp/said"; then
		fail "systemd finds nothing to complain of"
		diag "$(cat "$tmp/said")"
	else
		skip "systemd finds nothing to complain of" "$(head -n 1 "$tmp/said")"
	fi
	exposure=$(systemd-analyze security --offline=true "$tmp/cprof.service" 2>/dev/null | sed -n 's/.*exposure level for cprof.service: \([0-9.]*\) .*/\1/p')
	if [ "$exposure" ]; then
		is "  and calls it well confined: $exposure" "$(awk -v e="$exposure" 'BEGIN { print (e < 2.5) }')" 1
	else
		skip "  and calls it well confined" "this systemd-analyze does not look at files"
	fi
else
	skip "systemd finds nothing to complain of" "there is no systemd-analyze"
fi

may=$([ "$(id -u)" = 0 ] || echo "only root gives capabilities away"
	[ -x "$BIN/cprof-record" ] || echo "the recorder is not built"
	command -v setpriv >/dev/null || echo "there is no setpriv"
	! sanitized || echo "sanitizers need more than this")
caps=$(printf '+%s,' $(setting AmbientCapabilities | names) | sed 's/,$//')
setpriv --no-new-privs --bounding-set "-all,$caps" true 2>/dev/null || may=${may:-"setpriv has no such capabilities here"}
[ -z "$may" ] || { skip "they record the whole system" "$(echo "$may" | head -n 1)"; done_testing; }

# Use a directory that another user can enter, away from files that only root may read.
chmod 755 "$tmp"
cp "$BIN/cprof-record" "$BUILD/tests/burn" "$tmp/"
# Give them namespaces of their own as far as both have them: network, host name, IPC, control groups.
apart="unshare -n -u -i -C --"
$apart true 2>/dev/null || apart=
# One program that computes, and one that spends all its time in the kernel: kernel code is otherwise sampled
# only by chance.
"$tmp/burn" threads 60 >/dev/null &
busy=$!
dd if=/dev/zero of=/dev/null bs=1M 2>/dev/null &
busy="$busy $!"
trap 'kill $busy 2>/dev/null; rm -rf "$tmp"' EXIT

# recorded WHAT DIR: checks that the captures in DIR have another user's process and the kernel, by
# the cheapest engine
recorded() {
	set -- "$1" "$2" "$2"/*.cprof
	cprof-dump "$3" >"$tmp/text" 2>"$tmp/err"
	like "$1: by BPF" "$(cat "$tmp/text" "$tmp/err")" '^meta key="engine" value="bpf"'
	cprof-sym "$3" 2>/dev/null | cprof-fold --comm burn >"$tmp/folded" 2>/dev/null
	like "  another user's program, with names" "$(cat "$tmp/folded")" '^burn;.*;[a-z_]+ [0-9]+$'
	like "  and the kernel's" "$(cat "$tmp/text")" '^ksym '
}

mkdir "$tmp/state" "$tmp/run"
chown 65534:65534 "$tmp/state" "$tmp/run"
line=$(setting ExecStart | sed "s,%%,%,g; s,/usr/local/bin/,$tmp/,; s,/var/lib/cprof,$tmp/state,; s,/run/cprof,$tmp/run,")
status "the unit's line runs as another user" 0 timeout --preserve-status -s INT 3 $apart setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs \
	--inh-caps "-all,$caps" --ambient-caps "-all,$caps" --bounding-set "-all,$caps" $line
is "  and says nothing" "$(cat "$tmp/err")" ""
recorded "the unit" "$tmp/state"
like "  and its figures, which everybody may read" "$(stat -c %A "$tmp/run/cprof.prom")" '^-rw-r--r--'

# Run by systemd itself, as the first process of its own namespaces, with its own control groups. The unit is
# unchanged except for --max-cost, because BPF would see other PIDs there and perf samples instead, and for a
# watchdog that takes less than a minute. A stopped recorder is found stuck, killed and restarted, and the
# next one completes its file.
systemd() {
	root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)/cprof-test-$$
	[ -x /lib/systemd/systemd ] && command -v systemctl >/dev/null || { echo "there is no systemd"; return; }
	[ ! -d /run/systemd/system ] || { echo "this machine has a systemd of its own at work"; return; }
	mkdir "$root" 2>/dev/null || { echo "no control group can be made"; return; }
	sed 's/ --max-cost 0.5//; s/^WatchdogSec=.*/WatchdogSec=4/; s/^RestartSec=.*/RestartSec=1/; s/^\[Unit\]/&\nDefaultDependencies=no/' \
		"$unit" >"$tmp/unit"
	cat >"$tmp/init" <<-'END'
		mount -t cgroup2 none /sys/fs/cgroup && mount -t tmpfs none /run && mount -t tmpfs none /var/lib &&
			mount -t tmpfs none /usr/local/bin && cp "$1/cprof-record" /usr/local/bin/ || exit
		mkdir -p /run/systemd/system /run/lock
		cp "$1/unit" /run/systemd/system/cprof.service
		ln -s /dev/null /run/systemd/system/tmp.mount # systemd 256 and later; the test needs the files in /tmp
		printf '[Unit]\nDefaultDependencies=no\nWants=cprof.service\n' >/run/systemd/system/alone.target
		{
			for _ in $(seq 100); do
				systemctl show -p StatusText cprof 2>/dev/null | grep -q samples && break
				sleep 0.1
			done
			systemctl show -p ActiveState -p StatusText cprof
			kill -STOP "$(systemctl show -P MainPID cprof)"
			for _ in $(seq 150); do
				[ "$(systemctl show -P NRestarts cprof)" = 0 ] || [ "$(systemctl is-active cprof)" != active ] || break
				sleep 0.1
			done
			systemctl show -p NRestarts -p ActiveState cprof
			systemctl stop cprof
			systemctl show -p Result -p ActiveState cprof
			ls -A /var/lib/cprof | sed 's/.*\./a file: ./'
			cat /var/lib/cprof/*.cprof >"$1/systemd.cprof"
			echo over
		} >"$1/systemd" 2>&1 </dev/null &
		exec /lib/systemd/systemd --system --log-target=console --unit=alone.target
	END
	container=other sh -c 'echo $$ >"$0/cgroup.procs" && shift && exec "$@"' "$root" "" \
		unshare -p -m -u -i -C -f --kill-child=KILL --mount-proc sh "$tmp/init" "$tmp" >"$tmp/console" 2>&1 </dev/null &
	box=$!
	tries=0
	until grep -q '^over' "$tmp/systemd" 2>/dev/null || [ $((tries = tries + 1)) -gt 400 ]; do sleep 0.1; done
	kill -KILL $box
	wait $box 2>/dev/null
	tries=0
	until find "$root" -depth -type d -exec rmdir {} + 2>/dev/null || [ $((tries = tries + 1)) -gt 50 ]; do sleep 0.1; done
	[ -s "$tmp/systemd" ] || head -n 1 "$tmp/console" | grep . || echo "systemd does not start here"
}
why=$(systemd)
if [ -z "$why" ]; then
	is "systemd runs it, misses it when it is stuck, and has it again" "$(sed 's/^StatusText=99 Hz, [1-9][0-9]* samples, .*/its figures/' "$tmp/systemd" | tr '\n' ',')" \
		"its figures,ActiveState=active,NRestarts=1,ActiveState=active,Result=success,ActiveState=inactive,a file: .cprof,a file: .cprof,over,"
	like "  whose captures are good, the first one up to where it was stuck" "$(cprof-top "$tmp/systemd.cprof" 2>&1)" 'cut'
else
	skip "systemd runs it" "$why"
fi

mkdir "$tmp/captures"
set --
for a in $(args); do
	set -- "$@" "$(echo "$a" | sed "s,\$(NODE_NAME),node-7,; s,/captures,$tmp/captures,; s,/figures,$tmp,")"
done
status "the container's line runs as a root that may do no more" 0 timeout --preserve-status -s INT 3 $apart setpriv --no-new-privs \
	--inh-caps "-all,$caps" --bounding-set "-all,$caps" "$tmp/cprof-record" "$@"
is "  and says nothing" "$(cat "$tmp/err")" ""
recorded "the container" "$tmp/captures"
like "  with the node's name" "$(ls "$tmp/captures")" '^node-7-20[0-9]*T[0-9]*Z\.cprof$'
like "  and label" "$(cat "$tmp/text")" '^meta key="label.node" value="node-7"$'
done_testing
