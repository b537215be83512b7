#include "common/gather/gather_modules.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/intern.h"
#include "common/base/le.h"
#include "common/profile/sanitize.h"

enum {
	TAG = 0x01, /* begins a provisional label with a number; no final label begins with it */
	TAG_SIZE = 1 + 4,
	PART = '\t', /* separates the parts of a label, see gather_names.h */
	DIRECTORIES = 16, /* path components tried to tell paths apart; then the whole path is used */
	ID_DIGITS = 8,
};

static const char deleted[] = " (deleted)";

struct slice gather_module_undeleted(struct slice path)
{
	size_t n = sizeof(deleted) - 1;

	if (path.n >= n && memcmp(path.p + path.n - n, deleted, n) == 0)
		path.n -= n;
	return path;
}

/* Returns the last n parts of a path; the whole path if it has fewer. */
static struct slice last_parts(struct slice path, size_t parts)
{
	size_t at = path.n;

	while (at > 0 && (path.p[at - 1] != '/' || --parts > 0))
		at--;
	return (struct slice){ path.p + at, path.n - at };
}

struct slice gather_module_base(struct slice path)
{
	return last_parts(gather_module_undeleted(path), 1);
}

void gather_modules_init(struct gather_modules *m)
{
	*m = (struct gather_modules){ 0 };
	intern_init(&m->keys);
	intern_init(&m->names);
}

void gather_modules_release(struct gather_modules *m)
{
	intern_release(&m->keys);
	intern_release(&m->names);
	free(m->list);
	*m = (struct gather_modules){ 0 };
}

bool gather_modules_add(struct gather_modules *m, struct slice path, struct slice build_id, unsigned int side,
		 uint32_t *number)
{
	struct buf key = { 0 };
	struct gather_module *added;
	bool good;

	path = gather_module_undeleted(path);
	buf_slice(&key, path);
	buf_bytes(&key, build_id.p, build_id.n);
	good = !key.failed && intern_add(&m->keys, buf_view(&key), number) &&
	       grow_array(&m->list, &m->cap, *number, sizeof(*m->list));
	if (good) {
		size_t end = intern_get(&m->keys, *number).n - build_id.n;
		const uint8_t *kept = intern_get(&m->keys, *number).p + end;

		m->n = m->keys.n;
		added = &m->list[*number];
		added->path = (struct slice){ kept - path.n, path.n };
		added->base = gather_module_base(added->path);
		added->build_id = (struct slice){ kept, build_id.n };
		added->sides |= 1u << side;
	}
	buf_release(&key);
	return good;
}

void gather_modules_label(struct buf *out, uint32_t number, const char *offset)
{
	uint8_t bytes[4];

	le32_store(bytes, number);
	buf_byte(out, TAG);
	buf_bytes(out, bytes, sizeof(bytes));
	buf_text(out, offset);
}

static int compare_bytes(struct slice a, struct slice b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int differ = n ? memcmp(a.p, b.p, n) : 0;

	return differ ? differ : a.n < b.n ? -1 : a.n > b.n;
}

static int by_id(const void *a, const void *b, void *list)
{
	const struct gather_module *x = (struct gather_module *)list + *(const uint32_t *)a;
	const struct gather_module *y = (struct gather_module *)list + *(const uint32_t *)b;
	int differ = compare_bytes(x->base, y->base);

	differ = differ ? differ : compare_bytes(x->build_id, y->build_id);
	return differ ? differ : compare_bytes(x->path, y->path);
}

static int by_path(const void *a, const void *b, void *list)
{
	const struct gather_module *x = (struct gather_module *)list + *(const uint32_t *)a;
	const struct gather_module *y = (struct gather_module *)list + *(const uint32_t *)b;
	int differ = compare_bytes(x->base, y->base);

	differ = differ ? differ : compare_bytes(x->path, y->path);
	return differ ? differ : compare_bytes(x->build_id, y->build_id);
}

static bool same_base(const struct gather_module *a, const struct gather_module *b)
{
	return slice_equal(a->base, b->base);
}

static bool same_path(const struct gather_module *a, const struct gather_module *b)
{
	return slice_equal(a->path, b->path);
}

static bool same_id(const struct gather_module *a, const struct gather_module *b)
{
	return same_base(a, b) && slice_equal(a->build_id, b->build_id);
}

/* Returns how many modules from here on are the same by this test. */
static size_t count_same(const struct gather_module *list, const uint32_t *order, size_t n,
			 bool (*same)(const struct gather_module *, const struct gather_module *))
{
	size_t i = 1;

	while (i < n && same(&list[order[0]], &list[order[i]]))
		i++;
	return i;
}

static uint32_t group_of(struct gather_module *list, uint32_t i)
{
	while (list[i].group != i)
		i = list[i].group = list[list[i].group].group;
	return i;
}

static void join_groups(struct gather_module *list, const uint32_t *order, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		uint32_t a = group_of(list, order[0]), b = group_of(list, order[i]);

		list[a > b ? a : b].group = a > b ? b : a;
	}
}

/* One build is one module, wherever the file is. */
static void join_ids(struct gather_modules *m, uint32_t *order)
{
	qsort_r(order, m->n, sizeof(*order), by_id, m->list);
	for (size_t i = 0, n; i < m->n; i += n) {
		n = count_same(m->list, order + i, m->n - i, same_id);
		if (m->list[order[i]].build_id.n)
			join_groups(m->list, order + i, n);
	}
}

/* In a comparison, one path is one module. Otherwise a file without build ID joins the one build there. */
static void join_paths(struct gather_modules *m, uint32_t *order, unsigned int sides)
{
	qsort_r(order, m->n, sizeof(*order), by_path, m->list);
	for (size_t i = 0, n; i < m->n; i += n) {
		n = count_same(m->list, order + i, m->n - i, same_path);
		if (sides > 1 || (n == 2 && m->list[order[i]].build_id.n == 0))
			join_groups(m->list, order + i, n);
	}
}

/* If no side has two modules of a base name, those of the two sides are the same module before and after. */
static void join_sole(struct gather_modules *m, const uint32_t *order)
{
	struct gather_module *list = m->list;

	for (uint32_t i = 0; i < m->n; i++)
		list[group_of(list, i)].group_sides |= list[i].sides;
	for (size_t i = 0, n; i < m->n; i += n) {
		size_t count[PROFILE_SIDES] = { 0 };

		n = count_same(list, order + i, m->n - i, same_base);
		for (size_t k = i; k < i + n; k++) {
			for (unsigned int side = 0; side < PROFILE_SIDES && list[order[k]].group == order[k]; side++)
				count[side] += list[order[k]].group_sides >> side & 1;
		}
		if (count[0] <= 1 && count[1] <= 1)
			join_groups(list, order + i, n);
	}
}

/* Picks the first module of each group, by path: the group is named after it. */
static size_t pick_shown(struct gather_module *list, const uint32_t *order, size_t n, uint32_t *shown)
{
	size_t picked = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t group = group_of(list, order[i]);

		if (list[group].name.p)
			continue;
		list[group].name = list[group].base;
		list[group].shown = order[i];
		shown[picked++] = order[i];
	}
	return picked;
}

static int by_bytes(const void *a, const void *b)
{
	return compare_bytes(*(const struct slice *)a, *(const struct slice *)b);
}

static size_t count_distinct(struct slice *texts, size_t n)
{
	size_t distinct = n > 0;

	qsort(texts, n, sizeof(*texts), by_bytes);
	for (size_t i = 1; i < n; i++)
		distinct += !slice_equal(texts[i - 1], texts[i]);
	return distinct;
}

/* Returns how many parts of these paths keep distinct paths distinct. texts: room for n. */
static size_t parts_needed(const struct gather_module *list, const uint32_t *shown, size_t n,
			   struct slice *texts)
{
	size_t parts, distinct;

	for (size_t i = 0; i < n; i++)
		texts[i] = list[shown[i]].path;
	distinct = count_distinct(texts, n);
	for (parts = 1; parts <= DIRECTORIES; parts++) {
		for (size_t i = 0; i < n; i++)
			texts[i] = last_parts(list[shown[i]].path, parts);
		if (count_distinct(texts, n) == distinct)
			return parts;
	}
	return SIZE_MAX;
}

/* Returns whether the two build IDs begin with the same digits. */
static bool id_begins_like(const struct gather_module *a, const struct gather_module *b)
{
	size_t n = ID_DIGITS / 2;

	return a->build_id.n >= n && b->build_id.n >= n && memcmp(a->build_id.p, b->build_id.p, n) == 0;
}

/* Appends " (0123abcd)", or the whole ID if the other's first digits are the same. */
static void append_id(struct buf *out, const struct gather_module *m, const struct gather_module *other)
{
	size_t n = m->build_id.n;

	if (n > ID_DIGITS / 2 && !id_begins_like(m, other))
		n = ID_DIGITS / 2;
	buf_text(out, " (");
	for (size_t i = 0; i < n; i++)
		buf_printf(out, "%02x", m->build_id.p[i]);
	buf_text(out, n ? ")" : "no build ID)");
}

/* Names the groups of one base name; shown is ordered by path, then by build ID. */
static bool name_groups(struct gather_modules *m, const uint32_t *shown, size_t n, struct slice *texts)
{
	size_t parts = parts_needed(m->list, shown, n, texts);
	struct buf text = { 0 };
	bool good = true;

	for (size_t i = 0; good && i < n; i++) {
		struct gather_module *it = &m->list[shown[i]], *group = &m->list[it->group];
		const struct gather_module *before = i > 0 ? &m->list[shown[i - 1]] : NULL;
		const struct gather_module *after = i + 1 < n ? &m->list[shown[i + 1]] : NULL;
		uint32_t id;

		buf_clear(&text);
		sanitize_append(&text, last_parts(it->path, parts));
		before = before && same_path(before, it) ? before : NULL;
		after = after && same_path(after, it) ? after : NULL;
		if (before || after)
			append_id(&text, it, before && (!after || id_begins_like(before, it)) ? before : after);
		good = !text.failed && intern_add(&m->names, buf_view(&text), &id);
		if (good)
			group->name = intern_get(&m->names, id);
	}
	buf_release(&text);
	return good;
}

static bool name_all(struct gather_modules *m, const uint32_t *order)
{
	uint32_t *shown = calloc(m->n, sizeof(*shown));
	struct slice *texts = calloc(m->n, sizeof(*texts));
	bool good = shown && texts;

	for (size_t i = 0, n; good && i < m->n; i += n) {
		n = count_same(m->list, order + i, m->n - i, same_base);
		good = name_groups(m, shown, pick_shown(m->list, order + i, n, shown), texts);
	}
	free(shown);
	free(texts);
	return good;
}

/* Finds the groups that have build IDs on both sides, and whether one is in common. */
static void compare_ids(struct gather_modules *m, uint32_t *order)
{
	qsort_r(order, m->n, sizeof(*order), by_id, m->list);
	for (size_t i = 0, n; i < m->n; i += n) {
		struct gather_module *group = &m->list[m->list[order[i]].group];
		unsigned int sides = 0;

		n = count_same(m->list, order + i, m->n - i, same_id);
		for (size_t k = i; k < i + n; k++)
			sides |= m->list[order[k]].sides;
		if (m->list[order[i]].build_id.n) {
			group->id_sides |= sides;
			group->id_shared = group->id_shared || (sides & (sides - 1));
		}
	}
}

/* Returns the bytes of the label's first part. A number may contain any byte. */
static size_t part_bytes(struct slice label)
{
	size_t tag = label.n >= TAG_SIZE && label.p[0] == TAG ? TAG_SIZE : 0;
	const uint8_t *end = label.n > tag ? memchr(label.p + tag, PART, label.n - tag) : NULL;

	return end ? (size_t)(end - label.p) : label.n;
}

static void append_part(const struct gather_modules *m, struct slice part, struct buf *out)
{
	const struct gather_module *it;
	bool offset;

	if (part.n < TAG_SIZE || part.p[0] != TAG) {
		buf_bytes(out, part.p, part.n);
		return;
	}
	it = &m->list[m->list[le32_load(part.p + 1)].group];
	offset = part.n > TAG_SIZE && part.p[TAG_SIZE] == '+';
	buf_text(out, offset ? "[" : "");
	buf_bytes(out, it->name.p, it->name.n);
	buf_bytes(out, part.p + TAG_SIZE, part.n - TAG_SIZE);
	buf_text(out, offset ? "]" : "");
}

void gather_modules_text(const struct gather_modules *m, struct slice label, struct buf *out)
{
	size_t n = part_bytes(label);

	append_part(m, (struct slice){ label.p, n }, out);
	while (n < label.n) {
		buf_byte(out, PART);
		label = (struct slice){ label.p + n + 1, label.n - n - 1 };
		n = part_bytes(label);
		append_part(m, (struct slice){ label.p, n }, out);
	}
}

/* Gives labels with a number their name; returns false if out of memory. */
static bool name_labels(const struct gather_modules *m, const struct profile *from, struct profile *to,
			uint32_t *labels)
{
	struct buf text = { 0 };
	bool good = true;

	for (uint32_t i = 0; good && i < from->labels.n; i++) {
		buf_clear(&text);
		gather_modules_text(m, profile_text(from, i), &text);
		good = !text.failed && profile_label(to, buf_view(&text), &labels[i]);
	}
	buf_release(&text);
	return good;
}

static bool rename_labels(const struct gather_modules *m, struct profile *p, size_t stack_max)
{
	uint32_t *labels = calloc(p->labels.n, sizeof(*labels));
	struct profile named;
	bool good = profile_init(&named) && labels && name_labels(m, p, &named, labels);

	named.stack_max = stack_max;
	for (unsigned int side = 0; good && side < PROFILE_SIDES; side++)
		good = profile_claim(&named, side, p->total[side]);
	good = good && profile_pour(&named, p, labels);
	free(labels);
	profile_release(good ? p : &named);
	if (good)
		*p = named;
	return good;
}

bool gather_modules_settle(struct gather_modules *m, struct profile *p, unsigned int sides, size_t stack_max)
{
	uint32_t *order = calloc(m->n + 1, sizeof(*order));

	if (!order)
		return false;
	for (uint32_t i = 0; i < m->n; i++)
		order[i] = m->list[i].group = i;
	join_ids(m, order);
	join_paths(m, order, sides);
	if (sides > 1)
		join_sole(m, order);
	for (uint32_t i = 0; i < m->n; i++)
		m->list[i].group = group_of(m->list, i);
	if (!name_all(m, order)) {
		free(order);
		return false;
	}
	compare_ids(m, order);
	free(order);
	return (m->n == 0 && stack_max == 0) || rename_labels(m, p, stack_max);
}

size_t gather_modules_rebuilt(const struct gather_modules *m, struct slice *name)
{
	size_t n = 0;

	for (uint32_t i = 0; i < m->n; i++) {
		const struct gather_module *it = &m->list[i];

		if (it->group != i || it->id_shared || !(it->id_sides & (it->id_sides - 1)))
			continue;
		if (n++ == 0 || compare_bytes(it->name, *name) < 0)
			*name = it->name;
	}
	return n;
}
