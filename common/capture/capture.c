#include "common/capture/capture.h"

#include <stdlib.h>

/*
 * Ids are dense, but what defined some of them may have been lost. A gap this large and no larger is
 * believed, so that four bad bytes cannot ask for gigabytes.
 */
enum { GAP_MAX = 1 << 20 };

static const char no_memory[] = "out of memory";

static void release_segment(struct capture *c)
{
	for (size_t i = 0; i < c->n_processes; i++)
		maps_release(&c->processes[i].maps);
	for (size_t i = 0; i < c->n_images; i++)
		free((void *)c->images[i].data.p);
	free(c->processes);
	free(c->threads);
	free(c->files);
	free(c->frames);
	free(c->nodes);
	free(c->places);
	free(c->symbols);
	free(c->ksyms);
	free(c->images);
	free(c->ledger);
	intern_release(&c->texts);
	idmap_release(&c->strings);
	idmap_release(&c->cgroups);
	idmap_release(&c->meta);
}

bool capture_init(struct capture *c)
{
	uint32_t empty;

	*c = (struct capture){ .n_places = 1, .n_symbols = 1 };
	intern_init(&c->texts);
	return intern_add(&c->texts, slice_of(""), &empty);
}

void capture_release(struct capture *c)
{
	release_segment(c);
	*c = (struct capture){ 0 };
}

struct capture_totals capture_totals(const struct capture *c)
{
	struct capture_totals t = c->totals;

	for (size_t cpu = 0; cpu < c->n_ledger; cpu++) {
		for (size_t o = 0; o < OUTCOMES; o++)
			t.outcomes[o] += c->ledger[cpu][o];
	}
	for (size_t i = 0; i < COSTS; i++) {
		if (i == COST_RSS_BYTES)
			t.costs[i] = c->costs[i] > t.costs[i] ? c->costs[i] : t.costs[i];
		else
			t.costs[i] += c->costs[i];
	}
	t.ended += c->end_seen;
	t.seconds_ns += t.last - t.first;
	return t;
}

static const char *begin_segment(struct capture *c)
{
	struct capture_totals t = capture_totals(c);

	release_segment(c);
	if (!capture_init(c))
		return no_memory;
	t.first = t.last = 0;
	t.segments++;
	c->totals = t;
	return NULL;
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
 * Makes room for element id of one of the arrays by id. A macro, so that each array keeps its type;
 * evaluates to NULL or to what is wrong.
 */
#define MAKE_ROOM(c, what, id)                                                                           \
	((id) == 0 || (id) > (c)->n_##what + GAP_MAX || (id) >> 31 ? "an id out of range" :              \
	 !grow_array(&(c)->what, &(c)->cap_##what, (size_t)(id), sizeof(*(c)->what)) ? no_memory :       \
	 ((c)->n_##what = (id) >= (c)->n_##what ? (size_t)(id) + 1 : (c)->n_##what, (const char *)NULL))

#define DEFINED(c, what, id) ((id) < (c)->n_##what && (c)->what[id].defined)

static const char *add_process(struct capture *c, const struct record_process *r)
{
	struct capture_process *p, *parent = NULL;
	struct maps inherited = { 0 };
	const char *wrong = MAKE_ROOM(c, processes, r->id);

	if (wrong)
		return wrong;
	p = &c->processes[r->id];
	if (p->defined)
		return "a process defined twice";
	if (r->parent && DEFINED(c, processes, r->parent))
		parent = &c->processes[r->parent];
	if (parent && r->via == VIA_FORK && !maps_copy(&inherited, &parent->maps))
		return no_memory;
	*p = (struct capture_process){
		.defined = true,
		.via = (uint8_t)r->via,
		.pid = r->pid,
		.nspid = r->nspid ? r->nspid : r->pid,
		.start = r->start,
		.generation = r->generation,
		.parent = parent ? (uint32_t)r->parent : 0,
		.cgroup = parent ? parent->cgroup : 0,
		.epoch_seq = ++c->epoch_count,
		.maps = inherited,
	};
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
	return NULL;
}

static void new_epoch(struct capture *c, struct capture_process *p, uint64_t time)
{
	/* An epoch is named by its time, so a second change in the same instant needs no new name. */
	if (time > p->epoch)
		p->epoch = time;
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
	return NULL;
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
	wrong = MAKE_ROOM(c, nodes, r->id);
	if (wrong)
		return wrong;
	if (c->nodes[r->id].frame)
		return "a node defined twice";
	c->nodes[r->id] = (struct capture_node){ (uint32_t)r->parent, (uint32_t)r->frame, 0 };
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

/* Looks where the frame's address lies now; a new place only where that differs from the last one. */
static bool give_place(struct capture *c, struct capture_process *p, uint32_t id, uint64_t time)
{
	struct capture_frame *f = &c->frames[id];
	const struct map *m = maps_find(&p->maps, capture_lookup(f, f->address));
	struct capture_place now = { .from = f->place ? p->epoch : 0, .sample = time, .frame = id,
				     .before = f->place };

	if (m) {
		now.file = m->file;
		now.offset = f->address - m->start + m->offset;
		now.map_start = m->start;
		now.map_end = m->end;
	}
	if (f->place) {
		const struct capture_place *last = &c->places[f->place];
		/* Code of a JIT compiler may have been replaced without any change of mappings. */
		bool anonymous = p->jit && (now.file == 0 || !capture_path_is_file(c->files[now.file].path));

		if (last->file == now.file && (last->file == 0 || last->offset == now.offset) &&
		    (last->map_end != 0) == (now.map_end != 0) && !(anonymous && now.from != last->from))
			return true;
	}
	if (!grow_array(&c->places, &c->cap_places, c->n_places, sizeof(*c->places)))
		return false;
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

static const char *add_sample(struct capture *c, const struct record_sample *r)
{
	struct capture_process *p;

	if (!DEFINED(c, threads, r->thread))
		return "a sample of an undefined thread";
	if (!known_node(c, r->user) || !known_node(c, r->kernel))
		return "a sample with an undefined node";
	p = &c->processes[c->threads[r->thread].process];
	if (r->user >= NODE_FIRST) {
		uint32_t owner = c->frames[c->nodes[r->user].frame].process;

		if (!owner || &c->processes[owner] != p)
			return "a sample whose user stack belongs to another process";
	}
	if (!give_places(c, p, (uint32_t)r->user, r->time))
		return no_memory;
	if (!c->totals.first || r->time < c->totals.first)
		c->totals.first = r->time;
	if (r->time > c->totals.last)
		c->totals.last = r->time;
	c->totals.samples++;
	return NULL;
}

static const char *add_ksym(struct capture *c, const struct record_ksym *r)
{
	struct capture_ksym k = { .address = r->address, .size = r->size };

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
	memcpy(copy, r->data.p, r->data.n);
	i.data.p = copy;
	c->images[c->n_images++] = i;
	return NULL;
}

static const char *see_jitmap(struct capture *c, const struct record_jitmap *r)
{
	struct capture_process *p;

	if (!DEFINED(c, processes, r->process))
		return "a perf map of an undefined process";
	p = &c->processes[r->process];
	p->jit = true;
	new_epoch(c, p, r->time);
	return NULL;
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

static const char *add_symbol(struct capture *c, const struct record_symbol *r)
{
	struct capture_symbol s = { .from = r->from, .frame = (uint32_t)r->frame, .level = (uint32_t)r->level,
				    .source = (uint32_t)r->source, .offset = r->offset,
				    .line = (uint32_t)r->line };
	struct capture_symbol *last;

	if (!DEFINED(c, frames, r->frame))
		return "a name for an undefined frame";
	if (!string_text(c, r->name, &s.name) || !string_text(c, r->file, &s.file))
		return "a name that is an undefined string";
	last = c->n_symbols > 1 ? &c->symbols[c->n_symbols - 1] : NULL;
	if (r->level > 0 && (!last || last->frame != s.frame || last->from != s.from || last->level + 1 != s.level))
		return "an inlined function without the one around it";
	if (!grow_array(&c->symbols, &c->cap_symbols, c->n_symbols, sizeof(*c->symbols)))
		return no_memory;
	if (r->level > 0) {
		c->symbols[c->n_symbols - 1].inner = (uint32_t)c->n_symbols;
	} else {
		s.before = c->frames[s.frame].symbol;
		c->frames[s.frame].symbol = (uint32_t)c->n_symbols;
	}
	c->symbols[c->n_symbols++] = s;
	return NULL;
}

static const char *set_meta(struct capture *c, const struct record_meta *r)
{
	uint32_t key, value;

	return text(c, r->key, &key) && text(c, r->value, &value) && idmap_set(&c->meta, key, value) ? NULL :
												       no_memory;
}

static const char *add_event(struct capture *c, const struct record_event *r)
{
	struct record_event e = *r;

	if (r->id >= CAPTURE_EVENTS)
		return "an event with an impossible id";
	if (!keep(c, &e.name) || !keep(c, &e.unit))
		return no_memory;
	c->events[r->id] = e;
	return NULL;
}

static const char *apply(struct capture *c, const struct record *r)
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
	case RECORD_FRAME:
		return add_frame(c, &r->frame);
	case RECORD_NODE:
		return add_node(c, &r->node);
	case RECORD_SAMPLE:
		return add_sample(c, &r->sample);
	case RECORD_KSYM:
		return add_ksym(c, &r->ksym);
	case RECORD_IMAGE:
		return add_image(c, &r->image);
	case RECORD_JITMAP:
		return see_jitmap(c, &r->jitmap);
	case RECORD_CGROUP:
		return add_cgroup(c, &r->cgroup);
	case RECORD_MEMBER:
		return set_member(c, &r->member);
	case RECORD_LEDGER:
		return set_ledger(c, &r->ledger);
	case RECORD_COST:
		if (r->cost.what < COSTS)
			c->costs[r->cost.what] = r->cost.count;
		return NULL;
	case RECORD_END:
		c->end_seen = true;
		c->end_reason = r->end.reason;
		return NULL;
	case RECORD_DAMAGE:
		c->totals.damages++;
		return NULL;
	case RECORD_STRING:
		return add_string(c, &r->string);
	case RECORD_SYMBOL:
		return add_symbol(c, &r->symbol);
	default: /* EXIT, SOURCE, FLUSH and what is not known change no state */
		return NULL;
	}
}

const char *capture_apply(struct capture *c, const struct record *r)
{
	const char *wrong = apply(c, r);

	if (wrong && r->type == RECORD_SAMPLE)
		c->totals.refused++;
	else if (wrong)
		c->totals.refused_records++;
	return wrong;
}

uint64_t capture_epoch(const struct capture *c, uint32_t thread)
{
	return c->processes[c->threads[thread].process].epoch;
}

const struct capture_place *capture_place(const struct capture *c, uint32_t frame, uint64_t epoch)
{
	uint32_t at = c->frames[frame].place;

	while (at && c->places[at].from > epoch && c->places[at].before)
		at = c->places[at].before;
	return at ? &c->places[at] : NULL;
}

const struct capture_symbol *capture_symbol(const struct capture *c, uint32_t frame, uint64_t epoch)
{
	const struct capture_symbol *best = NULL;

	/* Newest first; among those that begin at the same time the better source, then the newer. */
	for (uint32_t at = c->frames[frame].symbol; at; at = c->symbols[at].before) {
		const struct capture_symbol *s = &c->symbols[at];
		bool in_time = s->from <= epoch;

		if (!best || (in_time && best->from > epoch) || (in_time && s->from > best->from) ||
		    (!in_time && best->from > epoch && s->from < best->from) ||
		    (s->from == best->from && s->source > best->source))
			best = s;
	}
	return best && best->source != NAME_NONE ? best : NULL;
}

/* Of aliases the one that the stream named first comes last, where the search ends up. */
static int by_address(const void *a, const void *b)
{
	const struct capture_ksym *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->name > y->name ? -1 : x->name < y->name;
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

struct slice capture_meta(const struct capture *c, const char *key)
{
	uint32_t id, value;

	if (!intern_find(&c->texts, slice_of(key), &id) || !idmap_find(&c->meta, id, &value))
		return (struct slice){ NULL, 0 };
	return capture_text(c, value);
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
