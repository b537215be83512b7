# For tests that examine a page in Chromium, by tests/lib/browser.py: . "$tests/lib/browser-lib.sh", after lib.sh.

# has_browser: whether there is one, with python3, and bash, which hands it its pipes; screenshots are kept in
# $BUILD/screenshots
has_browser() {
	command -v python3 >/dev/null && command -v bash >/dev/null || return 1
	command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null ||
		return 1
	mkdir -p "$BUILD/screenshots"
	export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$tests/lib"
}

# needs_browser: skips the test if there is no browser
needs_browser() {
	has_browser || skip_all "Chromium, python3 or bash is not here"
}
