/*
 *	wide SECONDS
 *
 * Works for this much CPU time, forty frames deep on a stack of 160 kB: more than a sample copies.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FRAMES = 40, FRAME = 4096 };

static volatile unsigned int sum;

static __attribute__((noinline)) void work(double seconds)
{
	struct timespec t;

	do {
		for (int i = 0; i < 100000; i++)
			sum += (unsigned int)i;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while ((double)t.tv_sec + (double)t.tv_nsec / 1e9 < seconds);
}

static __attribute__((noinline)) void go_down(int frames, double seconds)
{
	char room[FRAME];

	memset(room, frames, sizeof(room));
	if (frames > 1)
		go_down(frames - 1, seconds);
	else
		work(seconds);
	sum += (unsigned char)room[sum % FRAME];
}

int main(int argc, char **argv)
{
	go_down(FRAMES, argc > 1 ? atof(argv[1]) : 1);
	return 0;
}
