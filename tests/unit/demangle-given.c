/*
 * Checks that a name that another tool has demangled gives the same as the mangled name in cprof-sym. Reads
 * names, one a line. Each mangled name is demangled in full, and with templates as perf script does, and
 * simplified again; any other name must stay as it is. Prints the differences and the number of comparisons.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/demangle/demangle.h"

#ifdef HAVE_LIBIBERTY
#include <libiberty/demangle.h>
#endif

static unsigned long n_same, n_different;

static void compare(const char *line, struct slice given, enum demangle_mode mode, struct slice want)
{
	struct buf got = { 0 };
	bool same;

	demangle_given(&got, given, mode);
	same = got.n == want.n && (!want.n || memcmp(got.p, want.p, want.n) == 0);
	if (!same)
		printf("%s: %.*s comes to %.*s, not %.*s\n", line, (int)given.n, (const char *)given.p, (int)got.n,
		       (const char *)got.p, (int)want.n, (const char *)want.p);
	n_same += same;
	n_different += !same;
	buf_release(&got);
}

#ifdef HAVE_LIBIBERTY
/* Compares with the name in perf script without -v: no parameters, except those of lambdas. */
static void compare_perfs(const char *line, struct slice want)
{
	char *perfs = line[1] == 'Z' && !strstr(line, "17h") ? cplus_demangle_v3(line, DMGL_NO_OPTS) : NULL;

	if (perfs)
		compare(line, slice_of(perfs), DEMANGLE_SIMPLIFIED, want);
	free(perfs);
}
#else
static void compare_perfs(const char *line, struct slice want)
{
	(void)line, (void)want;
}
#endif

static void compare_mangled(const char *line)
{
	struct buf name[DEMANGLE_FULL + 1] = { { 0 } };

	for (int mode = DEMANGLE_NONE; mode <= DEMANGLE_FULL; mode++)
		demangle(&name[mode], slice_of(line), (enum demangle_mode)mode);
	for (int given = DEMANGLE_NONE; given <= DEMANGLE_FULL; given++) {
		for (int mode = DEMANGLE_SIMPLIFIED; mode <= DEMANGLE_FULL; mode++) {
			/* Parts that were removed cannot be restored. */
			if (given == DEMANGLE_NONE ||
			    (mode < given && mode != DEMANGLE_FULL && (given == DEMANGLE_FULL || !strchr(line, '.'))))
				compare(line, buf_view(&name[given]), (enum demangle_mode)mode, buf_view(&name[mode]));
		}
		compare(line, buf_view(&name[given]), DEMANGLE_NONE, buf_view(&name[given]));
	}
	compare_perfs(line, buf_view(&name[DEMANGLE_SIMPLIFIED]));
	for (int mode = DEMANGLE_NONE; mode <= DEMANGLE_FULL; mode++)
		buf_release(&name[mode]);
}

int main(void)
{
	char line[8192];

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '_' && strchr("ZR", line[1]))
			compare_mangled(line);
		for (int mode = DEMANGLE_NONE; line[0] != '_' && mode <= DEMANGLE_FULL; mode++)
			compare(line, slice_of(line), (enum demangle_mode)mode, slice_of(line));
	}
	printf("%lu the same, %lu different\n", n_same, n_different);
	return n_different != 0;
}
