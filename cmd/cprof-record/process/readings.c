#include "cmd/cprof-record/process/readings.h"

#include "cmd/cprof-record/helper/nsfile.h"

#define MILLISECOND UINT64_C(1000000)
#define NOTED (10 * MILLISECOND)
#define CREDIT (2000 * MILLISECOND) /* the time of 100 ms of readings */

enum { SHARE = 20 }; /* one user's readings may take one part in 20 of the time */

static struct reading_user *find_user(const struct readings *r, uid_t uid)
{
	for (size_t i = 0; i < r->n_users; i++)
		if (r->users[i].uid == uid)
			return (struct reading_user *)&r->users[i];
	return NULL;
}

static uint64_t paid_at(const struct readings *r, uid_t uid)
{
	const struct reading_user *u = find_user(r, uid);

	return u ? u->paid : 0;
}

/* Returns a new item, or the one of the user who paid first. */
static struct reading_user *new_user(struct readings *r)
{
	struct reading_user *first = &r->users[0];

	if (r->n_users < READINGS_USERS)
		return &r->users[r->n_users++];
	for (size_t i = 1; i < r->n_users; i++)
		if (r->users[i].paid < first->paid)
			first = &r->users[i];
	return first;
}

static void charge(struct readings *r, uid_t uid, uint64_t now, uint64_t took)
{
	struct reading_user *u = find_user(r, uid);
	uint64_t since = u && u->paid > now ? u->paid : now;

	if (!u)
		u = new_user(r);
	*u = (struct reading_user){ uid, since + SHARE * took };
}

static bool rests(const struct readings *r, uid_t uid, uint64_t now)
{
	return paid_at(r, uid) > now + CREDIT;
}

bool readings_rest(const struct readings *r, uint32_t pid)
{
	pid_t nspid;
	uid_t uid;

	return r->n_users && nsfile_status((pid_t)pid, &uid, &nspid) && rests(r, uid, host_mono_ns());
}

void readings_charge(struct readings *r, uint32_t pid, uint64_t took)
{
	pid_t nspid;
	uid_t uid;

	if (took >= NOTED && nsfile_status((pid_t)pid, &uid, &nspid))
		charge(r, uid, host_mono_ns(), took);
}

static struct reading *find_reading(const struct readings *r, uint64_t serial)
{
	if (r->began && r->current.serial == serial)
		return (struct reading *)&r->current;
	for (size_t i = 0; i < r->n; i++)
		if (r->items[i].serial == serial)
			return (struct reading *)&r->items[i];
	return NULL;
}

/* Does this reading answer the question, too? One that waits can be made to. */
static bool serves(const struct readings *r, struct reading *found, enum reading_what what, uint64_t time)
{
	if (found->what != READ_ADDRESSES || what == READ_ADDRESSES)
		return true;
	if (found == &r->current)
		return false;
	found->what = what;
	found->time = time;
	return true;
}

/* Is there room for one more of this user? */
static bool has_room(const struct readings *r, uid_t uid)
{
	size_t same = 0;

	for (size_t i = 0; i < r->n; i++)
		same += r->items[i].uid == uid;
	return r->n < READINGS_MOST && same < READINGS_OF_ONE;
}

bool readings_want(struct readings *r, uint32_t pid, uint64_t serial, enum reading_what what, uint64_t time)
{
	struct reading *found = find_reading(r, serial);
	pid_t nspid;
	uid_t uid;

	if (found)
		return serves(r, found, what, time);
	if (!nsfile_status((pid_t)pid, &uid, &nspid))
		return false;
	if (!has_room(r, uid) || rests(r, uid, host_mono_ns())) {
		r->refused++;
		return false;
	}
	r->items[r->n++] =
		(struct reading){ .pid = pid, .serial = serial, .time = time, .uid = uid, .what = what };
	return true;
}

bool readings_awaits(const struct readings *r, uint64_t serial)
{
	const struct reading *found = find_reading(r, serial);

	return found && found->what == READ_MAPPINGS && !rests(r, found->uid, host_mono_ns());
}

bool readings_busy(const struct readings *r)
{
	return r->began != 0;
}

/* Takes out the reading whose turn it is. */
static bool next_reading(struct readings *r, uint64_t now, struct reading *out)
{
	size_t best = r->n;
	uint64_t least = now + CREDIT;

	for (size_t i = 0; i < r->n; i++) {
		uint64_t paid = paid_at(r, r->items[i].uid);

		paid = paid > now ? paid : now;
		if (paid > least || (best < r->n && paid == least))
			continue;
		best = i;
		least = paid;
	}
	if (best == r->n)
		return false;
	*out = r->items[best];
	memmove(&r->items[best], &r->items[best + 1], (--r->n - best) * sizeof(*r->items));
	return true;
}

/* A user who rests gives up its places: otherwise a few users would hold all of them for minutes. */
static void drop_resting(struct readings *r, uint64_t now, const struct readings_taker *taker)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++) {
		if (!rests(r, r->items[i].uid, now)) {
			r->items[n++] = r->items[i];
			continue;
		}
		r->refused++;
		taker->done(taker->arg, &r->items[i], false);
	}
	r->n = n;
}

static void end_reading(struct readings *r, const struct readings_taker *taker, bool read)
{
	taker->done(taker->arg, &r->current, read);
	maps_release(&r->current.maps);
	r->began = 0;
}

static void begin_reading(struct readings *r, struct proc_scan *scan, uint64_t now,
			  const struct readings_taker *taker)
{
	while (!r->began && next_reading(r, now, &r->current)) {
		r->began = now;
		if (!taker->wants(taker->arg, &r->current) ||
		    !proc_scan_ask_maps(scan, r->current.pid, r->current.what == READ_ADDRESSES))
			end_reading(r, taker, false);
	}
}

struct found {
	struct reading *reading;
	const struct readings_taker *taker;
};

static void add_found(void *arg, const struct change *c)
{
	const struct found *f = arg;

	f->taker->found(f->taker->arg, f->reading, c);
}

void readings_step(struct readings *r, struct proc_scan *scan, uint64_t now,
		   const struct readings_taker *taker)
{
	struct found found = { &r->current, taker };

	while (r->began) {
		enum maps_reader_said said =
			proc_scan_take_maps(scan, now, add_found, &found, &r->current.until);

		if (said == MAPS_READER_NOTHING)
			return;
		charge(r, r->current.uid, now, scan->maps.pending.took);
		end_reading(r, taker, said == MAPS_READER_READ);
		begin_reading(r, scan, now, taker);
	}
	drop_resting(r, now, taker);
	begin_reading(r, scan, now, taker);
}

void readings_release(struct readings *r)
{
	if (r->began)
		maps_release(&r->current.maps);
	*r = (struct readings){ 0 };
}
