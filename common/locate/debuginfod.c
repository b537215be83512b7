#include "common/locate/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "common/base/intern.h"

enum { TIMEOUT = 20, TIMEOUT_MAX = 3600, FAILURES_MAX = 3, BUILD_ID_LEAST = 8, BUILD_ID_MOST = 64 };

typedef struct debuginfod_client client;
typedef int find_call(client *c, const unsigned char *build_id, int length, char **path);
typedef int progress_call(client *c, long a, long b);

/* A function of the library: the same for all objects. */
static void *(*get_user_data)(client *c);

struct debuginfod {
	void *library;
	client *client;
	find_call *find[2]; /* by enum debuginfod_what */
	void (*end)(client *c);
	void (*set_user_data)(client *c, void *data);
	struct intern missing[2]; /* build IDs of requests that found nothing */
	struct debuginfod_counts counts;
	unsigned int in_row; /* consecutive failures */
	/* State of the current request. */
	time_t last; /* when data last arrived */
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
 * The library calls this about once a second. Before a server answers, a counts the calls and b is 0;
 * afterwards both are bytes. The library's own limit is for slow transfers: a connection that is never
 * accepted may take it minutes.
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

static int request_file(struct debuginfod *d, enum debuginfod_what what, struct slice build_id, char **path)
{
	d->last = now();
	d->bytes = 0;
	d->stopped = false;
	return d->find[what](d->client, build_id.p, (int)build_id.n, path);
}

static bool load_function(struct debuginfod *d, const char *name, void *function)
{
	void *address = dlsym(d->library, name);

	/* C has no cast to a function pointer */
	memcpy(function, &address, sizeof(address));
	return address != NULL;
}

static bool load_functions(struct debuginfod *d)
{
	client *(*begin)(void);
	void (*set_progress)(client *c, progress_call *call);

	if (!load_function(d, "debuginfod_begin", &begin) || !load_function(d, "debuginfod_end", &d->end) ||
	    !load_function(d, "debuginfod_find_debuginfo", &d->find[DEBUGINFOD_DEBUG]) ||
	    !load_function(d, "debuginfod_find_executable", &d->find[DEBUGINFOD_EXECUTABLE]) ||
	    !load_function(d, "debuginfod_set_progressfn", &set_progress) ||
	    !load_function(d, "debuginfod_set_user_data", &d->set_user_data) ||
	    !load_function(d, "debuginfod_get_user_data", &get_user_data))
		return false;
	d->client = begin();
	if (!d->client)
		return false;
	d->set_user_data(d->client, d);
	set_progress(d->client, progress);
	return true;
}

/*
 * Returns NULL and sets error if there is no library. A static program could only load one of its own libc.
 */
static void *open_library(struct buf *error)
{
#ifdef CPROF_STATIC
	buf_text(error, "libdebuginfod.so.1 is not available: this program is static");
	return NULL;
#else
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		buf_text(error, "libdebuginfod.so.1 is not available: not installed");
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
	if (!d->library || !load_functions(d)) {
		if (d->library)
			buf_text(error, "libdebuginfod.so.1 is not available: it cannot be used");
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
	/* The library stays loaded: it keeps thread and other state until the process ends. */
	intern_release(&d->missing[DEBUGINFOD_DEBUG]);
	intern_release(&d->missing[DEBUGINFOD_EXECUTABLE]);
	free(d);
}

/* ENOENT is an answer. Since 0.192 the library itself ends a wait that is too long, with ETIME. */
static void note_failure(struct debuginfod *d, int error)
{
	bool late = d->stopped || error == ETIME;

	if (error == ENOENT && !late) {
		d->in_row = 0;
		return;
	}
	if (!d->counts.failed++)
		d->counts.error = late ? "timed out" : strerror(error);
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
	fd = request_file(d, what, build_id, &where);
	if (fd < 0) {
		note_failure(d, -fd);
		intern_add(&d->missing[what], build_id, &id); /* if out of memory, the next call asks again */
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
