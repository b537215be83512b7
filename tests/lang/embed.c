/* A program that embeds Python: embed LIBRARY ARGUMENT... runs the interpreter of that library. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
	int (*run)(int, char **) = NULL;

	if (library)
		*(void **)&run = dlsym(library, "Py_BytesMain");
	if (!run) {
		fprintf(stderr, "embed: %s\n", dlerror());
		return 1;
	}
	return run(argc - 1, argv + 1);
}
