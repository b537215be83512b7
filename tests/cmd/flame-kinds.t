#!/bin/sh
# Every kind of page, of cprof-flame and of cprof-annotate, on a screen and on a telephone: axe finds nothing
# serious, controls are 44 pixels high for fingers, nothing is cut off or wider than the page, keys reach all.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/browser-lib.sh"
. "$tests/lib/made-captures.sh"

needs_browser
axe=$("$tests/lib/npm.sh" axe-core@4.10.3) && axe=$axe/axe-core/axe.min.js || axe=
cd "$tmp" || exit 1
mkdir pages archive
python3 "$tests/lib/made-waits.py" | cprof-dump -r >waits.bin || exit 1
for i in 0 60 180; do made_capture $i one@1 two three@2 | cprof-dump -r >archive/$i.cprof; done
flame() { cprof-flame --no-names -o "pages/$@"; }
flame flame.html waits.bin
flame wall-heat.html --wall --heatmap waits.bin
flame blame.html --blame waits.bin
flame latency.html --latency waits.bin
flame diff.html --diff archive/0.cprof archive/60.cprof
flame split.html --diff --wall --split 200ms waits.bin
flame threads.html --wall --by thread,function waits.bin
cprof-fold --no-names archive/0.cprof | cprof-flame -o pages/text.html
flame directory.html archive
if command -v gcc >/dev/null && command -v objdump >/dev/null && command -v readelf >/dev/null; then
	cp "$tests/data/annotated.c" . && gcc -g -O1 -Wl,--build-id -o annotated annotated.c || exit 1
	python3 "$here/annotate-count.py" make "$tmp/annotated" 4 | cprof-dump -r >made.bin
	cprof-sym -il made.bin >made.sym 2>/dev/null
	flame source.html --source made.sym
	cprof-annotate -o pages/annotate-list.html made.sym
	cprof-annotate -a -o pages/annotate.html work made.sym
fi
python3 "$here/flame-kinds.py" "$tmp" "$BUILD/screenshots" "$axe"
