/*
 * A program that embeds PHP: embed-php LIBRARY [-n] [-d NAME=VALUE]... -r CODE | FILE ARGUMENT... runs the
 * interpreter of that library. The options are those of php; the library's own settings are left as they are.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* struct _zend_file_handle is smaller in all versions. */
static union {
	char bytes[4096];
	void *align;
} file;

static void *find(void *library, const char *name)
{
	void *p = dlsym(library, name);

	if (!p)
		fprintf(stderr, "embed-php: %s\n", dlerror());
	return p;
}

int main(int argc, char **argv)
{
	void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
	int (*start)(int, char **), (*run)(void *), (*eval)(const char *, void *, const char *);
	void (*end)(void), (*open_file)(void *, const char *);
	int i = 2;

	if (!library) {
		fprintf(stderr, "embed-php: %s\n", dlerror());
		return 1;
	}
	while (i < argc && (strcmp(argv[i], "-n") == 0 || strcmp(argv[i], "-d") == 0))
		i += argv[i][1] == 'd' ? 2 : 1;
	*(void **)&start = find(library, "php_embed_init");
	*(void **)&run = find(library, "php_execute_script");
	*(void **)&eval = find(library, "zend_eval_string");
	*(void **)&end = find(library, "php_embed_shutdown");
	*(void **)&open_file = find(library, "zend_stream_init_filename");
	if (i >= argc || !start || !run || !eval || !end || !open_file || start(argc - i, argv + i) != 0)
		return 1;
	if (strcmp(argv[i], "-r") == 0) {
		eval(argv[i + 1], NULL, "-r");
	} else {
		open_file(&file, argv[i]);
		run(&file);
	}
	end();
	return 0;
}
