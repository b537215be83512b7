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
	return (struct interval){ fmax(0, middle - half), fmin(1, middle + half) };
}
