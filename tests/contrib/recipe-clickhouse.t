#!/bin/sh
# ClickHouse over the rows of cprof-fold: for any time, host, label and container, the same numbers as
# cprof-top on the captures.
. "$(dirname "$0")/../lib/lib.sh"
. "$here/recipe-events.sh"
PATH=$PATH:/usr/sbin:/sbin
command -v clickhouse-server >/dev/null && command -v clickhouse-client >/dev/null || skip_all "there is no ClickHouse"
load=$top/contrib/clickhouse/load query=$top/contrib/clickhouse/query

# A server of our own: its files are in a directory, and it listens on the loopback only.
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mkdir "$tmp/ch" && cd "$tmp/ch" || exit 1
cat >config.xml <<X
<yandex>
	<logger><level>warning</level><log>$tmp/ch/log</log><errorlog>$tmp/ch/errors</errorlog></logger>
	<listen_host>127.0.0.1</listen_host><tcp_port>$port</tcp_port>
	<path>$tmp/ch/data/</path><tmp_path>$tmp/ch/tmp/</tmp_path><user_files_path>$tmp/ch/files/</user_files_path>
	<mark_cache_size>67108864</mark_cache_size><default_profile>default</default_profile><default_database>default</default_database>
	<timezone>Europe/Berlin</timezone><users_config>users.xml</users_config>
</yandex>
X
cat >users.xml <<X
<yandex><profiles><default></default></profiles><quotas><default></default></quotas>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users></yandex>
X
clickhouse-server --config-file="$tmp/ch/config.xml" >"$tmp/ch/said" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null; wait $server 2>/dev/null; rm -rf "$tmp"' EXIT
export CLICKHOUSE="clickhouse-client --host 127.0.0.1 --port $port"
tries=0
until [ "$($CLICKHOUSE --query 'SELECT 1' 2>/dev/null)" = 1 ]; do
	[ $((tries = tries + 1)) -lt 100 ] && kill -0 $server 2>/dev/null || {
		diag "$(cat "$tmp/ch/errors" "$tmp/ch/said" 2>/dev/null | head -5)"
		skip_all "ClickHouse does not start here"
	}
	sleep 0.2
done
ok "the schema is SQL that it takes" $CLICKHOUSE --multiquery <"$top/contrib/clickhouse/schema.sql"

# Three hosts, two services, minutes apart; names with backslashes, quotes and other hostile bytes
id=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
made() { # SEED HOST SERVICE SECONDS
	python3 "$tests/cmd/convert-made.py" $1 200 hostile | sed "s,/opt/o1/app,/opt/o1/other,; s/^meta key=\"host\".*/meta key=\"host\" value=\"$2\"\nmeta key=\"label.service\" value=\"$3\"\nmeta key=\"label.odd\" value=\"it's \\\\\\\\ \\\\\"odd\\\\\"\"\nmeta key=\"start-monotonic-ns\" value=\"1\"/
		s/^meta key=\"start-realtime-ns\".*/meta key=\"start-realtime-ns\" value=\"$4000000000\"/; s/^\(\(sample\|end\) time=[0-9]*\)/\10/; s,/docker/1,/docker/$id," | cprof-dump -r >"$tmp/$2.bin" || exit 1
}
made 1 alpha shop 1700000000 && made 2 beta shop 1700000003 && made 3 gamma mail 1700000060
cd "$tmp" || exit 1
status "captures are loaded" 0 "$load" alpha.bin beta.bin gamma.bin
diag "$(head -3 err)"
status "again" 0 "$load" beta.bin
is "  they are there already" "$(cat err)" "load: beta.bin is there already"
diag "$($CLICKHOUSE --query 'SELECT count(), min(time), max(time) FROM cprof_events')"

for f in alpha beta gamma; do cprof-sym $f.bin >$f.sym 2>/dev/null; done
# alike WHAT FROM TO "OPTIONS OF query" "OPTIONS OF cprof-fold" FILE...
alike() {
	what=$1 from=$2 to=$3 asked=$4 folded=$5
	shift 5
	"$query" $asked "$from" "$to" >got 2>err || diag "$(head -3 err)"
	cprof-fold --max-line 4194304 -T $folded --from "$from" --to "$to" "$@" >want 2>/dev/null
	if [ -s want ] && cmp -s got want; then pass "$what, $(wc -l <want) stacks"; else fail "$what"; diag "$(diff want got | cut -c 1-200 | head)"; fi
	case $folded in *off-cpu* | *ns) # cprof-top writes time as ms and s
		is "  and a table of functions has the same sum" "$("$query" -t $asked "$from" "$to" | awk '{ n += $1 } END { printf "%.0f", n }')" \
			"$(awk '{ n += $NF } END { printf "%.0f", n }' want)"
		return ;;
	esac
	"$query" -t $asked "$from" "$to" 2>err | awk -F '\t' '{ print $1, $2, $3 }' | sort >got
	cprof-top --by function -n 0 $folded --from "$from" --to "$to" "$@" 2>/dev/null | sed -n "$row" | sort >want
	if [ -s want ]; then same "  and its table of functions is cprof-top's" want got; else fail "  there is no table"; fi
}
row='s/^ *\([0-9]*\) *[0-9.]*% *[0-9.]*% *\([0-9]*\) *[0-9.]*%  \(.*\)$/\1 \2 \3/p'
alike "all of it" @1600000000 @1800000000 "" "" alpha.sym beta.sym gamma.sym
alike "one host" @1600000000 @1800000000 "-H beta" "" beta.sym
alike "four seconds of two hosts, one container, one label" @1700000002 @1700000006 "-c docker/0123 -l service=shop" \
	"--in 01234567 --label service=shop" alpha.sym beta.sym gamma.sym
alike "a second of one container" @1700000060 @1700000061 "-c 0123456789ab" "--in 0123456789ab" alpha.sym beta.sym gamma.sym
alike "one command" @1700000001 @1700000004 "-p app" "--comm app" alpha.sym beta.sym gamma.sym
is "the same by the clock of UTC" "$("$query" "2023-11-14 22:13:21" "2023-11-14 22:13:24" | cksum)" "$("$query" @1700000001 @1700000004 | cksum)"
is "  with a T and a Z" "$("$query" 2023-11-14T22:13:21Z 2023-11-14T22:13:24Z | cksum)" "$("$query" @1700000001 @1700000004 | cksum)"
for no in "yesterday at noon" 22:13:21 "2023-02-29 00:00:00"; do
	status "$no" 2 "$query" "$no" @1700000004
	is "  is no time" "$(cat err)" "query: invalid time \"$no\" (expected 'YYYY-MM-DD HH:MM:SS' in UTC, YYYY-MM-DDTHH:MM:SSZ, or @SECONDS since 1970)"
done
is "a label with quotes and backslashes" "$("$query" -l "odd=it's \\ \"odd\"" @1600000000 @1800000000 | cksum)" "$("$query" @1600000000 @1800000000 | cksum)"
is "an injection is a name" "$("$query" -H "x' OR '1'='1" @1600000000 @1800000000)" ""

# Captures without samples do not affect those after them.
python3 "$tests/cmd/convert-made.py" 4 200 | sed '/^sample /d; s/^\(end .*\) samples=.*/\1 samples=0/' | cprof-dump -r >idle.bin
head -c 600 alpha.bin >"cut's.bin"; cp beta.bin last.bin
status "captures without a sample, one of them cut, and one behind them" 3 "$load" idle.bin "cut's.bin" last.bin
is "  which is there" "$($CLICKHOUSE --query "SELECT count() > 0 FROM cprof_events WHERE capture = 'last.bin'")" 1
status "again" 0 "$load" idle.bin "cut's.bin" last.bin
is "  all are there already" "$(cat err)" "load: idle.bin is there already
load: cut's.bin is there already
load: last.bin is there already"
mkdir other && cp gamma.bin other/twice.bin && cp beta.bin twice.bin && gzip -c beta.bin | gzip >beta.bin.gz
status "what is no capture, a capture, and one of the same name" 1 "$load" beta.bin.gz none.bin twice.bin other/twice.bin
is "  of which the first is loaded" "$(cat err)" "rows: cprof-sym: beta.bin.gz: compressed with gzip: decompress it first
rows: cprof-sym: none.bin: No such file or directory
load: other/twice.bin is there already"
is "  and no other" "$($CLICKHOUSE --query "SELECT DISTINCT host FROM cprof_events WHERE capture = 'twice.bin'")" beta

# Other events, waits that begin in other seconds, two rates
eventful 5 one 1700000100 100 && eventful 6 two 1700000100 250 || exit 1
status "all events are loaded" 0 "$load" one.bin two.bin
for window in "@1700000100 @1700001000" "@1700000103 @1700000104"; do
	alike "CPU time from $window" $window "" "" one.sym two.sym
	alike "  in nanoseconds" $window -n "--weight ns" one.sym two.sym
	for event in cpu-clock off-cpu off-cpu:sleep page-faults sched; do
		alike "  $event" $window "-e $event" "--event $event" one.sym two.sym
	done
done
alike "what a container waited for" @1700000105 @1700000109 "-e off-cpu -c docker/1 -l service=shop -p work" \
	"--event off-cpu --in /docker/1 --label service=shop --comm work" one.sym two.sym
for events in page-faults,cpu-clock off-cpu,page-faults; do
	status "$events" 2 "$query" -e $events @1700000100 @1800000000
	like "  are no sum" "$(cat out err)" '^query: -e: cannot add .* and page-faults \(.*\)$'
done
is "an event that is not there" "$("$query" -e "mi'nor" @1700000100 @1800000000 2>&1)" \
	"query: no events mi'nor; recorded events: cpu-clock, off-cpu:run-queue, off-cpu:sleep, page-faults, sched:sched_switch"
done_testing
