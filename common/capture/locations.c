#include "common/capture/locations.h"

#include "common/base/array.h"
#include "common/capture/capture_internal.h"

/*
 * If code moves under deep stacks, a few bytes of input make many places of 64 bytes each. PLACES_MAX limits
 * all places. Each process is also limited to a fixed number plus some for each of its samples, so that one
 * process cannot use up the places of the others. The walks over deep stacks whose code might have moved are
 * limited likewise: a mapping anywhere in the process takes a few bytes, and a stack may have a million
 * frames. Recorders cut stacks before WALKED_EACH.
 */
enum {
	PLACES_MAX = 7 << 20,
	MOVES_FREE = 1 << 14,
	MOVES_EACH = 32,
	WALKED_FREE = 1 << 24,
	WALKED_EACH = 1 << 12,
};

static bool has_moved_enough(const struct capture *c, const struct capture_process *p)
{
	return c->n_places >= PLACES_MAX || p->moves >= MOVES_FREE + p->sampled * MOVES_EACH ||
	       c->walked >= WALKED_FREE + c->walks * WALKED_EACH;
}

/*
 * The jump pointers of Myers (Information Processing Letters 17, 1983): if the two jumps before it are
 * equally long, a jump leads as far back as both together. So any place is a logarithmic number of steps
 * away.
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

/* Returns true if a JIT compiler has put other code there since, without any change of mappings. */
static bool jitted_since(const struct capture *c, const struct capture_process *p,
			 const struct capture_place *last, uint64_t address)
{
	const struct map *m;

	if (!p->jit || (last->file && capture_path_is_file(c->files[last->file].path)))
		return false;
	m = maps_find(&p->jitted, address);
	return m && m->file > last->seq;
}

/* Looks up the current place of the frame's address, and adds it if it differs from the last one. */
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
	p->moves += f->place != 0;
	f->place = (uint32_t)c->n_places++;
	return true;
}

/* Stops at the first node that already has its place in this epoch: its parents have theirs too. */
const char *locations_give(struct capture *c, struct capture_process *p, uint32_t node, uint64_t time)
{
	p->sampled++;
	c->walks++;
	if (has_moved_enough(c, p) && node >= NODE_FIRST && c->nodes[node].seen != p->epoch_seq)
		return "a sample of code that has moved too often";
	for (; node >= NODE_FIRST && c->nodes[node].seen != p->epoch_seq; node = c->nodes[node].parent) {
		const struct capture_frame *f = &c->frames[c->nodes[node].frame];

		c->walked += c->nodes[node].seen != 0;
		c->nodes[node].seen = p->epoch_seq;
		if (f->process && !capture_is_lang(f) && !give_place(c, p, c->nodes[node].frame, time))
			return capture_no_memory;
	}
	return NULL;
}

const struct capture_place *capture_place(const struct capture *c, uint32_t frame, uint64_t epoch)
{
	uint32_t at = c->frames[frame].process ? c->frames[frame].place : 0;

	while (at && c->places[at].from > epoch && c->places[at].before) {
		const struct capture_place *p = &c->places[at];

		at = c->places[p->jump].from > epoch ? p->jump : p->before;
	}
	return at ? &c->places[at] : NULL;
}
