/*
 * "memfd LIBRARY" executes itself from a memfd, loads LIBRARY from another memfd of the same name, prints
 * "ready" and works by turns in both until it is killed.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/loads/attributes.h"

static int copy_of(const char *path, unsigned int flags)
{
	int in = open(path, O_RDONLY | O_CLOEXEC), out = memfd_create("copy", flags);
	struct stat st;

	if (in < 0 || out < 0 || fstat(in, &st) != 0 || sendfile(out, in, NULL, (size_t)st.st_size) != st.st_size) {
		perror(path);
		exit(1);
	}
	close(in);
	return out;
}

static AS_WRITTEN unsigned long work_in_program(unsigned long n)
{
	volatile unsigned long sum = 0;

	for (unsigned long i = 0; i < n; i++)
		sum += i;
	return sum;
}

int main(int argc, char **argv, char **env)
{
	unsigned long (*work)(unsigned long);
	char path[64], *args[4] = { argv[0], argv[1], (char *)"again", NULL };
	void *library;

	if (argc == 2) {
		fexecve(copy_of("/proc/self/exe", MFD_CLOEXEC), args, env);
		perror("fexecve");
		return 1;
	}
	if (argc != 3)
		return 2;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", copy_of(argv[1], 0));
	library = dlopen(path, RTLD_NOW);
	*(void **)&work = library ? dlsym(library, "work_in_library") : NULL;
	if (!work) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	puts("ready");
	fflush(stdout);
	for (;;) {
		work_in_program(100000);
		work(100000);
	}
}
