/*
 * Prints the numbers of common/stats for a reference to check: reads a query a line, prints an answer a line.
 *
 *	exact K1 N1 K2 N2, z K1 N1 K2 N2, tail Z DF, interval K1 N1 K2 N2, adjust P..., gilbert P:LEAST...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/stats/compare.h"

enum { MOST = 100000 };

static double p[MOST], least[MOST], q[MOST];

static void adjust(char *rest, bool discrete)
{
	size_t n = 0;

	for (char *word = strtok(rest, " \n"); word && n < MOST; word = strtok(NULL, " \n"), n++) {
		char *colon = strchr(word, ':');

		p[n] = atof(word);
		least[n] = colon ? atof(colon + 1) : 0;
	}
	if (!compare_adjust(p, discrete ? least : NULL, n, COMPARE_RATE, q))
		exit(1);
	for (size_t i = 0; i < n; i++)
		printf("%s%.15g", i ? " " : "", q[i]);
	printf("\n");
}

static void answer(const char *word, const double *v)
{
	struct compare c = { .k = { v[0], v[2] }, .n = { v[1], v[3] } };
	struct interval i;

	if (strcmp(word, "exact") == 0)
		printf("%.15g\n", compare_exact(v[0], v[1], v[2], v[3]));
	else if (strcmp(word, "z") == 0)
		printf("%.15g\n", compare_z(v[0], v[1], v[2], v[3]));
	else if (strcmp(word, "p") == 0)
		printf("%.15g\n", compare_p(&c));
	else if (strcmp(word, "least") == 0)
		printf("%.15g\n", compare_least_p(&c));
	else if (strcmp(word, "tail") == 0)
		printf("%.15g\n", compare_tail(v[0], v[1]));
	else if (strcmp(word, "critical") == 0)
		printf("%.15g\n", compare_critical(v[0], v[1]));
	else if (strcmp(word, "detectable") == 0)
		printf("%.15g\n", compare_detectable(&c, INTERVAL_95, COMPARE_POWER_80));
	else if (strcmp(word, "interval") == 0) {
		i = compare_interval(&c, INTERVAL_95);
		printf("%.15g %.15g\n", i.low, i.high);
	} else {
		exit(2);
	}
}

int main(void)
{
	char *line = NULL, word[20];
	size_t cap = 0;
	int used;

	while (getline(&line, &cap, stdin) > 0) {
		double v[4] = { 0 };

		if (sscanf(line, "%19s%n", word, &used) != 1)
			return 2;
		if (strcmp(word, "adjust") == 0 || strcmp(word, "gilbert") == 0) {
			adjust(line + used, word[0] == 'g');
			continue;
		}
		sscanf(line + used, "%lf %lf %lf %lf", &v[0], &v[1], &v[2], &v[3]);
		answer(word, v);
	}
	free(line);
	return 0;
}
