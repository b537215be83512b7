#include "common/capture/mappings.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/capture/capture_internal.h"

const char *file_apply(struct capture *c, const struct record_file *r)
{
	struct capture_file f = { .defined = true,
				  .dev_major = r->dev_major,
				  .dev_minor = r->dev_minor,
				  .inode = r->inode,
				  .generation = r->generation };
	const char *wrong = MAKE_ROOM(c, files, r->id);

	if (wrong)
		return wrong;
	if (c->files[r->id].defined)
		return "a file defined twice";
	if (!text_add(c, r->build_id, &f.build_id_text) || !text_add(c, r->path, &f.path_text))
		return capture_no_memory;
	f.build_id = capture_text(c, f.build_id_text);
	f.path = capture_text(c, f.path_text);
	c->files[r->id] = f;
	c->defined_files++;
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

bool capture_file_has_names(const struct capture_file *f)
{
	static const char memfd[] = "/memfd:";
	size_t n = sizeof(memfd) - 1;

	return capture_path_is_file(f->path) ||
	       (f->build_id.n && f->path.n >= n && memcmp(f->path.p, memfd, n) == 0 && !memchr(f->path.p, 0, f->path.n));
}

/*
 * An epoch is named by its time. A second change at the same time needs no new name unless a sample came
 * between the two; it is then named by the next nanosecond.
 */
void epoch_begin(struct capture *c, struct capture_process *p, uint64_t time)
{
	if (time > p->epoch)
		p->epoch = time;
	else if (p->used && p->epoch < UINT64_MAX)
		p->epoch++;
	p->used = false;
	p->epoch_seq = ++c->epoch_count;
}

uint64_t capture_epoch(const struct capture *c, uint32_t thread)
{
	return c->processes[c->threads[thread].process].epoch;
}

const char *mapping_apply(struct capture *c, const struct record_mapping *r)
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
		return capture_no_memory;
	if (changed)
		epoch_begin(c, &c->processes[r->process], r->time);
	else /* memory that was free may be mapped now: frames there need a new place */
		c->processes[r->process].epoch_seq = ++c->epoch_count;
	return NULL;
}

const char *unmap_apply(struct capture *c, const struct record_unmap *r)
{
	bool changed = false;

	if (!DEFINED(c, processes, r->process))
		return "an unmap of an undefined process";
	if (r->length == 0 || r->start + r->length < r->start)
		return "an unmap with an impossible range";
	if (!maps_remove(&c->processes[r->process].maps, r->start, r->start + r->length, &changed))
		return capture_no_memory;
	if (changed)
		epoch_begin(c, &c->processes[r->process], r->time);
	return NULL;
}

static uint64_t image_key(uint32_t name, uint32_t build_id)
{
	return (uint64_t)name << 32 | build_id;
}

/* Makes the newest image that of this key, unless there is one before it. Returns false if out of memory. */
static bool name_image(struct capture *c, uint64_t key)
{
	uint32_t first;

	return idmap_find(&c->images_of, key, &first) ||
	       idmap_set(&c->images_of, key, (uint32_t)c->n_images - 1);
}

const char *image_apply(struct capture *c, const struct record_image *r)
{
	uint32_t name, build_id;
	uint8_t *copy;

	if (!text_add(c, r->name, &name) || !text_add(c, r->build_id, &build_id) ||
	    !grow_array(&c->images, &c->cap_images, c->n_images, sizeof(*c->images)))
		return capture_no_memory;
	copy = malloc(r->data.n + 1);
	if (!copy)
		return capture_no_memory;
	if (r->data.n)
		memcpy(copy, r->data.p, r->data.n);
	c->images[c->n_images++].data = (struct slice){ copy, r->data.n };
	if (!name_image(c, image_key(name, 0)) || !name_image(c, image_key(name, build_id)))
		return capture_no_memory;
	return NULL;
}

const struct capture_image *capture_image(const struct capture *c, const struct capture_file *f)
{
	uint32_t first;

	return idmap_find(&c->images_of, image_key(f->path_text, f->build_id_text), &first) ?
		       &c->images[first] : NULL;
}
