/*
 * Threads that wait for each other in a known way, each in a function of its own.
 *
 *	blame join ROUNDS
 *		main joins a light thread (100 ms of f_light), then a heavy one (300 ms of f_heavy, 200 ms
 *		asleep, 100 ms of f_heavy), which began together
 *	blame convoy SECONDS
 *		"holder" has a lock for 24 ms of f_hold and 12 ms asleep, then 9 ms not; three threads "want0"
 *		and so on want it
 *	blame barging SECONDS
 *		four threads "barge0" and so on want a lock for 2 ms of f_inside, and work for 1 ms outside
 *	blame pipeline SECONDS
 *		processes client, front, app and db, joined by sockets; a request takes 2 ms of f_front, 3 ms
 *		of f_app, 4 ms of f_db and 6 ms asleep in db
 *	blame epoll SECONDS
 *		"srv" serves two clients in one thread: "cla" takes 6 ms of f_a, "clb" 18 ms of f_b and 6 ms of
 *		f_db in a process "db"
 *	blame pool SECONDS
 *		main gives four threads "pool0" and so on jobs of 5 ms of f_job by a broadcast, and waits for
 *		each
 *
 * Where waking a thread takes long, as in some virtual machines, samples of the end of a function come after
 * it. The work is long enough for that to stay small beside it.
 *
 * Each prints its own log, see blame_log.h. A wait is "wait-" with a thread, "lock" or "job".
 */
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/loads/blame_log.h"

enum { WANT = 3, BARGE = 4, POOL = 4 };

WORK(f_light)
WORK(f_heavy)
WORK(f_hold)
WORK(f_inside)
WORK(f_outside)
WORK(f_front)
WORK(f_app)
WORK(f_db)
WORK(f_a)
WORK(f_b)
WORK(f_job)

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

static void join_one(pthread_t thread, const char *what)
{
	struct moment start = begin();

	pthread_join(thread, NULL);
	end(what, start);
}

static int join(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		pthread_t threads[2];

		if (pthread_create(&threads[0], NULL, light, NULL) ||
		    pthread_create(&threads[1], NULL, heavy, NULL))
			return 1;
		join_one(threads[0], "wait-light");
		join_one(threads[1], "wait-heavy");
	}
	return print_log();
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop;

static struct moment take_lock(void)
{
	struct moment start = begin();

	pthread_mutex_lock(&lock);
	end("wait-lock", start);
	return begin();
}

static void drop_lock(struct moment since)
{
	end("hold", since);
	pthread_mutex_unlock(&lock);
}

static void *want(void *arg)
{
	name_me("want", (int)(intptr_t)arg);
	while (!stop) {
		drop_lock(take_lock());
		rest(1 * MS);
	}
	return NULL;
}

static void *hold(void *arg)
{
	(void)arg;
	name_me("holder", -1);
	while (!stop) {
		struct moment since = take_lock();

		f_hold(24 * MS);
		rest(12 * MS);
		drop_lock(since);
		rest(9 * MS);
	}
	return NULL;
}

static void *barge(void *arg)
{
	name_me("barge", (int)(intptr_t)arg);
	while (!stop) {
		struct moment since = take_lock();

		f_inside(2 * MS);
		drop_lock(since);
		f_outside(1 * MS);
	}
	return NULL;
}

static void pause_for(double seconds)
{
	struct timespec t = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };

	nanosleep(&t, NULL);
}

static int convoy(double seconds)
{
	pthread_t threads[WANT + 1];

	pthread_create(&threads[WANT], NULL, hold, NULL);
	for (int i = 0; i < WANT; i++)
		pthread_create(&threads[i], NULL, want, (void *)(intptr_t)i);
	pause_for(seconds);
	stop = 1;
	for (int i = 0; i <= WANT; i++)
		pthread_join(threads[i], NULL);
	return print_log();
}

static int barging(double seconds)
{
	pthread_t threads[BARGE];

	for (int i = 0; i < BARGE; i++)
		pthread_create(&threads[i], NULL, barge, (void *)(intptr_t)i);
	pause_for(seconds);
	stop = 1;
	for (int i = 0; i < BARGE; i++)
		pthread_join(threads[i], NULL);
	return print_log();
}

/* Sends a request and waits for the answer. */
static void ask(int socket, const char *what)
{
	struct moment start = begin();
	char c = 0;

	if (write(socket, &c, 1) != 1 || read(socket, &c, 1) != 1)
		exit(1);
	end(what, start);
}

static void answer(int socket)
{
	char c = 0;

	if (write(socket, &c, 1) != 1)
		exit(1);
}

struct tier {
	const char *name, *next;
	int in, out; /* sockets; out -1: none */
	void (*work)(int64_t ns);
	int64_t ns, asleep;
};

static void serve(const struct tier *t)
{
	char c;

	name_me(t->name, -1);
	while (read(t->in, &c, 1) == 1) {
		t->work(t->ns);
		if (t->asleep)
			rest(t->asleep);
		if (t->out >= 0)
			ask(t->out, t->next);
		answer(t->in);
	}
	exit(0);
}

static int pipeline(double seconds)
{
	int64_t stops = now(CLOCK_MONOTONIC) + (int64_t)(seconds * 1e9);
	int front[2], app[2], db[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, front) || socketpair(AF_UNIX, SOCK_STREAM, 0, app) ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, db))
		return 1;
	if (fork() == 0) {
		close(front[0]), close(app[0]), close(db[0]);
		serve(&(struct tier){ "db", NULL, db[1], -1, f_db, 4 * MS, 6 * MS });
	}
	if (fork() == 0) {
		close(front[0]), close(app[0]);
		serve(&(struct tier){ "app", "wait-db", app[1], db[0], f_app, 3 * MS, 0 });
	}
	if (fork() == 0) {
		close(front[0]);
		serve(&(struct tier){ "front", "wait-app", front[1], app[0], f_front, 2 * MS, 0 });
	}
	name_me("client", -1);
	close(app[0]), close(db[0]);
	while (now(CLOCK_MONOTONIC) < stops) {
		ask(front[0], "wait-front");
		rest(1 * MS);
	}
	return print_log();
}

static void serve_both(int a, int b, int db)
{
	int poll = epoll_create1(0);
	struct epoll_event event = { .events = EPOLLIN, .data.fd = a };
	char c;

	name_me("srv", -1);
	epoll_ctl(poll, EPOLL_CTL_ADD, a, &event);
	event.data.fd = b;
	epoll_ctl(poll, EPOLL_CTL_ADD, b, &event);
	while (epoll_wait(poll, &event, 1, -1) == 1 && read(event.data.fd, &c, 1) == 1) {
		if (event.data.fd == a) {
			f_a(6 * MS);
		} else {
			f_b(18 * MS);
			ask(db, "wait-db");
		}
		answer(event.data.fd);
	}
	exit(0);
}

static void be_client(const char *name, int socket, int64_t stops)
{
	name_me(name, -1);
	while (now(CLOCK_MONOTONIC) < stops) {
		ask(socket, "wait-srv");
		rest(1 * MS);
	}
}

static int epoll(double seconds)
{
	int64_t stops = now(CLOCK_MONOTONIC) + (int64_t)(seconds * 1e9);
	int a[2], b[2], db[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, a) || socketpair(AF_UNIX, SOCK_STREAM, 0, b) ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, db))
		return 1;
	if (fork() == 0) {
		close(a[0]), close(b[0]), close(db[0]);
		serve(&(struct tier){ "db", NULL, db[1], -1, f_db, 6 * MS, 0 });
	}
	if (fork() == 0) {
		close(a[0]), close(b[0]);
		serve_both(a[1], b[1], db[0]);
	}
	close(db[0]);
	if (fork() == 0) {
		be_client("clb", b[0], stops);
		exit(0);
	}
	be_client("cla", a[0], stops);
	close(a[0]), close(b[0]);
	while (wait(NULL) > 0)
		;
	return print_log();
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
	int64_t stops = now(CLOCK_MONOTONIC) + (int64_t)(seconds * 1e9);
	pthread_t threads[POOL];

	for (int i = 0; i < POOL; i++)
		pthread_create(&threads[i], NULL, pool_thread, (void *)(intptr_t)i);
	while (now(CLOCK_MONOTONIC) < stops) {
		struct moment start = begin();

		pthread_mutex_lock(&lock);
		jobs++;
		done = 0;
		pthread_cond_broadcast(&work_there);
		while (!done)
			pthread_cond_wait(&work_done, &lock);
		pthread_mutex_unlock(&lock);
		end("wait-job", start);
		rest(15 * MS);
	}
	pthread_mutex_lock(&lock);
	stop = 1;
	pthread_cond_broadcast(&work_there);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < POOL; i++)
		pthread_join(threads[i], NULL);
	return print_log();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(double seconds);
	} known[] = {
		{ "convoy", convoy }, { "barging", barging }, { "pipeline", pipeline },
		{ "epoll", epoll },   { "pool", pool },
	};

	log_open();
	if (argc < 3)
		return 2;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(argv[1], known[i].name) == 0)
			return known[i].run(atof(argv[2]));
	}
	if (strcmp(argv[1], "join") == 0)
		return join(atoi(argv[2]));
	return 2;
}
