#!/bin/sh
# The image's files, run as the DaemonSet's manifest runs them: no shell, no library, its own probe.
. "$(dirname "$0")/lib.sh"
may_record_all
[ -x "$BUILD/container/bin/fresh" ] || skip_all "there is none: make container"
pods=$top/contrib/kubernetes/daemonset.yaml

# block KEY: prints the list below KEY, one entry a line
block() { awk -v k="$1:" '$1 == k && NF == 1 { on = 1; next } on && $1 == "-" { sub(/^ *- /, ""); gsub(/^"|"$/, ""); print; next } { on = 0 }' "$pods"; }
probe() { awk '/livenessProbe:/ { p = 1 } p' "$pods" | awk '/^ *command:/ { on = 1; next } on && $1 == "-" { sub(/^ *- /, ""); gsub(/^"|"$/, ""); print; next } { on = 0 }'; }

is "the recipe begins with nothing" "$(grep '^FROM' "$BUILD/container/Containerfile")" "FROM scratch"
like "and has bin" "$(cat "$BUILD/container/Containerfile")" '^COPY bin/ /bin/$'
root=$tmp/root
mkdir -p "$root/proc" "$root/sys" "$root/captures" "$root/figures"
cp -r "$BUILD/container/bin" "$root/"
is "nothing in it wants a library" "$(readelf -ld "$root"/bin/* | grep -E 'INTERP|NEEDED')" ""
inside() {
	unshare -m sh -c 'mount --rbind /proc "$1/proc" && mount --rbind /sys "$1/sys" || exit 125
		root=$1
		shift
		exec env -i PATH=/bin "$(command -v chroot)" "$root" "$@"' sh "$root" "$@"
}
is "the manifest's command is in it" "$(inside "$(block command | head -n 1)" --version)" "cprof-record $(cat "$BUILD/static/version")"

set --
for a in $(block args); do
	set -- "$@" "$(echo "$a" | sed 's,\$(NODE_NAME),node-7,')"
done
inside cprof-record "$@" >"$tmp/out" 2>"$tmp/err" &
job=$!
tries=0
trap 'kill -TERM $(cat /proc/$job/task/$job/children 2>/dev/null) 2>/dev/null; rm -rf "$tmp"' EXIT
until inside $(probe) 2>/dev/null || [ $((tries = tries + 1)) -gt 300 ]; do sleep 0.1; done
ok "the probe finds it alive" inside $(probe)
kill -TERM $(cat /proc/$job/task/$job/children) # the shell's only child
wait $job
trap 'rm -rf "$tmp"' EXIT
is "it ends when it is told to, and says nothing" "$(cat "$tmp/out" "$tmp/err")" ""
like "there is a capture" "$(ls "$root/captures")" '^node-7-20[0-9]*T[0-9]*Z\.cprof$'
like "  with samples" "$(cprof-dump "$root"/captures/*.cprof | grep -m 1 '^sample')" '^sample'
touch -d '2 minutes ago' "$root/figures/cprof.prom"
status "the probe misses one that writes no more" 1 inside $(probe)
like "  and says why" "$(cat "$tmp/err")" '^fresh: /figures/cprof.prom was written 1[12][0-9] seconds ago$'
rm "$root/figures/cprof.prom"
status "  or has written nothing" 1 inside $(probe)
status "  and refuses what is no number" 2 inside fresh /figures/cprof.prom 1m
done_testing
