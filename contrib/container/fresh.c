/*
 * Checks that a file was written recently.
 *
 *	fresh FILE SECONDS	exits with 0 if FILE was written at most SECONDS ago, otherwise with 1 and the
 *				reason
 *
 * The liveness probe in an image that has no shell.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

int main(int argc, char **argv)
{
	struct stat st;
	char *end;
	long limit, age;

	if (argc != 3) {
		fprintf(stderr, "usage: fresh FILE SECONDS\n");
		return 2;
	}
	errno = 0;
	limit = strtol(argv[2], &end, 10);
	if (errno || end == argv[2] || *end || limit < 0) {
		fprintf(stderr, "fresh: invalid number of seconds \"%s\" (expected 0 or more)\n", argv[2]);
		return 2;
	}
	if (stat(argv[1], &st) < 0) {
		fprintf(stderr, "fresh: cannot find %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	age = (long)(time(NULL) - st.st_mtime);
	if (age > limit) {
		fprintf(stderr, "fresh: %s was written %ld seconds ago\n", argv[1], age);
		return 1;
	}
	return 0;
}
