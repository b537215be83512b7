#include "common/page/lanes_data.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/intern.h"
#include "common/capture/container.h"
#include "common/stream/record.h"

enum { NS_PER_MS = 1000000 };

/* Origins in the order of their first use, with numbers from 0 on. */
struct table {
	uint32_t *number; /* by number in struct origins: number here plus 1 */
	uint32_t *order;
	size_t n;
	struct intern texts;
	bool failed;
};

static void number_origins(struct table *t, const struct moment *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (t->number[list[i].origin])
			continue;
		t->order[t->n++] = list[i].origin;
		t->number[list[i].origin] = (uint32_t)t->n;
	}
}

/* Returns the number of a text. */
static uint32_t add_text(struct table *t, struct slice text)
{
	uint32_t id = 0;

	if (!intern_add(&t->texts, text.n ? text : slice_of(""), &id))
		t->failed = true;
	return id;
}

/* Returns the number of the short name of the container with this control group. */
static uint32_t add_container(struct table *t, struct slice cgroup)
{
	struct buf label = { 0 };
	uint32_t id;

	if (cgroup.n)
		container_label(&label, cgroup);
	id = add_text(t, buf_view(&label));
	t->failed = t->failed || label.failed;
	buf_release(&label);
	return id;
}

static void append_origins(struct buf *out, struct table *t, const struct origins *o)
{
	struct buf rows = { 0 };

	for (size_t i = 0; i < t->n; i++) {
		static const struct origin unknown = { 0 };
		const struct origin *from = t->order[i] ? origins_get(o, t->order[i]) : &unknown;

		buf_varint(&rows, add_text(t, from->host));
		buf_varint(&rows, add_container(t, from->container));
		buf_varint(&rows, add_text(t, from->comm));
		buf_varint(&rows, from->pid);
		buf_varint(&rows, from->tid);
		buf_varint(&rows, from->cpu);
	}
	buf_varint(out, t->texts.n);
	for (size_t i = 0; i < t->texts.n; i++)
		buf_slice(out, intern_get(&t->texts, (uint32_t)i));
	buf_varint(out, t->n);
	buf_bytes(out, rows.p, rows.n);
	out->failed = out->failed || rows.failed || t->failed;
	buf_release(&rows);
}

static void append_spans(struct buf *out, const struct table *t, const struct heatmap_data *m)
{
	uint64_t before = 0;

	buf_varint(out, m->n_spans);
	for (size_t i = 0; i < m->n_spans; i++) {
		const struct moment *span = &m->spans[i];

		buf_varint(out, span->slice - before);
		buf_varint(out, span->whole);
		buf_varint(out, span->node);
		buf_varint(out, t->number[span->origin] - 1);
		buf_varint(out, span->weight);
		before = span->slice;
	}
}

static void append_ticks(struct buf *out, const struct heatmap_data *m)
{
	uint64_t before = 0;

	buf_varint(out, OUTCOMES);
	for (uint64_t outcome = 0; outcome < OUTCOMES; outcome++)
		buf_slice(out, slice_of(outcome_name(outcome)));
	buf_varint(out, m->n_ticks);
	for (size_t i = 0; i < m->n_ticks; i++) {
		buf_varint(out, m->ticks[i].slice - before);
		buf_varint(out, m->ticks[i].to - m->ticks[i].slice + 1);
		buf_varint(out, m->ticks[i].outcome);
		buf_varint(out, m->ticks[i].count);
		before = m->ticks[i].slice;
	}
}

void lanes_data_append(struct buf *out, const struct heatmap_data *m)
{
	size_t most = m->origins->keys.n + 1;
	struct table t = { 0 };

	t.number = calloc(most, sizeof(*t.number));
	t.order = calloc(most, sizeof(*t.order));
	intern_init(&t.texts);
	if (t.number && t.order) {
		number_origins(&t, m->list, m->n);
		number_origins(&t, m->spans, m->n_spans);
		append_origins(out, &t, m->origins);
		for (size_t i = 0; i < m->n; i++)
			buf_varint(out, t.number[m->list[i].origin] - 1);
		append_spans(out, &t, m);
		for (size_t i = 0; i <= m->n_begins; i++) {
			uint64_t start = m->first_ns ? m->first_ns :
				origins_time(m->origins, m->begin_runs[i], 0, m->slice_ns);

			buf_varint(out, start / NS_PER_MS);
		}
		append_ticks(out, m);
	} else {
		out->failed = true;
	}
	intern_release(&t.texts);
	free(t.number);
	free(t.order);
}
