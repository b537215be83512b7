#include <stdio.h>
#include <string.h>
int first(int x) { return x * 3; }
static __attribute__((noinline, used)) int second(int x) { return puts("x") + x * 5; }
int third(const char *x) { return second((int)strlen(x)) + first(1); }
