# shellcheck shell=sh
# What the queries of databases have in common: . "$(dirname "$(readlink -f "$0")")/../query.sh"

# moment TIME: seconds since 1970, of 'YYYY-MM-DD HH:MM:SS' by UTC, YYYY-MM-DDTHH:MM:SSZ, or @ and those seconds; ends the program at
# anything else, for a database makes something of most texts. What lies behind 2106, where ClickHouse's times end, is then.
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
			if (m < 3) { y--; m += 12 } # a year that begins in March has its odd day at its end
			s = (365 * y + int(y / 4) - int(y / 100) + int(y / 400) + int((153 * m - 457) / 5) + n - 719469) * 86400 + hour * 3600 + min * 60 + sec
		} else
			exit 1
		printf "%.0f\n", (s > 4294967295 ? 4294967295 : s)
	}' || {
		echo "${0##*/}: $1 is no time: that is 'YYYY-MM-DD HH:MM:SS' by UTC, YYYY-MM-DDTHH:MM:SSZ, or @SECONDS since 1970" >&2
		exit 2
	}
}
