#include "common/page/page_data.h"

#include "common/base/intern.h"
#include "common/page/lanes_data.h"

enum {
	TWO_SIDES = 1,
	HAS_MOMENTS = 2,
	INVERTED = 4,
	HAS_KINDS = 8,
	SEVERAL_RUNS = 16,
	HAS_LANES = 32,
	HAS_MODULES = 64,
};

static void append_text(struct buf *out, const char *text)
{
	buf_slice(out, slice_of(text ? text : ""));
}

static void append_pairs(struct buf *out, const struct picture_pair *pairs, size_t n)
{
	buf_varint(out, n);
	for (size_t i = 0; i < n; i++) {
		append_text(out, pairs[i].name);
		append_text(out, pairs[i].value);
	}
}

static unsigned int flags_of(const struct picture *pic)
{
	unsigned int flags = (pic->sides > 1 ? TWO_SIDES : 0) | (pic->moments ? HAS_MOMENTS : 0) |
			     (pic->inverted ? INVERTED : 0) | (pic->moments ? HAS_LANES : 0) | (pic->moments && pic->moments->n_begins ? SEVERAL_RUNS : 0);

	for (size_t i = 0; i < pic->tree->n_labels; i++) {
		if (pic->tree->labels[i].kind >= KIND_KERNEL && pic->tree->labels[i].kind <= KIND_INTERPRETED)
			flags |= HAS_KINDS;
		if (pic->tree->labels[i].module.n)
			flags |= HAS_MODULES;
	}
	return flags;
}

static void append_labels(struct buf *out, const struct picture *pic)
{
	const struct flame_tree *t = pic->tree;

	buf_varint(out, t->n_labels);
	for (size_t i = 0; i < t->n_labels; i++) {
		buf_varint(out, t->labels[i].kind);
		buf_slice(out, t->labels[i].text);
		if (pic->sides > 1) {
			buf_varint(out, pic->verdicts->selfs[i]);
			buf_varint(out, pic->verdicts->totals[i]);
		}
	}
}

/* Returns whether the label and the next one differ only in their modules. */
static bool differs_by_module(const struct flame_tree *t, size_t i)
{
	const struct flame_label *l = &t->labels[i];

	return i + 1 < t->n_labels && l[0].kind == l[1].kind && slice_equal(l[0].text, l[1].text);
}

static void append_modules(struct buf *out, const struct flame_tree *t)
{
	struct buf numbers = { 0 };
	struct intern modules;

	intern_init(&modules);
	for (size_t i = 0; i < t->n_labels; i++) {
		bool several = differs_by_module(t, i) || (i && differs_by_module(t, i - 1));
		struct slice module = t->labels[i].module;
		uint32_t number;

		if (module.n && !intern_add(&modules, module, &number))
			out->failed = true;
		buf_varint(&numbers, module.n && !out->failed ? 1 + several + 2 * (uint64_t)number : 0);
	}
	buf_varint(out, modules.n);
	for (uint32_t i = 0; i < modules.n; i++)
		buf_slice(out, intern_get(&modules, i));
	buf_bytes(out, numbers.p, numbers.n);
	out->failed |= numbers.failed;
	buf_release(&numbers);
	intern_release(&modules);
}

static uint8_t *write_number(uint8_t *p, uint64_t v)
{
	for (; v > 0x7f; v >>= 7)
		*p++ = (uint8_t)(v | 0x80);
	*p++ = (uint8_t)v;
	return p;
}

/* Reserves space for many nodes at once: checking at each number took twice as long. */
static void append_tree(struct buf *out, const struct picture *pic)
{
	enum { BATCH = 4096, NODE = 5 * VARINT_MAX };
	const struct flame_tree *t = pic->tree;
	bool two = pic->sides > 1;

	buf_varint(out, t->n - 1);
	buf_varint(out, t->nodes[0].children);
	for (size_t i = 1; i < t->n;) {
		size_t end = t->n - i < BATCH ? t->n : i + BATCH;
		uint8_t *p;

		if (!buf_reserve(out, (end - i) * NODE))
			return;
		for (p = out->p + out->n; i < end; i++) {
			const struct flame_node *node = &t->nodes[i];
			const uint64_t *self = flame_self(t, i);
			bool passes = node->children == 1 && !self[0] && (!two || !self[1]);

			p = write_number(p, (uint64_t)node->label * 2 + passes);
			if (!passes) {
				p = write_number(p, node->children);
				p = write_number(p, self[0]);
				if (two)
					p = write_number(p, self[1]);
			}
			if (two)
				p = write_number(p, pic->verdicts->nodes[i]);
		}
		out->n = (size_t)(p - out->p);
	}
}

static void append_moments(struct buf *out, const struct heatmap_data *m)
{
	uint64_t before = 0;

	buf_varint(out, m->slice_ns);
	buf_varint(out, m->slices);
	buf_varint(out, m->n);
	for (size_t i = 0; i < m->n; i++) {
		buf_varint(out, m->list[i].slice - before);
		buf_varint(out, m->list[i].node);
		buf_varint(out, m->list[i].weight);
		before = m->list[i].slice;
	}
}

static void append_runs(struct buf *out, const struct heatmap_data *m)
{
	uint64_t before = 0;

	buf_varint(out, m->n_begins);
	for (size_t i = 0; i < m->n_begins; i++) {
		buf_varint(out, m->begins[i] - before);
		before = m->begins[i];
	}
}

size_t page_data_append(struct buf *out, const struct picture *pic)
{
	size_t begin = out->n, texts;

	buf_text(out, "cprofv2\n");
	buf_varint(out, flags_of(pic));
	append_text(out, pic->title);
	append_text(out, pic->subtitle);
	append_text(out, pic->unit);
	for (unsigned int side = 0; side < PROFILE_SIDES; side++)
		append_text(out, pic->sides > 1 ? pic->names[side] : NULL);
	append_pairs(out, pic->options, pic->n_options);
	append_pairs(out, pic->facts, pic->n_facts);
	append_labels(out, pic);
	if (flags_of(pic) & HAS_MODULES)
		append_modules(out, pic->tree);
	texts = out->n - begin;
	append_tree(out, pic);
	if (pic->moments)
		append_moments(out, pic->moments);
	if (pic->moments && pic->moments->n_begins)
		append_runs(out, pic->moments);
	if (pic->moments)
		lanes_data_append(out, pic->moments);
	return texts;
}
