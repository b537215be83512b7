# shellcheck shell=sh
# Shared by the database queries: . "$(dirname "$(readlink -f "$0")")/../query.sh"

# moment TIME: prints seconds since 1970 for a UTC time 'YYYY-MM-DD HH:MM:SS' or YYYY-MM-DDTHH:MM:SSZ, or for
# @SECONDS. Any other text ends the program, because databases accept most texts as times. Times after 2106,
# the end of ClickHouse's range, become that end.
moment() {
	TIME=$1 awk 'BEGIN {
		t = ENVIRON["TIME"]
		d = "[0-9][0-9]"; clock = d ":" d ":" d; day = d d "-" d "-" d
		if (t ~ /^@[0-9]+$/)
			s = substr(t, 2) + 0
		else if (t ~ "^" day " " clock "$" || t ~ "^" day "T" clock "Z$") {
			y = substr(t, 1, 4) + 0; m = substr(t, 6, 2) + 0; n = substr(t, 9, 2) + 0
			hour = substr(t, 12, 2) + 0; min = substr(t, 15, 2) + 0; sec = substr(t, 18, 2) + 0
			long = m == 2 ? 28 + (y % 4 == 0 && (y % 100 != 0 || y % 400 == 0)) : 30 + (m + (m > 7)) % 2
			if (y < 1970 || m < 1 || m > 12 || n < 1 || n > long || hour > 23 || min > 59 || sec > 59)
				exit 1
			if (m < 3) { y--; m += 12 } # years that begin in March have the leap day at their end
			s = (365 * y + int(y / 4) - int(y / 100) + int(y / 400) + int((153 * m - 457) / 5) + n - 719469) * 86400 + hour * 3600 + min * 60 + sec
		} else
			exit 1
		printf "%.0f\n", (s > 4294967295 ? 4294967295 : s)
	}' || {
		printf "%s: invalid time \"%s\" (expected 'YYYY-MM-DD HH:MM:SS' in UTC, YYYY-MM-DDTHH:MM:SSZ, or @SECONDS since 1970)\n" "${0##*/}" "$1" >&2
		exit 2
	}
}

# asked EVENTS NS IN: sets $where to the condition for EVENTS, by the names or families that --event of
# cprof-fold takes, or for CPU time if EVENTS is empty; $count to the expression to add up; and $kind to its
# unit. Counts are as in cprof-fold: CPU time in samples, other events in occurrences, waits in nanoseconds.
# IN is how SQL finds a text in another: position or instr. NS, unless empty, asks for nanoseconds.
asked() {
	count='CASE WHEN samples > 0 THEN samples ELSE weight END' kind="CASE WHEN samples > 0 THEN 'samples' ELSE unit END" where='samples > 0'
	case ${2:+off-cpu},$1 in
	off-cpu* | *,off-cpu*) count=weight kind="CASE WHEN unit = 'ns' THEN 'ns' ELSE 'not time' END" ;;
	esac
	if [ "$1" ]; then
		where=$(printf '%s\n' "$1" | tr , '\n' | while IFS= read -r name; do
			printf ' OR event = %s OR %s(event, %s) = 1' "$(quote "$name")" "$3" "$(quote "$name:")"
		done)
		where="(${where# OR })"
	fi
	[ -z "$2" ] || where="$where AND unit = 'ns'"
}

# adds_up EVENTS: reads lines of EVENT and KIND, separated by tabs. Ends the program with an error and 2 if
# the requested events have different kinds. Reports an error, too, if none is there.
adds_up() {
	EVENTS=$1 SELF=${0##*/} awk -F '\t' '
		BEGIN { n = split(ENVIRON["EVENTS"], name, ",") }
		{ all = all (all == "" ? "" : ", ") $1 }
		{ for (i = 1; i <= n; i++) if ($1 == name[i] || index($1, name[i] ":") == 1) {
			if (kind == "") { kind = $2; first = $1 }
			else if (kind != $2) other = other == "" ? $1 " (" $2 ")" : other
		} }
		END {
			if (kind == "") print ENVIRON["SELF"] ": no events " ENVIRON["EVENTS"] "; recorded events: " (all == "" ? "none" : all)
			else if (kind == "not time") print ENVIRON["SELF"] ": " ENVIRON["EVENTS"] " does not measure time"
			if (other != "") { print ENVIRON["SELF"] ": -e: cannot add " first " (" kind ") and " other; exit 1 }
		}' >&2 || exit 2
}
