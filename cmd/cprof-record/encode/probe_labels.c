#include "cmd/cprof-record/encode/probe_labels.h"

#include <inttypes.h>

void probe_labels_init(struct probe_labels *l)
{
	*l = (struct probe_labels){ 0 };
	intern_init(&l->texts);
}

void probe_labels_release(struct probe_labels *l)
{
	intern_release(&l->texts);
	buf_release(&l->text);
}

void probe_labels_restart(struct probe_labels *l)
{
	intern_release(&l->texts);
	intern_init(&l->texts);
	l->written = 0;
}

void probe_labels_take(struct probe_labels *l, const struct options *o, const struct sample_label *from)
{
	const struct probe *p = from->head.event < o->n_events ? o->events[from->head.event].probe : NULL;

	buf_clear(&l->text);
	l->time = from->head.time;
	l->tid = from->head.tid;
	if (!p || !p->label)
		return;
	buf_printf(&l->text, "arg%u=", p->label);
	if (!p->label_is_text)
		buf_printf(&l->text, from->is_signed ? "%" PRId64 : "%" PRIu64, (uint64_t)from->number);
	else if (from->text_n > 0 && from->text_n <= LABEL_TEXT)
		buf_bytes(&l->text, from->text, (size_t)from->text_n - 1);
	else
		buf_text(&l->text, "(unreadable)");
}

uint32_t probe_labels_find(struct probe_labels *l, const struct sample_head *s)
{
	uint32_t at;

	if (l->text.n == 0 || l->text.failed || l->time != s->time || l->tid != s->tid)
		return 0;
	if (l->texts.n >= LABELS_MAX && !intern_find(&l->texts, buf_view(&l->text), &at)) {
		l->text.n = (size_t)((uint8_t *)memchr(l->text.p, '=', l->text.n) + 1 - l->text.p);
		buf_text(&l->text, "(others)");
	}
	return intern_add(&l->texts, buf_view(&l->text), &at) ? at + 1 : 0;
}

struct slice probe_labels_text(const struct probe_labels *l, uint32_t label)
{
	return intern_get(&l->texts, label - 1);
}
