#include "cmd/cprof-record/rings/sideband.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "common/base/array.h"

enum { TRAILER = 8 };

void sideband_attr(struct perf_event_attr *attr)
{
	attr->mmap = attr->mmap2 = attr->comm = attr->comm_exec = attr->task = 1;
	attr->ksymbol = 1;
	attr->build_id = 1;
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->sample_type |= PERF_SAMPLE_TIME;
}

bool sideband_attr_older(struct perf_event_attr *attr)
{
	if (attr->build_id) /* 5.12 */
		attr->build_id = 0;
	else if (attr->sample_type & PERF_SAMPLE_CGROUP) /* 5.7, with CONFIG_CGROUP_PERF */
		attr->sample_type &= ~(uint64_t)PERF_SAMPLE_CGROUP;
	else if (attr->ksymbol) /* 5.1 */
		attr->ksymbol = 0;
	else
		return false;
	return true;
}

/* Takes a NUL-terminated name from the rest of a record; padding follows it. */
static struct slice take_name(struct cursor *c)
{
	return (struct slice){ c->p, strnlen((const char *)c->p, cursor_left(c)) };
}

static void decode_mmap2(struct change *c, struct cursor *p, bool has_build_id)
{
	c->kind = CHANGE_MMAP;
	c->pid = cursor_take32(p);
	c->tid = cursor_take32(p);
	c->start = cursor_take64(p);
	c->length = cursor_take64(p);
	c->offset = cursor_take64(p);
	if (has_build_id) {
		size_t n = p->p[0] <= 20 ? p->p[0] : 20;

		c->build_id = (struct slice){ p->p + 4, n };
		p->p += 24;
	} else {
		c->major = cursor_take32(p);
		c->minor = cursor_take32(p);
		c->inode = cursor_take64(p);
		c->generation = cursor_take64(p);
	}
	c->prot = cursor_take32(p);
	cursor_take32(p); /* flags */
	c->text = take_name(p);
}

static void decode_task(struct change *c, struct cursor *p, enum change_kind kind)
{
	c->kind = kind;
	c->pid = cursor_take32(p);
	c->ppid = cursor_take32(p);
	c->tid = cursor_take32(p);
	c->ptid = cursor_take32(p);
}

static void decode_ksymbol(struct change *c, struct cursor *p)
{
	uint32_t flags;

	c->start = cursor_take64(p);
	c->length = cursor_take32(p);
	flags = cursor_take32(p) >> 16; /* u16 type, u16 flags */
	c->kind = flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER ? CHANGE_KSYM_GONE : CHANGE_KSYM;
	c->text = take_name(p);
}

bool sideband_decode(struct change *c, const struct perf_event_header *h, size_t trailer, size_t time_at)
{
	struct cursor p;

	*c = (struct change){ 0 };
	if (h->size < sizeof(*h) + trailer + 8)
		return false;
	p = cursor_over(h + 1, h->size - sizeof(*h) - trailer);
	memcpy(&c->time, (const uint8_t *)h + h->size - time_at, sizeof(c->time));
	switch (h->type) {
	case PERF_RECORD_MMAP2:
		if (cursor_left(&p) < 64)
			return false;
		decode_mmap2(c, &p, h->misc & PERF_RECORD_MISC_MMAP_BUILD_ID);
		return true;
	case PERF_RECORD_COMM:
		c->kind = h->misc & PERF_RECORD_MISC_COMM_EXEC ? CHANGE_EXEC : CHANGE_COMM;
		c->pid = cursor_take32(&p);
		c->tid = cursor_take32(&p);
		c->text = take_name(&p);
		return true;
	case PERF_RECORD_FORK:
		decode_task(c, &p, CHANGE_FORK);
		return true;
	case PERF_RECORD_EXIT:
		decode_task(c, &p, CHANGE_EXIT);
		return true;
	case PERF_RECORD_KSYMBOL:
		decode_ksymbol(c, &p);
		return true;
	case PERF_RECORD_LOST:
		c->kind = CHANGE_LOST;
		cursor_take64(&p); /* id */
		c->lost = cursor_take64(&p);
		return true;
	default:
		return false;
	}
}

bool sideband_add(struct sideband *s, unsigned int cpu)
{
	int fd;

	if (!grow_array(&s->rings, &s->cap, s->n, sizeof(*s->rings))) {
		errno = ENOMEM;
		return false;
	}
	while ((fd = event_open(&s->attr, -1, (int)cpu)) < 0) {
		if (errno != EINVAL || !sideband_attr_older(&s->attr))
			return false;
	}
	s->rings[s->n].fd = fd;
	if (!perf_ring_map(&s->rings[s->n], fd, cpu, s->ring_bytes)) {
		int saved = errno;

		s->rings[s->n].page = NULL;
		perf_ring_close(&s->rings[s->n]);
		errno = saved;
		return false;
	}
	s->n++;
	return true;
}

bool sideband_open(struct sideband *s, const struct cpu_list *cpus, uint32_t ring_bytes)
{
	*s = (struct sideband){ .ring_bytes = ring_bytes, .attr = { .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY } };
	sideband_attr(&s->attr);
	s->attr.watermark = 1;
	s->attr.wakeup_watermark = ring_bytes / 8;
	for (size_t i = 0; i < cpus->n; i++) {
		if (!sideband_add(s, cpus->items[i]) && errno != ENODEV)
			return false;
	}
	return true;
}

bool sideband_has(const struct sideband *s, unsigned int cpu)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->rings[i].cpu == cpu)
			return true;
	}
	return false;
}

void sideband_drop(struct sideband *s, unsigned int cpu)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->rings[i].cpu == cpu) {
			perf_ring_close(&s->rings[i]);
			s->rings[i] = s->rings[--s->n];
			return;
		}
	}
}

static void queue_record(void *arg, unsigned int cpu, const struct perf_event_header *h)
{
	uint64_t time;

	(void)cpu;
	if (h->size < sizeof(*h) + TRAILER)
		return;
	memcpy(&time, (const uint8_t *)h + h->size - TRAILER, sizeof(time));
	queue_push(arg, ITEM_SIDEBAND, time, h, h->size);
}

void sideband_drain(struct sideband *s, struct queue *q)
{
	for (size_t i = 0; i < s->n; i++)
		q->lost[ITEM_SIDEBAND] += !perf_ring_drain(&s->rings[i], queue_record, q);
}

void sideband_close(struct sideband *s)
{
	for (size_t i = 0; i < s->n; i++)
		perf_ring_close(&s->rings[i]);
	free(s->rings);
	*s = (struct sideband){ 0 };
}
