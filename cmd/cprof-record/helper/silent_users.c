#include "cmd/cprof-record/helper/silent_users.h"

#include "cmd/cprof-record/helper/nsfile.h"

#define REST UINT64_C(300000000000)

bool silent_users_has(const struct silent_users *s, pid_t pid, uint64_t now)
{
	pid_t nspid;
	uid_t uid;

	if (s->n == 0 || !nsfile_status(pid, &uid, &nspid))
		return false;
	for (size_t i = 0; i < s->n; i++)
		if (s->items[i].uid == uid)
			return s->items[i].n >= (s->tries ? s->tries : SILENT_USERS_TRIES) &&
			       now < s->items[i].until;
	return false;
}

/* Returns the user's item, a new one, or the one whose rest ends first. */
static struct silent_user *find_item(struct silent_users *s, uid_t uid)
{
	struct silent_user *first = &s->items[0];

	for (size_t i = 0; i < s->n; i++) {
		if (s->items[i].uid == uid)
			return &s->items[i];
		if (s->items[i].until < first->until)
			first = &s->items[i];
	}
	return s->n < SILENT_USERS_MOST ? &s->items[s->n++] : first;
}

void silent_users_note_uid(struct silent_users *s, uid_t uid, uint64_t now)
{
	struct silent_user *u = find_item(s, uid);

	if (u->uid != uid || u->n == 0)
		*u = (struct silent_user){ .uid = uid };
	u->n++;
	u->until = now + REST;
}

void silent_users_note(struct silent_users *s, pid_t pid, uint64_t now)
{
	pid_t nspid;
	uid_t uid;

	if (nsfile_status(pid, &uid, &nspid))
		silent_users_note_uid(s, uid, now);
}
