#include "cmd/cprof-record/unwind/table_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cprof-record/helper/silent_devices.h"
#include "cmd/cprof-record/host/vdso.h"
#include "common/base/array.h"
#include "common/base/full_write.h"

enum {
	MAKER_LEAST = 8 << 20,
	MAKER_NEEDS = 40 << 20, /* besides by the size of its file: 27 MB to follow 1 MB of code without a table */
};

#define MILLISECOND 1000000ull
#define RETRY (1100 * MILLISECOND)  /* until evicted memory is free: STORE_GRACE, and then some */
#define UNUSED (5000 * MILLISECOND) /* a table without stacks for this long may be evicted for others */

bool table_cache_init(struct table_cache *t, struct procs *procs)
{
	*t = (struct table_cache){ .procs = procs, .spare = UINT64_MAX };
	t->poll = epoll_create1(EPOLL_CLOEXEC);
	for (int i = 0; i < TABLE_CACHE_WORKERS; i++) {
		t->workers[i].w = table_worker_new(i > 0);
		t->workers[i].owner = -1;
		if (!t->workers[i].w || epoll_ctl(t->poll, EPOLL_CTL_ADD, table_worker_fd(t->workers[i].w),
						   &(struct epoll_event){ EPOLLIN, { .fd = table_worker_fd(t->workers[i].w) } }) != 0)
			return false;
	}
	return true;
}

int table_cache_fd(const struct table_cache *t)
{
	return t->poll;
}

uint64_t table_cache_losses(const struct table_cache *t)
{
	uint64_t n = 0;

	for (int i = 0; i < TABLE_CACHE_WORKERS; i++)
		n += table_worker_losses(t->workers[i].w);
	return n;
}

void table_cache_release(struct table_cache *t)
{
	if (t->workers[0].w)
		close(t->poll);
	for (int i = 0; i < TABLE_CACHE_WORKERS; i++)
		table_worker_free(t->workers[i].w);
	table_queue_release(&t->waiting);
	free(t->items);
	free(t->copies);
	buf_release(&t->complaint);
	*t = (struct table_cache){ 0 };
}

static void note_complaint(struct table_cache *t, uint32_t number, const char *what)
{
	struct slice path = t->procs->exes[t->items[number].exe].path;

	if (t->complaint.n == 0)
		buf_printf(&t->complaint, "%.*s: %s", (int)path.n, (const char *)path.p, what);
}

uint32_t table_cache_number(struct table_cache *t, uint32_t exe)
{
	struct exe *x = &t->procs->exes[exe];

	if (x->table)
		return x->table;
	x->table = store_file(t->store);
	if (x->table == 0)
		return 0;
	while (x->table >= t->n) {
		if (!grow_array(&t->items, &t->cap, t->n, sizeof(*t->items))) {
			store_forget(t->store, x->table, 0);
			x->table = 0;
			return 0;
		}
		t->items[t->n++] = (struct table){ 0 };
	}
	t->items[x->table] = (struct table){ .used = true, .exe = exe };
	return x->table;
}

void table_cache_forget(struct table_cache *t, uint32_t number, uint64_t now)
{
	if (number == 0 || number >= t->n)
		return;
	t->items[number].used = false;
	store_forget(t->store, number, now);
}

void table_cache_again(struct table_cache *t, uint32_t number, uint64_t now)
{
	if (number == 0 || number >= t->n || store_state(t->store, number) == UNWIND_FILE_REFUSED)
		return;
	t->items[number].asked = t->items[number].retry = 0;
	store_unload(t->store, number, UNWIND_FILE_ASK, now);
}

/* Evicts the table that has not been needed for the longest time; false: all are in use. */
static bool evict_table(struct table_cache *t, uint64_t now)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < t->n; i++) {
		const struct table *f = &t->items[i];

		if (f->used && store_state(t->store, i) == UNWIND_FILE_READY && f->touched + UNUSED < now &&
		    (best == 0 || f->touched < t->items[best].touched))
			best = i;
	}
	if (best == 0)
		return false;
	table_cache_again(t, best, now);
	t->evicted++;
	return true;
}

static void retry_later(struct table_cache *t, uint32_t number, uint64_t at)
{
	t->items[number].retry = at;
	if (!t->retry_at || at < t->retry_at)
		t->retry_at = at;
}

/* There is no room: evicts tables to make some, for later. If none can go, the retry is later. */
static void refuse_table(struct table_cache *t, uint32_t number, uint64_t rows, bool no_memory, uint64_t now)
{
	static const char without_memory[] = "there is no memory for its unwind table: some stacks will be cut "
					     "short there";
	static const char over_budget[] = "its unwind table does not fit into what --unwind-mem allows: some "
					  "stacks will be cut short there";
	uint64_t before = store_used(t->store);
	uint64_t freed = 0;

	store_mark(t->store, number, UNWIND_FILE_REFUSED);
	t->refused++;
	while (rows <= store_most(t->store) && freed < rows && evict_table(t, now))
		freed += before / 16 + 1; /* a guess: evicted memory counts as used until its grace is over */
	retry_later(t, number, rows > store_most(t->store) ? UINT64_MAX : now + (freed ? RETRY : UNUSED));
	if (!t->said_refused)
		note_complaint(t, number, no_memory ? without_memory : over_budget);
	t->said_refused = true;
}

static void load_table(struct table_cache *t, uint32_t number, struct slice bytes, uint64_t now)
{
	struct unwind_table table = { 0 };
	enum store_loaded loaded;

	if (!unwind_table_read(&table, bytes)) {
		store_mark(t->store, number, UNWIND_FILE_NONE);
		note_complaint(t, number, "no unwind table: the one built is invalid");
		return;
	}
	loaded = store_load(t->store, number, &table);
	if (loaded == STORE_LOADED)
		t->built++;
	else
		refuse_table(t, number, table.n_rows * sizeof(*table.rows), loaded == STORE_NO_MEMORY, now);
	unwind_table_release(&table);
}

/* Returns the file of a question; 0: it was forgotten meanwhile, or its table is not wanted any more. */
static uint32_t asked_by(const struct table_cache *t, uint32_t question)
{
	for (uint32_t i = 1; i < t->n; i++) {
		const struct table *f = &t->items[i];

		if (f->used && f->asked && f->question == question)
			return store_state(t->store, i) == UNWIND_FILE_ASK ? i : 0;
	}
	return 0;
}

/* Reports each loss: somebody kills the process, or the machine is out of memory. */
static void report_loss(struct table_cache *t, uint32_t number)
{
	if (t->losses != table_cache_losses(t))
		note_complaint(t, number, "no unwind table for a second, nor for other files: the process that starts the helpers was lost");
	t->losses = table_cache_losses(t);
}

/* Accounts for a copy that the worker reads. */
static void hold_copy(struct table_cache *t, uint32_t question, uint64_t bytes)
{
	if (!grow_array(&t->copies, &t->cap_copies, t->n_copies, sizeof(*t->copies)))
		return;
	t->copies[t->n_copies++] = (struct table_copy){ question, bytes };
	opener_hold(t->procs->scan.opener, bytes);
}

static void release_copy(struct table_cache *t, uint32_t question)
{
	for (size_t i = 0; i < t->n_copies; i++) {
		if (t->copies[i].question != question)
			continue;
		opener_let_go(t->procs->scan.opener, t->copies[i].bytes);
		t->copies[i] = t->copies[--t->n_copies];
		return;
	}
}

/* There may be a table later: the file is asked for again, less and less often. rest: of its last time. */
static void rest_file(struct table_cache *t, uint32_t number, uint64_t *rest, uint64_t now)
{
	*rest = silent_devices_longer(*rest);
	retry_later(t, number, now + *rest);
	store_mark(t->store, number, UNWIND_FILE_NONE);
}

/* There was no memory to build it. There may be more at its next time, once other tables are evicted. */
static void refuse_build(struct table_cache *t, uint32_t number)
{
	store_mark(t->store, number, UNWIND_FILE_REFUSED);
	t->refused++;
	if (t->said_unbuilt || t->complaint.n)
		return;
	note_complaint(t, number, "to build its unwind table takes more memory than --mem leaves: some stacks "
				  "will be cut short there");
	t->said_unbuilt = true;
}

static void accept_answer(struct table_cache *t, enum table_worker_said said, const struct table_worker_answer *a, uint64_t now)
{
	uint32_t number = asked_by(t, a->id);
	struct buf why = { 0 };
	bool reported;

	t->cpu_ns += a->cpu_ns;
	release_copy(t, a->id);
	if (number == 0)
		return;
	t->items[number].touched = now;
	if (said == TABLE_WORKER_ANSWER && a->has_image && t->interpreter)
		t->interpreter(t->interpreter_arg, t->items[number].exe, &a->image);
	if (said == TABLE_WORKER_LOST) { /* by then there is another fork server */
		report_loss(t, number);
		retry_later(t, number, now + RETRY);
		store_mark(t->store, number, UNWIND_FILE_NONE);
		return;
	}
	reported = a->passing && t->items[number].pause; /* the last time */
	if (a->passing)
		rest_file(t, number, &t->items[number].pause, now);
	else
		t->items[number].pause = 0;
	if (said == TABLE_WORKER_ANSWER && a->result == UNWIND_BUILT) {
		load_table(t, number, a->table, now);
		return;
	}
	if (said == TABLE_WORKER_ANSWER && a->result == UNWIND_NO_MEMORY && t->spare != UINT64_MAX) {
		refuse_build(t, number);
		return;
	}
	if (!a->passing)
		store_mark(t->store, number, UNWIND_FILE_NONE);
	if (reported || (said == TABLE_WORKER_ANSWER && a->result == UNWIND_NOTHING))
		return;
	buf_printf(&why, "no unwind table: %s", a->why ? a->why : "damaged");
	note_complaint(t, number, buf_cstr(&why));
	buf_release(&why);
}

/* Opens a copy of the recorder's own vDSO, which is not a file. */
static int open_vdso(void)
{
	struct buf image = { 0 }, id = { 0 };
	int fd = vdso_image(&image, &id) ? memfd_create("vdso", MFD_CLOEXEC) : -1;

	if (fd >= 0 && !full_write(fd, image.p, image.n)) {
		close(fd);
		fd = -1;
	}
	buf_release(&image);
	buf_release(&id);
	return fd;
}

/* The file is not available through this process, but maybe through the next one. */
static void give_up(struct table_cache *t, uint32_t number, uint64_t now)
{
	retry_later(t, number, now + RETRY);
	store_mark(t->store, number, UNWIND_FILE_NONE);
}

/*
 * Returns the bytes that the maker of a file's table may take: those that no table takes yet, but not more
 * than the file can need, since another maker may run beside it.
 */
static uint64_t maker_memory(const struct table_cache *t, int fd)
{
	uint64_t held = store_held(t->store), all = t->spare + store_most(t->store), most;
	struct stat st;

	if (t->spare == UINT64_MAX)
		return UINT64_MAX;
	most = MAKER_NEEDS + (fstat(fd, &st) == 0 ? (uint64_t)st.st_size / 2 : 0);
	for (int i = 0; i < TABLE_CACHE_WORKERS; i++)
		held += t->workers[i].owner >= 0 ? t->workers[i].memory : 0;
	if (held + MAKER_LEAST >= all)
		return MAKER_LEAST;
	return all - held < most ? all - held : most;
}

/* Gives files to free workers. A user other than root has at most one of the two workers. */
static void give_work(struct table_cache *t, uint64_t now)
{
	int64_t busy[TABLE_CACHE_WORKERS];
	struct table_queue_file f;

	for (int i = 0; i < TABLE_CACHE_WORKERS; i++)
		busy[i] = t->workers[i].owner;
	for (int i = 0; i < TABLE_CACHE_WORKERS; i++) {
		struct table_worker *w = &t->workers[i];
		uint32_t number;

		while (w->owner < 0 && table_queue_next(&t->waiting, busy, TABLE_CACHE_WORKERS, &f)) {
			number = asked_by(t, f.question);
			w->memory = maker_memory(t, f.fd);
			table_worker_limit(w->w, w->memory);
			if (number && table_worker_ask(w->w, f.question, f.fd)) {
				busy[i] = w->owner = f.owner;
			} else if (number) {
				if (errno == EPIPE)
					report_loss(t, number);
				give_up(t, number, now);
			}
			close(f.fd);
			if (w->owner < 0)
				release_copy(t, f.question);
		}
	}
}

/* Queues an opened file for a worker. True: the descriptor is taken over. */
static bool ask_worker(struct table_cache *t, uint32_t number, int fd, uint64_t size, uid_t owner, uint64_t now)
{
	struct table *f = &t->items[number];

	f->owner = owner;
	f->rest = 0;
	if (fd >= 0 && table_queue_add(&t->waiting, &(struct table_queue_file){ f->question, fd, f->preferred ? 0 : size, owner }))
		return true;
	give_up(t, number, now);
	return false;
}

static void ask_table(struct table_cache *t, uint32_t number, const struct proc *p, const struct map *m, uint64_t now)
{
	const struct exe *x = &t->procs->exes[m->file - 1];
	struct table *f = &t->items[number];
	bool is_vdso = slice_is(x->path, "[vdso]");
	int fd = is_vdso ? open_vdso() : -1;

	f->question = ++t->questions;
	f->asked = now;
	if (!is_vdso && !proc_scan_ask_file(t->procs->scan.opener, p->pid,
				       &(struct change){ .start = m->start, .length = m->end - m->start, .major = (uint32_t)x->major, .minor = (uint32_t)x->minor,
							 .inode = x->inode, .text = x->path, .build_id = x->build_id },
				       f->question, number))
		give_up(t, number, now);
	if (is_vdso && !ask_worker(t, number, fd, 0, 0, now) && fd >= 0)
		close(fd);
	give_work(t, now);
}

void table_cache_opened(struct table_cache *t, const struct opener_answer *a, uint64_t now)
{
	uint32_t number = asked_by(t, a->id);

	if (number && a->said == OPENER_SILENT) {
		rest_file(t, number, &t->items[number].rest, now);
	} else if (number && ask_worker(t, number, a->fd, a->size, a->uid, now)) {
		if (a->copied)
			hold_copy(t, a->id, a->size);
		give_work(t, now);
		return;
	}
	if (a->fd >= 0)
		close(a->fd);
}

/*
 * A stack that waits delays all later ones. So, for a while, stacks do not wait again for a user whose files
 * made them wait in vain; with many such users they wait for nobody but root.
 */
static bool is_slow(const struct table_cache *t, uid_t owner, uint64_t now)
{
	size_t n = 0;

	if (owner == 0)
		return false;
	for (size_t i = 0; i < TABLE_CACHE_SLOW; i++) {
		bool is = now < t->slow[i].until;

		if (is && t->slow[i].uid == owner)
			return true;
		n += is;
	}
	return n == TABLE_CACHE_SLOW;
}

/* The time doubles with each repetition, as long as the user is remembered. */
static void note_slow(struct table_cache *t, uid_t owner, uint64_t now)
{
	struct slow_user *s = &t->slow[0];
	uint64_t last;

	if (owner == 0)
		return;
	for (size_t i = 1; i < TABLE_CACHE_SLOW && s->uid != owner; i++)
		if (t->slow[i].uid == owner || t->slow[i].until < s->until)
			s = &t->slow[i];
	last = s->uid == owner ? s->lasts : 0;
	last = silent_devices_longer(last);
	*s = (struct slow_user){ owner, now + last, last };
}

bool table_cache_want(struct table_cache *t, const struct proc *p, const struct map *m, uint64_t now)
{
	uint32_t number = m->file ? t->procs->exes[m->file - 1].table : 0;

	if (number == 0 || store_state(t->store, number) != UNWIND_FILE_ASK)
		return false;
	if (!t->items[number].asked)
		ask_table(t, number, p, m, now);
	/* No stack waits for a file again that had no table at the last time. */
	if (store_state(t->store, number) != UNWIND_FILE_ASK || t->items[number].rest ||
	    t->items[number].pause || is_slow(t, t->items[number].owner, now))
		return false;
	if (now - t->items[number].asked < TABLE_CACHE_PATIENCE)
		return true;
	note_slow(t, t->items[number].owner, now);
	return false;
}

void table_cache_prefer(struct table_cache *t, uint32_t number)
{
	t->items[number].preferred = true;
}

/* Lets the files be asked for again whose time has come. */
static void retry_files(struct table_cache *t, uint64_t now)
{
	t->retry_at = 0;
	for (uint32_t i = 1; i < t->n; i++) {
		struct table *f = &t->items[i];

		if (!f->used || !f->retry)
			continue;
		if (f->retry > now) {
			retry_later(t, i, f->retry);
			continue;
		}
		f->retry = 0;
		f->asked = 0;
		store_mark(t->store, i, UNWIND_FILE_ASK);
	}
}

void table_cache_step(struct table_cache *t, uint64_t now)
{
	struct table_worker_answer a;
	enum table_worker_said said;

	for (int i = 0; i < TABLE_CACHE_WORKERS; i++) {
		while ((said = table_worker_take(t->workers[i].w, 0, &a)) != TABLE_WORKER_NOTHING) {
			if (t->workers[i].owner >= 0)
				table_queue_charge(&t->waiting, (uid_t)t->workers[i].owner, a.cpu_ns);
			t->workers[i].owner = -1;
			accept_answer(t, said, &a, now);
		}
	}
	give_work(t, now);
	if (t->retry_at && t->retry_at <= now)
		retry_files(t, now);
	store_reap(t->store, now);
}
