#include "common/capture/capture.h"

#include <stdlib.h>

#include "common/stream/extent.h"

/*
 * Ids are dense, but what defined some of them may have been lost or filtered out. Each array may
 * have this much room that nothing defined, so that a few bad bytes cannot ask for gigabytes.
 */
enum { GAP_BYTES = 16 << 20 };

/* Where code moves under deep stacks, few bytes make many places. At 64 bytes each they stop here. */
enum { PLACES_MAX = 7 << 20 };

enum { LEVEL_MAX = 1 << 16 };

static const char no_memory[] = "out of memory";

static void release_segment(struct capture *c)
{
	for (size_t i = 0; i < c->n_processes; i++) {
		maps_release(&c->processes[i].maps);
		maps_release(&c->processes[i].jitted);
	}
	for (size_t i = 0; i < c->n_images; i++)
		free((void *)c->images[i].data.p);
	for (size_t i = 0; i < c->n_names; i++)
		free(c->names[i].symbols);
	free(c->processes);
	free(c->threads);
	free(c->files);
	free(c->frames);
	free(c->nodes);
	free(c->places);
	free(c->symbols);
	free(c->names);
	free(c->ksyms);
	free(c->images);
	free(c->ledger);
	intern_release(&c->texts);
	idmap_release(&c->strings);
	idmap_release(&c->cgroups);
	idmap_release(&c->meta);
	idmap_release(&c->names_of);
}

bool capture_init(struct capture *c)
{
	uint32_t empty;

	*c = (struct capture){ .n_places = 1, .n_symbols = 1 };
	intern_init(&c->texts);
	return intern_add(&c->texts, slice_of(""), &empty);
}

bool capture_init_for(struct capture *c, capture_counting *counting, const void *context)
{
	bool good = capture_init(c);

	c->counting = counting;
	c->context = context;
	return good;
}

void capture_release(struct capture *c)
{
	release_segment(c);
	*c = (struct capture){ 0 };
}

bool capture_counts(const struct capture *c)
{
	return !c->counting || c->counting(c->context, c);
}

/* What they were before this segment, but for what is wrong with it. */
static struct capture_totals totals_without(const struct capture *c)
{
	struct capture_totals t = c->before;

	t.refused = c->totals.refused;
	t.refused_records = c->totals.refused_records;
	t.damages = c->totals.damages;
	t.cuts_told = c->totals.cuts_told;
	t.blocks_damaged = c->totals.blocks_damaged;
	return t;
}

struct capture_totals capture_totals(const struct capture *c)
{
	struct capture_totals t = c->totals;

	if (!capture_counts(c))
		return totals_without(c);
	for (size_t cpu = 0; cpu < c->n_ledger; cpu++) {
		for (size_t o = 0; o < OUTCOMES; o++)
			t.outcomes[o] += c->ledger[cpu][o];
	}
	for (size_t i = 0; i < COSTS; i++) {
		if (cost_is_peak(i))
			t.costs[i] = c->costs[i] > t.costs[i] ? c->costs[i] : t.costs[i];
		else
			t.costs[i] += c->costs[i];
	}
	for (size_t event = 0; event < CAPTURE_EVENTS; event++) {
		for (size_t o = 0; o < OUTCOMES; o++)
			t.tally[o] += c->tallies[event][o];
	}
	t.ended += c->end_seen;
	t.seconds_ns += t.last - t.first;
	return t;
}

static const char *begin_segment(struct capture *c)
{
	struct capture_totals t = capture_totals(c);
	bool good;

	release_segment(c);
	good = capture_init_for(c, c->counting, c->context);
	t.first = t.last = 0;
	c->before = t;
	t.segments++;
	c->totals = t;
	return good ? NULL : no_memory;
}

static bool text(struct capture *c, struct slice s, uint32_t *id)
{
	return intern_add(&c->texts, s, id);
}

/* A copy that lives as long as the segment. */
static bool keep(struct capture *c, struct slice *s)
{
	uint32_t id;

	if (!text(c, *s, &id))
		return false;
	*s = capture_text(c, id);
	return true;
}

/*
 * Makes room for element id of one of the arrays by id, or says what is wrong. New elements are zero, up to id itself:
 * of what is reserved beyond it, no page is needed before it is used. The macro spares its callers the names of the
 * five fields that belong to an array.
 */
static inline __attribute__((always_inline))
const char *make_room(void *array_ptr, size_t *n, size_t *cap, size_t defined, size_t size, uint64_t id)
{
	uint8_t *p;

	if (id == 0 || id >= GAP_BYTES / size + 2 * defined || id >> 31)
		return "an id out of range";
	if (!extend_array(array_ptr, cap, (size_t)id, size))
		return no_memory;
	memcpy(&p, array_ptr, sizeof(p));
	for (; *n <= id; ++*n) /* nearly always one */
		memset(p + *n * size, 0, size);
	return NULL;
}

#define MAKE_ROOM(c, what, id)                                                                       \
	make_room(&(c)->what, &(c)->n_##what, &(c)->cap_##what, (c)->defined_##what, sizeof(*(c)->what), id)

#define DEFINED(c, what, id) ((id) < (c)->n_##what && (c)->what[id].defined)

static const char *add_process(struct capture *c, const struct record_process *r)
{
	struct capture_process *p, *parent = NULL;
	const char *wrong = MAKE_ROOM(c, processes, r->id);

	if (wrong)
		return wrong;
	p = &c->processes[r->id];
	if (p->defined)
		return "a process defined twice";
	if (r->parent && DEFINED(c, processes, r->parent))
		parent = &c->processes[r->parent];
	*p = (struct capture_process){
		.defined = true,
		.via = r->via < VIAS ? (uint8_t)r->via : VIA_SNAPSHOT,
		.pid = r->pid,
		.nspid = r->nspid ? r->nspid : r->pid,
		.start = r->start,
		.generation = r->generation,
		.parent = parent ? (uint32_t)r->parent : 0,
		.cgroup = parent ? parent->cgroup : 0,
		.epoch_seq = ++c->epoch_count,
	};
	if (parent && r->via == VIA_FORK)
		maps_copy(&p->maps, &parent->maps);
	c->defined_processes++;
	return NULL;
}

static const char *add_thread(struct capture *c, const struct record_thread *r)
{
	const char *wrong;

	if (!DEFINED(c, processes, r->process))
		return "a thread of an undefined process";
	wrong = MAKE_ROOM(c, threads, r->id);
	if (wrong)
		return wrong;
	if (c->threads[r->id].defined)
		return "a thread defined twice";
	c->threads[r->id] =
		(struct capture_thread){ .defined = true, .process = (uint32_t)r->process, .tid = r->tid };
	c->defined_threads++;
	return NULL;
}

static const char *set_comm(struct capture *c, const struct record_comm *r)
{
	if (!DEFINED(c, threads, r->thread))
		return "a command name for an undefined thread";
	return text(c, r->comm, &c->threads[r->thread].comm) ? NULL : no_memory;
}

static const char *add_file(struct capture *c, const struct record_file *r)
{
	struct capture_file f = { true,		r->dev_major, r->dev_minor, r->inode,
				  r->generation, r->build_id,  r->path };
	const char *wrong = MAKE_ROOM(c, files, r->id);

	if (wrong)
		return wrong;
	if (c->files[r->id].defined)
		return "a file defined twice";
	if (!keep(c, &f.build_id) || !keep(c, &f.path))
		return no_memory;
	c->files[r->id] = f;
	c->defined_files++;
	return NULL;
}

/*
 * An epoch is named by its time. A second change in the same instant needs no new name, unless a
 * sample came between: then it is named by the nanosecond after.
 */
static void new_epoch(struct capture *c, struct capture_process *p, uint64_t time)
{
	if (time > p->epoch)
		p->epoch = time;
	else if (p->used && p->epoch < UINT64_MAX)
		p->epoch++;
	p->used = false;
	p->epoch_seq = ++c->epoch_count;
}

static const char *add_mapping(struct capture *c, const struct record_mapping *r)
{
	struct map m = { r->start, r->start + r->length, r->offset, (uint32_t)r->file, (uint32_t)r->prot };
	bool changed = false;

	if (!DEFINED(c, processes, r->process))
		return "a mapping of an undefined process";
	if (r->file && !DEFINED(c, files, r->file))
		return "a mapping of an undefined file";
	if (r->length == 0 || m.end < m.start)
		return "a mapping with an impossible range";
	if (!maps_add(&c->processes[r->process].maps, &m, &changed))
		return no_memory;
	if (changed)
		new_epoch(c, &c->processes[r->process], r->time);
	else /* what was not mapped until now may be: frames there need a place again */
		c->processes[r->process].epoch_seq = ++c->epoch_count;
	return NULL;
}

static const char *remove_mapping(struct capture *c, const struct record_unmap *r)
{
	bool changed = false;

	if (!DEFINED(c, processes, r->process))
		return "an unmap of an undefined process";
	if (r->length == 0 || r->start + r->length < r->start)
		return "an unmap with an impossible range";
	if (!maps_remove(&c->processes[r->process].maps, r->start, r->start + r->length, &changed))
		return no_memory;
	if (changed)
		new_epoch(c, &c->processes[r->process], r->time);
	return NULL;
}

static const char *add_frame(struct capture *c, const struct record_frame *r)
{
	const char *wrong;

	if (r->process && !DEFINED(c, processes, r->process))
		return "a frame of an undefined process";
	wrong = MAKE_ROOM(c, frames, r->id);
	if (wrong)
		return wrong;
	if (c->frames[r->id].defined)
		return "a frame defined twice";
	c->frames[r->id] = (struct capture_frame){ .address = r->address,
						   .process = (uint32_t)r->process,
						   .kind = (uint8_t)r->kind,
						   .defined = true };
	c->defined_frames++;
	return NULL;
}

/* All nodes of a stack belong to one process, or to the kernel (0). */
static uint32_t node_process(const struct capture *c, uint64_t node)
{
	return c->frames[c->nodes[node].frame].process;
}

static const char *add_node(struct capture *c, const struct record_node *r)
{
	const char *wrong;

	if (r->id < NODE_FIRST)
		return "a node with the id of a root";
	if (!DEFINED(c, frames, r->frame))
		return "a node of an undefined frame";
	if (r->parent >= NODE_FIRST && (r->parent >= c->n_nodes || !c->nodes[r->parent].frame))
		return "a node with an undefined parent";
	if (r->parent >= r->id)
		return "a node whose parent comes after it";
	if (r->parent >= NODE_FIRST && node_process(c, r->parent) != c->frames[r->frame].process)
		return "a node of another process than its parent";
	wrong = MAKE_ROOM(c, nodes, r->id);
	if (wrong)
		return wrong;
	if (c->nodes[r->id].frame)
		return "a node defined twice";
	c->nodes[r->id] = (struct capture_node){ (uint32_t)r->parent, (uint32_t)r->frame, 0 };
	c->defined_nodes++;
	return NULL;
}

bool capture_path_is_file(struct slice path)
{
	static const char *const not_files[] = { "//", "/memfd:", "/dev/", "/SYSV", "/anon_hugepage", "/[" };

	if (path.n == 0 || path.p[0] != '/')
		return false;
	for (size_t i = 0; i < sizeof(not_files) / sizeof(not_files[0]); i++) {
		size_t n = strlen(not_files[i]);

		if (path.n >= n && memcmp(path.p, not_files[i], n) == 0)
			return false;
	}
	return true;
}

/*
 * The jump pointers of Myers (Information Processing Letters 17, 1983): each leads as far back as the
 * two before it together where these are equally long, so any place is a logarithm of steps away.
 */
static void link_place(const struct capture *c, struct capture_place *p, uint32_t self)
{
	const struct capture_place *before = &c->places[p->before], *jump, *far;

	p->jump = self;
	p->rank = 0;
	if (!p->before)
		return;
	jump = &c->places[before->jump];
	far = &c->places[jump->jump];
	p->rank = before->rank + 1;
	p->jump = before->rank - jump->rank == jump->rank - far->rank ? jump->jump : p->before;
}

/* Has a JIT compiler put other code there since, without any change of mappings? */
static bool jitted_since(const struct capture *c, const struct capture_process *p,
			 const struct capture_place *last, uint64_t address)
{
	const struct map *m;

	if (!p->jit || (last->file && capture_path_is_file(c->files[last->file].path)))
		return false;
	m = maps_find(&p->jitted, address);
	return m && m->file > last->seq;
}

/* Looks where the frame's address lies now; a new place only where that differs from the last one. */
static bool give_place(struct capture *c, struct capture_process *p, uint32_t id, uint64_t time)
{
	struct capture_frame *f = &c->frames[id];
	uint64_t address = capture_lookup(f, f->address);
	const struct map *m = maps_find(&p->maps, address);
	struct capture_place now = { .from = f->place ? p->epoch : 0, .sample = time, .frame = id,
				     .before = f->place, .seq = p->epoch_seq };

	if (m) {
		now.file = m->file;
		now.offset = f->address - m->start + m->offset;
		now.map_start = m->start;
		now.map_end = m->end;
	}
	if (f->place) {
		const struct capture_place *last = &c->places[f->place];

		if (last->file == now.file && (last->file == 0 || last->offset == now.offset) &&
		    (last->map_end != 0) == (now.map_end != 0) && !jitted_since(c, p, last, address))
			return true;
	}
	if (!extend_array(&c->places, &c->cap_places, c->n_places, sizeof(*c->places)))
		return false;
	if (c->n_places == 1)
		c->places[0] = (struct capture_place){ 0 };
	link_place(c, &now, (uint32_t)c->n_places);
	c->places[c->n_places] = now;
	f->place = (uint32_t)c->n_places++;
	return true;
}

/* Gives every frame of the stack its place; stops at the first node that has been done in this epoch. */
static bool give_places(struct capture *c, struct capture_process *p, uint32_t node, uint64_t time)
{
	for (; node >= NODE_FIRST && c->nodes[node].seen != p->epoch_seq; node = c->nodes[node].parent) {
		c->nodes[node].seen = p->epoch_seq;
		if (c->frames[c->nodes[node].frame].process && !give_place(c, p, c->nodes[node].frame, time))
			return false;
	}
	return true;
}

static bool known_node(const struct capture *c, uint64_t node)
{
	return node < NODE_FIRST || (node < c->n_nodes && c->nodes[node].frame);
}

const char *capture_check_sample(const struct capture *c, const struct record_sample *r)
{
	uint32_t process;

	if (!DEFINED(c, threads, r->thread))
		return "a sample of an undefined thread";
	if (!known_node(c, r->user) || !known_node(c, r->kernel))
		return "a sample with an undefined node";
	if (r->event == 0 || r->event >= CAPTURE_EVENTS)
		return "a sample of an impossible event";
	if (!c->events[r->event].id && r->weight == 0)
		return "a sample of an undefined event";
	process = c->threads[r->thread].process;
	if (r->user >= NODE_FIRST && node_process(c, r->user) != process)
		return "a sample whose user stack belongs to another process";
	if (r->kernel >= NODE_FIRST && node_process(c, r->kernel) != 0)
		return "a sample whose kernel stack belongs to a process";
	return NULL;
}

/* So many samples, in the order of the stream. */
static void count_samples(struct capture *c, const struct record_left_out *r)
{
	if (!c->sampled)
		c->began = r->first;
	if (!c->sampled || r->first < c->totals.first)
		c->totals.first = r->first;
	if (!c->sampled || r->last > c->totals.last)
		c->totals.last = r->last;
	c->sampled = true;
	c->totals.samples += r->samples;
	if (capture_wait(c, r->event)) {
		c->totals.waits += r->samples;
		c->totals.waited[capture_wait(c, r->event)] += r->weight;
	}
	c->totals.others += capture_is_other(c, r->event) ? r->samples : 0;
	c->event_samples[r->event] += r->samples;
}

static const char *add_sample(struct capture *c, const struct record_sample *r)
{
	struct record_left_out one = { r->time, r->event, r->thread, 1, r->weight, r->time };
	const char *wrong = capture_check_sample(c, r);
	struct capture_process *p;

	if (wrong)
		return wrong;
	p = &c->processes[c->threads[r->thread].process];
	if (c->n_places >= PLACES_MAX && r->user >= NODE_FIRST && c->nodes[r->user].seen != p->epoch_seq)
		return "a sample of code that has moved too often";
	if (!give_places(c, p, (uint32_t)r->user, r->time))
		return no_memory;
	p->used = true;
	count_samples(c, &one);
	return NULL;
}

static const char *see_left_out(struct capture *c, const struct record_left_out *r)
{
	if (r->event == 0 || r->event >= CAPTURE_EVENTS)
		return "samples of an impossible event that were left out";
	if (r->thread && !DEFINED(c, threads, r->thread))
		return "samples of an undefined thread that were left out";
	if (r->last < r->first || r->samples == 0 || r->samples >> 48)
		return "an impossible number of samples that were left out";
	if (r->thread)
		c->processes[c->threads[r->thread].process].used = true;
	count_samples(c, r);
	return NULL;
}

bool capture_is_first(const struct capture *c, uint64_t thread)
{
	return !c->processes[c->threads[thread].process].used;
}

static const char *add_ksym(struct capture *c, const struct record_ksym *r)
{
	struct capture_ksym k = { .address = r->address, .size = r->size, .order = (uint32_t)c->n_ksyms };

	if (!text(c, r->name, &k.name) || !text(c, r->module, &k.module) ||
	    !grow_array(&c->ksyms, &c->cap_ksyms, c->n_ksyms, sizeof(*c->ksyms)))
		return no_memory;
	c->ksyms[c->n_ksyms++] = k;
	c->ksyms_sorted = false;
	return NULL;
}

static const char *add_image(struct capture *c, const struct record_image *r)
{
	struct capture_image i = { r->name, r->build_id, { NULL, r->data.n } };
	uint8_t *copy;

	if (!keep(c, &i.name) || !keep(c, &i.build_id) ||
	    !grow_array(&c->images, &c->cap_images, c->n_images, sizeof(*c->images)))
		return no_memory;
	copy = malloc(r->data.n + 1);
	if (!copy)
		return no_memory;
	if (r->data.n)
		memcpy(copy, r->data.p, r->data.n);
	i.data.p = copy;
	c->images[c->n_images++] = i;
	return NULL;
}

static bool parse_hex(struct cursor *at, uint64_t *v)
{
	const uint8_t *begin;

	if (cursor_left(at) > 2 && at->p[0] == '0' && (at->p[1] | 0x20) == 'x')
		at->p += 2;
	begin = at->p;
	for (*v = 0; at->p < at->end; at->p++) {
		uint8_t digit = *at->p, letter = (digit | 0x20) - 'a';

		if (digit >= '0' && digit <= '9')
			*v = *v << 4 | (uint64_t)(digit - '0');
		else if (letter < 6)
			*v = *v << 4 | (uint64_t)(letter + 10);
		else
			break;
	}
	return at->p > begin && at->p - begin <= 16;
}

/* "START SIZE NAME" in hexadecimal: that range holds new code from now on. Other lines say nothing. */
static bool see_jitted(struct capture_process *p, struct cursor line)
{
	struct map m = { .file = p->epoch_seq };
	bool changed = false;
	uint64_t size;

	if (!parse_hex(&line, &m.start) || cursor_left(&line) == 0 || *line.p++ != ' ' || !parse_hex(&line, &size) ||
	    m.start + size < m.start)
		return true;
	m.end = m.start + size;
	return maps_add(&p->jitted, &m, &changed);
}

static const char *see_jitmap(struct capture *c, const struct record_jitmap *r)
{
	struct cursor data = cursor_over(r->data.p, r->data.n);
	struct capture_process *p;

	if (!DEFINED(c, processes, r->process))
		return "a perf map of an undefined process";
	p = &c->processes[r->process];
	new_epoch(c, p, r->time);
	if (p->jit && r->generation != p->jit_generation) { /* a new map: nothing that the old one said holds */
		struct map all = { .end = UINT64_MAX, .file = p->epoch_seq };

		if (!maps_add(&p->jitted, &all, &(bool){ false }))
			return no_memory;
	}
	p->jit = true;
	p->jit_generation = r->generation;
	while (cursor_left(&data)) {
		const uint8_t *end = memchr(data.p, '\n', cursor_left(&data));
		struct cursor line = { data.p, end ? end : data.end };

		if (!see_jitted(p, line))
			return no_memory;
		data.p = end ? end + 1 : data.end;
	}
	return NULL;
}

/* These addresses hold code of this epoch. */
static bool mark_jitted(struct capture_process *p, uint64_t start, uint64_t end)
{
	return maps_add(&p->jitted, &(struct map){ .start = start, .end = end, .file = p->epoch_seq }, &(bool){ false });
}

/*
 * A jitdump's word on one piece of code: it lies there now. What is told late gives code the epoch in which it came;
 * marks divide the time before, all code then being another.
 */
static const char *see_jitcode(struct capture *c, const struct record_jitcode *r)
{
	struct capture_process *p;
	bool good;

	if (!DEFINED(c, processes, r->process))
		return "code of an undefined process";
	if (r->kind == JITCODE_CLOSE || r->kind >= JITCODE_KINDS)
		return NULL;
	if (r->kind != JITCODE_MARK &&
	    (r->size == 0 || r->address + r->size < r->address || r->old + r->size < r->old))
		return "code with an impossible range";
	p = &c->processes[r->process];
	new_epoch(c, p, r->time);
	p->jit = true;
	good = r->kind == JITCODE_MARK ? mark_jitted(p, 0, UINT64_MAX) : mark_jitted(p, r->address, r->address + r->size);
	if (r->kind == JITCODE_MOVE)
		good = good && mark_jitted(p, r->old, r->old + r->size);
	return good ? NULL : no_memory;
}

static const char *add_cgroup(struct capture *c, const struct record_cgroup *r)
{
	uint32_t id;

	return text(c, r->path, &id) && idmap_set(&c->cgroups, r->id, id) ? NULL : no_memory;
}

static const char *set_member(struct capture *c, const struct record_member *r)
{
	uint32_t path = 0;

	if (!DEFINED(c, processes, r->process))
		return "the cgroup of an undefined process";
	if (!idmap_find(&c->cgroups, r->cgroup, &path))
		return "an undefined cgroup";
	c->processes[r->process].cgroup = path;
	return NULL;
}

static const char *set_ledger(struct capture *c, const struct record_ledger *r)
{
	if (r->cpu > 1 << 16)
		return "the ledger of an impossible CPU";
	if (r->outcome >= OUTCOMES)
		return NULL; /* of a newer version; it is passed on, we cannot add it up */
	if (!grow_array(&c->ledger, &c->cap_ledger, (size_t)r->cpu, sizeof(*c->ledger)))
		return no_memory;
	if (r->cpu >= c->n_ledger)
		c->n_ledger = (size_t)r->cpu + 1;
	c->ledger[r->cpu][r->outcome] = r->count;
	return NULL;
}

static const char *set_tally(struct capture *c, const struct record_tally *r)
{
	if (r->event == 0 || r->event >= CAPTURE_EVENTS)
		return "the tally of an impossible event";
	if (r->outcome < OUTCOMES)
		c->tallies[r->event][r->outcome] = r->count;
	return NULL;
}

bool capture_has_thread(const struct capture *c, uint64_t thread)
{
	return DEFINED(c, threads, thread);
}

static const char *see_ran(const struct capture *c, const struct record_ran *r)
{
	return capture_has_thread(c, r->thread) ? NULL : "the running time of an undefined thread";
}

static const char *add_string(struct capture *c, const struct record_string *r)
{
	uint32_t id;

	return text(c, r->text, &id) && idmap_set(&c->strings, r->id, id) ? NULL : no_memory;
}

static bool string_text(const struct capture *c, uint64_t id, uint32_t *textp)
{
	*textp = 0;
	return id == 0 || idmap_find(&c->strings, id, textp);
}

/* The first of the names that is valid from later than time. */
static size_t names_after(const struct capture *c, const struct capture_names *names, uint64_t time)
{
	size_t low = 0, high = names->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (c->symbols[names->symbols[mid]].from <= time)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Of names from the same time on, the better source counts, then the newer one. */
static bool names_add(const struct capture *c, struct capture_names *names, uint32_t symbol)
{
	const struct capture_symbol *s = &c->symbols[symbol];
	size_t at = names_after(c, names, s->from);

	if (at > 0 && c->symbols[names->symbols[at - 1]].from == s->from) {
		if (name_source_rank(s->source) >= name_source_rank(c->symbols[names->symbols[at - 1]].source))
			names->symbols[at - 1] = symbol;
		return true;
	}
	if (!grow_array(&names->symbols, &names->cap, names->n, sizeof(*names->symbols)))
		return false;
	memmove(names->symbols + at + 1, names->symbols + at, (names->n - at) * sizeof(*names->symbols));
	names->symbols[at] = symbol;
	names->n++;
	return true;
}

/* A frame's second name is the first that needs an order. */
static bool order_names(struct capture *c, uint32_t frame, uint32_t symbol)
{
	uint32_t before = c->symbols[symbol].before, id;

	if (!before)
		return true;
	if (!idmap_find(&c->names_of, frame, &id)) {
		id = (uint32_t)c->n_names;
		if (!grow_array(&c->names, &c->cap_names, id, sizeof(*c->names)) ||
		    !idmap_set(&c->names_of, frame, id))
			return false;
		c->names[c->n_names++] = (struct capture_names){ 0 };
		if (!names_add(c, &c->names[id], before))
			return false;
	}
	return names_add(c, &c->names[id], symbol);
}

static uint32_t clamp32(uint64_t v)
{
	return v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
}

/* An inlined function goes behind the one around it, which has come just before. */
static const char *check_level(const struct capture *c, const struct record_symbol *r)
{
	const struct capture_symbol *last = c->n_symbols > 1 ? &c->symbols[c->n_symbols - 1] : NULL;

	if (r->level > LEVEL_MAX)
		return "functions inlined too deeply";
	if (r->level > 0 &&
	    (!last || last->frame != r->frame || last->from != r->from || last->level + 1 != r->level))
		return "an inlined function without the one around it";
	return NULL;
}

static const char *add_symbol(struct capture *c, const struct record_symbol *r)
{
	struct capture_symbol s = { .from = r->from, .frame = (uint32_t)r->frame, .level = (uint32_t)r->level,
				    .source = clamp32(r->source), .offset = r->offset,
				    .line = clamp32(r->line) };
	uint32_t id = (uint32_t)c->n_symbols;
	const char *wrong;

	if (!DEFINED(c, frames, r->frame))
		return "a name for an undefined frame";
	if (!string_text(c, r->name, &s.name) || !string_text(c, r->file, &s.file))
		return "a name that is an undefined string";
	wrong = check_level(c, r);
	if (wrong)
		return wrong;
	if (!grow_array(&c->symbols, &c->cap_symbols, id, sizeof(*c->symbols)))
		return no_memory;
	if (r->level == 0)
		s.before = c->frames[s.frame].symbol;
	c->symbols[c->n_symbols++] = s;
	if (r->level > 0) {
		c->symbols[id - 1].inner = id;
		return NULL;
	}
	c->frames[s.frame].symbol = id;
	return order_names(c, s.frame, id) ? NULL : no_memory;
}

static const char *set_meta(struct capture *c, const struct record_meta *r)
{
	uint32_t key, value;

	if (!text(c, r->key, &key) || !text(c, r->value, &value) || !idmap_set(&c->meta, key, value))
		return no_memory;
	if (slice_is(r->key, "start-realtime-ns")) /* it is asked for at each sample */
		c->realtime = slice_decimal(r->value);
	else if (slice_is(r->key, "start-monotonic-ns"))
		c->monotonic = slice_decimal(r->value);
	return NULL;
}

/* By the name: "off-cpu:sleep". */
static enum capture_wait wait_of(struct slice name)
{
	return slice_is(name, "off-cpu:uninterruptible") ? CAPTURE_UNINTERRUPTIBLE :
	       slice_is(name, "off-cpu:run-queue") ? CAPTURE_QUEUED :
	       slice_begins(name, EVENT_OFF_CPU) ? CAPTURE_SLEEPS : CAPTURE_RUNS;
}

bool capture_is_counted(const struct capture *c, uint64_t event)
{
	return event < CAPTURE_EVENTS && c->events[event].id && slice_is(c->events[event].unit, "events");
}

/*
 * What is not counted is time, whenever it comes: perf's text names its events in the order of their samples. Names that
 * occur twice are one event's, of captures that were merged.
 */
static void find_others(struct capture *c)
{
	const struct record_event *first = NULL;

	for (uint64_t i = 1; i < CAPTURE_EVENTS; i++) {
		const struct record_event *e = &c->events[i];

		if (!e->id || capture_wait(c, i))
			continue;
		if (!first || (capture_is_counted(c, first->id) && !capture_is_counted(c, i)))
			first = e;
	}
	c->totals.others = 0;
	for (uint64_t i = 1; first && i < CAPTURE_EVENTS; i++) {
		const struct record_event *e = &c->events[i];

		if (!e->id || capture_wait(c, i))
			continue;
		c->event_others[i] = capture_is_counted(c, i) &&
				     (e->name.n != first->name.n || memcmp(e->name.p, first->name.p, e->name.n) != 0);
		c->totals.others += c->event_others[i] ? c->event_samples[i] : 0;
	}
}

static const char *add_event(struct capture *c, const struct record_event *r)
{
	struct record_event e = *r;

	if (r->id == 0 || r->id >= CAPTURE_EVENTS)
		return "an event with an impossible id";
	if (c->events[r->id].id)
		return c->events[r->id].period == r->period ? NULL : "an event with two periods";
	if (!keep(c, &e.name) || !keep(c, &e.unit))
		return no_memory;
	c->events[r->id] = e;
	c->event_waits[r->id] = (uint8_t)wait_of(e.name);
	find_others(c);
	return NULL;
}

/* Apart from the two below, which are most of all: these functions need not be entered for them. */
static __attribute__((noinline)) const char *apply_other(struct capture *c, const struct record *r)
{
	switch (r->type) {
	case RECORD_SEGMENT:
		return begin_segment(c);
	case RECORD_META:
		return set_meta(c, &r->meta);
	case RECORD_EVENT:
		return add_event(c, &r->event);
	case RECORD_PROCESS:
		return add_process(c, &r->process);
	case RECORD_THREAD:
		return add_thread(c, &r->thread);
	case RECORD_COMM:
		return set_comm(c, &r->comm);
	case RECORD_FILE:
		return add_file(c, &r->file);
	case RECORD_MAPPING:
		return add_mapping(c, &r->mapping);
	case RECORD_UNMAP:
		return remove_mapping(c, &r->unmap);
	case RECORD_SAMPLE:
		return add_sample(c, &r->sample);
	case RECORD_KSYM:
		return add_ksym(c, &r->ksym);
	case RECORD_IMAGE:
		return add_image(c, &r->image);
	case RECORD_JITMAP:
		return see_jitmap(c, &r->jitmap);
	case RECORD_JITCODE:
		return see_jitcode(c, &r->jitcode);
	case RECORD_CGROUP:
		return add_cgroup(c, &r->cgroup);
	case RECORD_MEMBER:
		return set_member(c, &r->member);
	case RECORD_LEDGER:
		return set_ledger(c, &r->ledger);
	case RECORD_TALLY:
		return set_tally(c, &r->tally);
	case RECORD_RAN:
		return see_ran(c, &r->ran);
	case RECORD_LEFT_OUT:
		return see_left_out(c, &r->left_out);
	case RECORD_COST:
		if (r->cost.what < COSTS)
			c->costs[r->cost.what] = r->cost.count;
		return NULL;
	case RECORD_END:
		c->end_seen = true;
		c->end_reason = r->end.reason;
		c->end_time = r->end.time;
		return NULL;
	case RECORD_DAMAGE:
		c->totals.damages++;
		c->totals.cuts_told += memmem(r->damage.what.p, r->damage.what.n, "cut short", 9) != NULL;
		c->totals.blocks_damaged += r->damage.blocks;
		return NULL;
	case RECORD_STRING:
		return add_string(c, &r->string);
	case RECORD_SYMBOL:
		return add_symbol(c, &r->symbol);
	default: /* EXIT, SOURCE, FLUSH and what is not known change no state */
		return NULL;
	}
}

static __attribute__((noinline)) const char *count_wrong(struct capture *c, const struct record *r, const char *wrong)
{
	if (wrong == no_memory)
		c->no_memory = true;
	if (r->type == RECORD_SAMPLE)
		c->totals.refused++;
	else
		c->totals.refused_records++;
	return wrong;
}

const char *capture_apply(struct capture *c, const struct record *r)
{
	const char *wrong;

	if (c->no_memory)
		wrong = no_memory;
	else if (r->type == RECORD_NODE)
		wrong = add_node(c, &r->node);
	else if (r->type == RECORD_FRAME)
		wrong = add_frame(c, &r->frame);
	else
		wrong = apply_other(c, r);
	return wrong ? count_wrong(c, r, wrong) : NULL;
}

uint64_t capture_epoch(const struct capture *c, uint32_t thread)
{
	return c->processes[c->threads[thread].process].epoch;
}

const struct capture_place *capture_place(const struct capture *c, uint32_t frame, uint64_t epoch)
{
	uint32_t at = c->frames[frame].place;

	while (at && c->places[at].from > epoch && c->places[at].before) {
		const struct capture_place *p = &c->places[at];

		at = c->places[p->jump].from > epoch ? p->jump : p->before;
	}
	return at ? &c->places[at] : NULL;
}

/* The best of what was said from exactly this time on, or of what was said last before it; or NULL. */
static const struct capture_symbol *symbol_at(const struct capture *c, uint32_t frame, uint64_t time, bool exact)
{
	uint32_t newest = c->frames[frame].symbol, id;
	const struct capture_names *names;
	const struct capture_symbol *s;
	size_t after;

	if (!newest)
		return NULL;
	s = &c->symbols[newest];
	if (s->before && idmap_find(&c->names_of, frame, &id)) {
		names = &c->names[id];
		after = names_after(c, names, time);
		s = &c->symbols[names->symbols[after ? after - 1 : 0]];
	}
	return exact && s->from != time ? NULL : s;
}

const struct capture_symbol *capture_symbol(const struct capture *c, uint32_t frame, uint64_t epoch)
{
	const struct capture_symbol *s = symbol_at(c, frame, epoch, false);

	return s && s->source != NAME_NONE ? s : NULL;
}

const struct capture_symbol *capture_symbol_from(const struct capture *c, uint32_t frame, uint64_t from)
{
	return symbol_at(c, frame, from, true);
}

/* Of aliases the one that the stream named first comes last, where the search ends up. */
static int by_address(const void *a, const void *b)
{
	const struct capture_ksym *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->order > y->order ? -1 : x->order < y->order;
}

const struct capture_ksym *capture_ksym(struct capture *c, uint64_t address)
{
	size_t low = 0, high = c->n_ksyms;
	const struct capture_ksym *k;

	if (!c->ksyms_sorted && c->n_ksyms) {
		qsort(c->ksyms, c->n_ksyms, sizeof(*c->ksyms), by_address);
		c->ksyms_sorted = true;
	}
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (c->ksyms[mid].address <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == 0)
		return NULL;
	k = &c->ksyms[low - 1];
	return k->size == 0 || address - k->address < k->size ? k : NULL;
}

uint64_t capture_waits_from(const struct capture *c, uint64_t first)
{
	struct slice told = capture_meta(c, META_WAITS_SINCE);

	for (size_t i = 1; i < CAPTURE_EVENTS; i++) {
		if (c->event_waits[i])
			return extent_waits(first, told.n > 0, slice_decimal(told));
	}
	return first;
}

struct slice capture_meta(const struct capture *c, const char *key)
{
	uint32_t id, value;

	if (!intern_find(&c->texts, slice_of(key), &id) || !idmap_find(&c->meta, id, &value))
		return (struct slice){ NULL, 0 };
	return capture_text(c, value);
}

uint64_t capture_meta_number(const struct capture *c, const char *key)
{
	return slice_decimal(capture_meta(c, key));
}

uint64_t capture_realtime(const struct capture *c, uint64_t time)
{
	uint64_t realtime = c->realtime, monotonic = c->monotonic;

	return realtime && monotonic && time < INT64_MAX && realtime + time >= monotonic ? realtime + time - monotonic : 0;
}

const struct capture_image *capture_image(const struct capture *c, struct slice name, struct slice build_id)
{
	for (size_t i = 0; i < c->n_images; i++) {
		const struct capture_image *image = &c->images[i];

		if (slice_equal(image->name, name) && (build_id.n == 0 || slice_equal(image->build_id, build_id)))
			return image;
	}
	return NULL;
}
