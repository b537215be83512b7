/*
 * The programs of waits measure their own time in one run of TIMED, and count it TIMED times.
 *
 * The time of the run chooses. Its lowest bits cannot: if a counter has 10 or 25 MHz, as on Hyper-V and on
 * many machines of arm64, times are multiples of 100 or 40 ns, and then one in 16 or in 8 is a multiple of
 * 64, or none is. The highest bits of this product are even for steps of any size.
 */
#ifndef CPROF_BPF_OFFCPU_TIMED_H
#define CPROF_BPF_OFFCPU_TIMED_H

enum { TIMED_BITS = 6, TIMED = 1 << TIMED_BITS };

/* Is the run that begins at this time, in ns, one that is timed? */
static inline __attribute__((always_inline)) int is_timed(unsigned long long now)
{
	return now * 0x9e3779b97f4a7c15ull >> (64 - TIMED_BITS) == 0;
}

#endif
