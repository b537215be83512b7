#!/usr/bin/env python3
"""Compares chains with llvm-symbolizer's, address by address.

	dwarf-compare.py OURS LLVM.json READELF-SYMBOLS [RULE...]

Prints how many addresses are equal, then each rule with the number of differences that it explains, then
"unexplained N" and the first of those. A rule applies only if it is named. llvm-symbolizer takes the outer
function from the ELF symbols, so the rules for it require a matching symbol:
	suffix		the symbol is the function's with a compiler's suffix for a copy of it
	alias		another symbol that covers the address (the other constructor of a pair, a weak name)
	symbol-only	there is no DWARF; llvm-symbolizer shows the symbol without a line
	symbol-file	for such a symbol llvm-symbolizer may show the STT_FILE symbol's text as its file
	no-function	an address between functions has no name in cprof-sym; llvm-symbolizer shows its line
	directory-0	DWARF 5's directory 0 is the compiler's; llvm-symbolizer 14 doubles a relative one
"""

import bisect, collections, json, sys


def ours(path):
    chains, address = {}, None
    for line in open(path, errors='replace'):
        line = line.rstrip('\n')
        if line.startswith('0x') and '\t' not in line:
            address = int(line, 16)
            chains[address] = []
        elif line:
            name, place = line.split('\t')
            file, number = place.rsplit(':', 1)
            chains[address].append((name, file, int(number)))
    return chains


def theirs(path):
    chains = {}
    for line in open(path, errors='replace'):
        if line.strip():
            one = json.loads(line)
            chains[int(one['Address'], 16)] = [
                (s['FunctionName'], s['FileName'], s['Line']) for s in reversed(one.get('Symbol', []))]
    return chains


class Symbols:
    def __init__(self, path):
        self.named, names = collections.defaultdict(list), []
        for line in open(path, errors='replace'):
            p = line.split()
            if len(p) >= 8 and p[0].endswith(':') and p[0][:-1].isdigit() and p[6] not in ('UND', 'ABS'):
                self.named[p[7].split('@')[0]].append((int(p[1], 16), int(p[2], 0)))

    def cover(self, name, address):
        return any(start <= address < start + (size or 1 << 20) for start, size in self.named[name.split('@')[0]])


def base(name):
    for mark in ('.cold', '.part.', '.constprop.', '.isra.', '.llvm.', '.lto_priv.', '@'):
        name = name.split(mark)[0]
    return name


def doubled(ours, llvm):
    """Returns whether llvm's path is ours doubled: ./a/b.c and ./a/./a/b.c."""
    return any(c == '/' and llvm == ours[:i] + '/' + ours for i, c in enumerate(ours))


def explain(address, a, b, symbols):
    """Returns the rules that make the two chains equal; None if there are none."""
    rules = set()
    if not a and len(b) == 1 and b[0][2] == 0 and (symbols.cover(b[0][0], address) or b[0][0] == ''):
        return {'symbol-only'}
    if not a and len(b) == 1 and b[0][0] == '':
        return {'no-function'}
    if len(a) != len(b):
        return None
    for level, (x, y) in enumerate(zip(a, b)):
        if x[2] != y[2]:
            return None
        if x[1] != y[1]:
            if doubled(x[1], y[1]):
                rules.add('directory-0')
            elif x[1] == '' and x[2] == 0:
                rules.add('symbol-file')
            else:
                return None
        if x[0] != y[0]:
            if level or not symbols.cover(y[0], address):
                return None
            rules.add('suffix' if base(x[0]) == base(y[0]) else 'alias')
    return rules


def main():
    a, b, symbols, named = ours(sys.argv[1]), theirs(sys.argv[2]), Symbols(sys.argv[3]), sys.argv[4:]
    counts, left = collections.Counter(), []
    for address in a:
        rules = explain(address, a[address], b.get(address, []), symbols)
        if rules is None or not rules <= set(named):
            left.append((address, rules))
        else:
            counts.update(rules or ['equal'])
    print('levels', sum(map(len, a.values())))
    for rule in ['equal'] + named:
        print(rule, counts[rule])
    print('unexplained', len(left))
    for address, rules in left[:8]:
        print('  0x%x %s\n    ours %s\n    llvm %s' % (address, rules, a[address], b.get(address)))


main()
