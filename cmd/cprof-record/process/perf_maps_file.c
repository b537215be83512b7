#include "cmd/cprof-record/process/perf_maps_internal.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "cmd/cprof-record/helper/nsfile.h"
#include "cmd/cprof-record/helper/silent_devices.h"
#include "cmd/cprof-record/host/host.h"

enum { COMPLAINT_MAX = 2048 };

#define SECOND UINT64_C(1000000000)
#define FIRST_DELAY (SECOND / 10)
#define LAST_DELAY (16 * SECOND)
#define START_SLACK SECOND /* start times are in hundredths, file times in ticks */

void perf_maps_complain(struct perf_maps *js, struct watch *w, unsigned int what, const char *why)
{
	if (w->said & what)
		return;
	w->said |= what;
	if (js->complaint_lent)
		buf_clear(&js->complaint);
	js->complaint_lent = false;
	if (js->complaint.n > COMPLAINT_MAX) /* the caller may not ask for years */
		return;
	buf_printf(&js->complaint, "%sperf map of process %d: %s", js->complaint.n ? "; " : "",
		   (int)w->pid, why);
}

static int64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * (int64_t)SECOND + t.tv_nsec;
}

/* Field 22; field 2 may be anything but ends in ')'. */
bool perf_maps_start(pid_t pid, int64_t *start)
{
	struct buf text = { 0 };
	bool ok = nsfile_proc(pid, "stat", &text);
	const char *p = strrchr(buf_cstr(&text), ')');
	long per_second = sysconf(_SC_CLK_TCK);
	unsigned long long ticks;

	for (int field = 2; ok && p && field < 22; field++)
		p = strchr(p + 1, ' ');
	ok = ok && p && per_second > 0 && sscanf(p, " %llu", &ticks) == 1;
	if (ok)
		*start = now_ns(CLOCK_REALTIME) - now_ns(CLOCK_BOOTTIME) +
			 (int64_t)(ticks * (SECOND / (uint64_t)per_second));
	buf_release(&text);
	return ok;
}

void perf_maps_ask(struct perf_maps *js, struct watch *w, enum opener_want want)
{
	struct opener_question q = { .want = want, .id = js->questions + 1, .place = w->process_id,
				     .pid = (uint32_t)w->pid, .nspid = (uint32_t)w->nspid };

	if (w->question) {
		w->again = true;
		return;
	}
	if (w->fd >= 0 && w->of.copy.is && !w->from_start)
		q.from = w->offset - w->tail_n;
	if (opener_ask(js->opener, &q))
		w->question = ++js->questions;
}

/*
 * Returns true if this process wrote the file, and not a later one with its pid. uid and start are the
 * process's; if it is gone, they are from the beginning of the watch.
 */
static bool is_of_its_time(const struct watch *w, uid_t uid, int64_t start, const struct opener_answer *a)
{
	int64_t other;

	return a->uid == uid && a->written >= start - (int64_t)START_SLACK &&
	       (start != w->start || !perf_maps_start(w->pid, &other) ||
		other <= start + (int64_t)START_SLACK || a->written < other);
}

/* Returns true if the map is from this process, not from another user or an earlier process with its pid. */
static bool is_believable(struct perf_maps *js, struct watch *w, const struct opener_answer *a)
{
	int64_t start;
	pid_t nspid;
	uid_t uid;

	if (a->want == OPENER_LEFT_MAP || !nsfile_status(w->pid, &uid, &nspid) ||
	    !perf_maps_start(w->pid, &start))
		return w->is_known && is_of_its_time(w, w->uid, w->start, a);
	if (a->uid != uid)
		perf_maps_complain(js, w, SAID_OWNER, "it belongs to another user and is ignored");
	return a->uid == uid && a->written >= start - (int64_t)START_SLACK;
}

static bool is_same(const struct source *s, const struct opener_answer *a)
{
	return s->dev == a->dev && s->inode == a->inode;
}

static bool has_room(struct perf_maps *js, struct watch *w, int fd)
{
	if (fd >= js->fd_max)
		perf_maps_complain(js, w, SAID_OPEN, "too many open files (ulimit -n)");
	return fd < js->fd_max;
}

/* Asks less and less often while there is no map, or one that is refused. */
static void try_later(struct watch *w, uint64_t now)
{
	w->delay = w->delay == 0 ? FIRST_DELAY : w->delay * 2 < LAST_DELAY ? w->delay * 2 : LAST_DELAY;
	w->next_try = now + w->delay;
}

/* Accounts for the answer's copy, if it is one. Returns false if there is no room for it, or no use. */
static bool hold_copy(struct perf_maps *js, struct watch *w, const struct opener_answer *a, struct source *of,
		      uint64_t now)
{
	if (!a->copied) {
		w->whole = 0;
		return true;
	}
	if (w->full || (w->resting && a->from))
		return false;
	if (jit_budget_hold(js->budget, a->uid, a->fd, a->size, &of->copy)) {
		w->whole = of->copy.whole;
		return true;
	}
	perf_maps_complain(js, w, SAID_COPY, JIT_BUDGET_NO_COPY);
	w->whole = a->size;
	w->rests_until = now + silent_devices_longer(0);
	return false;
}

/* Replaces the open copy by a newer one of the same file. */
static void take_newer(struct perf_maps *js, struct watch *w, int fd, const struct source *of)
{
	jit_budget_let_go(js->budget, w->fd, &w->of.copy);
	close(w->fd);
	w->fd = fd;
	w->of = *of;
	w->looked = 0; /* so that it is read soon, ... */
	w->seen_mtime = (struct timespec){ 0 }; /* ... even if it has the old one's size */
}

bool perf_maps_take(struct perf_maps *js, struct watch *w, const struct opener_answer *a, uint64_t now)
{
	struct source of = { a->dev, a->inode, a->uid, { .is = a->copied, .from = a->from } };
	bool same = w->fd >= 0 && is_same(&w->of, a);

	w->rest = 0;
	if (same && !a->copied) /* it is open already */
		return false;
	if (!same && ((w->fd >= 0 && w->next >= 0) || !is_believable(js, w, a) || !has_room(js, w, a->fd))) {
		try_later(w, now);
		return false;
	}
	if (!same && w->fd >= 0 && a->from) { /* this copy begins at the old file's offset */
		w->from_start = true;
		perf_maps_ask(js, w, OPENER_PERF_MAP);
		return false;
	}
	if (!hold_copy(js, w, a, &of, now)) {
		try_later(w, now);
		return false;
	}
	if (same) {
		take_newer(js, w, a->fd, &of);
		return true;
	}
	if (w->fd >= 0) {
		w->next = a->fd;
		w->of_next = of;
		return true;
	}
	w->fd = a->fd;
	w->of = of;
	w->path_looked = now;
	w->seen_size = -1;
	js->grew = now; /* so that it is read soon */
	return true;
}

void perf_maps_take_none(struct perf_maps *js, struct watch *w, const struct opener_answer *a, uint64_t now)
{
	w->rest = a->said == OPENER_SILENT ? silent_devices_longer(w->rest) : 0;
	if (w->rest) {
		perf_maps_complain(js, w, SAID_OPEN, "its file system does not answer");
		w->rests_until = now + w->rest;
		return;
	}
	if (a->error == EMFILE || a->error == ENFILE)
		perf_maps_complain(js, w, SAID_OPEN, "too many open files (ulimit -n)");
	else if (a->error && a->error != ENOENT && a->error != ESRCH)
		perf_maps_complain(js, w, SAID_OPEN, strerror(a->error));
	if (a->error == ESRCH && !w->gone) {
		w->gone = true;
		if (w->fd < 0 && a->want == OPENER_PERF_MAP)
			perf_maps_ask(js, w, OPENER_LEFT_MAP);
	}
	try_later(w, now);
}
