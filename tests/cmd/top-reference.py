"""Counts folded text stack by stack as cprof-top shows it: the slow way, without a tree.

    top-reference.py table|peek|stacks|tree FILE      the rows of cprof-top -n 0 -o tsv, less the percentages
"""
import collections
import sys


def stacks(path):
    total = collections.Counter()
    for line in open(path, encoding="utf-8"):
        stack, count = line.rstrip("\n").rsplit(" ", 1)
        total[stack] += int(count)
    return [(s.split(";"), n) for s, n in sorted(total.items())]


def functions(stack):
    return set(stack[1:]) or set(stack)


def table(all_stacks):
    flat, cum = collections.Counter(), collections.Counter()
    for stack, n in all_stacks:
        flat[stack[-1]] += n
        for f in functions(stack):
            cum[f] += n
        if stack[-1] not in functions(stack):
            raise SystemExit("a leaf that is no function")
    return {f: (flat[f], cum[f]) for f in cum}


def in_order(rows):
    return sorted(rows.items(), key=lambda r: (-r[1][0], -r[1][1], r[0].encode()))


def print_table(all_stacks):
    for name, (flat, cum) in in_order(table(all_stacks)):
        print(name, flat, cum, sep="\t")


def print_peek(all_stacks):
    calls = collections.Counter()
    for stack, n in all_stacks:
        pairs = {(a, b, i == 0) for i, (a, b) in enumerate(zip(stack, stack[1:])) if i == 0 or a != b}
        for pair in pairs:
            calls[pair] += n
    for name, (flat, cum) in in_order(table(all_stacks)):
        callers = [(-n, a.encode(), command, a) for (a, b, command), n in calls.items() if b == name]
        callees = [(-n, b.encode(), b) for (a, b, command), n in calls.items() if a == name and not command]
        for n, _, command, a in sorted(callers):
            print(name, flat, cum, "command" if command else "caller", a, -n, sep="\t")
        print(name, flat, cum, "self", name, flat, sep="\t")
        for n, _, b in sorted(callees):
            print(name, flat, cum, "callee", b, -n, sep="\t")


def print_stacks(all_stacks):
    # sorted by the bytes of whole lines, as cprof-fold sorts
    for stack, n in sorted(all_stacks, key=lambda s: (-s[1], (";".join(s[0]) + " %d" % s[1]).encode())):
        print(n, len(stack), ";".join(stack), sep="\t")


def print_tree(all_stacks):
    total, own = collections.Counter(), collections.Counter()
    for stack, n in all_stacks:
        own[tuple(stack)] += n
        for depth in range(1, len(stack) + 1):
            total[tuple(stack[:depth])] += n
    children = collections.defaultdict(list)
    for path in total:
        children[path[:-1]].append(path)

    row = 0

    def below(path, parent):
        nonlocal row
        for child in sorted(children[path], key=lambda c: (-total[c], c[-1].encode())):
            row += 1
            print(row, parent, len(path), child[-1], 0, total[child], own[child], sep="\t")
            below(child, row)

    below((), "")


{"table": print_table, "peek": print_peek, "stacks": print_stacks, "tree": print_tree}[sys.argv[1]](stacks(sys.argv[2]))
