#include "common/export/perfpipe_internal.h"

#include "common/base/intern.h"
#include "common/select/recordings.h"
#include "common/select/select.h"

enum {
	ROUND_NS = 1000000000,
	CHAIN_MAX = 8000, /* frames, so that a sample fits into a record */
	PROT_EXEC_BIT = 4,
	MAP_PRIVATE_BIT = 2,
	RECORD_MAX = UINT16_MAX & ~7,
};

/* Marks in a callchain: the frames that follow are the kernel's, or the user's. */
#define CONTEXT_KERNEL ((uint64_t)-128)
#define CONTEXT_USER ((uint64_t)-512)

bool perf_pipe_init(struct perf_pipe *p, const struct view *view)
{
	*p = (struct perf_pipe){ .view = view };
	intern_init(&p->events);
	return capture_init(&p->capture);
}

void perf_pipe_release(struct perf_pipe *p)
{
	capture_release(&p->capture);
	buf_release(&p->out);
	intern_release(&p->events);
	*p = (struct perf_pipe){ 0 };
}

static void put_round(struct perf_pipe *p)
{
	finish_record(&p->out, begin_record(&p->out, PERF_FINISHED_ROUND, 0));
	p->floor = p->round;
	p->round = p->latest;
}

/*
 * perf keeps records to sort them by time. FINISHED_ROUND lets it process all that is older than the previous
 * round, so a sample may be late by the time between two rounds.
 */
static void end_block(struct perf_pipe *p)
{
	if (p->introduced && p->latest >= p->round + ROUND_NS)
		put_round(p);
}

/* Writes the ticks of the segment that should have become samples but did not. */
static void put_losses(struct perf_pipe *p, uint64_t time)
{
	const struct capture *c = &p->capture;
	uint64_t lost = 0;
	size_t at;

	for (size_t cpu = 0; cpu < c->n_ledger; cpu++) {
		for (unsigned int o = 0; o < OUTCOMES; o++)
			lost += outcome_is_lost(o) ? c->ledger[cpu][o] : 0;
	}
	if (!lost)
		return;
	at = begin_record(&p->out, PERF_LOST_SAMPLES, 0);
	put64(&p->out, lost);
	put_id(p, 0, 0, time);
	finish_record(&p->out, at);
}

/*
 * After a segment that does not continue, times start over, so perf must process everything before. A segment
 * that continues repeats its state in the next one with the original times, and samples in that may be older
 * than its end.
 */
static void end_segment(struct perf_pipe *p)
{
	bool goes_on = p->capture.end_seen && p->capture.end_reason == END_CONTINUES;

	p->based = false;
	if (p->introduced && !p->capture.end_seen) /* it was cut, but its losses until then are known */
		put_losses(p, p->latest);
	if (!p->introduced || goes_on)
		return;
	put_round(p);
	put_round(p);
	p->latest = p->round = p->floor = 0;
}

static const struct capture_process *process_of(const struct perf_pipe *p, uint64_t id)
{
	return &p->capture.processes[id];
}

static void put_task(struct perf_pipe *p, uint32_t type, uint16_t misc, uint64_t pid, uint64_t parent, uint64_t tid,
		     uint64_t parent_tid, uint64_t time)
{
	size_t at = begin_record(&p->out, type, misc);

	put32(&p->out, (uint32_t)pid);
	put32(&p->out, (uint32_t)parent);
	put32(&p->out, (uint32_t)tid);
	put32(&p->out, (uint32_t)parent_tid);
	put64(&p->out, time);
	put_id(p, pid, tid, time);
	finish_record(&p->out, at);
}

static void put_mmap2(struct perf_pipe *p, uint64_t pid, const struct map *m, uint64_t time)
{
	const struct capture_file *f = m->file ? &p->capture.files[m->file] : NULL;
	bool has_id = f && f->build_id.n && f->build_id.n <= BUILD_ID_MAX;
	uint16_t misc = (uint16_t)(MISC_USER | (m->prot & PROT_EXEC_BIT ? 0 : MISC_DATA) | (has_id ? MISC_BUILD_ID : 0));
	size_t at = begin_record(&p->out, PERF_MMAP2, misc);

	put32(&p->out, (uint32_t)pid);
	put32(&p->out, (uint32_t)pid);
	put64(&p->out, m->start);
	put64(&p->out, m->end - m->start);
	put64(&p->out, m->offset);
	if (has_id) {
		put32(&p->out, (uint32_t)f->build_id.n);
		buf_bytes(&p->out, f->build_id.p, f->build_id.n);
		put_zeros(&p->out, BUILD_ID_MAX - f->build_id.n);
	} else {
		put32(&p->out, f ? (uint32_t)f->dev_major : 0);
		put32(&p->out, f ? (uint32_t)f->dev_minor : 0);
		put64(&p->out, f ? f->inode : 0);
		put64(&p->out, f ? f->generation : 0);
	}
	put32(&p->out, m->prot);
	put32(&p->out, MAP_PRIVATE_BIT);
	put_text(&p->out, f && f->path.n ? f->path : slice_of("//anon"));
	put_id(p, pid, pid, time);
	finish_record(&p->out, at);
}

/* Writes a process or its new image: perf drops the previous process with this pid. */
static void put_process(struct perf_pipe *p, const struct record_process *r)
{
	const struct capture_process *c = process_of(p, r->id);
	uint64_t parent = c->parent ? process_of(p, c->parent)->pid : 0;

	if (parent == r->pid) /* after an exec it is the previous image */
		parent = 0;
	put_task(p, PERF_FORK, MISC_EXEC, r->pid, parent, r->pid, parent, r->time);
	for (const struct map *m = maps_from(&c->maps, 0); m; m = maps_from(&c->maps, m->end))
		put_mmap2(p, r->pid, m, r->time);
}

static void put_mapping(struct perf_pipe *p, const struct record_mapping *r)
{
	struct map m = { r->start, r->start + r->length, r->offset, (uint32_t)r->file, (uint32_t)r->prot };

	put_mmap2(p, process_of(p, r->process)->pid, &m, r->time);
}

static void put_unmap(struct perf_pipe *p, const struct record_unmap *r)
{
	struct map m = { .start = r->start, .end = r->start + r->length };

	put_mmap2(p, process_of(p, r->process)->pid, &m, r->time);
}

static void put_thread(struct perf_pipe *p, uint64_t thread, uint32_t type, uint64_t time)
{
	const struct capture_thread *t = &p->capture.threads[thread];
	uint64_t pid = process_of(p, t->process)->pid;

	if (type == PERF_EXIT || t->tid != pid)
		put_task(p, type, 0, pid, pid, t->tid, pid, time);
}

static void put_comm(struct perf_pipe *p, const struct record_comm *r)
{
	const struct capture_thread *t = &p->capture.threads[r->thread];
	const struct capture_process *c = process_of(p, t->process);
	size_t at = begin_record(&p->out, PERF_COMM, c->via == VIA_EXEC ? MISC_EXEC : 0);

	put32(&p->out, (uint32_t)c->pid);
	put32(&p->out, (uint32_t)t->tid);
	put_text(&p->out, r->comm);
	put_id(p, c->pid, t->tid, r->time);
	finish_record(&p->out, at);
}

/*
 * Writes a function outside the kernel proper. Time 0, because samples may be a little older than the record.
 */
static void put_ksym(struct perf_pipe *p, const struct record_ksym *r)
{
	size_t at;

	if (!r->module.n || !r->name.n || !r->size || r->size > UINT32_MAX)
		return;
	at = begin_record(&p->out, PERF_KSYMBOL, MISC_KERNEL);
	put64(&p->out, r->address);
	put32(&p->out, (uint32_t)r->size);
	put32(&p->out, 0); /* type and flags: neither is known */
	put_text(&p->out, r->name);
	put_id(p, UINT32_MAX, 0, 0);
	finish_record(&p->out, at);
}

/* Writes the innermost frames of a half, at most room; returns the number of entries with the mark. */
static size_t put_half(struct perf_pipe *p, uint64_t node, uint64_t context, size_t room)
{
	const struct capture *c = &p->capture;
	size_t n = 0;

	if (node < NODE_FIRST)
		return 0;
	put64(&p->out, context);
	for (; node >= NODE_FIRST && n < room; node = c->nodes[node].parent) {
		const struct capture_frame *f = &c->frames[c->nodes[node].frame];

		if (capture_is_lang(f)) /* it has no address */
			continue;
		n++;
		put64(&p->out, capture_lookup(f, f->address));
	}
	p->shortened += node >= NODE_FIRST;
	return n + 1;
}

static uint64_t leaf_address(const struct perf_pipe *p, const struct record_sample *r)
{
	uint64_t node = r->kernel >= NODE_FIRST ? r->kernel : r->user;
	const struct capture *c = &p->capture;

	for (; node >= NODE_FIRST; node = c->nodes[node].parent) {
		const struct capture_frame *f = &c->frames[c->nodes[node].frame];

		if (!capture_is_lang(f))
			return capture_lookup(f, f->address);
	}
	return 0;
}

static void write_sample(struct perf_pipe *p, const struct record_sample *r)
{
	const struct capture_thread *t = &p->capture.threads[r->thread];
	uint32_t id = perf_pipe_event(p, r->event);
	size_t at = begin_record(&p->out, PERF_SAMPLE, r->kernel >= NODE_FIRST ? MISC_KERNEL : MISC_USER);
	size_t count, n;

	put64(&p->out, id);
	put64(&p->out, leaf_address(p, r));
	put32(&p->out, (uint32_t)process_of(p, t->process)->pid);
	put32(&p->out, (uint32_t)t->tid);
	put64(&p->out, r->time);
	put32(&p->out, (uint32_t)r->cpu);
	put32(&p->out, 0);
	put64(&p->out, r->weight);
	count = p->out.n;
	put64(&p->out, 0);
	n = put_half(p, r->kernel, CONTEXT_KERNEL, CHAIN_MAX / 2);
	n += put_half(p, r->user, CONTEXT_USER, CHAIN_MAX - n);
	if (!p->out.failed)
		le64_store(p->out.p + count, n);
	finish_record(&p->out, at);
	p->samples++;
	p->latest = r->time > p->latest ? r->time : p->latest;
}

static void put_sample(struct perf_pipe *p, const struct record_sample *r)
{
	struct record_sample seen;

	if (!p->based)
		p->base = recordings_base(p->view->recordings, &p->capture, r->time);
	p->based = true;
	if (select_sample(&(struct select){ p->view, &p->capture, p->base }, r, &seen) != SELECT_IN)
		return;
	if (p->view->half == HALF_USER)
		seen.kernel = 0;
	if (p->view->half == HALF_KERNEL)
		seen.user = 0;
	write_sample(p, &seen);
}

static void put_record(struct perf_pipe *p, const struct record *r)
{
	switch (r->type) {
	case RECORD_FLUSH:
		end_block(p);
		break;
	case RECORD_PROCESS:
		put_process(p, &r->process);
		break;
	case RECORD_THREAD:
		put_thread(p, r->thread.id, PERF_FORK, r->thread.time);
		break;
	case RECORD_COMM:
		put_comm(p, &r->comm);
		break;
	case RECORD_EXIT:
		if (r->exit.thread < p->capture.n_threads && p->capture.threads[r->exit.thread].defined)
			put_thread(p, r->exit.thread, PERF_EXIT, r->exit.time);
		break;
	case RECORD_MAPPING:
		put_mapping(p, &r->mapping);
		break;
	case RECORD_UNMAP:
		put_unmap(p, &r->unmap);
		break;
	case RECORD_KSYM:
		put_ksym(p, &r->ksym);
		break;
	case RECORD_SAMPLE:
		put_sample(p, &r->sample);
		break;
	case RECORD_END:
		put_losses(p, r->end.time);
		break;
	default:
		break;
	}
}

const char *perf_pipe_apply(struct perf_pipe *p, const struct record *r)
{
	const char *wrong;

	if (r->type == RECORD_SEGMENT) {
		end_segment(p);
		p->introduced = false;
		memset(p->ids, 0, sizeof(p->ids));
	}
	wrong = capture_apply(&p->capture, r);
	if (wrong)
		return wrong;
	if (r->type != RECORD_SEGMENT && r->type != RECORD_META && r->type != RECORD_EVENT)
		perf_pipe_header(p);
	put_record(p, r);
	return NULL;
}

void perf_pipe_finish(struct perf_pipe *p)
{
	perf_pipe_header(p);
	end_segment(p);
}
