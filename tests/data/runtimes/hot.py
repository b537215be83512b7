import os, time
def leaf(n):
    s = 0
    for i in range(n): s = (s * 31 + i) & 0xffff
    return s
def middle(n): return leaf(n) + leaf(n)
def main():
    until = time.time() + 2
    while time.time() < until: middle(20000)
open("pid", "w").write(str(os.getpid()))
main()
