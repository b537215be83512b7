#include "cmd/shared/sibling.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/shared/cli.h"

void sibling_exec(char **argv)
{
	char own[PATH_MAX], path[PATH_MAX + NAME_MAX];
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);

	if (n > 0 && own[0] == '/') { /* without /proc only PATH is left */
		own[n] = '\0';
		snprintf(path, sizeof(path), "%.*s%s", (int)(strrchr(own, '/') + 1 - own), own, argv[0]);
		execv(path, argv);
	}
	execvp(argv[0], argv);
	cli_die(STATUS_SYSTEM, "cannot run %s: %s", argv[0], strerror(errno));
}
