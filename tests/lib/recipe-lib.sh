# Runs recipe-server.py for one test, after lib.sh: . "$tests/lib/recipe-lib.sh"
# serve: starts it at $url; its input goes to $tmp/srv
serve() {
	mkdir -p "$tmp/srv"
	python3 "$tests/contrib/recipe-server.py" "$tmp/srv" &
	server=$!
	trap 'kill $server 2>/dev/null; rm -rf "$tmp"' EXIT
	tries=0
	until [ -e "$tmp/srv/port" ] || [ $((tries = tries + 1)) -gt 100 ]; do sleep 0.1; done
	url=http://127.0.0.1:$(cat "$tmp/srv/port")
}
