#include <jsc/jsc.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	JSCContext *c = jsc_context_new();
	FILE *f = fopen("pid", "w");

	if (f) {
		fprintf(f, "%d", (int)getpid());
		fclose(f);
	}
	jsc_context_evaluate(c, "function leaf(n) { let s = 1; for (let i = 0; i < n; i++) s = (s * 31 + i) | 0; return s; }"
		"function middle(n) { return leaf(n) + leaf(n + 1); }"
		"const until = Date.now() + 2000; let x = 0; while (Date.now() < until) x ^= middle(50000);", -1);
	return 0;
}
