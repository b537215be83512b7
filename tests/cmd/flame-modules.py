"""The part of tests/cmd/flame-modules.t that needs a browser."""
import collections
import subprocess

from flamelook import *

CAPTURE = os.path.join(TMP, 'a.bin')
PAGE = os.path.join(TMP, 'page.html')


def program(*args):
    return subprocess.run(args, check=True, capture_output=True, encoding='utf-8').stdout


def fold(*args):
    return sorted(program('cprof-fold', '--no-names', '-a', *args, CAPTURE).splitlines())


def folded():
    return sorted(b.value('foldedPieces(cprof.app).join("")').splitlines())


def named(row):
    """Returns the name of a row as cprof-top -v writes it."""
    name, module = row['name'], row['module']
    if name[0] == '[':
        return name
    return f'{name} {module}' if module[0] == '[' else f'{name} [{module}]'


def table():
    rows = [r for r in b.value('cprof.table()') if r['kind'] != 'process']
    return {named(r): (r['self'][0], r['total'][0]) for r in rows}


def cells(selector):
    return b.value(f'Array.from(document.querySelectorAll("{selector}"), (e) => e.innerText)')


def check_table():
    fresh(PAGE)
    want = {}
    for line in open(os.path.join(TMP, 'want.top'), encoding='utf-8'):
        name, own, _, total = line.split('\t')[:4]
        want[name] = (int(own), int(total))
    same('the rows are those of cprof-top -v', table(), want)
    seen = dict(zip(cells('.row > .name'), cells('.row > .module')))
    ok('a column has the modules', seen['vfs_read'] == '[kernel]' and 'libc.so.6' in seen.values(), seen)
    shot('modules')
    b.value('document.querySelector("#thead [data-key=module]").click()')
    order = [r['module'] for r in b.value('cprof.table()')]
    same('a press on its head sorts by them', order, sorted(order))
    b.value('cprof.app.table.setFilter("libc")')
    same('the filter finds modules', {r['module'] for r in b.value('cprof.table()')}, {'libc.so.6'})
    b.value('cprof.app.table.setFilter("")')
    b.size(390, 844)
    fresh(PAGE, '#table=1')
    rows = [name.replace('\n', ' ') for name in cells('.row > .name')]
    ok('where it has no room, functions of one name have their module',
       {'main [as]', 'main [cc1]', 'vfs_read'} <= set(rows), rows)
    shot('modules-phone')
    b.size(1280, 800)


def click_main(module):
    """Opens the menu at the box of main of this module."""
    at = b.value(f'''cprof.app.picture.rows.flat().findIndex((one) => !one.rest && one.box.level === 2 &&
        cprof.app.p.module(one.box.label) === "{module}")''')
    return b.value('cprof.frames()')[at]


def check_actions():
    for module in ('as', 'cc1'):
        fresh(PAGE)
        box = click_main(module)
        b.move(box['clientX'], box['clientY'])
        tip = b.value('document.getElementById("tip").innerText')
        ok(f'the tooltip of main has {module}', module in tip.split('\n')[1], tip)
        b.key('F')
        same('only stacks with it: as cprof-fold --comm', folded(), fold('--comm', module))
        same('... the edit names the module', b.value('document.querySelector("#edits button").innerText'),
             f'only stacks with main [{module}] ×')
        hash_ = b.value('location.hash')
        fresh(PAGE, hash_)
        same('... so does the link', folded(), fold('--comm', module))
        fresh(PAGE)
        box = click_main(module)
        b.click(box['clientX'], box['clientY'])
        hash_ = b.value('location.hash')
        fresh(PAGE, hash_)
        same('a zoomed one has its link', folded(), fold('--comm', module))
        b.key('s')
        hash_ = b.value('location.hash')
        fresh(PAGE, hash_)
        same('... and its sandwich', folded(), fold('--comm', module))
    fresh(PAGE, '#edit=collapse')
    same('calls between functions of one name count as recursion, as in cprof-fold', folded(),
         fold('--collapse-recursion'))
    fresh(PAGE, '#edit=focus:malloc~0~libc.so.6')
    same('a link chooses the module', b.value('cprof.seen()'), 3)
    fresh(PAGE, '#edit=focus:malloc')
    ok('an older link, without one, finds a function of this name', b.value('cprof.edits().length') == 1)
    fresh(PAGE)
    lines = b.value('tableText(cprof.app)').split('\r\n')
    same('the CSV has a column of them', lines[0], 'Function,Module,Kind,Self,Total')
    ok('... and rows', 'vfs_read,[kernel],kernel,1,1' in lines, lines)
    fresh(os.path.join(TMP, 'text.html'))
    same('folded text has no such column', cells('#thead button')[:2], ['Function', 'Self'])


run(check_table, check_actions)
