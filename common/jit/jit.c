#include "common/jit/jit.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/buf.h"

enum { TRY_SHARE = 64 };

void jit_release(struct jit *j)
{
	for (size_t i = 0; i < j->n; i++) {
		perfmap_release(&j->processes[i].map);
		jitdump_release(&j->processes[i].dump);
		free(j->processes[i].waiting);
		free(j->processes[i].pending);
		free(j->processes[i].places);
	}
	free(j->processes);
	free(j->changed);
	*j = (struct jit){ 0 };
}

static struct jit_process *process_of(struct jit *j, uint32_t process)
{
	if (!grow_array(&j->processes, &j->cap, process, sizeof(*j->processes)))
		return NULL;
	if (process >= j->n)
		j->n = (size_t)process + 1;
	return &j->processes[process];
}

bool jit_wait(struct jit *j, uint32_t process, uint32_t place)
{
	struct jit_process *p = process_of(j, process);

	if (!p || !grow_array(&p->waiting, &p->cap_waiting, p->n_waiting, sizeof(*p->waiting)))
		return false;
	p->waiting[p->n_waiting++] = place;
	return true;
}

static void try_run(struct jit_process *p, const struct perfmap_run *run, jit_try *try, void *arg)
{
	size_t still = 0;

	for (size_t i = 0; i < p->n_waiting; i++) {
		if (!try(arg, p->waiting[i], run))
			p->waiting[still++] = p->waiting[i];
	}
	p->n_waiting = still;
}

static bool try_pending(struct jit_process *p, jit_try *try, void *arg)
{
	struct perfmap_run run = { .items = p->pending };
	size_t n = p->n_pending;
	bool good;

	for (size_t i = 0; i < n / 2; i++) { /* the last entry of a run for an address counts */
		struct perfmap_entry e = run.items[i];

		run.items[i] = run.items[n - 1 - i];
		run.items[n - 1 - i] = e;
	}
	p->pending = NULL;
	p->n_pending = p->cap_pending = 0;
	good = perfmap_run_sort(&run, n);
	if (good && n)
		try_run(p, &run, try, arg);
	perfmap_run_release(&run);
	return good;
}

/* Keeps the names of the run, which stay valid until the map is released. */
static bool keep_pending(struct jit_process *p, const struct perfmap_run *run)
{
	for (size_t i = 0; i < run->n; i++) {
		if (!grow_array(&p->pending, &p->cap_pending, p->n_pending, sizeof(*p->pending)))
			return false;
		if (run->items[i].name_n)
			p->pending[p->n_pending++] = run->items[i];
	}
	return true;
}

/* Shows the run to the waiting places, now or together with later ones. */
static bool show_run(struct jit_process *p, const struct perfmap_run *run, jit_try *try, void *arg)
{
	if (!p->n_waiting || !run->n)
		return true;
	if (!p->n_pending && run->n >= p->n_waiting / TRY_SHARE) {
		try_run(p, run, try, arg);
		return true;
	}
	return keep_pending(p, run) && (p->n_pending < p->n_waiting / TRY_SHARE || try_pending(p, try, arg));
}

bool jit_try_all(struct jit *j, jit_try *try, void *arg)
{
	bool good = true;

	for (size_t i = 0; good && i < j->n; i++)
		good = try_pending(&j->processes[i], try, arg);
	return good;
}

bool jit_add(struct jit *j, uint32_t process, uint64_t generation, struct slice data, jit_try *try, void *arg)
{
	struct jit_process *p = process_of(j, process);
	struct perfmap_run run;

	if (!p)
		return false;
	if (generation != p->generation) { /* another file: its predecessor's names are void */
		if (!try_pending(p, try, arg))
			return false;
		perfmap_release(&p->map);
		p->generation = generation;
	}
	if (!perfmap_parse(&run, data) || !show_run(p, &run, try, arg)) {
		perfmap_run_release(&run);
		return false;
	}
	return perfmap_push(&p->map, &run);
}

bool jit_find(const struct jit *j, uint32_t process, uint64_t address, struct perfmap_hit *hit)
{
	return process < j->n && perfmap_find(&j->processes[process].map, address, hit);
}

/* Only a new record or a new look-up can make a revision due. */
static bool note_changed(struct jit *j, uint32_t process)
{
	if (j->processes[process].changed)
		return true;
	if (!grow_array(&j->changed, &j->cap_changed, j->n_changed, sizeof(*j->changed)))
		return false;
	j->changed[j->n_changed++] = process;
	j->processes[process].changed = true;
	return true;
}

bool jit_see_code(struct jit *j, const struct record_jitcode *r)
{
	struct jit_process *p = process_of(j, (uint32_t)r->process);

	return p && note_changed(j, (uint32_t)r->process) && jitdump_add(&p->dump, r);
}

int jit_find_code(struct jit *j, uint32_t process, uint64_t address, uint64_t time, struct perfmap_hit *hit)
{
	if (process >= j->n)
		return 0;
	return note_changed(j, process) ? jitdump_find(&j->processes[process].dump, address, time, hit) : -1;
}

bool jit_keep(struct jit *j, uint32_t process, uint32_t place)
{
	struct jit_process *p = process_of(j, process);

	if (!p || !grow_array(&p->places, &p->cap_places, p->n_places, sizeof(*p->places)))
		return false;
	p->places[p->n_places++] = place;
	return true;
}

static bool revise_process(struct jit_process *p, const struct jit_revision *r)
{
	struct jitdump_query *queries = calloc(p->n_places + 1, sizeof(*queries));
	bool good = queries != NULL;

	for (size_t i = 0; good && i < p->n_places; i++) {
		queries[i].place = p->places[i];
		r->ask(r->arg, queries[i].place, &queries[i].address, &queries[i].time);
	}
	good = good && jitdump_replay(&p->dump, queries, p->n_places);
	for (size_t i = 0; good && i < p->n_places; i++) {
		if (queries[i].hit.name.n)
			good = r->answer(r->arg, queries[i].place, &queries[i].hit);
	}
	free(queries);
	return good;
}

/* Goes through all processes only at the end: a stream has many blocks, and may have many processes. */
bool jit_revise(struct jit *j, const struct jit_revision *r, bool last)
{
	bool good = true;

	for (size_t i = 0; good && i < (last ? j->n : j->n_changed); i++) {
		struct jit_process *p = &j->processes[last ? i : j->changed[i]];

		good = !jitdump_due(&p->dump, p->n_places, last) || revise_process(p, r);
	}
	for (size_t i = 0; i < j->n_changed; i++)
		j->processes[j->changed[i]].changed = false;
	j->n_changed = 0;
	return good;
}
