#include "cmd/cprof-record/process/procs_exes.h"

#include <stdlib.h>

#include "cmd/cprof-record/helper/silent_devices.h"
#include "common/base/array.h"
#include "common/base/hash.h"
#include "common/base/idmap.h"

enum {
	EXES_LEAST = 4096, /* with fewer, files that no process maps are not searched for */
	PAUSE = 500000000, /* ns until a question that had no room is asked again */
	SEARCH_SHARE = 1000, /* searches for files to ask for may take one part in 1000 of the time */
};

static void free_exe_text(struct exe *e)
{
	free(e->key);
	free(e->read_id);
}

static bool exe_find(const struct procs *ps, uint64_t hash, const struct buf *key, uint32_t *at)
{
	return idmap_find(&ps->exe_keys, hash, at) && ps->exes[*at].key_n == key->n &&
	       memcmp(ps->exes[*at].key, key->p, key->n) == 0;
}

/* Adds an entry and takes over the key's bytes. */
static bool exe_add(struct procs *ps, uint64_t hash, struct buf *key, uint32_t *at)
{
	bool again = ps->n_free > 0;

	*at = again ? ps->free_exes[ps->n_free - 1] : (uint32_t)ps->n_exes;
	if (!grow_array(&ps->exes, &ps->cap_exes, *at, sizeof(*ps->exes)) ||
	    !idmap_set(&ps->exe_keys, hash, *at))
		return false;
	if (again)
		ps->n_free--;
	else
		ps->n_exes++;
	ps->exes[*at] = (struct exe){ .key = key->p, .key_n = key->n };
	*key = (struct buf){ 0 };
	return true;
}

static void note_due(struct procs *ps, uint64_t due)
{
	if (!ps->due || due < ps->due)
		ps->due = due;
}

static void ask_later(struct procs *ps, struct exe *e, uint64_t pause)
{
	e->due = host_mono_ns() + pause;
	note_due(ps, e->due);
}

/* Records wait for the answer by the time of the first question, not of one that is asked again. */
static void ask_identity(struct procs *ps, uint32_t at, uint32_t pid, const struct change *c)
{
	struct exe *e = &ps->exes[at];

	e->due = 0;
	e->asked = e->asked ? e->asked : host_mono_ns();
	if (!ps->scan.opener || !proc_scan_is_file(c))
		return;
	if (!proc_scan_ask_identity(ps->scan.opener, pid, c, ++ps->questions, at)) {
		ask_later(ps, e, PAUSE);
		return;
	}
	e->question = ps->questions;
	ps->unidentified++;
}

static void end_question(struct procs *ps, struct exe *e)
{
	ps->unidentified -= e->question != 0;
	e->question = 0;
}

void procs_identified(struct procs *ps, const struct opener_answer *a)
{
	struct exe *e = a->place < ps->n_exes ? &ps->exes[a->place] : NULL;
	struct buf id = { 0 };

	if (!e || !e->key || e->question != a->id)
		return;
	end_question(ps, e);
	e->rest = a->said == OPENER_SILENT ? silent_devices_longer(e->rest) : 0;
	if (e->rest || a->said == OPENER_LATER)
		ask_later(ps, e, e->rest ? e->rest : PAUSE);
	buf_bytes(&id, a->build_id.p, a->build_id.n);
	if (id.failed || id.n == 0) {
		buf_release(&id);
		return;
	}
	e->build_id = buf_view(&id);
	e->read_id = id.p; /* taken over */
}

/* Asks for the files of a process whose time has come. Returns false if there is no room for more. */
static bool ask_due(struct procs *ps, const struct proc *p, uint64_t now)
{
	for (const struct map *m = maps_from(&p->maps, 0); m; m = maps_from(&p->maps, m->end)) {
		const struct exe *e = m->file ? &ps->exes[m->file - 1] : NULL;

		if (!e || !e->due || e->due > now)
			continue;
		if (!opener_has_room(ps->scan.opener))
			return false;
		ask_identity(ps, m->file - 1, p->pid,
			     &(struct change){ .start = m->start, .length = m->end - m->start,
					       .major = (uint32_t)e->major, .minor = (uint32_t)e->minor,
					       .inode = e->inode, .text = e->path });
	}
	return true;
}

/* A file without a living process stays due, until one maps it. */
void procs_ask_exes(struct procs *ps, uint64_t now)
{
	bool all = true;

	if (!ps->due || now < ps->due || now < ps->due_pause)
		return;
	for (size_t i = 0; i < ps->n && all; i++)
		all = ps->items[i]->dead || ask_due(ps, ps->items[i], now);
	ps->due = 0;
	for (size_t i = 0; i < ps->n_exes; i++)
		if (ps->exes[i].due && (!all || ps->exes[i].due > now))
			note_due(ps, ps->exes[i].due);
	ps->due_pause = now + (host_mono_ns() - now) * SEARCH_SHARE;
}

bool procs_awaits(const struct procs *ps, const struct map *m, uint64_t now)
{
	const struct exe *e = m->file ? &ps->exes[m->file - 1] : NULL;

	return e && e->question && now - e->asked < OPENER_PATIENCE;
}

bool procs_awaits_any(const struct procs *ps, const struct proc *p, uint64_t now)
{
	if (ps->unidentified == 0)
		return false;
	for (const struct map *m = maps_from(&p->maps, 0); m; m = maps_from(&p->maps, m->end))
		if (procs_awaits(ps, m, now))
			return true;
	return false;
}

uint32_t procs_exe_of(struct procs *ps, uint32_t pid, const struct change *c)
{
	struct buf key = { 0 };
	uint64_t hash;
	uint32_t at = 0;
	bool good;

	/* A build ID identifies a file. Without one, its device and inode must. */
	buf_slice(&key, c->build_id);
	if (c->build_id.n == 0) {
		buf_varint(&key, c->major);
		buf_varint(&key, c->minor);
		buf_varint(&key, c->inode);
		buf_varint(&key, c->generation);
	}
	buf_slice(&key, c->text);
	hash = hash_bytes(key.p, key.n);
	good = !key.failed;
	if (good && exe_find(ps, hash, &key, &at)) {
		if (ps->exes[at].due && ps->exes[at].due <= host_mono_ns())
			ask_identity(ps, at, pid, c);
	} else if (good && (good = exe_add(ps, hash, &key, &at))) {
		struct exe *e = &ps->exes[at];

		e->major = c->major;
		e->minor = c->minor;
		e->inode = c->inode;
		e->generation = c->generation;
		e->path = (struct slice){ e->key + e->key_n - c->text.n, c->text.n };
		e->build_id = (struct slice){ e->key + 1, c->build_id.n };
		if (c->build_id.n == 0 && c->inode)
			ask_identity(ps, at, pid, c);
	}
	buf_release(&key);
	ps->failed |= !good;
	return good ? at + 1 : 0;
}

static void mark_exes(struct procs *ps, const struct maps *maps)
{
	for (const struct map *m = maps_from(maps, 0); m; m = maps_from(maps, m->end))
		if (m->file)
			ps->exes[m->file - 1].used = true;
}

static void free_exe(struct procs *ps, uint32_t at)
{
	struct exe *e = &ps->exes[at];
	uint64_t hash = hash_bytes(e->key, e->key_n);
	uint32_t found;

	if (!grow_array(&ps->free_exes, &ps->cap_free, ps->n_free, sizeof(*ps->free_exes)))
		return;
	if (idmap_find(&ps->exe_keys, hash, &found) && found == at)
		idmap_remove(&ps->exe_keys, hash);
	if (ps->exe_gone)
		ps->exe_gone(ps->exe_gone_arg, e);
	end_question(ps, e);
	free_exe_text(e);
	*e = (struct exe){ 0 };
	ps->free_exes[ps->n_free++] = at;
}

void procs_clear_exes(struct procs *ps)
{
	bool all = ps->n_exes - ps->n_free >= (ps->clear_at ? ps->clear_at : EXES_LEAST);

	if (!all && !ps->clear_images)
		return;
	ps->clear_images = false;
	for (size_t i = 0; i < ps->n; i++) {
		mark_exes(ps, &ps->items[i]->maps);
		mark_exes(ps, &ps->items[i]->since);
		mark_exes(ps, &ps->items[i]->said);
	}
	for (size_t i = 0; i < ps->n_rereads; i++)
		mark_exes(ps, &ps->rereads[i].maps);
	for (uint32_t i = 0; i < ps->n_exes; i++) {
		if (ps->exes[i].key && !ps->exes[i].used && (all || ps->exes[i].image))
			free_exe(ps, i);
		ps->exes[i].used = false;
	}
	if (!all)
		return;
	ps->clear_at = 2 * (ps->n_exes - ps->n_free);
	if (ps->clear_at < EXES_LEAST)
		ps->clear_at = EXES_LEAST;
}

void procs_free_exes(struct procs *ps)
{
	for (size_t i = 0; i < ps->n_exes; i++)
		free_exe_text(&ps->exes[i]);
	free(ps->exes);
	free(ps->free_exes);
	idmap_release(&ps->exe_keys);
}
