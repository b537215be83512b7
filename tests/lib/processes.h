/* Processes as /proc shows them, for tests in C that start some. */
#ifndef CPROF_TESTS_PROCESSES_H
#define CPROF_TESTS_PROCESSES_H

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static inline void nap(void)
{
	nanosleep(&(struct timespec){ 0, 2000000 }, NULL);
}

/* Returns a child of the process; 0: there is none. */
static inline pid_t child_of(pid_t parent)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	pid_t found = 0;

	while (d && !found && (e = readdir(d))) {
		char path[300], stat[512] = "", state;
		int ppid = 0;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%s/stat", e->d_name);
		if (atoi(e->d_name) <= 0 || !(f = fopen(path, "re")))
			continue;
		if (fgets(stat, sizeof(stat), f) && strrchr(stat, ')') &&
		    sscanf(strrchr(stat, ')') + 1, " %c %d", &state, &ppid) == 2 && ppid == parent)
			found = atoi(e->d_name);
		fclose(f);
	}
	if (d)
		closedir(d);
	return found;
}

/* Waits for it, ten seconds at most. */
static inline pid_t await_child_of(pid_t parent)
{
	pid_t pid = 0;

	for (int i = 0; i < 5000 && !(pid = child_of(parent)); i++)
		nap();
	return pid;
}

/* Waits until the process is gone, even as a zombie. */
static inline bool await_end(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	for (int i = 0; i < 5000; i++) {
		if (access(path, F_OK) != 0)
			return true;
		nap();
	}
	return false;
}

/* Returns the rest of the line of /proc/PID/NAME that begins with word, or "". Valid until the next call. */
static inline const char *proc_line(pid_t pid, const char *name, const char *word)
{
	static char line[512];
	char path[64];
	size_t n = strlen(word);
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, word, n) == 0 && strchr(": ", line[n])) {
			fclose(f);
			line[strcspn(line, "\n")] = '\0';
			return line + n + strspn(line + n, ": \t");
		}
	}
	if (f)
		fclose(f);
	return "";
}

static inline const char *status_of(pid_t pid, const char *field)
{
	return proc_line(pid, "status", field);
}

/* Returns the hard limit; ULONG_MAX if there is none. */
static inline unsigned long limit_of(pid_t pid, const char *limit)
{
	char soft[32] = "", hard[32] = "";

	sscanf(proc_line(pid, "limits", limit), "%31s %31s", soft, hard);
	return *hard >= '0' && *hard <= '9' ? strtoul(hard, NULL, 10) : ULONG_MAX;
}

static inline uint64_t bits_of(pid_t pid, const char *field)
{
	return strtoull(status_of(pid, field), NULL, 16);
}

static inline bool status_is(pid_t pid, const char *field, const char *value)
{
	const char *got = status_of(pid, field);
	bool same = strcmp(got, value) == 0;

	if (!same)
		printf("# %s is %s\n", field, got);
	return same;
}

/* Counts open descriptors, and ".", ".." and that of the directory. Returns -1 if it may not be read. */
static inline int count_fds(pid_t pid)
{
	char path[64];
	int n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	d = opendir(path);
	if (!d)
		return -1;
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* Returns false in a user namespace that maps only one user. */
static inline bool may_become(uid_t user)
{
	int status = 1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(setresgid(user, user, user) != 0 || setresuid(user, user, user) != 0);
	waitpid(pid, &status, 0);
	return status == 0;
}

#endif
