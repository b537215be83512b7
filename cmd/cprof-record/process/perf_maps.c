#include "cmd/cprof-record/process/perf_maps.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cprof-record/host/host.h"
#include "cmd/cprof-record/helper/nsfile.h"
#include "cmd/cprof-record/process/perf_maps_internal.h"
#include "common/base/array.h"

enum { FILES_LEFT = 64 /* descriptors for reading /proc, and for CPUs that come online */ };

#define SECOND UINT64_C(1000000000)
#define BUSY_NS (2 * SECOND)
#define QUIET_PERIOD (SECOND - SECOND / 10) /* a caller's "each second" may come a little early */

struct perf_maps *perf_maps_new(struct opener *o, struct jit_budget *budget)
{
	struct perf_maps *js = calloc(1, sizeof(*js));

	if (!js)
		return NULL;
	idmap_init(&js->index);
	js->opener = o;
	js->budget = budget;
	js->fd_max = host_raise_files() - FILES_LEFT;
	return js;
}

/* Gives back the memory of copies that are not read any more. */
static void empty_copies(struct perf_maps *js, struct watch *w)
{
	jit_budget_let_go(js->budget, w->fd, &w->of.copy);
	jit_budget_let_go(js->budget, w->next, &w->of_next.copy);
}

static void close_files(struct perf_maps *js, struct watch *w)
{
	empty_copies(js, w);
	if (w->fd >= 0)
		close(w->fd);
	if (w->next >= 0)
		close(w->next);
	w->fd = w->next = -1;
}

void perf_maps_free(struct perf_maps *js)
{
	if (!js)
		return;
	for (size_t i = 0; i < js->n; i++)
		close_files(js, &js->items[i]);
	free(js->items);
	idmap_release(&js->index);
	buf_release(&js->complaint);
	free(js);
}

const char *perf_maps_complaint(struct perf_maps *js)
{
	if (js->complaint_lent || js->complaint.n == 0)
		return NULL;
	js->complaint_lent = true;
	return buf_cstr(&js->complaint);
}

/* --- reading --------------------------------------------------------------------------------- */

static void rewind_map(struct watch *w)
{
	w->offset = 0;
	w->tail_n = 0;
	w->skipping = false;
	w->more = true;
}

static void new_generation(struct watch *w)
{
	w->generation++;
	w->known = 0;
	rewind_map(w);
}

static void advance_map(struct watch *w, const uint8_t *data, size_t n)
{
	size_t keep = n < PERF_MAP_TAIL ? n : PERF_MAP_TAIL;
	size_t old = w->tail_n < PERF_MAP_TAIL - keep ? w->tail_n : PERF_MAP_TAIL - keep;

	memmove(w->tail, w->tail + w->tail_n - old, old);
	memcpy(w->tail + old, data + n - keep, keep);
	w->tail_n = old + keep;
	w->offset += n;
	w->total += n;
}

/*
 * Reads and delivers one chunk. Returns 1 to continue, 0 if there is no whole line at the moment. It reads
 * the bytes before our offset as well: they reveal a file that was truncated and rewritten beyond it.
 */
static int read_chunk(struct perf_maps *js, struct watch *w, perf_map_sink *chunk, void *arg)
{
	const uint8_t *data = js->bytes + w->tail_n, *last, *from = data;
	ssize_t got;
	size_t n;

	if (w->of.copy.is && w->offset - w->tail_n < w->of.copy.from)
		return 0; /* the next copy has it */
	got = pread(w->fd, js->bytes, w->tail_n + PERF_MAP_CHUNK, (off_t)(w->offset - w->tail_n));
	if (got < 0 && errno == EINTR)
		return 1;
	if (got < (ssize_t)w->tail_n || memcmp(js->bytes, w->tail, w->tail_n) != 0) {
		if (got < 0 || w->tail_n == 0)
			return 0;
		new_generation(w);
		return 1;
	}
	n = (size_t)got - w->tail_n;
	last = n ? memrchr(data, '\n', n) : NULL;
	if (!last && n < PERF_MAP_CHUNK)
		return 0;
	if (!last) {
		w->skipping = true;
		advance_map(w, data, n);
		return 1;
	}
	n = (size_t)(last + 1 - data);
	if (w->skipping)
		from = (const uint8_t *)memchr(data, '\n', n) + 1;
	w->skipping = false;
	if (w->offset < w->known)
		js->repeated += n;
	if (from <= last)
		chunk(arg, w->process_id, w->generation, from, (size_t)(last + 1 - from));
	advance_map(w, data, n);
	return 1;
}

/* Reads up to limit bytes of the open file. */
static void read_on(struct perf_maps *js, struct watch *w, uint64_t now, uint64_t limit, perf_map_sink *chunk,
		    void *arg)
{
	uint64_t left = jit_budget_left(js->budget, w->of.owner, now), before = w->total, until = w->total + (limit < left ? limit : left);

	w->more = true;
	while (w->more && w->total < until && w->total < PERF_MAP_PROCESS_MAX)
		if (read_chunk(js, w, chunk, arg) == 0)
			w->more = false;
	jit_budget_take(js->budget, w->of.owner, w->total - before);
	w->held = w->more && left < limit;
	if (w->held) {
		perf_maps_complain(js, w, SAID_BUDGET, "its user writes more than 2 MiB of names a second: "
						       "the rest is read later, or left out");
		w->more = false;
	}
	if (w->total >= PERF_MAP_PROCESS_MAX) {
		perf_maps_complain(js, w, SAID_SIZE, "over 256 MiB, the rest is left out");
		w->full = true;
		w->more = false;
		empty_copies(js, w);
	}
	if (!w->more && !w->held) /* a copy has nothing more */
		jit_budget_let_go(js->budget, w->fd, &w->of.copy);
}

/* Checks for another file at the path, or gets a newer copy; the open one is read to its end first. */
static void look_at_path(struct perf_maps *js, struct watch *w, uint64_t now)
{
	bool unread = w->of.copy.is && (w->more || w->held);

	if (w->next >= 0 || w->gone || w->question || unread || now < w->rests_until)
		return;
	w->path_looked = now;
	perf_maps_ask(js, w, OPENER_PERF_MAP);
}

static void take_next(struct perf_maps *js, struct watch *w)
{
	jit_budget_let_go(js->budget, w->fd, &w->of.copy);
	close(w->fd);
	w->fd = w->next;
	w->of = w->of_next;
	w->of_next = (struct source){ 0 };
	w->next = -1;
	w->seen_size = -1;
	new_generation(w);
}

static bool has_changed(struct perf_maps *js, struct watch *w, uint64_t now)
{
	struct stat st;
	bool grew;

	if (fstat(w->fd, &st) != 0)
		return false;
	if (st.st_size == w->seen_size && st.st_mtim.tv_sec == w->seen_mtime.tv_sec &&
	    st.st_mtim.tv_nsec == w->seen_mtime.tv_nsec)
		return false;
	if (st.st_size >= 0 && (uint64_t)st.st_size < w->offset)
		new_generation(w);
	grew = !w->of.copy.is || st.st_size != w->seen_size; /* a copy may have no other lines */
	w->seen_size = st.st_size;
	w->seen_mtime = st.st_mtim;
	if (grew)
		w->grew = js->grew = now;
	return true;
}

/* Reads the open file. Returns true if another file is now open in its place. */
static bool read_file(struct perf_maps *js, struct watch *w, uint64_t now, uint64_t limit,
		      perf_map_sink *chunk, void *arg)
{
	if (has_changed(js, w, now) || w->more || w->held)
		read_on(js, w, now, limit, chunk, arg);
	if (w->full || w->more || w->held || w->next < 0)
		return false;
	take_next(js, w);
	return true;
}

static void try_open(struct perf_maps *js, struct watch *w, uint64_t now)
{
	if (!w->gone && !w->question && now >= w->next_try && now >= w->rests_until)
		perf_maps_ask(js, w, OPENER_PERF_MAP);
}

static void poll_one(struct perf_maps *js, struct watch *w, uint64_t now, perf_map_sink *chunk, void *arg)
{
	if (w->resting || w->full)
		return;
	if (w->fd < 0) {
		try_open(js, w, now);
		return;
	}
	if (!w->more && w->next < 0 && now - w->grew > BUSY_NS && now - w->looked < QUIET_PERIOD)
		return;
	w->looked = now;
	if (now - w->path_looked >= QUIET_PERIOD)
		look_at_path(js, w, now);
	if (read_file(js, w, now, PERF_MAP_POLL_MAX, chunk, arg))
		read_file(js, w, now, PERF_MAP_POLL_MAX, chunk, arg);
}

int perf_maps_poll(struct perf_maps *js, uint64_t now, perf_map_sink *chunk, void *arg)
{
	int more = 0;

	for (size_t i = 0; i < js->n; i++) {
		poll_one(js, &js->items[i], now, chunk, arg);
		more |= js->items[i].more && !js->items[i].resting;
	}
	return more;
}

bool perf_maps_busy(const struct perf_maps *js, uint64_t now)
{
	return js->grew && now - js->grew < BUSY_NS;
}

/* --- the list -------------------------------------------------------------------------------- */

static struct watch *find_watch(struct perf_maps *js, uint64_t process_id)
{
	uint32_t i;

	return idmap_find(&js->index, process_id, &i) ? &js->items[i] : NULL;
}

static struct note *find_note(struct perf_maps *js, pid_t pid)
{
	for (size_t i = 0; i < PERF_MAPS_NOTES; i++)
		if (js->notes[i].pid == pid)
			return &js->notes[i];
	return NULL;
}

void perf_maps_note(struct perf_maps *js, pid_t pid, uint64_t now)
{
	struct note n = { .pid = pid, .time = now }, *old = find_note(js, pid);

	if (pid <= 0 || (old && now - old->time < SECOND))
		return;
	if (!nsfile_status(pid, &n.uid, &n.nspid) || !perf_maps_start(pid, &n.start))
		return;
	if (!old) {
		old = &js->notes[js->next_note];
		js->next_note = (js->next_note + 1) % PERF_MAPS_NOTES;
	}
	*old = n;
}

/* Takes over who owns the process: from /proc, or else from a note. */
static void know_owner(struct perf_maps *js, struct watch *w, pid_t *nspid)
{
	const struct note *n;

	w->is_known = nsfile_status(w->pid, &w->uid, nspid) && perf_maps_start(w->pid, &w->start);
	n = w->is_known ? NULL : find_note(js, w->pid);
	if (!n)
		return;
	w->uid = n->uid;
	w->start = n->start;
	w->is_known = true;
	*nspid = n->nspid;
}

bool perf_maps_watch(struct perf_maps *js, uint64_t process_id, pid_t pid, pid_t nspid)
{
	struct watch *w = find_watch(js, process_id);
	pid_t own = 0;

	if (w) {
		w->resting = false;
		return true;
	}
	if (!grow_array(&js->items, &js->cap, js->n, sizeof(*js->items)) ||
	    !idmap_set(&js->index, process_id, (uint32_t)js->n))
		return false;
	w = &js->items[js->n++];
	*w = (struct watch){ .process_id = process_id, .pid = pid, .nspid = nspid, .fd = -1, .next = -1 };
	know_owner(js, w, &own);
	if (nspid == 0)
		w->nspid = own;
	w->gone = nspid == 0 && !w->is_known;
	try_open(js, w, host_mono_ns());
	return true;
}

void perf_maps_forget(struct perf_maps *js, uint64_t process_id)
{
	struct watch *w = find_watch(js, process_id), *last;

	if (!w)
		return;
	close_files(js, w);
	idmap_remove(&js->index, process_id);
	last = &js->items[--js->n];
	if (w == last)
		return;
	*w = *last;
	/* Cannot fail: the key exists and keeps its slot. */
	idmap_set(&js->index, w->process_id, (uint32_t)(w - js->items));
}

void perf_maps_opened(struct perf_maps *js, const struct opener_answer *a, uint64_t now)
{
	struct watch *w = find_watch(js, a->place);
	bool again = w && w->again, taken = false;

	if (w && w->question == a->id) {
		w->question = 0;
		w->again = false;
		if (a->fd >= 0) {
			w->from_start = w->from_start && a->from; /* false: this answer is the whole file */
			taken = perf_maps_take(js, w, a, now);
		} else {
			perf_maps_take_none(js, w, a, now);
		}
		if (again && !w->question && !w->gone)
			perf_maps_ask(js, w, OPENER_PERF_MAP);
	}
	if (a->fd >= 0 && !taken)
		close(a->fd);
}

/* Looks again at once, whenever the last attempt was: a map may have appeared since. */
static void look_last(struct perf_maps *js, struct watch *w)
{
	if (w->full || w->resting || w->next >= 0)
		return;
	if (!w->gone)
		perf_maps_ask(js, w, OPENER_PERF_MAP);
	else if (w->fd < 0)
		perf_maps_ask(js, w, OPENER_LEFT_MAP);
}

void perf_maps_exited(struct perf_maps *js, uint64_t process_id)
{
	struct watch *w = find_watch(js, process_id);

	if (w)
		look_last(js, w);
}

void perf_maps_ends(struct perf_maps *js)
{
	for (size_t i = 0; i < js->n; i++)
		look_last(js, &js->items[i]);
}

size_t perf_maps_asked(const struct perf_maps *js)
{
	size_t n = 0;

	for (size_t i = 0; i < js->n; i++)
		n += js->items[i].question != 0;
	return n;
}

/* Returns the bytes of a map that are not read: the budget is used up, or a copy lacks them. */
static uint64_t bytes_left(const struct watch *w)
{
	uint64_t size = w->whole;
	struct stat st;

	if (w->held && fstat(w->fd, &st) == 0 && (uint64_t)st.st_size > size)
		size = (uint64_t)st.st_size;
	return size > w->offset ? size - w->offset : 0;
}

/* Reads the rest of a map. */
static void read_last(struct perf_maps *js, struct watch *w, uint64_t now, perf_map_sink *chunk, void *arg)
{
	if (w->full)
		return;
	w->more = w->fd >= 0;
	if (w->more && read_file(js, w, now, PERF_MAP_PROCESS_MAX, chunk, arg))
		read_file(js, w, now, PERF_MAP_PROCESS_MAX, chunk, arg);
	js->left_out += bytes_left(w);
}

void perf_maps_finish(struct perf_maps *js, uint64_t process_id, uint64_t now, perf_map_sink *chunk,
		      void *arg)
{
	struct watch *w = find_watch(js, process_id);

	if (w)
		read_last(js, w, now, chunk, arg);
	perf_maps_forget(js, process_id);
}

void perf_maps_end(struct perf_maps *js, uint64_t now, perf_map_sink *chunk, void *arg)
{
	for (size_t i = 0; i < js->n; i++) {
		if (!js->items[i].resting)
			read_last(js, &js->items[i], now, chunk, arg);
	}
}

void perf_maps_restart(struct perf_maps *js)
{
	for (size_t i = 0; i < js->n; i++) {
		struct watch *w = &js->items[i];

		w->resting = true;
		empty_copies(js, w);
		if (w->fd < 0)
			continue;
		if (w->offset > w->known)
			w->known = w->offset;
		w->total = 0;
		w->full = false;
		rewind_map(w);
	}
	js->repeated = 0;
}

uint64_t perf_maps_left_out(const struct perf_maps *js)
{
	return js->left_out;
}

uint64_t perf_maps_repeated(const struct perf_maps *js)
{
	return js->repeated;
}

size_t perf_maps_watched(const struct perf_maps *js)
{
	return js->n;
}

size_t perf_maps_open(const struct perf_maps *js)
{
	size_t n = 0;

	for (size_t i = 0; i < js->n; i++)
		n += js->items[i].fd >= 0;
	return n;
}
