#include "common/export/main_file.h"

#include <stdlib.h>

#include "common/base/intern.h"

enum { COMM_MAX = 15 }; /* bytes of a command's name that the kernel keeps */

struct process {
	uint32_t host, zero;
	uint64_t pid;
};

/* Sets numbers[owner] to the number of the owner's process, from 0, and *n to the number of processes. */
static bool number_owners(const struct traces *s, uint32_t *numbers, size_t *n)
{
	struct intern keys;
	bool good = true;

	intern_init(&keys);
	for (size_t i = 1; good && i < s->n_owners; i++) {
		struct process key = { s->owners[i].host, 0, s->owners[i].pid };

		good = intern_add(&keys, (struct slice){ (const uint8_t *)&key, sizeof(key) }, &numbers[i]);
	}
	*n = keys.n;
	intern_release(&keys);
	return good;
}

static uint32_t heaviest_process(const struct traces *s, const uint32_t *numbers, uint64_t *weights, size_t n)
{
	uint32_t most = 0;

	for (size_t i = 0; i < s->n_samples; i++) {
		if (s->owners[s->samples[i].owner].pid)
			weights[numbers[s->samples[i].owner]] += s->samples[i].samples;
	}
	for (uint32_t i = 1; i < n; i++)
		most = weights[i] > weights[most] ? i : most;
	return most;
}

/* Marks the mappings of a stack. A node already visited ends the walk: all above it were visited. */
static void mark_mappings(const struct traces *s, uint32_t node, bool *nodes, bool *mappings)
{
	for (; node && !nodes[node]; node = s->nodes[node].parent) {
		nodes[node] = true;
		mappings[s->locations[s->nodes[node].location].mapping] = true;
	}
}

/* Returns whether the name is like libc.so.6, libx.so or ld-linux-x86-64.so.2. */
static bool is_library(struct slice name)
{
	return memmem(name.p, name.n, ".so.", 4) || (name.n > 3 && memcmp(name.p + name.n - 3, ".so", 3) == 0) ||
	       (name.n > 3 && memcmp(name.p, "ld-", 3) == 0);
}

/* Collects the commands of the threads of the process: each thread may have renamed itself. */
static bool find_commands(const struct traces *s, const uint32_t *numbers, uint32_t process,
			  struct intern *commands)
{
	uint32_t id;

	for (size_t i = 1; i < s->n_owners; i++) {
		if (numbers[i] == process && s->owners[i].pid &&
		    !intern_add(commands, traces_get(s, s->owners[i].comm), &id))
			return false;
	}
	return true;
}

static bool is_command(const struct intern *commands, struct slice name)
{
	uint32_t id;

	name.n = name.n < COMM_MAX ? name.n : COMM_MAX;
	return intern_find(commands, name, &id);
}

/* Returns 2 if the file is named after the command, 1 if it may be an executable. */
static int rank_mapping(const struct traces *s, uint32_t mapping, const struct intern *commands)
{
	struct slice path = traces_get(s, s->mappings[mapping].path), name = slice_base(path);

	if (s->mappings[mapping].kernel || path.n == 0 || path.p[0] == '[' || name.n == 0)
		return 0;
	return is_command(commands, name) ? 2 : !is_library(name);
}

static uint32_t choose_mapping(const struct traces *s, const bool *mappings, const struct intern *commands)
{
	uint32_t best = 0;
	int highest = 0;

	for (uint32_t i = 1; i < s->n_mappings; i++) {
		int r = mappings[i] ? rank_mapping(s, i, commands) : 0;

		if (r > highest || (r && r == highest && s->mappings[i].start < s->mappings[best].start)) {
			highest = r;
			best = i;
		}
	}
	return best;
}

bool mainfile_find(const struct traces *s, uint32_t *mapping)
{
	uint32_t *numbers = calloc(s->n_owners, sizeof(*numbers)), process;
	uint64_t *weights = calloc(s->n_owners, sizeof(*weights));
	bool *nodes = calloc(s->n_nodes, sizeof(*nodes)), *mappings = calloc(s->n_mappings, sizeof(*mappings));
	bool good = numbers && weights && nodes && mappings;
	struct intern commands;
	size_t n = 0;

	intern_init(&commands);
	*mapping = 0;
	good = good && number_owners(s, numbers, &n);
	if (good && n) {
		process = heaviest_process(s, numbers, weights, n);
		for (size_t i = 0; i < s->n_samples; i++) {
			if (numbers[s->samples[i].owner] == process)
				mark_mappings(s, s->samples[i].node, nodes, mappings);
		}
		good = find_commands(s, numbers, process, &commands);
		*mapping = good ? choose_mapping(s, mappings, &commands) : 0;
	}
	intern_release(&commands);
	free(numbers);
	free(weights);
	free(nodes);
	free(mappings);
	return good;
}
