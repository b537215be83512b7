#include "cmd/cprof-record/helper/opener.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/cprof-record/host/build_id.h"
#include "common/foreign/helper.h"
#include "cmd/cprof-record/host/host.h"
#include "cmd/cprof-record/helper/nsfile.h"
#include "cmd/cprof-record/helper/opener_process.h"
#include "cmd/cprof-record/helper/silent_users.h"
#include "cmd/cprof-record/helper/user_turns.h"
#include "common/base/array.h"

enum {
	LOCAL, REMOTE, CHANNELS,
	ASKED_MOST = 2048, /* questions of all users for a process */
	ASKED_OF_ONE = 256, /* a user's, unless it is root's */
	NOTED = 1000000, /* ns: an answer that took less is charged only if other questions wait */
	TRIES = 2,         /* a question whose process died this often is given up */
	BLIND_MOST = 16,   /* root's questions without an answer of an unknown device; with more, remote files rest */
	REMOTE_TRIES = 6,  /* devices of a user, known or not, that did not answer; then its remote files rest */
	KILLED_MOST = 64,
	COPIES_MOST = 32 << 20, /* bytes: with more in use, no further copy is begun */
	BUSY_TIMES = 5,    /* factor on the time limit for a process that runs or waits for a CPU */
};

/* Questions in a socket, at most. Copies are made one after the other, because their memory is limited. */
static const size_t on_their_way[CHANNELS] = { [LOCAL] = 16, [REMOTE] = 1 };

struct asked {
	struct opener_process_ask *ask;
	size_t n; /* bytes */
	unsigned int tries;
	bool knows_uid; /* uid is found when turns depend on it */
	uid_t uid;
	bool hopeless; /* the answer is known: OPENER_SILENT */
};

/* A helper process and the questions for it. */
struct channel {
	struct helper h;
	struct asked *asked; /* the process has the first `sent`, and users take turns with the others */
	size_t n, cap, sent;
	struct user_turns turns; /* by the time until the answers */
	uint64_t cpu_ns;    /* CPU time of the process by its last report */
	uint64_t since;     /* when the process got the first question */
	bool touches;       /* the process accesses this device, for the first question */
	uint64_t major, minor;
};

struct opener {
	struct channel channels[CHANNELS];
	int poll;
	struct opener_process own; /* inherited by forked processes */
	struct silent_users users;  /* those of processes whose local files made a process wait */
	struct silent_users remote; /* likewise, by their own file systems; not root */
	pid_t killed[KILLED_MOST];
	size_t n_killed;
	uint64_t blind, left_out, silent, dropped;
	uint64_t cpu_ns;
	uint64_t copies; /* bytes in use */
	uint64_t shut; /* no remote file is opened until then; 0: never yet */
	struct buf complaint;
	bool lent;
	struct opener_process_report report;
};

/* --- the processes --------------------------------------------------------------------------- */

struct beginning {
	struct opener *o;
	int which;
};

static void run_process(void *arg, int sock, pid_t parent, bool again)
{
	struct beginning *b = arg;

	opener_process_run(&b->o->own, sock, parent, again, b->which == REMOTE);
}

static void begin_process(struct opener *o, int which)
{
	struct channel *c = &o->channels[which];

	c->cpu_ns = 0;
	if (helper_begin(&c->h, run_process, &(struct beginning){ o, which }) &&
	    epoll_ctl(o->poll, EPOLL_CTL_ADD, c->h.sock, &(struct epoll_event){ EPOLLIN, { .fd = c->h.sock } }) == 0)
		return;
	helper_end(&c->h);
}

/* A killed process may wait for a file system for a while before it is gone. */
static void reap_killed(struct opener *o)
{
	size_t n = 0;

	for (size_t i = 0; i < o->n_killed; i++)
		if (waitpid(o->killed[i], NULL, WNOHANG) == 0)
			o->killed[n++] = o->killed[i];
	o->n_killed = n;
}

static void replace_process(struct opener *o, int which)
{
	struct channel *c = &o->channels[which];
	pid_t pid = helper_kill(&c->h);

	reap_killed(o);
	if (pid && o->n_killed < KILLED_MOST)
		o->killed[o->n_killed++] = pid;
	c->sent = 0;
	c->touches = false;
	begin_process(o, which);
}

struct opener *opener_new(void)
{
	struct opener *o = calloc(1, sizeof(*o));
	int error;

	if (!o)
		return NULL;
	for (int i = 0; i < CHANNELS; i++)
		o->channels[i].h = (struct helper)HELPER_NONE;
	o->channels[REMOTE].h = (struct helper)HELPER_LATER; /* few machines need it */
	o->remote.tries = REMOTE_TRIES;
	o->poll = epoll_create1(EPOLL_CLOEXEC);
	if (o->poll >= 0)
		begin_process(o, LOCAL);
	if (o->channels[LOCAL].h.sock >= 0)
		return o;
	error = errno;
	opener_free(o);
	errno = error;
	return NULL;
}

int opener_fd(const struct opener *o)
{
	return o->poll;
}

/* --- questions ------------------------------------------------------------------------------- */

static bool add_question(struct channel *c, struct asked a)
{
	if (!grow_array(&c->asked, &c->cap, c->n, sizeof(*c->asked)))
		return false;
	c->asked[c->n++] = a;
	return true;
}

/* All users whose processes are gone count as one. */
static uid_t uid_of(struct asked *a)
{
	pid_t nspid;

	if (!a->knows_uid && !nsfile_status((pid_t)a->ask->pid, &a->uid, &nspid))
		a->uid = (uid_t)-1;
	a->knows_uid = true;
	return a->uid;
}

/* Is there room for one more question of this user? */
static bool may_ask(struct channel *c, struct asked *a)
{
	size_t same = 0;

	if (c->n < ASKED_OF_ONE)
		return true;
	for (size_t i = 0; i < c->n; i++)
		same += uid_of(&c->asked[i]) == uid_of(a);
	return c->n < ASKED_MOST && (uid_of(a) == 0 || same < ASKED_OF_ONE);
}

/* Adds the question to those of a process. Returns false if there is no memory or no room. */
static bool enqueue(struct opener *o, int which, struct asked *a)
{
	struct channel *c = &o->channels[which];
	bool may = may_ask(c, a);

	o->dropped += !may;
	if (which == REMOTE) {
		uid_of(a); /* as long as there is the process: its user may be blamed later */
		a->hopeless |= silent_users_has(&o->remote, (pid_t)a->ask->pid, host_mono_ns());
	}
	return may && add_question(c, *a);
}

/* Moves the question whose turn it is to the front of those that wait. One that was lost goes first. */
static void choose_next(struct channel *c)
{
	struct asked *first = c->asked + c->sent, next;
	size_t n = c->n - c->sent, best = 0;

	if (n < 2 || first->tries)
		return;
	for (size_t i = 1; i < n; i++)
		if (user_turns_compare(&c->turns, uid_of(&first[i]), uid_of(&first[best])) < 0)
			best = i;
	next = first[best];
	memmove(first + 1, first, best * sizeof(*first));
	*first = next;
	user_turns_begin(&c->turns, next.uid);
}

/* Charges the time that the first question took to its user. */
static void charge_first(struct channel *c, uint64_t now)
{
	uint64_t took = now > c->since ? now - c->since : 0;

	if (took >= NOTED || c->n > 1)
		user_turns_charge(&c->turns, uid_of(&c->asked[0]), took);
}

static void drop_first(struct channel *c, bool all)
{
	if (all)
		free(c->asked[0].ask);
	c->n--;
	c->sent -= c->sent > 0;
	c->touches = false;
	memmove(c->asked, c->asked + 1, c->n * sizeof(*c->asked));
}

/* Returns true for a file whose answer is known: OPENER_SILENT. */
static bool is_hopeless(const struct opener *o, int which, const struct asked *a, uint64_t now)
{
	if (a->hopeless || (which == REMOTE && now < o->shut))
		return true;
	return which == REMOTE && silent_devices_has(&o->own.silent, a->ask->major, a->ask->minor, now);
}

/* Limits the memory in copies: no further one is made while too many bytes are in use. */
static bool has_room(const struct opener *o, int which)
{
	const struct channel *c = &o->channels[which];

	return which == LOCAL || o->copies <= COPIES_MOST || c->asked[c->sent].ask->want == OPENER_IDENTITY;
}

static void send_waiting(struct opener *o, int which, uint64_t now)
{
	struct channel *c = &o->channels[which];

	if (c->h.sock < 0 && c->n && helper_may_begin(&c->h))
		begin_process(o, which);
	while (c->h.sock >= 0 && c->sent < c->n && c->sent < on_their_way[which]) {
		choose_next(c);
		if (!has_room(o, which) || is_hopeless(o, which, &c->asked[c->sent], now) ||
		    !helper_send(c->h.sock, c->asked[c->sent].ask, c->asked[c->sent].n, -1, MSG_DONTWAIT))
			return;
		if (c->sent++ == 0)
			c->since = now;
	}
}

bool opener_ask(struct opener *o, const struct opener_question *q)
{
	struct asked a = { .n = sizeof(*a.ask) + q->path.n + q->build_id.n,
			   .hopeless = silent_users_has(&o->users, (pid_t)q->pid, host_mono_ns()) };
	bool remote = (q->major || q->minor) && !mounts_is_local(&o->own.mounts, q->major, q->minor);
	int which = remote ? REMOTE : LOCAL;

	if (q->path.n > OPENER_PROCESS_PATH || q->build_id.n > ELF_ID_MAX)
		return false;
	a.ask = calloc(1, a.n);
	if (!a.ask)
		return false;
	*a.ask = (struct opener_process_ask){ .want = q->want, .id = q->id, .place = q->place, .pid = q->pid, .nspid = q->nspid,
					.start = q->start, .end = q->end, .major = q->major, .minor = q->minor,
					.inode = q->inode, .from = q->from, .path_n = (uint32_t)q->path.n, .id_n = (uint32_t)q->build_id.n };
	if (q->path.n)
		memcpy(a.ask->bytes, q->path.p, q->path.n);
	if (q->build_id.n)
		memcpy(a.ask->bytes + q->path.n, q->build_id.p, q->build_id.n);
	if (!enqueue(o, which, &a)) {
		free(a.ask);
		return false;
	}
	send_waiting(o, which, host_mono_ns());
	return true;
}

/* A question may have to be passed on, so there must be room for those of both processes in one. */
bool opener_has_room(const struct opener *o)
{
	return o->channels[LOCAL].n + o->channels[REMOTE].n < ASKED_OF_ONE;
}

/* --- answers --------------------------------------------------------------------------------- */

static void set_complaint(struct opener *o, const char *text)
{
	if (o->lent)
		buf_clear(&o->complaint);
	o->lent = false;
	if (o->complaint.n == 0)
		buf_text(&o->complaint, text);
}

/* Answers the first question of a process without asking it. */
static bool answer_first(struct opener *o, struct channel *c, enum opener_said said, struct opener_answer *a)
{
	const struct opener_process_ask *q = c->asked[0].ask;

	*a = (struct opener_answer){ .want = q->want, .said = said, .id = q->id, .place = q->place, .fd = -1 };
	o->left_out += said == OPENER_SILENT;
	drop_first(c, true);
	return true;
}

/*
 * A process can hold the lock of its memory for ever, which a mapped file is found by. After some vain waits
 * for processes of one user, that user's local files are not asked for either.
 */
static void blame_user(struct silent_users *users, struct channel *c)
{
	uint64_t now = host_mono_ns();
	uid_t uid = uid_of(&c->asked[0]);

	if (uid != (uid_t)-1)
		silent_users_note_uid(users, uid, now);
	for (size_t i = 0; i < c->n; i++)
		c->asked[i].hopeless |= silent_users_has(users, (pid_t)c->asked[i].ask->pid, now);
}

/* Too many file systems do not answer to find out which ones do. */
static void shut_remote(struct opener *o, uint64_t now)
{
	if (!o->shut)
		set_complaint(o, "too many file systems did not answer: "
				 "for ten minutes only files of local ones are read");
	o->shut = now + SILENT_DEVICES_LAST;
	o->blind = 0;
}

/* Each device is reported once. */
static void report_silence(struct opener *o, const struct opener_process_ask *q)
{
	struct buf text = { 0 };

	buf_printf(&text,
		   "a file system of process %u (%.*s) did not answer in %g s: "
		   "none of its files is read for a while",
		   q->pid, q->path_n ? (int)q->path_n : -1,
		   q->path_n ? (const char *)q->bytes : "that of /tmp",
		   OPENER_PATIENCE / 1e9);
	set_complaint(o, buf_cstr(&text));
	buf_release(&text);
}

/*
 * The process did not answer in time: replaces it and lets the device rest. A local device is not blamed,
 * because a lookup on the way there may have caused the delay; nor is the mapping's, unless the process is
 * root's, because its user may have put another file system on the way. Any user can have many file systems
 * that do not answer: then that user's files rest, and no other user's.
 */
static bool give_up(struct opener *o, int which, uint64_t now, struct opener_answer *a)
{
	struct channel *c = &o->channels[which];
	const struct opener_process_ask *q = c->asked[0].ask;
	bool root = uid_of(&c->asked[0]) == 0, room = true, first = true;
	uint64_t major = c->touches ? c->major : root ? q->major : 0;
	uint64_t minor = c->touches ? c->minor : root ? q->minor : 0;

	o->silent++;
	charge_first(c, now);
	if ((major || minor) && (c->touches || which == REMOTE))
		room = silent_devices_note(&o->own.silent, major, minor, now, &first);
	else if (which == REMOTE && root)
		room = ++o->blind <= BLIND_MOST;
	if (which == LOCAL)
		blame_user(&o->users, c);
	else if (!root && first)
		blame_user(&o->remote, c);
	if (!room)
		shut_remote(o, now);
	else if (first)
		report_silence(o, q);
	answer_first(o, c, OPENER_SILENT, a);
	replace_process(o, which);
	return true;
}

/* The process died or was killed by someone else. */
static void lose_process(struct opener *o, int which)
{
	struct channel *c = &o->channels[which];

	if (c->sent)
		c->asked[0].tries++;
	c->sent = 0;
	c->touches = false;
	helper_kill(&c->h);
}

static bool take_report(struct opener *o, struct channel *c, int fd, struct opener_answer *a)
{
	const struct opener_process_report *r = &o->report;

	*a = (struct opener_answer){
		.want = c->asked[0].ask->want, .said = r->said, .id = r->id, .place = c->asked[0].ask->place, .fd = fd,
		.copied = r->copied, .from = r->from, .error = r->error, .dev = r->dev, .inode = r->inode, .size = r->size, .uid = r->uid,
		.written = r->written, .build_id = { r->build_id, r->id_n <= ELF_ID_MAX ? r->id_n : 0 },
	};
	o->left_out += r->said == OPENER_SILENT;
	if (c->touches)
		silent_devices_forget(&o->own.silent, c->major, c->minor);
	drop_first(c, true);
	return true;
}

/* Takes messages of a process up to the next answer. Returns false if there is none now. */
static bool take_message(struct opener *o, int which, uint64_t now, struct opener_answer *a)
{
	struct channel *c = &o->channels[which];
	struct opener_process_report *r = &o->report;
	size_t n;
	int fd;

	for (;;) {
		n = sizeof(*r);
		if (c->h.sock < 0 || !helper_take(c->h.sock, r, &n, &fd, MSG_DONTWAIT)) {
			if (c->h.sock >= 0 && errno != EAGAIN && errno != EINTR)
				lose_process(o, which);
			return false;
		}
		if (n != sizeof(*r) || c->sent == 0 || c->asked[0].ask->id != r->id) {
			if (fd >= 0)
				close(fd);
			lose_process(o, which);
			return false;
		}
		if (r->kind == OPENER_PROCESS_TOUCHES) {
			c->touches = r->major || r->minor;
			c->major = r->major;
			c->minor = r->minor;
			continue;
		}
		charge_first(c, now);
		c->since = now;
		o->cpu_ns += r->cpu_ns - c->cpu_ns;
		c->cpu_ns = r->cpu_ns;
		if (r->kind == OPENER_PROCESS_ANSWER)
			return take_report(o, c, fd, a);
		if (which == REMOTE) /* a remote process passes nothing on */
			return answer_first(o, c, OPENER_NONE, a);
		if (!enqueue(o, REMOTE, &c->asked[0]))
			return answer_first(o, c, OPENER_LATER, a);
		drop_first(c, false);
		send_waiting(o, REMOTE, now);
	}
}

static bool is_too_late(const struct channel *c, uint64_t now)
{
	uint64_t took = c->sent > 0 && now > c->since ? now - c->since : 0;

	return took > OPENER_PATIENCE && (took > BUSY_TIMES * OPENER_PATIENCE || !helper_is_running(&c->h));
}

/* Answers the first question if the process need not be asked. Returns false if it must, or has been. */
static bool answer_known(struct opener *o, int which, uint64_t now, struct opener_answer *a)
{
	struct channel *c = &o->channels[which];
	bool lost = c->n > 0 && c->asked[0].tries >= TRIES;

	if (c->n == 0 || c->sent > 0 || !(lost || is_hopeless(o, which, &c->asked[0], now)))
		return false;
	return answer_first(o, c, lost ? OPENER_NONE : OPENER_SILENT, a);
}

static bool take_answer(struct opener *o, int which, uint64_t now, struct opener_answer *a)
{
	if (take_message(o, which, now, a))
		return true;
	if (is_too_late(&o->channels[which], now))
		return give_up(o, which, now, a);
	if (answer_known(o, which, now, a))
		return true;
	send_waiting(o, which, now);
	return answer_known(o, which, now, a); /* its turn may have come just now */
}

bool opener_take(struct opener *o, uint64_t now, struct opener_answer *a)
{
	if (o->n_killed)
		reap_killed(o);
	for (int i = 0; i < CHANNELS; i++)
		if (take_answer(o, i, now, a))
			return true;
	return false;
}

bool opener_wait(struct opener *o, const struct opener_question *q, struct opener_answer *a)
{
	struct pollfd p = { o->poll, POLLIN, 0 };

	if (!opener_ask(o, q))
		return false;
	while (!opener_take(o, host_mono_ns(), a))
		poll(&p, 1, 100);
	return true;
}

bool opener_is_local(struct opener *o, uint64_t major, uint64_t minor)
{
	return mounts_is_local(&o->own.mounts, major, minor);
}

void opener_hold(struct opener *o, uint64_t bytes)
{
	o->copies += bytes;
}

void opener_let_go(struct opener *o, uint64_t bytes)
{
	o->copies -= bytes;
}

uint64_t opener_cpu_ns(const struct opener *o)
{
	return o ? o->cpu_ns : 0;
}

uint64_t opener_left_out(const struct opener *o)
{
	return o->left_out;
}

uint64_t opener_dropped(const struct opener *o)
{
	return o->dropped;
}

uint64_t opener_silent(const struct opener *o)
{
	return o->silent;
}

const char *opener_complaint(struct opener *o)
{
	if (o->lent || o->complaint.n == 0)
		return NULL;
	o->lent = true;
	return buf_cstr(&o->complaint);
}

void opener_free(struct opener *o)
{
	if (!o)
		return;
	for (int i = 0; i < CHANNELS; i++) {
		helper_kill(&o->channels[i].h); /* it sleeps or waits for a file system: do not wait for it */
		while (o->channels[i].n > 0)
			drop_first(&o->channels[i], true);
		free(o->channels[i].asked);
		user_turns_release(&o->channels[i].turns);
	}
	reap_killed(o);
	if (o->poll >= 0)
		close(o->poll);
	opener_process_release(&o->own);
	buf_release(&o->complaint);
	free(o);
}
