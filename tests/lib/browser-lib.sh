# For tests that examine a page in Chromium, by tests/lib/browser.py: . "$tests/lib/browser-lib.sh", after lib.sh.

# needs_browser: skips the test if there is no browser; screenshots are kept in $BUILD/screenshots
needs_browser() {
	command -v python3 >/dev/null || skip_all "python3 is not here"
	command -v bash >/dev/null || skip_all "bash, which hands the browser its pipes, is not here"
	command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null ||
		skip_all "no Chromium is here"
	mkdir -p "$BUILD/screenshots"
	export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$tests/lib"
}
