int first(int x) { return x * 3; }
static __attribute__((noinline, used)) int second(int x) { return x * 5; }
int third(int x) { return second(x) + first(x); }
