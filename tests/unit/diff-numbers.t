#!/bin/sh
# The arithmetic of common/stats against a reference in whole fractions, and against published tables.
. "$(dirname "$0")/../lib/lib.sh"

cat >"$tmp/reference.py" <<'X'
import math, random, subprocess, sys
from fractions import Fraction
from math import comb

program, what = sys.argv[1:]

def ask(lines):
    out = subprocess.run([program], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True).stdout
    return [[float(w) for w in line.split()] for line in out.splitlines()]

def tables(seed):
    random.seed(seed)
    for _ in range(150):
        n1, n2 = random.randint(1, 900), random.randint(1, 900)
        most = random.choice([3, 30, 900])
        yield random.randint(0, min(most, n1)), n1, random.randint(0, min(most, n2)), n2

def fisher(k1, n1, k2, n2):
    k = k1 + k2
    ways = {i: comb(n1, i) * comb(n2, k - i) for i in range(max(0, k - n2), min(k, n1) + 1)}
    return float(Fraction(sum(w for w in ways.values() if w <= ways[k1]), sum(ways.values())))

def q_values(p, m, members):
    """By the definition: the smallest rate at which the step-up procedure rejects it."""
    ranked = sorted(members, key=lambda i: p[i])
    q = [1.0] * len(p)
    for i in members:
        q[i] = min(1, min(p[j] * m / (at + 1) for at, j in enumerate(ranked) if p[j] >= p[i]))
    return q

def counted(least, rate):
    return next(k for k in range(1, len(least) + 1) if sum(l <= rate / k for l in least) <= k)

worst = 0
def meet(got, want, floor=1e-300):
    global worst
    if max(got, want) > floor:
        worst = max(worst, abs(got - want) / max(abs(got), abs(want)))

if what == "exact":
    cases = list(tables(1)) + [(0, 6000, 6, 6000), (10, 30000, 2, 50), (3000, 6000, 0, 3), (0, 1, 0, 1), (5, 5, 0, 5)]
    for case, got in zip(cases, ask(["exact %d %d %d %d" % c for c in cases])):
        meet(got[0], fisher(*case))
elif what == "z":
    cases = list(tables(2))
    for (a, n, b, m), got in zip(cases, ask(["z %d %d %d %d" % c for c in cases])):
        s = Fraction(a + b, n + m)
        v = s * (1 - s) * (Fraction(1, n) + Fraction(1, m))
        meet(got[0], float(Fraction(b, m) - Fraction(a, n)) / math.sqrt(v) if v else 0)
elif what == "adjust":
    random.seed(3)
    for n in [1, 2, 10, 500]:
        p = [random.choice([random.random(), random.random() ** 6, 1, 0.25]) for _ in range(n)]
        for got, want in zip(ask(["adjust " + " ".join(repr(x) for x in p)])[0], q_values(p, n, range(n))):
            meet(got, want)
elif what == "gilbert":
    random.seed(4)
    for n in [1, 2, 10, 500]:
        least = [random.random() ** 8 for _ in range(n)]
        p = [random.uniform(l, 1) if random.random() < .8 else l for l in least]
        k = counted(least, 0.05)
        members = [i for i in range(n) if least[i] <= 0.05 / k]
        got = ask(["gilbert " + " ".join("%r:%r" % x for x in zip(p, least))])[0]
        for a, b in zip(got, q_values(p, len(members), members)):
            meet(a, b)
elif what == "tail":
    # Student's distribution for whole degrees of freedom in closed form (Abramowitz and Stegun 26.7.3 and 26.7.4).
    def student(t, df):
        angle, c = math.atan(t / math.sqrt(df)), math.cos(math.atan(t / math.sqrt(df)))
        if df % 2 == 0:
            term = total = 1.0
            for j in range(1, df // 2):
                term *= (2 * j - 1) / (2 * j) * c * c
                total += term
            return 1 - math.sin(angle) * total
        term = total = c if df > 1 else 0
        for j in range(1, (df - 1) // 2):
            term *= 2 * j / (2 * j + 1) * c * c
            total += term
        return 1 - 2 / math.pi * (angle + math.sin(angle) * total)
    cases = [(t, df) for t in (0.1, 1, 2, 3.5) for df in (1, 2, 3, 4, 7, 38, 58)]
    for case, got in zip(cases, ask(["tail %r %d" % c for c in cases])):
        meet(got[0], student(*case))
    for z, got in zip((0, .5, 2, 5), ask(["tail %r 0" % z for z in (0, .5, 2, 5)])):
        meet(got[0], math.erfc(z / math.sqrt(2)))
print("%.0e" % worst if worst > 1e-9 else "equal")
X
check() { is "$1" "$(python3 "$tmp/reference.py" "$BUILD/tests/diff-numbers" "$2" 2>&1)" equal; }
check "the exact test is the sum of whole numbers" exact
check "the z-test" z
check "Student's distribution and the normal one" tail
check "Benjamini and Hochberg's q values are by definition the smallest rates" adjust
check "  and Gilbert's where tests are discrete" gilbert

ask() { printf '%s\n' "$*" | "$BUILD/tests/diff-numbers"; }
round() { awk '{ for (i = 1; i <= NF; i++) printf "%s%.4f", (i > 1 ? " " : ""), $i; print "" }'; }
# Newcombe 1998, table II, method 10; its differences are the first minus the second.
is "Newcombe's interval of 56/70 and 48/80" "$(ask interval 48 80 56 70 | round)" "0.0524 0.3339"
is "  of 9/10 and 3/10" "$(ask interval 3 10 9 10 | round)" "0.1705 0.8090"
is "  of 10/10 and 0/20" "$(ask interval 0 20 10 10 | round)" "0.6791 1.0000"
is "critical values of Student's t" "$(ask critical 0.05 4 | round) $(ask critical 0.01 58 | round) $(ask critical 0.05 0 | round)" "2.7764 2.6633 1.9600"

# Tests the claimed power by simulation: at the smallest growth reported as detectable, 4 of 5 draws are
# called a change.
is "the smallest growth that is seen is seen 4 times of 5" "$(python3 - "$BUILD/tests/diff-numbers" <<'X'
import random, subprocess, sys
def ask(lines):
    out = subprocess.run([sys.argv[1]], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True).stdout
    return [float(x) for x in out.split()]
random.seed(5)
growth, = ask(["detectable 30 500 30 500"])
def draw(share):
    return sum(random.random() < share for _ in range(500))
p = ask(["p %d 500 %d 500" % (draw(.06), draw(.06 + growth)) for _ in range(1000)])
seen = sum(x <= .05 for x in p) / 1000
print("yes" if .76 < seen < .84 else seen)
X
)" yes
is "a share that cannot grow so far is never seen" "$(ask detectable 1 3 1 3)" inf
is "no samples: no test" "$(ask p 0 0 5 10; ask interval 0 0 5 10)" "1
-1 1"
done_testing
