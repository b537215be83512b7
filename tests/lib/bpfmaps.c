/*
 * The BPF maps of a recorder, for tests/cmd/record-churn.t.
 *
 *	bpfmaps of PID		the number of maps in its maps of maps, as unwind tables are, and of
 *				processes in the one named "spaces": all, and those that are gone
 *	bpfmaps dead PID	the processes that are gone
 *	bpfmaps list PID	the ids of the maps that it holds or that can be reached from those
 *	bpfmaps bytes PID	the memory of those maps, as the kernel accounts it
 *	bpfmaps alive ID...	the ids among these whose map still exists
 */
#include <dirent.h>
#include <errno.h>
#include <linux/bpf.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAPS = 16384 };

struct maps {
	uint32_t ids[MAPS];
	size_t n, inner;
	size_t processes, dead;
	bool say_dead;
};

static long bpf(int command, union bpf_attr *a)
{
	return syscall(SYS_bpf, command, a, sizeof(*a));
}

static int open_map(uint32_t id)
{
	union bpf_attr a = { .map_id = id };

	return (int)bpf(BPF_MAP_GET_FD_BY_ID, &a);
}

static uint64_t address(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/* Returns false if it is there already. */
static bool add(struct maps *m, uint32_t id)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->ids[i] == id)
			return false;
	if (m->n < MAPS)
		m->ids[m->n++] = id;
	return true;
}

static void add_inner(struct maps *m, int fd, uint32_t max)
{
	for (uint32_t key = 0; key < max; key++) {
		uint32_t id = 0;
		union bpf_attr a = { .map_fd = (uint32_t)fd, .key = address(&key), .value = address(&id) };

		if (bpf(BPF_MAP_LOOKUP_ELEM, &a) == 0) {
			add(m, id);
			m->inner++;
		}
	}
}

static void count_processes(struct maps *m, int fd)
{
	uint32_t pid, next = 0;
	union bpf_attr a = { .map_fd = (uint32_t)fd, .key = 0, .next_key = address(&next) };

	while (bpf(BPF_MAP_GET_NEXT_KEY, &a) == 0) {
		m->processes++;
		if (kill((pid_t)next, 0) < 0 && errno == ESRCH) {
			m->dead++;
			if (m->say_dead)
				printf("%u\n", next);
		}
		pid = next;
		a.key = address(&pid);
	}
}

static void look_at(struct maps *m, uint32_t id)
{
	struct bpf_map_info info = { 0 };
	int fd = open_map(id);
	union bpf_attr a = { .info = { .bpf_fd = (uint32_t)fd, .info_len = sizeof(info), .info = address(&info) } };

	if (fd < 0)
		return;
	if (add(m, id) && bpf(BPF_OBJ_GET_INFO_BY_FD, &a) == 0) {
		if (info.type == BPF_MAP_TYPE_ARRAY_OF_MAPS)
			add_inner(m, fd, info.max_entries);
		else if (info.type == BPF_MAP_TYPE_HASH && strcmp(info.name, "spaces") == 0 && m->processes == 0)
			count_processes(m, fd);
	}
	close(fd);
}

/* Reads the map's id from a descriptor's fdinfo. */
static void look_at_descriptor(struct maps *m, const char *directory, const char *name)
{
	char path[512], line[256];
	uint32_t id;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "map_id: %u", &id) == 1)
			look_at(m, id);
	if (f)
		fclose(f);
}

static int look(struct maps *m, const char *pid)
{
	char directory[64];
	struct dirent *e;
	DIR *d;

	snprintf(directory, sizeof(directory), "/proc/%s/fdinfo", pid);
	d = opendir(directory);
	if (!d)
		return 1;
	while ((e = readdir(d)))
		look_at_descriptor(m, directory, e->d_name);
	closedir(d);
	return 0;
}

/* Returns the memory that the kernel reports in a descriptor's fdinfo; 0 if the map is gone. */
static unsigned long long bytes_of(uint32_t id)
{
	unsigned long long bytes = 0;
	int fd = open_map(id);
	char path[64], line[256];
	FILE *f;

	if (fd < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f) && sscanf(line, "memlock: %llu", &bytes) != 1)
		;
	if (f)
		fclose(f);
	close(fd);
	return bytes;
}

static void print_bytes(const struct maps *m)
{
	unsigned long long bytes = 0;

	for (size_t i = 0; i < m->n; i++)
		bytes += bytes_of(m->ids[i]);
	printf("%llu\n", bytes);
}

static int print_alive(char **ids)
{
	for (; *ids; ids++) {
		int fd = open_map((uint32_t)strtoul(*ids, NULL, 10));

		if (fd >= 0 || errno != ENOENT)
			printf("%s\n", *ids);
		if (fd >= 0)
			close(fd);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static struct maps m;

	if (argc >= 2 && strcmp(argv[1], "alive") == 0)
		return print_alive(argv + 2);
	if (argc != 3 || (strcmp(argv[1], "of") != 0 && strcmp(argv[1], "dead") != 0 && strcmp(argv[1], "list") != 0 &&
			  strcmp(argv[1], "bytes") != 0)) {
		fprintf(stderr, "usage: bpfmaps of|dead|list|bytes PID | bpfmaps alive ID...\n");
		return 2;
	}
	m.say_dead = strcmp(argv[1], "dead") == 0;
	if (look(&m, argv[2]))
		return 1;
	if (strcmp(argv[1], "of") == 0)
		printf("%zu %zu %zu\n", m.inner, m.processes, m.dead);
	if (strcmp(argv[1], "bytes") == 0)
		print_bytes(&m);
	for (size_t i = 0; strcmp(argv[1], "list") == 0 && i < m.n; i++)
		printf("%u\n", m.ids[i]);
	return 0;
}
