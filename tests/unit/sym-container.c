/* Prints the part of a control group's path that names the container, a line for each operand. */
#include <stdio.h>

#include "common/locate/procroot.h"

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct slice name = procroot_container(slice_of(argv[i]));

		printf("%.*s\n", (int)name.n, (const char *)name.p);
	}
	return 0;
}
