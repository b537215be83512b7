/*
 * Threads that wait for each other in a known way, each in a function of its own.
 *
 *	blame join ROUNDS
 *		main joins a light thread (100 ms of f_light), then a heavy one (300 ms of f_heavy, 200 ms
 *		asleep, 100 ms of f_heavy), which began together
 *	blame convoy SECONDS
 *		"holder" has a lock for 8 ms of f_hold and 4 ms asleep, then 3 ms not; three threads "want0"
 *		and so on want it
 *	blame pipeline SECONDS
 *		processes client, front, app and db, joined by sockets; a request takes 2 ms of f_front, 3 ms
 *		of f_app, 4 ms of f_db and 6 ms asleep in db
 *	blame pool SECONDS
 *		main gives four threads "pool0" and so on jobs of 5 ms of f_job by a broadcast, and waits for
 *		each
 *	blame devices N FILE
 *		"sleeper" is woken N times by nanosleep, by timerfd, and by direct reads of FILE each, while a
 *		process "innocent" spins on each CPU
 *
 * Each prints how long its waiting thread waited, in ns; the last prints the tid of that thread.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { MS = 1000000, WANT = 3, POOL = 4 };

static int64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

static void rest(int64_t ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

static inline __attribute__((always_inline)) void burn(int64_t ns)
{
	int64_t end = now(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		for (volatile int i = 0; i < 5000; i++)
			;
}

#define WORK(name)                                             \
	static __attribute__((noinline)) void name(int64_t ns) \
	{                                                      \
		burn(ns);                                      \
		__asm__ volatile("" : : "i"(__LINE__));        \
	}

WORK(f_light)
WORK(f_heavy)
WORK(f_hold)
WORK(f_front)
WORK(f_app)
WORK(f_db)
WORK(f_job)

static void name_me(const char *name, int number)
{
	char text[16];

	snprintf(text, sizeof(text), number < 0 ? "%s" : "%s%d", name, number);
	prctl(PR_SET_NAME, text);
}

static void *light(void *arg)
{
	(void)arg;
	name_me("light", -1);
	f_light(100 * MS);
	return NULL;
}

static void *heavy(void *arg)
{
	(void)arg;
	name_me("heavy", -1);
	f_heavy(300 * MS);
	rest(200 * MS);
	f_heavy(100 * MS);
	return NULL;
}

static int join(int rounds)
{
	int64_t waited = 0;

	for (int i = 0; i < rounds; i++) {
		pthread_t threads[2];
		int64_t start = now(CLOCK_MONOTONIC);

		if (pthread_create(&threads[0], NULL, light, NULL) ||
		    pthread_create(&threads[1], NULL, heavy, NULL))
			return 1;
		pthread_join(threads[0], NULL);
		pthread_join(threads[1], NULL);
		waited += now(CLOCK_MONOTONIC) - start;
	}
	printf("%lld\n", (long long)waited);
	return 0;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop;
static int64_t waited[WANT];

static void *want(void *arg)
{
	int number = (int)(intptr_t)arg;

	name_me("want", number);
	while (!stop) {
		int64_t start = now(CLOCK_MONOTONIC);

		pthread_mutex_lock(&lock);
		waited[number] += now(CLOCK_MONOTONIC) - start;
		pthread_mutex_unlock(&lock);
		rest(1 * MS);
	}
	return NULL;
}

static void *hold(void *arg)
{
	(void)arg;
	name_me("holder", -1);
	while (!stop) {
		pthread_mutex_lock(&lock);
		f_hold(8 * MS);
		rest(4 * MS);
		pthread_mutex_unlock(&lock);
		rest(3 * MS);
	}
	return NULL;
}

static int convoy(double seconds)
{
	pthread_t threads[WANT + 1];
	int64_t all = 0;

	pthread_create(&threads[WANT], NULL, hold, NULL);
	for (int i = 0; i < WANT; i++)
		pthread_create(&threads[i], NULL, want, (void *)(intptr_t)i);
	rest((int64_t)(seconds * 1e9));
	stop = 1;
	for (int i = 0; i <= WANT; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < WANT; i++)
		all += waited[i];
	printf("%lld\n", (long long)all);
	return 0;
}

static void tier(const char *name, int in, int out, void (*work)(int64_t), int64_t ns, int64_t asleep)
{
	char c;

	name_me(name, -1);
	while (read(in, &c, 1) == 1) {
		work(ns);
		if (asleep)
			rest(asleep);
		if (out >= 0 && (write(out, &c, 1) != 1 || read(out, &c, 1) != 1))
			exit(1);
		if (write(in, &c, 1) != 1)
			exit(1);
	}
	exit(0);
}

static int pipeline(double seconds)
{
	int64_t end = now(CLOCK_MONOTONIC) + (int64_t)(seconds * 1e9), all = 0;
	int front[2], app[2], db[2];
	char c = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, front) || socketpair(AF_UNIX, SOCK_STREAM, 0, app) ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, db))
		return 1;
	if (fork() == 0) {
		close(front[0]), close(app[0]), close(db[0]);
		tier("db", db[1], -1, f_db, 4 * MS, 6 * MS);
	}
	if (fork() == 0) {
		close(front[0]), close(app[0]);
		tier("app", app[1], db[0], f_app, 3 * MS, 0);
	}
	if (fork() == 0) {
		close(front[0]);
		tier("front", front[1], app[0], f_front, 2 * MS, 0);
	}
	name_me("client", -1);
	close(app[0]), close(db[0]);
	while (now(CLOCK_MONOTONIC) < end) {
		int64_t start = now(CLOCK_MONOTONIC);

		if (write(front[0], &c, 1) != 1 || read(front[0], &c, 1) != 1)
			return 1;
		all += now(CLOCK_MONOTONIC) - start;
		rest(1 * MS);
	}
	printf("%lld\n", (long long)all);
	return 0;
}

static pthread_cond_t work_there = PTHREAD_COND_INITIALIZER, work_done = PTHREAD_COND_INITIALIZER;
static int jobs, done;

static void *pool_thread(void *arg)
{
	name_me("pool", (int)(intptr_t)arg);
	pthread_mutex_lock(&lock);
	for (;;) {
		while (!jobs && !stop)
			pthread_cond_wait(&work_there, &lock);
		if (stop)
			break;
		jobs--;
		pthread_mutex_unlock(&lock);
		f_job(5 * MS);
		pthread_mutex_lock(&lock);
		done = 1;
		pthread_cond_signal(&work_done);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

static int pool(double seconds)
{
	int64_t end = now(CLOCK_MONOTONIC) + (int64_t)(seconds * 1e9), all = 0;
	pthread_t threads[POOL];

	for (int i = 0; i < POOL; i++)
		pthread_create(&threads[i], NULL, pool_thread, (void *)(intptr_t)i);
	while (now(CLOCK_MONOTONIC) < end) {
		int64_t start = now(CLOCK_MONOTONIC);

		pthread_mutex_lock(&lock);
		jobs++;
		done = 0;
		pthread_cond_broadcast(&work_there);
		while (!done)
			pthread_cond_wait(&work_done, &lock);
		pthread_mutex_unlock(&lock);
		all += now(CLOCK_MONOTONIC) - start;
		rest(15 * MS);
	}
	pthread_mutex_lock(&lock);
	stop = 1;
	pthread_cond_broadcast(&work_there);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < POOL; i++)
		pthread_join(threads[i], NULL);
	printf("%lld\n", (long long)all);
	return 0;
}

static void innocent(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	name_me("innocent", -1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		;
}

static void wait_for_devices(int n, const char *path)
{
	struct itimerspec every = { { 0, 3 * MS }, { 0, 3 * MS } };
	int timer = timerfd_create(CLOCK_MONOTONIC, 0), file = open(path, O_RDONLY | O_DIRECT);
	void *room;
	uint64_t times;

	name_me("sleeper", -1);
	for (int i = 0; i < n; i++)
		rest(3 * MS);
	timerfd_settime(timer, 0, &every, NULL);
	for (int i = 0; i < n; i++) {
		if (read(timer, &times, sizeof(times)) != sizeof(times))
			exit(1);
	}
	if (file < 0 || posix_memalign(&room, 4096, 1 << 20))
		return;
	for (int i = 0; i < n; i++) {
		if (pread(file, room, 1 << 20, (off_t)(i % 16) << 20) < 0)
			return;
	}
}

static int devices(int n, const char *path)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	for (int i = 0; i < cpus; i++) {
		if (fork() == 0)
			innocent(i);
	}
	printf("%d\n", (int)syscall(SYS_gettid));
	fflush(stdout);
	wait_for_devices(n, path);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "join") == 0)
		return join(atoi(argv[2]));
	if (argc > 2 && strcmp(argv[1], "convoy") == 0)
		return convoy(atof(argv[2]));
	if (argc > 2 && strcmp(argv[1], "pipeline") == 0)
		return pipeline(atof(argv[2]));
	if (argc > 2 && strcmp(argv[1], "pool") == 0)
		return pool(atof(argv[2]));
	if (argc > 3 && strcmp(argv[1], "devices") == 0)
		return devices(atoi(argv[2]), argv[3]);
	return 2;
}
