/*
 * The images: which index each has, and when an index is free again. Functions and scripts name images by
 * index, so an index is freed only when all of them are forgotten.
 */
#include <string.h>

#include "cmd/cprof-record/lang/runtimes.h"

#define LOOK UINT64_C(10000000000) /* ns between two searches for files that no process maps */

enum {
	MANY = LANG_IMAGES / 4 * 3, /* with fewer images, none is freed */
	WORTH = LANG_IMAGES / 8,    /* so many can go that a new segment is worth it */
};

static bool has_image(const struct runtimes *r, uint32_t i)
{
	return r->images[i].language != LANG_NONE;
}

uint32_t runtimes_add_image(struct runtimes *r, const struct lang_image *image, uid_t owner)
{
	uint32_t free = LANG_IMAGES, same = 0;

	for (uint32_t i = LANG_IMAGES; i-- > 0;) {
		if (memcmp(&r->images[i], image, sizeof(*image)) == 0)
			return i;
		if (!has_image(r, i))
			free = i;
		else
			same += owner && r->owners[i] == owner;
	}
	if (same >= RUNTIMES_OF_ONE)
		return LANG_IMAGES;
	if (free < LANG_IMAGES) {
		r->images[free] = *image;
		r->owners[free] = owner;
	}
	return free;
}

/*
 * Marks the images of files that are mapped, and those of processes, also of exited ones with pending
 * samples.
 */
static void mark_images(const struct runtimes *r, bool *used)
{
	const struct procs *ps = r->procs;

	for (size_t i = 0; i < ps->n_exes; i++)
		if (ps->exes[i].image)
			used[ps->exes[i].image - 1] = true;
	for (size_t i = 0; i < ps->n; i++)
		if (ps->items[i]->lang.image)
			used[ps->items[i]->lang.image - 1] = true;
	for (size_t i = 0; i < ps->n_replaced; i++)
		if (ps->replaced[i]->lang.image)
			used[ps->replaced[i]->lang.image - 1] = true;
}

void runtimes_sweep(struct runtimes *r, uint64_t now)
{
	bool used[LANG_IMAGES] = { 0 };
	uint32_t n = 0, gone = 0;

	for (uint32_t i = 0; i < LANG_IMAGES; i++)
		n += has_image(r, i);
	r->crowded = false;
	if (n < MANY)
		return;
	if (now - r->looked >= LOOK) {
		r->looked = now;
		r->procs->clear_images = true;
	}
	mark_images(r, used);
	for (uint32_t i = 0; i < LANG_IMAGES; i++)
		gone += has_image(r, i) && !used[i];
	r->crowded = gone >= WORTH || (gone && n == LANG_IMAGES);
}

/* Lets the files be read again that found no index. */
static void read_late(struct runtimes *r, uint64_t now)
{
	for (size_t i = 0; i < r->procs->n_exes; i++) {
		struct exe *x = &r->procs->exes[i];

		if (x->late)
			table_cache_again(r->tables, x->table, now);
		x->late = false;
	}
}

void runtimes_free_images(struct runtimes *r, uint64_t now)
{
	bool used[LANG_IMAGES] = { 0 };

	if (!r->crowded)
		return;
	r->crowded = false;
	mark_images(r, used);
	bpf_lang_keep(r->bpf, used);
	for (uint32_t i = 0; i < LANG_IMAGES; i++) {
		if (used[i])
			continue;
		r->images[i] = (struct lang_image){ 0 };
		r->published[i] = false;
	}
	read_late(r, now);
}
