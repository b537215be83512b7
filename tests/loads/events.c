/*
 * Does known things a known number of times, each in a function of its own:
 *
 *	events PAGES CALLS [SECONDS]
 *
 * First touches PAGES new pages, then asks for its parent's id CALLS times, then sleeps for a hundredth of a
 * second SECONDS * 100 times. With PAGES 0, touches pages as fast as it can for SECONDS, and prints how many.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, BATCH = 1024 };

static __attribute__((noinline)) void touch_pages(char *p, long n)
{
	for (long i = 0; i < n; i++)
		((volatile char *)p)[i * PAGE] = 1;
}

static char *new_pages(long n)
{
	char *p = mmap(NULL, (size_t)n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(1);
	madvise(p, (size_t)n * PAGE, MADV_NOHUGEPAGE);
	return p;
}

static __attribute__((noinline)) long call_kernel(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += syscall(SYS_getppid);
	return sum;
}

static __attribute__((noinline)) void sleep_often(long n)
{
	for (long i = 0; i < n; i++)
		nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
}

static long touch_for(double seconds)
{
	struct timespec start, now;
	long n = 0;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		char *p = new_pages(BATCH);

		touch_pages(p, BATCH);
		munmap(p, BATCH * PAGE);
		n += BATCH;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) / 1e9 < seconds);
	return n;
}

int main(int argc, char **argv)
{
	long pages = argc > 1 ? atol(argv[1]) : 0, calls = argc > 2 ? atol(argv[2]) : 0;
	double seconds = argc > 3 ? atof(argv[3]) : 0;

	if (pages == 0) {
		printf("%ld\n", touch_for(seconds));
		return 0;
	}
	usleep(400000); /* the recorder has loaded this program's tables by then, however busy the machine is */
	touch_pages(new_pages(pages), pages);
	call_kernel(calls);
	sleep_often((long)(seconds * 100));
	return 0;
}
