#include "common/export/perfpipe.h"

#include "common/base/intern.h"
#include "common/base/le.h"
#include "common/select/select.h"

/* Types of records: those of the kernel, and from 64 on perf's own. */
enum {
	PERF_COMM = 3,
	PERF_EXIT = 4,
	PERF_FORK = 7,
	PERF_MMAP = 1,
	PERF_SAMPLE = 9,
	PERF_MMAP2 = 10,
	PERF_LOST_SAMPLES = 13,
	PERF_KSYMBOL = 17,
	PERF_HEADER_ATTR = 64,
	PERF_HEADER_BUILD_ID = 67,
	PERF_FINISHED_ROUND = 68,
	PERF_EVENT_UPDATE = 78,
	PERF_HEADER_FEATURE = 80,
};

/* The misc field of a record. */
enum {
	MISC_KERNEL = 1,
	MISC_USER = 2,
	MISC_DATA = 1 << 13,     /* MMAP2: not code */
	MISC_EXEC = 1 << 13,     /* COMM: after an exec; FORK: the parent's mappings do not count */
	MISC_BUILD_ID = 1 << 14, /* MMAP2: a build ID replaces device and inode */
	MISC_BUILD_ID_SIZE = 1 << 15, /* HEADER_BUILD_ID: the size is present */
};

/* Fields of a sample, in this order except for the first, the id. */
enum {
	SAMPLE_IDENTIFIER = 1 << 16,
	SAMPLE_IP = 1 << 0,
	SAMPLE_TID = 1 << 1,
	SAMPLE_TIME = 1 << 2,
	SAMPLE_CPU = 1 << 7,
	SAMPLE_PERIOD = 1 << 8,
	SAMPLE_CALLCHAIN = 1 << 5,
	SAMPLE_TYPE = SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU | SAMPLE_PERIOD | SAMPLE_CALLCHAIN,
};

/* Bits of the attribute's flags. */
#define FLAG(bit) (1ull << (bit))
#define FLAG_FREQ FLAG(10)
/* mmap, comm, task, sample_id_all, exclude_guest, mmap2, comm_exec, use_clockid, ksymbol, build_id. */
#define FLAGS (FLAG(8) | FLAG(9) | FLAG(13) | FLAG(18) | FLAG(20) | FLAG(23) | FLAG(24) | FLAG(25) | FLAG(29) | FLAG(34))

enum {
	ATTR_SIZE = 128, /* PERF_ATTR_SIZE_VER7, that of perf 6.1 */
	RECORD_MAX = UINT16_MAX & ~7,
	TEXT_MAX = 4095, /* bytes of a path or a name; perf has room for PATH_MAX */
	BUILD_ID_MAX = 20,
	CHAIN_MAX = 8000, /* frames, so that a sample fits into a record */
	ROUND_NS = 1000000000,
	KERNEL_TEXT = 256 << 20, /* bytes; no kernel's text is larger */
	PROT_EXEC_BIT = 4,
	MAP_PRIVATE_BIT = 2,
	UPDATE_NAME = 2,
};

/* Marks in a callchain: the frames that follow are the kernel's, or the user's. */
#define CONTEXT_KERNEL ((uint64_t)-128)
#define CONTEXT_USER ((uint64_t)-512)

static void put16(struct buf *b, uint16_t v)
{
	uint8_t bytes[2];

	le16_store(bytes, v);
	buf_bytes(b, bytes, sizeof(bytes));
}

static void put32(struct buf *b, uint32_t v)
{
	uint8_t bytes[4];

	le32_store(bytes, v);
	buf_bytes(b, bytes, sizeof(bytes));
}

static void put64(struct buf *b, uint64_t v)
{
	uint8_t bytes[8];

	le64_store(bytes, v);
	buf_bytes(b, bytes, sizeof(bytes));
}

static void put_zeros(struct buf *b, size_t n)
{
	while (n--)
		buf_byte(b, 0);
}

/* Writes text ended by NUL and padded to eight bytes. Cuts it at a NUL and at TEXT_MAX. */
static void put_text(struct buf *b, struct slice s)
{
	size_t n = s.n ? strnlen((const char *)s.p, s.n) : 0;

	n = n < TEXT_MAX ? n : TEXT_MAX;
	buf_bytes(b, s.p, n);
	put_zeros(b, 8 - n % 8);
}

static size_t begin_record(struct buf *b, uint32_t type, uint16_t misc)
{
	size_t at = b->n;

	put32(b, type);
	put16(b, misc);
	put16(b, 0); /* size, set by finish_record */
	return at;
}

static void finish_record(struct buf *b, size_t at)
{
	if (!b->failed)
		le16_store(b->p + at + 6, (uint16_t)(b->n - at));
}

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

/* Writes the trailer of records other than samples: process, thread, time, CPU. Id 0: no particular event. */
static void put_id(struct perf_pipe *p, uint64_t pid, uint64_t tid, uint64_t time)
{
	time = time > p->floor ? time : p->floor;
	p->latest = time > p->latest ? time : p->latest;
	put32(&p->out, (uint32_t)pid);
	put32(&p->out, (uint32_t)tid);
	put64(&p->out, time);
	put64(&p->out, 0); /* CPU */
	put64(&p->out, 0);
}

/* The events that perf knows itself, as in struct perf_event_attr; others get a record with their name. */
struct known_event {
	const char *name;
	uint32_t type;
	uint64_t config;
};

static const struct known_event *known_event(struct slice name)
{
	enum { HARDWARE = 0, SOFTWARE = 1, RAW = 4 };
	static const struct known_event events[] = {
		{ "cpu-clock", SOFTWARE, 0 },	  { "task-clock", SOFTWARE, 1 },
		{ "page-faults", SOFTWARE, 2 },	  { "context-switches", SOFTWARE, 3 },
		{ "cpu-migrations", SOFTWARE, 4 }, { "minor-faults", SOFTWARE, 5 },
		{ "major-faults", SOFTWARE, 6 },  { "alignment-faults", SOFTWARE, 7 },
		{ "emulation-faults", SOFTWARE, 8 },
		{ "cycles", HARDWARE, 0 },	  { "instructions", HARDWARE, 1 },
		{ "cache-references", HARDWARE, 2 }, { "cache-misses", HARDWARE, 3 },
		{ "branches", HARDWARE, 4 },	  { "branch-misses", HARDWARE, 5 },
		{ NULL, RAW, 0 },
	};
	const struct known_event *e = events;

	while (e->name && !slice_is(name, e->name))
		e++;
	return e;
}

static void put_attr(struct perf_pipe *p, const struct record_event *e, struct slice name, uint64_t id)
{
	const struct known_event *known = known_event(name);
	uint64_t hertz = e ? e->millihertz / 1000 : 0;
	size_t at = begin_record(&p->out, PERF_HEADER_ATTR, 0), attr = p->out.n;

	put32(&p->out, known->type);
	put32(&p->out, ATTR_SIZE);
	put64(&p->out, known->config);
	put64(&p->out, hertz ? hertz : e ? e->period : 0);
	put64(&p->out, SAMPLE_TYPE);
	put64(&p->out, 0); /* read_format */
	put64(&p->out, FLAGS | (hertz ? FLAG_FREQ : 0));
	put_zeros(&p->out, 92 - 48);
	put32(&p->out, 1); /* clockid: CLOCK_MONOTONIC */
	put_zeros(&p->out, ATTR_SIZE - (p->out.n - attr));
	put64(&p->out, id);
	finish_record(&p->out, at);
	if (known->name)
		return;
	at = begin_record(&p->out, PERF_EVENT_UPDATE, 0);
	put64(&p->out, UPDATE_NAME);
	put64(&p->out, id);
	put_text(&p->out, name);
	finish_record(&p->out, at);
}

/*
 * Returns perf's id of an event of the segment; writes the event at first sight. Returns 0 if out of memory.
 */
static uint32_t event_id(struct perf_pipe *p, uint64_t event)
{
	const struct record_event *e = p->capture.events[event].id ? &p->capture.events[event] : NULL;
	struct slice name = e && e->name.n ? e->name : slice_of("unknown");
	size_t before = p->events.n;
	uint32_t id;

	if (p->ids[event])
		return p->ids[event];
	if (!intern_add(&p->events, name, &id)) {
		p->out.failed = true;
		return 0;
	}
	if (p->events.n > before)
		put_attr(p, e, name, id + 1);
	return p->ids[event] = id + 1;
}

/* Writes a line of perf report --header. */
static void put_feature(struct perf_pipe *p, uint64_t feature, const char *key)
{
	struct slice value = capture_meta(&p->capture, key);
	size_t at, length;

	if (!value.n)
		return;
	at = begin_record(&p->out, PERF_HEADER_FEATURE, 0);
	put64(&p->out, feature);
	length = p->out.n;
	put32(&p->out, 0);
	put_text(&p->out, value);
	if (!p->out.failed)
		le32_store(p->out.p + length, (uint32_t)(p->out.n - length - 4));
	put_zeros(&p->out, 4);
	finish_record(&p->out, at);
}

/* Converts hexadecimal digits to bytes; returns their number, 0 if the text is invalid. */
static size_t hex_bytes(struct slice s, uint8_t *to, size_t room)
{
	static const char digits[] = "0123456789abcdef";

	if (s.n == 0 || s.n % 2 || s.n / 2 > room)
		return 0;
	for (size_t i = 0; i < s.n; i++) {
		const char *d = s.p[i] ? strchr(digits, s.p[i]) : NULL;

		if (!d)
			return 0;
		to[i / 2] = (uint8_t)(to[i / 2] << 4 | (d - digits));
	}
	return s.n / 2;
}

static void put_kernel_id(struct perf_pipe *p)
{
	uint8_t id[BUILD_ID_MAX + 4] = { 0 };
	size_t at, n = hex_bytes(capture_meta(&p->capture, "kernel-build-id"), id, BUILD_ID_MAX);

	if (!n)
		return;
	id[BUILD_ID_MAX] = (uint8_t)n;
	at = begin_record(&p->out, PERF_HEADER_BUILD_ID, MISC_KERNEL | MISC_BUILD_ID_SIZE);
	put32(&p->out, UINT32_MAX); /* the host's kernel */
	buf_bytes(&p->out, id, sizeof(id));
	put_text(&p->out, slice_of("[kernel.kallsyms]"));
	put_zeros(&p->out, 4);
	finish_record(&p->out, at);
}

static uint64_t kernel_stext(const struct perf_pipe *p)
{
	struct slice s = capture_meta(&p->capture, "kernel-stext");
	uint8_t bytes[8] = { 0 };
	uint64_t v = 0;
	size_t n = hex_bytes(s, bytes, sizeof(bytes));

	for (size_t i = 0; i < n; i++)
		v = v << 8 | bytes[i];
	return v;
}

/*
 * Writes the mapping of the kernel proper. It ends where modules and BPF programs can begin, because perf
 * would look up their addresses in this mapping; they are written function by function.
 */
static void put_kernel(struct perf_pipe *p)
{
	const uint64_t modules = 0xffffffffc0000000; /* on x86-64 with KASLR */
	uint64_t stext = kernel_stext(p), length = KERNEL_TEXT;
	size_t at;

	if (!stext || stext == p->stext)
		return;
	p->stext = stext;
	if (length > ~stext)
		length = ~stext;
	if (slice_is(capture_meta(&p->capture, "arch"), "x86_64") && stext < modules && length > modules - stext)
		length = modules - stext;
	put_kernel_id(p);
	at = begin_record(&p->out, PERF_MMAP, MISC_KERNEL);
	put32(&p->out, UINT32_MAX);
	put32(&p->out, 0);
	put64(&p->out, stext);
	put64(&p->out, length);
	put64(&p->out, stext); /* address of the symbol in the name at recording time */
	put_text(&p->out, slice_of("[kernel.kallsyms]_stext"));
	put_id(p, UINT32_MAX, 0, 0);
	finish_record(&p->out, at);
}

/* Writes the header of a segment, once its header block has ended. */
static void introduce_segment(struct perf_pipe *p)
{
	enum { HOSTNAME = 3, OSRELEASE = 4, VERSION = 5, ARCH = 6 };
	bool first = !p->begun;
	uint64_t event = 1;

	if (p->introduced)
		return;
	p->introduced = true;
	if (first) {
		buf_text(&p->out, "PERFILE2");
		put64(&p->out, 16); /* this head: it is a pipe */
		p->begun = true;
	}
	for (event = 1; event < CAPTURE_EVENTS; event++) {
		if (p->capture.events[event].id)
			event_id(p, event);
	}
	if (p->events.n == 0) /* perf can read no other record before an event, so there is at least one */
		event_id(p, 1);
	if (first) {
		put_feature(p, HOSTNAME, "host");
		put_feature(p, OSRELEASE, "kernel-release");
		put_feature(p, VERSION, "recorder");
		put_feature(p, ARCH, "arch");
	}
	put_kernel(p);
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

/*
 * After a segment that does not continue, times start over, so perf must process everything before. A segment
 * that continues repeats its state in the next one with the original times, and samples in that may be older
 * than its end.
 */
static void end_segment(struct perf_pipe *p)
{
	bool goes_on = p->capture.end_seen && p->capture.end_reason == END_CONTINUES;

	if (!p->introduced || goes_on)
		return;
	put_round(p);
	put_round(p);
	p->based = false;
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
	uint32_t id = event_id(p, r->event);
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
		p->base = select_base(&p->capture, r->time);
	p->based = true;
	if (select_sample(&(struct select){ p->view, &p->capture, p->base }, r, &seen) != SELECT_IN)
		return;
	if (p->view->half == HALF_USER)
		seen.kernel = 0;
	if (p->view->half == HALF_KERNEL)
		seen.user = 0;
	write_sample(p, &seen);
}

/* Writes the ticks of the segment that should have become samples but did not. */
static void put_losses(struct perf_pipe *p, uint64_t time)
{
	const struct capture *c = &p->capture;
	uint64_t lost = 0;
	size_t at;

	for (size_t cpu = 0; cpu < c->n_ledger; cpu++) {
		for (unsigned int o = OUTCOME_RING_FULL; o <= OUTCOME_NO_MEMORY; o++)
			lost += c->ledger[cpu][o];
	}
	if (!lost)
		return;
	at = begin_record(&p->out, PERF_LOST_SAMPLES, 0);
	put64(&p->out, lost);
	put_id(p, 0, 0, time);
	finish_record(&p->out, at);
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
		introduce_segment(p);
	put_record(p, r);
	return NULL;
}

void perf_pipe_finish(struct perf_pipe *p)
{
	introduce_segment(p);
	end_segment(p);
}
