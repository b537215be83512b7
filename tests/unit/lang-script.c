/*
 * Units and lines of scripts: reads texts in UTF-8 as hexadecimal lines, and prints for each its length in
 * UTF-16 units, and the line of each unit. Each line is exactly as long as its memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/locate/script_file.h"

static size_t read_hex(const char *line, uint8_t *to)
{
	size_t n = 0;
	char two[3] = { 0 };

	for (; line[0] && line[1]; line += 2) {
		memcpy(two, line, 2);
		to[n++] = (uint8_t)strtoul(two, NULL, 16);
	}
	return n;
}

static void print_text(const char *line)
{
	size_t n = strlen(line) / 2;
	uint8_t *bytes = malloc(n + !n); /* for the sanitizers */
	struct script_ends ends = { 0 };
	uint64_t units = 0;

	if (!bytes || read_hex(line, bytes) != n)
		exit(1);
	if (!script_utf8_ends((struct slice){ bytes, n }, &units, &ends))
		exit(1);
	printf("%llu", (unsigned long long)units);
	for (uint64_t i = 0; i < units; i++)
		printf(" %u", script_line(&ends, i));
	printf("\n");
	free(bytes);
	free(ends.items);
}

int main(void)
{
	static char line[1 << 16];

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		print_text(line);
	}
	return fflush(stdout) != 0;
}
