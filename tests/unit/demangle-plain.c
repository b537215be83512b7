/*
 * Compares C++ names that are demangled without libiberty with libiberty's. Reads names, one a line; each is
 * demangled as it is, cut after every byte, and with other bytes in each position. Compares only if
 * libiberty's name has no brackets: then nothing is removed from it, and it is the simplified name. Prints
 * the differences and the number of comparisons.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/demangle/demangle.h"

#ifdef HAVE_LIBIBERTY
#include <libiberty/demangle.h>

static unsigned long n_same, n_different;

static bool is_bare(const char *text)
{
	static const char anonymous[] = "(anonymous namespace)";

	for (; *text; text++) {
		if (strncmp(text, anonymous, strlen(anonymous)) == 0)
			text += strlen(anonymous) - 1;
		else if (strchr("<({[", *text))
			return false;
	}
	return true;
}

static void compare(const char *name)
{
	struct buf out = { 0 };
	char *theirs = cplus_demangle_v3(name, DMGL_NO_OPTS);
	const char *want = theirs ? theirs : name;
	bool same;

	demangle(&out, slice_of(name), DEMANGLE_SIMPLIFIED);
	same = slice_is(buf_view(&out), want);
	if (is_bare(want) && !same)
		printf("%s: %.*s, not %s\n", name, (int)out.n, (const char *)out.p, want);
	n_same += is_bare(want) && same;
	n_different += is_bare(want) && !same;
	free(theirs);
	buf_release(&out);
}

static void compare_all(char *name)
{
	size_t n = strlen(name);

	compare(name);
	for (size_t i = 2; i < n; i++) {
		char was = name[i];

		for (const char *other = "01279CDEIBKNRSTVaiv_$"; *other; other++) {
			name[i] = *other;
			compare(name);
		}
		name[i] = '\0';
		compare(name);
		name[i] = was;
	}
}

int main(void)
{
	char line[1024];

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		/* Suffixes and Rust's hashes have other rules. */
		if (strncmp(line, "_Z", 2) == 0 && !strchr(line, '.') && !strstr(line, "17h"))
			compare_all(line);
	}
	printf("%lu the same, %lu different\n", n_same, n_different);
	return n_different != 0;
}
#else
int main(void)
{
	return 0;
}
#endif
