/* Burns a CPU in a function of a library, for sym-roots.t. Operands: library, name of the thread, [exit]. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *name;
static void (*spin)(void);

static void *run(void *arg)
{
	prctl(PR_SET_NAME, name);
	puts("ready");
	fflush(stdout);
	spin();
	return arg;
}

int main(int argc, char **argv)
{
	void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW) : NULL, *function = library ? dlsym(library, "spin") : NULL;
	pthread_t thread;

	if (!function) {
		puts(library ? "no function" : dlerror());
		return 1;
	}
	memcpy(&spin, &function, sizeof(spin));
	name = argv[2];
	alarm(120);
	if (argc > 3) { /* the other thread goes on without the main thread */
		pthread_create(&thread, NULL, run, NULL);
		syscall(SYS_exit, 0);
	}
	run(NULL);
	return 0;
}
