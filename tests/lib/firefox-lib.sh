# For tests with the Firefox Profiler's tool, which is in $modules; in a subshell, because HOME changes.
# shellcheck shell=sh disable=SC2154 # the test sets modules, lib.sh tmp

# firefox_begin FILE OUT COMMAND...: serves the file, and repeats a command of the tool until it answers
firefox_begin() {
	HOME=$tmp/firefox PROFILER_CLI_SESSION_DIR=$tmp/firefox
	export HOME PROFILER_CLI_SESSION_DIR
	mkdir -p "$HOME"
	cli=$modules/.bin/profiler-cli
	# Start its server here: the tool itself gives it half a second, too little on a busy machine.
	"$cli" --daemon "$1" --session s >"$tmp/served" 2>&1 &
	server=$!
	out=$2
	shift 2
	for i in 1 1 1 2 2 3 3 5 5 7; do
		sleep $i
		"$cli" "$@" --session s --json >"$out" 2>"$tmp/loaded" && break
	done
}
firefox_end() {
	"$cli" stop --all >/dev/null 2>&1
	kill $server 2>/dev/null
	wait $server
}
