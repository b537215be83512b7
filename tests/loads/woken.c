/*
 * Threads that wait for a CPU, for timers and for devices.
 *
 *	woken hogs SECONDS RATIO
 *		"hog0", "hog1" and "victim" share a CPU: f_hog0 for 5 ms and more, f_hog1 for RATIO times that
 *	woken devices N FILE
 *		"sleeper" is woken N times by nanosleep, by timerfd, by direct reads of FILE, and by packets
 *		that the kernel sends later, while a process "innocent" spins on each CPU
 *	woken again N
 *		"sleeper" is woken by a process that executes its own file N times, always at the same addresses
 *
 * The first two print their own log, see blame_log.h.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/loads/blame_log.h"

WORK(f_hog0)
WORK(f_hog1)
WORK(f_victim)

static void pin(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

/* Each works for a time that varies, so that no clock is in step with it, and lets the others run. */
static void take_turns(const char *name, void (*work)(int64_t), double ns, int64_t stops)
{
	unsigned int seed = 1;

	name_me(name, -1);
	while (now(CLOCK_MONOTONIC) < stops) {
		work((int64_t)(ns * (0.75 + rand_r(&seed) % 1000 / 2000.0)));
		sched_yield();
	}
}

static int hogs(double seconds, double ratio)
{
	int64_t stops = now(CLOCK_MONOTONIC) + (int64_t)(seconds * 1e9);

	pin((int)sysconf(_SC_NPROCESSORS_ONLN) - 1);
	if (fork() == 0) {
		take_turns("hog0", f_hog0, 5e6, stops);
		exit(0);
	}
	if (fork() == 0) {
		take_turns("hog1", f_hog1, ratio * 5e6, stops);
		exit(0);
	}
	take_turns("victim", f_victim, 5e5, stops);
	while (wait(NULL) > 0)
		;
	return print_log();
}

static void innocent(int cpu)
{
	struct sched_param none = { 0 };

	pin(cpu);
	sched_setscheduler(0, SCHED_OTHER, &none); /* as a real-time one it would stop the machine */
	name_me("innocent", -1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		;
}

/* The kernel sends packets of a limited rate by a timer, so they arrive in an interrupt. */
static void wait_for_packets(int n)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int server = socket(AF_INET, SOCK_STREAM, 0), out = socket(AF_INET, SOCK_STREAM, 0), in;
	unsigned int rate = 20 << 20;
	socklen_t length = sizeof(to);
	static char bytes[1 << 20];
	ssize_t got;

	if (bind(server, (struct sockaddr *)&to, length) || listen(server, 1) ||
	    getsockname(server, (struct sockaddr *)&to, &length) ||
	    setsockopt(out, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate)) ||
	    connect(out, (struct sockaddr *)&to, length))
		exit(1);
	in = accept(server, NULL, NULL);
	if (fork() == 0) {
		name_me("sender", -1);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (write(out, bytes, sizeof(bytes)) > 0)
			;
		exit(0);
	}
	for (int i = 0; i < n; i++) {
		struct moment start = begin();

		got = read(in, bytes, sizeof(bytes));
		end("wait-network", start);
		if (got <= 0)
			exit(1);
	}
}

static void wait_for_devices(int n, const char *path)
{
	struct itimerspec every = { { 0, 3 * MS }, { 0, 3 * MS } };
	int timer = timerfd_create(CLOCK_MONOTONIC, 0), file = open(path, O_RDONLY | O_DIRECT);
	struct moment start;
	uint64_t times;
	void *room;

	name_me("sleeper", -1);
	for (int i = 0; i < n; i++)
		rest(3 * MS);
	timerfd_settime(timer, 0, &every, NULL);
	for (int i = 0; i < n; i++) {
		start = begin();
		if (read(timer, &times, sizeof(times)) != sizeof(times))
			exit(1);
		end("wait-timerfd", start);
	}
	for (int i = 0; i < n && file >= 0 && posix_memalign(&room, 4096, 1 << 20) == 0; i++) {
		start = begin();
		if (pread(file, room, 1 << 20, (off_t)(i % 16) << 20) < 0)
			break;
		end("wait-disk", start);
		free(room);
	}
	wait_for_packets(n);
}

static int devices(int n, const char *path)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	for (int i = 0; i < cpus; i++) {
		if (fork() == 0)
			innocent(i);
	}
	wait_for_devices(n, path);
	return print_log();
}

enum { SLEEPERS_END = 100, WAKERS_END };

static void sleep_in_pipe(void)
{
	char c;

	name_me("sleeper", -1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(SLEEPERS_END, &c, 1) == 1)
		;
	exit(0);
}

/* argv[2] is one digit, so that the arguments, which are on the stack, have the same size each time. */
static int wake_again(char **argv)
{
	int ends[2];

	if (!(personality(0xffffffff) & ADDR_NO_RANDOMIZE)) {
		if (pipe(ends) || dup2(ends[0], SLEEPERS_END) < 0 || dup2(ends[1], WAKERS_END) < 0)
			return 1;
		if (fork() == 0)
			sleep_in_pipe();
		personality(ADDR_NO_RANDOMIZE);
		execv("/proc/self/exe", argv);
		return 1;
	}
	for (int i = 0; i < 5; i++) {
		rest(10 * MS);
		if (write(WAKERS_END, "", 1) != 1)
			return 1;
	}
	if (--argv[2][0] <= '0')
		return 0;
	execv("/proc/self/exe", argv);
	return 1;
}

int main(int argc, char **argv)
{
	log_open();
	if (argc > 3 && strcmp(argv[1], "hogs") == 0)
		return hogs(atof(argv[2]), atof(argv[3]));
	if (argc > 3 && strcmp(argv[1], "devices") == 0)
		return devices(atoi(argv[2]), argv[3]);
	if (argc > 2 && strcmp(argv[1], "again") == 0)
		return wake_again(argv);
	return 2;
}
