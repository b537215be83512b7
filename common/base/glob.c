#include "common/base/glob.h"

bool glob_matches(const char *pattern, struct slice name)
{
	/* star: after the last "*", which stands for the bytes up to tried */
	const char *p = pattern, *star = NULL;
	size_t i = 0, tried = 0;

	while (i < name.n) {
		if (*p == '*') {
			star = ++p;
			tried = i;
		} else if (*p && (*p == '?' || (uint8_t)*p == name.p[i])) {
			p++;
			i++;
		} else if (star) {
			p = star;
			i = ++tried;
		} else {
			return false;
		}
	}
	return p[strspn(p, "*")] == '\0';
}

bool glob_lists(const char *const *patterns, size_t n, struct slice name)
{
	for (size_t i = 0; i < n; i++) {
		if (glob_matches(patterns[i], name))
			return true;
	}
	return n == 0;
}
