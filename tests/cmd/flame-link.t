#!/bin/sh
# cprof-flame's page in a browser: a link restores the heat map's zoom and range; title, caution and tooltip.
. "$(dirname "$0")/../lib/lib.sh"
. "$tests/lib/browser-lib.sh"

needs_browser
{
	cat <<X
segment major=1 minor=0 least=1
meta key="command-line" value="cprof-record -- ./shop 60"
event id=1 name="cpu-clock" unit="ns" period=10000000 millihertz=100000
process id=1 time=1 pid=1 nspid=0 parent=0 start=5 gen=0 via=snapshot
thread id=1 time=1 process=1 tid=1
comm time=1 thread=1 comm="shop"
frame id=1 process=1 kind=exact address=0x10
frame id=2 process=1 kind=exact address=0x20
string id=1 text="serve"
string id=2 text="parse"
symbol frame=1 from=0 level=0 source=symtab name=1 offset=0 file=0 line=0
symbol frame=2 from=0 level=0 source=symtab name=2 offset=0 file=0 line=0
node id=16 parent=1 frame=1
node id=17 parent=16 frame=2
X
	for i in $(seq 0 59); do
		echo "sample time=$((i + 1))000000000 event=1 cpu=0 thread=1 user=$((16 + i % 2)) kernel=0 weight=1"
	done
	printf 'end time=61000000000 reason=closed samples=60\nflush\n'
} | cprof-dump -r >"$tmp/c.bin" && cprof-flame --heatmap --slice 100 "$tmp/c.bin" >"$tmp/c.html" || exit 1
python3 - "$tests/lib" "$tmp" "$BUILD/screenshots" <<'E'
import sys
sys.path.insert(0, sys.argv[1])
from browser import Browser
tmp, shots = sys.argv[2:4]
count = failed = 0


def ok(what, good, *said):
    global count, failed
    count += 1
    failed += not good
    print(f"{'' if good else 'not '}ok {count} - {what}")
    for line in said if not good else ():
        print('#', str(line)[:300])


def look(b, fragment=''):
    b.open(f'{tmp}/c.html', fragment)
    b.value('cprof.ready')
    b.settle()


with Browser() as b:
    look(b)
    title = b.value('document.title')
    ok('the tab has the command', './shop 60' in title, title)
    ok('  and so has the heading', './shop 60' in b.value("document.getElementById('title').textContent"))
    caution = b.value("document.getElementById('caution').textContent")
    ok('few samples are cautioned of', 'nly 60 samples: shares may be off by 12 points' in caution, caution)
    box = [f for f in b.value('cprof.frames()') if f['name'] == 'parse'][0]
    b.move(box['clientX'], box['clientY'])
    b.wait("!document.getElementById('tip').hidden")
    tip = b.value("document.getElementById('tip').textContent")
    ok('the tooltip has weight and share', '30 samples (50.00 %)' in tip, tip)
    ok('  and their interval', '37.74 to 62.26 %' in tip, tip)

    whole = b.value('cprof.heat().window')
    b.value('cprof.app.heat.zoomBy(0.37, 200)')
    window = b.value('cprof.heat().window')
    b.wait("location.hash.includes('time=')")
    b.value('cprof.app.heat.panBy(41)')
    panned = b.value('cprof.heat().window')
    b.wait(f"location.hash.includes('time={panned[0]}-{panned[1]}')")
    b.value('cprof.app.selectRange([200, 251])')
    b.wait("location.hash.includes('range=200-251')")
    ok('zoom and pan of the heat map are in the link', window != whole and panned != window, window, panned)
    fragment, cells = b.value('location.hash'), b.value('cprof.heat()')
    b.screenshot(f'{shots}/flame-link.png')
    look(b)
    ok('a page without a fragment shows all time', b.value('cprof.heat().window') == whole)
    look(b, fragment)
    again = b.value('cprof.heat()')
    ok('the link restores window, cells and range', again == cells, again, cells)
    ok('  and the samples of the range', b.value('cprof.totals()') == 6, b.value('cprof.totals()'))
    b.value('cprof.app.heat.setWindow([0, 1e9])')
    b.wait("!location.hash.includes('time=')")
    ok('all time is not in the link', b.value('cprof.heat().window') == whole)
    b.value("location.hash = '#time=100-200'")
    b.wait("cprof.heat().window.join() === '100,200'")
    ok('another fragment changes the window', True)
    for bad in ['9-3', 'x', '5', '900000-900001', '']:
        b.value(f"location.hash = '#time={bad}'")
        b.wait(f"cprof.app.state.time === '{bad}'")
        ok(f'time={bad} is all time', b.value('cprof.heat().window') == whole, b.value('cprof.heat().window'))
    ok('no error', not b.errors, b.errors)
print(f'1..{count}')
sys.exit(failed > 0)
E
