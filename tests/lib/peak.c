/*
 * Runs a command and writes its peak of resident memory, in KiB, and its CPU time, in microseconds, to a
 * file: peak FILE COMMAND...
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static long microseconds(const struct timeval *t)
{
	return t->tv_sec * 1000000 + t->tv_usec;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	FILE *out;
	int status;
	pid_t pid;

	if (argc < 3)
		return 2;
	pid = fork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
		return 1;
	out = fopen(argv[1], "we");
	if (!out || fprintf(out, "%ld %ld\n", usage.ru_maxrss,
			    microseconds(&usage.ru_utime) + microseconds(&usage.ru_stime)) < 0 || fclose(out) != 0)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
