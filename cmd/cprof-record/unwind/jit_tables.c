#include "cmd/cprof-record/unwind/jit_tables.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/base/array.h"
#include "common/base/full_write.h"
#include "common/base/idmap.h"
#include "common/stream/record.h"

#define REST_LEAST 50000000ull /* ns between two builds for a process */
#define REST_FAILED 1000000000ull /* more after one that failed, if its code is not the reason */

enum {
	REST_TIMES = 20,  /* or this many times what the last one took */
	PIECE_BYTES = 64, /* the memory of a piece, without its .eh_frame */
	ADDRESS_BITS = 47,
};

struct jit_piece {
	uint64_t address, size; /* size 0: another piece has replaced it */
	uint32_t at, n;		/* its .eh_frame in bytes */
};

/* The code of a process. */
struct jit_codes {
	struct proc *proc;
	uid_t uid;
	struct jit_piece *pieces; /* as they came */
	size_t n, cap, n_replaced;
	struct buf bytes;
	struct idmap by_address; /* index of the piece that begins there */
	uint64_t kept;		 /* bytes, as they count for the limits */
	uint64_t next;		 /* no build before */
	bool changed;		 /* since the last build was asked for */
	uint32_t question;	 /* the one under way; 0: none */
	uint32_t pages;		 /* the pages of its table */
};

struct jit_user {
	uid_t uid;
	uint64_t kept, cpu_ns;
};

struct jit_tables {
	struct user_walk *walk;
	struct worker *worker; /* NULL: there was no code yet */
	int epoll;
	struct jit_codes **items;
	size_t n, cap;
	struct jit_user *users;
	size_t n_users, cap_users;
	uint64_t kept;
	uint32_t questions, pages;
	bool busy; /* the worker has a question */
};

struct jit_tables *jit_tables_new(struct user_walk *walk, int epoll)
{
	struct jit_tables *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->walk = walk;
	j->epoll = epoll;
	return j;
}

/* Most recordings need no worker. Returns false with an error of the system. */
static bool begin_worker(struct jit_tables *j)
{
	if (j->worker)
		return true;
	j->worker = table_worker_new_for_codes();
	return j->worker &&
	       epoll_ctl(j->epoll, EPOLL_CTL_ADD, table_worker_fd(j->worker),
			 &(struct epoll_event){ EPOLLIN, { .fd = table_worker_fd(j->worker) } }) == 0;
}

static void free_codes(struct jit_codes *c)
{
	c->proc->space.jit = NULL;
	idmap_release(&c->by_address);
	buf_release(&c->bytes);
	free(c->pieces);
	free(c);
}

void jit_tables_free(struct jit_tables *j)
{
	if (!j)
		return;
	for (size_t i = 0; i < j->n; i++)
		free_codes(j->items[i]);
	table_worker_free(j->worker);
	free(j->items);
	free(j->users);
	free(j);
}

uint64_t jit_tables_kept(const struct jit_tables *j)
{
	return j->kept;
}

/* --- pieces of code --------------------------------------------------------------------------- */

/* Adds a user, if possible in place of one who has nothing here. Returns NULL if out of memory. */
static struct jit_user *add_user(struct jit_tables *j, uid_t uid)
{
	uint64_t least = UINT64_MAX;
	size_t at = j->n_users;

	for (size_t i = 0; i < j->n_users; i++) {
		if (j->users[i].kept == 0)
			at = i;
		else if (j->users[i].cpu_ns < least)
			least = j->users[i].cpu_ns;
	}
	if (!grow_array(&j->users, &j->cap_users, at, sizeof(*j->users)))
		return NULL;
	j->n_users += at == j->n_users;
	/* A new user has no claim on the time that others had. */
	j->users[at] = (struct jit_user){ .uid = uid, .cpu_ns = least == UINT64_MAX ? 0 : least };
	return &j->users[at];
}

static struct jit_user *find_user(struct jit_tables *j, uid_t uid)
{
	for (size_t i = 0; i < j->n_users; i++)
		if (j->users[i].uid == uid)
			return &j->users[i];
	return add_user(j, uid);
}

static void count_kept(struct jit_tables *j, struct jit_codes *c, uint64_t bytes)
{
	struct jit_user *u = find_user(j, c->uid);

	j->kept += bytes - c->kept;
	if (u)
		u->kept += bytes - c->kept;
	c->kept = bytes;
}

static struct jit_codes *new_codes(struct jit_tables *j, struct proc *p, uid_t uid)
{
	struct jit_codes *c = calloc(1, sizeof(*c));

	if (!c || !begin_worker(j) || !find_user(j, uid) ||
	    !grow_array(&j->items, &j->cap, j->n, sizeof(*j->items))) {
		free(c);
		return NULL;
	}
	*c = (struct jit_codes){ .proc = p, .uid = uid };
	idmap_init(&c->by_address);
	j->items[j->n++] = c;
	p->space.jit = c;
	return c;
}

static uint64_t bytes_of(const struct jit_codes *c)
{
	return (uint64_t)c->n * PIECE_BYTES + c->bytes.n;
}

/* Appends a piece, which replaces one at the same address. Returns false if out of memory. */
static bool append_piece(struct jit_codes *c, uint64_t address, uint64_t size, struct slice eh_frame)
{
	size_t at = c->bytes.n;
	uint32_t before;

	if (!grow_array(&c->pieces, &c->cap, c->n, sizeof(*c->pieces)))
		return false;
	buf_bytes(&c->bytes, eh_frame.p, eh_frame.n);
	if (c->bytes.failed)
		return false;
	if (idmap_find(&c->by_address, address, &before)) {
		c->pieces[before].size = 0;
		c->n_replaced++;
	}
	c->pieces[c->n] = (struct jit_piece){ address, size, (uint32_t)at, (uint32_t)eh_frame.n };
	return idmap_set(&c->by_address, address, (uint32_t)c->n++);
}

static struct slice eh_frame_of(const struct jit_codes *c, const struct jit_piece *piece)
{
	return (struct slice){ c->bytes.p + piece->at, piece->n };
}

/* Leaves out replaced pieces, and the older half of all if that is asked. Returns false if out of memory. */
static bool compact_codes(struct jit_codes *c, bool halve)
{
	struct jit_codes fresh = { .proc = c->proc };
	bool good = true;

	idmap_init(&fresh.by_address);
	for (size_t i = halve ? c->n / 2 : 0; good && i < c->n; i++)
		if (c->pieces[i].size)
			good = append_piece(&fresh, c->pieces[i].address, c->pieces[i].size,
					    eh_frame_of(c, &c->pieces[i]));
	idmap_release(good ? &c->by_address : &fresh.by_address);
	buf_release(good ? &c->bytes : &fresh.bytes);
	free(good ? c->pieces : fresh.pieces);
	if (!good)
		return false;
	c->by_address = fresh.by_address;
	c->bytes = fresh.bytes;
	c->pieces = fresh.pieces;
	c->n = fresh.n;
	c->cap = fresh.cap;
	c->n_replaced = 0;
	return true;
}

/* Makes room for a piece of this many bytes. Returns false if there is none. */
static bool make_room(struct jit_tables *j, struct jit_codes *c, size_t bytes)
{
	const struct jit_user *u = find_user(j, c->uid);

	if (c->n_replaced > c->n / 2 && !compact_codes(c, false))
		return false;
	if (bytes_of(c) + bytes > JIT_TABLES_OF_ONE && !compact_codes(c, true))
		return false;
	count_kept(j, c, bytes_of(c));
	return u && bytes_of(c) + bytes <= JIT_TABLES_OF_ONE && u->kept + bytes <= JIT_TABLES_OF_USER &&
	       j->kept + bytes <= JIT_TABLES_MOST;
}

static void add_piece(struct jit_tables *j, struct jit_codes *c, uint64_t address, uint64_t size,
		      struct slice eh_frame)
{
	if (!make_room(j, c, PIECE_BYTES + eh_frame.n))
		return;
	if (append_piece(c, address, size, eh_frame))
		c->changed = true;
	count_kept(j, c, bytes_of(c));
}

/* Moves the .eh_frame with the code: its addresses are relative. */
static void move_piece(struct jit_tables *j, struct jit_codes *c, const struct jitfile_code *code)
{
	struct buf eh_frame = { 0 };
	uint32_t at;

	if (!idmap_find(&c->by_address, code->old, &at))
		return;
	buf_bytes(&eh_frame, c->bytes.p + c->pieces[at].at, c->pieces[at].n);
	add_piece(j, c, code->old, code->size, (struct slice){ NULL, 0 });
	if (!eh_frame.failed)
		add_piece(j, c, code->address, code->size, buf_view(&eh_frame));
	buf_release(&eh_frame);
}

static bool is_user_code(const struct jitfile_code *code)
{
	return code->size <= UNWIND_CODES_SPAN && code->address + code->size <= UINT64_C(1) << ADDRESS_BITS;
}

void jit_tables_add(struct jit_tables *j, struct proc *p, uid_t uid, const struct jitfile_code *code,
		    struct slice eh_frame)
{
	struct jit_codes *c = p->space.jit;

	if (!is_user_code(code) || p->dead || (!c && eh_frame.n == 0))
		return;
	if (!c && !(c = new_codes(j, p, uid)))
		return;
	if (code->kind == JITCODE_MOVE)
		move_piece(j, c, code);
	else
		add_piece(j, c, code->address, code->size, eh_frame);
}

/* --- tables ---------------------------------------------------------------------------------- */

/* Writes all pieces to a memfd, the newest first. Returns -1 on failure. */
static int write_codes(const struct jit_codes *c)
{
	struct buf out = { 0 };
	int fd;

	for (size_t i = c->n; i-- > 0;)
		if (c->pieces[i].size)
			unwind_codes_add(&out, c->pieces[i].address, c->pieces[i].size,
					 eh_frame_of(c, &c->pieces[i]));
	fd = out.failed ? -1 : memfd_create("cprof-codes", MFD_CLOEXEC);
	if (fd >= 0 && !full_write(fd, out.p, out.n)) {
		close(fd);
		fd = -1;
	}
	buf_release(&out);
	return fd;
}

static uint64_t time_used(struct jit_tables *j, uid_t uid)
{
	const struct jit_user *u = find_user(j, uid);

	return u ? u->cpu_ns : UINT64_MAX;
}

/* Returns the process whose table is built next; NULL: there is none. */
static struct jit_codes *next_codes(struct jit_tables *j, uint64_t now)
{
	struct jit_codes *best = NULL;

	for (size_t i = 0; i < j->n; i++) {
		struct jit_codes *c = j->items[i];

		if (!c->changed || c->next > now)
			continue;
		if (!best || (c->uid != best->uid && time_used(j, c->uid) < time_used(j, best->uid)) ||
		    (c->uid == best->uid && c->next < best->next))
			best = c;
	}
	return best;
}

static void ask_worker(struct jit_tables *j, struct jit_codes *c, uint64_t now)
{
	int fd = write_codes(c);

	c->next = now + REST_LEAST;
	if (fd < 0)
		return;
	j->questions = j->questions == UINT32_MAX ? 1 : j->questions + 1;
	j->busy = table_worker_ask(j->worker, j->questions, fd);
	if (j->busy) {
		c->question = j->questions;
		c->changed = false;
	}
	close(fd);
}

static struct jit_codes *asked_by(const struct jit_tables *j, uint32_t question)
{
	for (size_t i = 0; i < j->n; i++)
		if (j->items[i]->question == question)
			return j->items[i];
	return NULL;
}

/* Loads a table under a new number, 0 if there is no room or no table, and gives it to the walk. */
static void load_table(struct jit_tables *j, struct jit_codes *c, struct slice bytes, uint64_t now)
{
	struct store *store = j->walk->tables->store;
	struct unwind_table t = { 0 };
	uint32_t number = 0, before = j->pages - c->pages;

	c->pages = 0;
	if (unwind_table_read(&t, bytes) && before + t.n_pages <= JIT_TABLES_PAGES)
		number = store_file(store);
	if (number && store_load(store, number, &t) != STORE_LOADED) {
		store_forget(store, number, now);
		number = 0;
	}
	if (number)
		c->pages = (uint32_t)t.n_pages;
	j->pages = before + c->pages;
	user_walk_jit(j->walk, c->proc, number, t.first_page << UNWIND_PAGE_SHIFT,
		      (t.first_page + t.n_pages) << UNWIND_PAGE_SHIFT, now);
	unwind_table_release(&t);
}

static void accept_answer(struct jit_tables *j, enum table_worker_said said,
			  const struct table_worker_answer *a, uint64_t now)
{
	struct jit_codes *c = asked_by(j, a->id);
	struct jit_user *u = c ? find_user(j, c->uid) : NULL;

	j->walk->tables->cpu_ns += a->cpu_ns;
	if (!c)
		return;
	if (u)
		u->cpu_ns += a->cpu_ns;
	c->question = 0;
	c->next = now + (a->cpu_ns * REST_TIMES > REST_LEAST ? a->cpu_ns * REST_TIMES : REST_LEAST);
	c->changed |= said == TABLE_WORKER_LOST || a->passing;
	c->next += a->passing ? REST_FAILED : 0;
	if (said == TABLE_WORKER_ANSWER)
		load_table(j, c, a->result == UNWIND_BUILT ? a->table : (struct slice){ NULL, 0 }, now);
}

void jit_tables_step(struct jit_tables *j, uint64_t now)
{
	struct table_worker_answer a;
	enum table_worker_said said;
	struct jit_codes *c;

	if (!j->worker)
		return;
	while ((said = table_worker_take(j->worker, 0, &a)) != TABLE_WORKER_NOTHING) {
		j->busy = false;
		accept_answer(j, said, &a, now);
	}
	while (!j->busy && (c = next_codes(j, now)))
		ask_worker(j, c, now);
}

void jit_tables_gone(struct jit_tables *j, struct proc *p)
{
	struct jit_codes *c = p->space.jit;

	if (!c)
		return;
	count_kept(j, c, 0);
	j->pages -= c->pages;
	for (size_t i = 0; i < j->n; i++)
		if (j->items[i] == c)
			j->items[i--] = j->items[--j->n];
	free_codes(c);
}
