# shellcheck shell=sh
# Shared by the scripts that push captures: . "$(dirname "$(readlink -f "$0")")/../push.sh"
# They keep their files in $tmp, which is removed at the end. die SENTENCE ends with status 1.
die() { printf 'push: %s\n' "$*" >&2; exit 1; }
nothing() { printf 'push: %s has no samples; nothing sent\n' "$1" >&2; exit 0; }

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

# well STATUS: dies unless a command succeeded (0) or its capture was damaged (3); then the good part is sent.
well() {
	st=$1
	[ "$st" = 0 ] || [ "$st" = 3 ] || die "$(head -n 1 "$tmp/said")"
}

# read_capture FILE: writes its segments, metadata, events and samples as text to $tmp/text
read_capture() {
	cprof-dump "$1" 2>"$tmp/said" | grep -E '^(segment|meta|event|end|sample) ' >"$tmp/text"
	[ -s "$tmp/text" ] || die "$(head -n 1 "$tmp/said")"
}

# name_capture FILE: writes it with names to $tmp/named
name_capture() {
	cprof-sym "$1" >"$tmp/named" 2>"$tmp/said"
	well $?
}

meta() { sed -n "s/^meta key=\"$1\" value=\"\(.*\)\"\$/\1/p" "$tmp/text" | head -n 1; }

# service NAME BYTES: prints NAME, or the capture's label service, or "cprof"; bytes not in BYTES become "_".
service() {
	set -- "${1:-$(meta label.service)}" "$2"
	printf '%s' "${1:-cprof}" | tr -c "$2" _
}

# label_lines LABELS: prints the capture's labels, its host, and then LABELS, each a line KEY=VALUE; the last
# value of a key wins. Keys contain letters, digits and "_"; bytes in values are as cprof-dump writes them.
label_lines() {
	{
		sed -n 's/^meta key="label\.\([^"]*\)" value="\(.*\)"$/\1=\2/p; s/^meta key="\(host\)" value="\(.*\)"$/\1=\2/p' "$tmp/text"
		printf '%s' "$1"
	} | awk '{ at = index($0, "="); key = substr($0, 1, at - 1); value = substr($0, at + 1)
		gsub(/[^A-Za-z0-9_]/, "_", key)
		if (key ~ /^[0-9]/) key = "_" key
		if (key != "" && !(key in all)) order[++n] = key
		if (key != "") all[key] = value }
		END { for (i = 1; i <= n; i++) print order[i] "=" all[order[i]] }'
}

# curl retries errors that may be temporary (no connection, timeout, 408, 429, 5xx), not refusals.
send() {
	curl -sS ${CPROF_CURLRC:+-K "$CPROF_CURLRC"} --connect-timeout 10 --max-time 60 --retry 4 --retry-max-time 120 --retry-connrefused "$@"
}

# reason CODE: prints the answer in $tmp/answer as one line: the message of its JSON, its text, or the code.
reason() {
	why=$(tr -d '\n' <"$tmp/answer" | sed -n 's/^{.*"message": *"\(\([^"\\]\|\\.\)*\)".*/\1/p' | sed 's/\\\(["\\]\)/\1/g')
	[ -n "$why" ] || why=$(head -n 1 "$tmp/answer" | grep -v '^[[:space:]]*[<{]')
	why=$(printf '%s' "$why" | tr -d '[:cntrl:]' | cut -c 1-400)
	printf '%s' "${why:-HTTP $1}"
}
