#include "common/resolve/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "common/base/hash.h"

enum { TIMEOUT = 20, TIMEOUT_MAX = 3600, FAILURES_MAX = 3, BUILD_ID_LEAST = 8, BUILD_ID_MOST = 64 };

typedef struct debuginfod_client client;
typedef int find_call(client *c, const unsigned char *build_id, int length, char **path);
typedef int progress_call(client *c, long a, long b);

/* The library's, the same for all. */
static void *(*get_user_data)(client *c);

struct debuginfod {
	void *library;
	client *client;
	find_call *find[2]; /* by enum debuginfod_what */
	void (*end)(client *c);
	void (*set_user_data)(client *c, void *data);
	struct intern missing[2]; /* what was asked for and not found */
	struct debuginfod_counts counts;
	unsigned int in_row; /* failures with no answer in between */
	/* Of the question that is being asked. */
	time_t last; /* when something came */
	long bytes, timeout;
	bool stopped;
};

bool debuginfod_configured(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls && urls[strspn(urls, " ")];
}

static long timeout_of(const char *text)
{
	long seconds = text ? strtol(text, NULL, 10) : 0;

	return seconds > 0 && seconds <= TIMEOUT_MAX ? seconds : TIMEOUT;
}

static time_t now(void)
{
	struct timespec t = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

/*
 * Called about once a second. Before a server answers, a counts the calls and b is 0; then they are
 * bytes. The library's own limit is for slow transfers: it lets a connection that is never
 * accepted take minutes.
 */
static int progress(client *c, long a, long b)
{
	struct debuginfod *d = get_user_data(c);

	if (!d)
		return 0;
	if (b > 0 && a != d->bytes) {
		d->bytes = a;
		d->last = now();
	}
	d->stopped |= now() - d->last >= d->timeout;
	return d->stopped;
}

static int ask(struct debuginfod *d, enum debuginfod_what what, struct slice build_id, char **path)
{
	d->last = now();
	d->bytes = 0;
	d->stopped = false;
	return d->find[what](d->client, build_id.p, (int)build_id.n, path);
}

static bool load(struct debuginfod *d, const char *name, void *function)
{
	void *address = dlsym(d->library, name);

	memcpy(function, &address, sizeof(address)); /* C has no cast from an object to a function */
	return address != NULL;
}

static bool load_all(struct debuginfod *d)
{
	client *(*begin)(void);
	void (*set_progress)(client *c, progress_call *call);

	if (!load(d, "debuginfod_begin", &begin) || !load(d, "debuginfod_end", &d->end) ||
	    !load(d, "debuginfod_find_debuginfo", &d->find[DEBUGINFOD_DEBUG]) ||
	    !load(d, "debuginfod_find_executable", &d->find[DEBUGINFOD_EXECUTABLE]) ||
	    !load(d, "debuginfod_set_progressfn", &set_progress) ||
	    !load(d, "debuginfod_set_user_data", &d->set_user_data) ||
	    !load(d, "debuginfod_get_user_data", &get_user_data))
		return false;
	d->client = begin();
	if (!d->client)
		return false;
	d->set_user_data(d->client, d);
	set_progress(d->client, progress);
	return true;
}

/* A static program can load a library only if it is of the very same libc. Returns NULL and why. */
static void *open_library(struct buf *error)
{
#ifdef CPROF_STATIC
	buf_text(error, "libdebuginfod.so.1 is not available: this program is static");
	return NULL;
#else
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		buf_text(error, "libdebuginfod.so.1 is not installed");
	return library;
#endif
}

struct debuginfod *debuginfod_new(struct buf *error)
{
	struct debuginfod *d = calloc(1, sizeof(*d));

	if (!d) {
		buf_text(error, strerror(ENOMEM));
		return NULL;
	}
	intern_init(&d->missing[DEBUGINFOD_DEBUG]);
	intern_init(&d->missing[DEBUGINFOD_EXECUTABLE]);
	d->timeout = timeout_of(getenv("DEBUGINFOD_TIMEOUT"));
	d->library = open_library(error);
	if (!d->library || !load_all(d)) {
		if (d->library)
			buf_text(error, "libdebuginfod.so.1 is of no use");
		debuginfod_free(d);
		return NULL;
	}
	return d;
}

void debuginfod_free(struct debuginfod *d)
{
	if (!d)
		return;
	if (d->client)
		d->end(d->client);
	/* The library stays: what it loaded keeps threads' and other state until the process ends. */
	intern_release(&d->missing[DEBUGINFOD_DEBUG]);
	intern_release(&d->missing[DEBUGINFOD_EXECUTABLE]);
	free(d);
}

/* A server that says no has answered. From 0.192 on the library itself ends a wait that is too long, with ETIME. */
static void note_failure(struct debuginfod *d, int error)
{
	bool late = d->stopped || error == ETIME;

	if (error == ENOENT && !late) {
		d->in_row = 0;
		return;
	}
	if (!d->counts.failed++)
		d->counts.error = late ? "no answer in time" : strerror(error);
	d->in_row++;
	d->counts.given_up |= late || d->in_row >= FAILURES_MAX;
}

int debuginfod_find(struct debuginfod *d, enum debuginfod_what what, struct slice build_id, struct buf *path)
{
	char *where = NULL;
	uint32_t id;
	int fd;

	if (build_id.n < BUILD_ID_LEAST || build_id.n > BUILD_ID_MOST || d->counts.given_up ||
	    intern_find(&d->missing[what], build_id, &id))
		return -1;
	d->counts.asked++;
	fd = ask(d, what, build_id, &where);
	if (fd < 0) {
		note_failure(d, -fd);
		intern_add(&d->missing[what], build_id, &id); /* without memory it is asked for again */
	} else {
		d->in_row = 0;
		d->counts.found++;
		buf_clear(path);
		buf_text(path, where ? where : "");
	}
	free(where);
	return fd >= 0 ? fd : -1;
}

struct debuginfod_counts debuginfod_counts(const struct debuginfod *d)
{
	return d->counts;
}
