#include "common/stats/interval.h"

#include <math.h>

struct interval interval_wilson(double k, double n, double z)
{
	double share, middle, half, whole;

	if (!(n > 0))
		return (struct interval){ 0, 1 };
	share = k / n;
	whole = 1 + z * z / n;
	middle = (share + z * z / (2 * n)) / whole;
	half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / whole;
	/* For none and all of the samples the bounds are exact, and not only nearly. */
	return (struct interval){ k > 0 ? fmax(0, middle - half) : 0, k < n ? fmin(1, middle + half) : 1 };
}
