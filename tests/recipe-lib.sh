# The server of recipe-server.py for one test, behind lib.sh: . "$(dirname "$0")/recipe-lib.sh"
# serve: it is there, at $url, and leaves what it got in $tmp/srv
serve() {
	mkdir -p "$tmp/srv"
	python3 "$here/recipe-server.py" "$tmp/srv" &
	server=$!
	trap 'kill $server 2>/dev/null; rm -rf "$tmp"' EXIT
	tries=0
	until [ -e "$tmp/srv/port" ] || [ $((tries = tries + 1)) -gt 100 ]; do sleep 0.1; done
	url=http://127.0.0.1:$(cat "$tmp/srv/port")
}
