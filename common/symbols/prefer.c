#include "common/symbols/prefer.h"

static int compare_number(size_t a, size_t b)
{
	return a < b ? -1 : a > b;
}

static size_t count_underscores(struct slice name)
{
	size_t n = 0;

	while (n < name.n && name.p[n] == '_')
		n++;
	return n;
}

/* Returns true for the wrappers of system calls in old kernels: SyS_read is another name of sys_read. */
static bool is_wrapper(struct slice name)
{
	return slice_begins(name, "SyS_") || slice_begins(name, "compat_SyS_");
}

int prefer_name(struct slice a, struct slice b)
{
	int by = compare_number(count_underscores(a), count_underscores(b));

	if (!by)
		by = is_wrapper(a) - is_wrapper(b);
	if (!by)
		by = compare_number(a.n, b.n);
	return by || a.n == 0 ? by : memcmp(a.p, b.p, a.n);
}
