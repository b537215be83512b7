#include "common/timed/perfetto.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/capture/capture.h"
#include "common/export/thread_moments.h"

enum { PIECE = 64 << 10, CPUS_MAX = 1 << 16 };

/* Numbers of fields in perfetto's messages, and of the values of its enumerations. */
enum {
	TRACE_PACKET = 1,
	PACKET_PROCESS_TREE = 2,
	PACKET_CLOCKS = 6,
	PACKET_TIME = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK = 60,
	PACKET_SAMPLE = 66,
	FLAGS_CLEARED = 1,
	FLAGS_NEEDED = 2,
	DEFAULTS_SAMPLE = 12,
	DEFAULTS_TIMEBASE = 1,
	TIMEBASE_PERIOD = 1,
	TIMEBASE_COUNTER = 4,
	TIMEBASE_NAME = 10,
	COUNTER_CPU_CLOCK = 1,
	CLOCKS_CLOCK = 1,
	CLOCK_ID = 1,
	CLOCK_TIME = 2,
	CLOCK_REALTIME_ID = 1,
	CLOCK_BOOTTIME_ID = 6,
	TREE_PROCESS = 1,
	TREE_THREAD = 2,
	PROCESS_PID = 1,
	PROCESS_COMMAND = 3,
	PROCESS_IS_COMM = 9,
	THREAD_TID = 1,
	THREAD_NAME = 2,
	THREAD_PID = 3,
	TRACK_UUID = 1,
	TRACK_THREAD = 4,
	DESCRIPTOR_PID = 1,
	DESCRIPTOR_TID = 2,
	DESCRIPTOR_NAME = 5,
	SAMPLE_CPU = 1,
	SAMPLE_PID = 2,
	SAMPLE_TID = 3,
	SAMPLE_STACK = 4,
	SAMPLE_MODE = 5,
	SAMPLE_COUNT = 6,
	MODE_KERNEL = 1,
	MODE_USER = 2,
	EVENT_CATEGORY = 3,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME = 10,
	EVENT_TRACK = 11,
	EVENT_FLOW = 47,
	EVENT_FLOW_ENDS = 48,
	EVENT_STACK = 56,
	EVENT_BEGINS = 1,
	EVENT_ENDS = 2,
	EVENT_INSTANT = 3,
	ANNOTATION_TEXT = 6,
	ANNOTATION_NAME = 10,
	INTERNED_CATEGORIES = 1,
	INTERNED_EVENTS = 2,
	INTERNED_FUNCTIONS = 5,
	INTERNED_FRAMES = 6,
	INTERNED_STACKS = 7,
	INTERNED_BUILD_IDS = 16,
	INTERNED_PATHS = 17,
	INTERNED_SOURCES = 18,
	INTERNED_MAPPINGS = 19,
	TEXT_IID = 1,
	TEXT_BYTES = 2,
	MAPPING_IID = 1,
	MAPPING_BUILD_ID = 2,
	MAPPING_PATH = 7,
	FRAME_IID = 1,
	FRAME_FUNCTION = 2,
	FRAME_MAPPING = 3,
	FRAME_ADDRESS = 4,
	FRAME_SOURCE = 5,
	FRAME_LINE = 6,
	STACK_IID = 1,
	STACK_FRAMES = 2,
};

enum { WIRE_VARINT = 0, WIRE_FIXED = 1, WIRE_BYTES = 2 };

/* In this order at one time: a wait that ends makes room for the next, and a flow begins before it ends. */
enum event_kind { WAIT_ENDS, WAKES, WOKEN, WAIT_BEGINS, SAMPLED };

/* Numbers of the names of events after those of waits. */
enum { NAME_WAKES = CAPTURE_WAITS, NAME_WOKEN };

struct event {
	uint64_t time;
	uint32_t moment, thread;
	enum event_kind kind;
};

enum perfetto_step {
	STEP_HEAD,
	STEP_THREADS,
	STEP_TEXTS,
	STEP_MAPPINGS,
	STEP_FRAMES,
	STEP_STACKS,
	STEP_EVENTS,
	STEP_END
};

struct perfetto_writer {
	struct traces *s;
	struct thread_moments threads;
	uint64_t *bases; /* by thread: added to its numbers */
	struct event *events;
	size_t n_events;
	bool *by_node;	  /* nodes with samples: these stacks are written */
	uint64_t *counts; /* by CPU: weight so far */
	size_t cap_counts;
	enum perfetto_step step;
	size_t at;
	bool failed;
	uint32_t *path;
	size_t cap_path;
	struct buf out, packet, interned, part, inner;
};

static void add_number(struct buf *b, uint32_t field, uint64_t v)
{
	buf_varint(b, field << 3 | WIRE_VARINT);
	buf_varint(b, v);
}

static void add_fixed(struct buf *b, uint32_t field, uint64_t v)
{
	buf_varint(b, field << 3 | WIRE_FIXED);
	for (unsigned int i = 0; i < 64; i += 8)
		buf_byte(b, (uint8_t)(v >> i));
}

static void add_bytes(struct buf *b, uint32_t field, struct slice bytes)
{
	buf_varint(b, field << 3 | WIRE_BYTES);
	buf_varint(b, bytes.n);
	if (bytes.n)
		buf_bytes(b, bytes.p, bytes.n);
}

/* Appends a message, which is then empty again. */
static void add_message(struct buf *b, uint32_t field, struct buf *message)
{
	add_bytes(b, field, buf_view(message));
	b->failed = b->failed || message->failed;
	buf_clear(message);
}

static void end_packet(struct perfetto_writer *w, uint64_t flags)
{
	add_number(&w->packet, PACKET_SEQUENCE, 1);
	add_number(&w->packet, PACKET_FLAGS, flags);
	add_message(&w->out, TRACE_PACKET, &w->packet);
}

static void end_interned(struct perfetto_writer *w)
{
	if (w->interned.n) {
		add_message(&w->packet, PACKET_INTERNED, &w->interned);
		end_packet(w, FLAGS_NEEDED);
	}
}

static void add_clock(struct perfetto_writer *w, uint64_t id)
{
	add_number(&w->inner, CLOCK_ID, id);
	add_number(&w->inner, CLOCK_TIME, w->threads.start);
	add_message(&w->part, CLOCKS_CLOCK, &w->inner);
}

/* Writes the clocks and the event. The time of the wall is taken as the trace's own clock, that of the boot. */
static void write_head(struct perfetto_writer *w)
{
	const struct traces *s = w->s;

	add_clock(w, CLOCK_BOOTTIME_ID);
	add_clock(w, CLOCK_REALTIME_ID);
	add_message(&w->packet, PACKET_CLOCKS, &w->part);
	if (s->period)
		add_number(&w->inner, TIMEBASE_PERIOD, s->period);
	if (thread_moments_timed(s))
		add_number(&w->inner, TIMEBASE_COUNTER, COUNTER_CPU_CLOCK);
	add_bytes(&w->inner, TIMEBASE_NAME, traces_get(s, s->event));
	add_message(&w->part, DEFAULTS_TIMEBASE, &w->inner);
	add_message(&w->interned, DEFAULTS_SAMPLE, &w->part);
	add_message(&w->packet, PACKET_DEFAULTS, &w->interned);
	add_number(&w->packet, PACKET_TIME, w->threads.start);
	end_packet(w, FLAGS_CLEARED);
	w->step = STEP_THREADS;
}

/* Finds the offset of the numbers of each thread's host. Threads are sorted by host. */
static bool find_bases(struct perfetto_writer *w)
{
	const struct thread_moments_thread *threads = w->threads.threads;

	w->bases = calloc(w->threads.n + 1, sizeof(*w->bases));
	for (size_t i = 1; w->bases && i < w->threads.n; i++) {
		bool same = threads[i].host == threads[i - 1].host;

		w->bases[i] = w->bases[i - 1] + (same ? 0 : PERFETTO_HOST);
	}
	return w->bases;
}

static void name_process(struct perfetto_writer *w, size_t i)
{
	const struct thread_moments_thread *t = &w->threads.threads[i];
	struct slice name = traces_get(w->s, t->process), host = traces_get(w->s, t->host);

	add_number(&w->part, PROCESS_PID, t->pid + w->bases[i]);
	buf_bytes(&w->inner, name.p, name.n);
	if (w->bases[w->threads.n - 1] && host.n) {
		buf_text(&w->inner, " on ");
		buf_bytes(&w->inner, host.p, host.n);
	}
	add_message(&w->part, PROCESS_COMMAND, &w->inner);
	add_number(&w->part, PROCESS_IS_COMM, 1);
	add_message(&w->interned, TREE_PROCESS, &w->part);
}

/* Writes the name of a thread, and its track. */
static void write_thread(struct perfetto_writer *w, size_t i)
{
	const struct thread_moments_thread *t = &w->threads.threads[i];
	uint64_t base = w->bases[i];
	struct slice name = traces_get(w->s, t->comm);

	name_process(w, i);
	add_number(&w->part, THREAD_TID, t->tid + base);
	add_bytes(&w->part, THREAD_NAME, name);
	add_number(&w->part, THREAD_PID, t->pid + base);
	add_message(&w->interned, TREE_THREAD, &w->part);
	add_message(&w->packet, PACKET_PROCESS_TREE, &w->interned);
	add_number(&w->packet, PACKET_TIME, w->threads.start);
	end_packet(w, FLAGS_NEEDED);
	add_number(&w->inner, DESCRIPTOR_PID, t->pid + base);
	add_number(&w->inner, DESCRIPTOR_TID, t->tid + base);
	add_bytes(&w->inner, DESCRIPTOR_NAME, name);
	add_number(&w->part, TRACK_UUID, i + 1);
	add_message(&w->part, TRACK_THREAD, &w->inner);
	add_message(&w->packet, PACKET_TRACK, &w->part);
	end_packet(w, FLAGS_NEEDED);
}

static void add_text(struct perfetto_writer *w, uint32_t field, uint64_t iid, struct slice text)
{
	add_number(&w->part, TEXT_IID, iid);
	add_bytes(&w->part, TEXT_BYTES, text);
	add_message(&w->interned, field, &w->part);
}

/* Interns a text in each of its uses, with one number: they are few bytes beside the stacks. */
static void write_text(struct perfetto_writer *w, size_t i)
{
	struct slice text = traces_get(w->s, (uint32_t)i);

	if (i == 0) {
		add_text(w, INTERNED_CATEGORIES, 1, slice_of("wait"));
		for (uint32_t k = 1; k < CAPTURE_WAITS; k++)
			add_text(w, INTERNED_EVENTS, k, thread_moments_wait(k));
		add_text(w, INTERNED_EVENTS, NAME_WAKES, slice_of("wakes"));
		add_text(w, INTERNED_EVENTS, NAME_WOKEN, slice_of("woken"));
	}
	add_text(w, INTERNED_FUNCTIONS, i + 1, text);
	add_text(w, INTERNED_PATHS, i + 1, text);
	add_text(w, INTERNED_SOURCES, i + 1, text);
}

static int hex_digit(uint8_t c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Interns a build ID as bytes; of one that is not hexadecimal the text. */
static void add_build_id(struct perfetto_writer *w, uint64_t iid, struct slice hex)
{
	for (size_t i = 0; i + 1 < hex.n; i += 2) {
		int high = hex_digit(hex.p[i]), low = hex_digit(hex.p[i + 1]);

		if (high < 0 || low < 0) {
			buf_clear(&w->inner);
			buf_bytes(&w->inner, hex.p, hex.n);
			break;
		}
		buf_byte(&w->inner, (uint8_t)(high << 4 | low));
	}
	add_text(w, INTERNED_BUILD_IDS, iid, buf_view(&w->inner));
	buf_clear(&w->inner);
}

/* Mapping 0, of frames without one, is written as the one after the last. */
static void write_mapping(struct perfetto_writer *w, size_t i)
{
	const struct traces_mapping *m = &w->s->mappings[i];
	uint64_t iid = i ? i : w->s->n_mappings;

	if (m->build_id)
		add_build_id(w, iid, traces_get(w->s, m->build_id));
	add_number(&w->part, MAPPING_IID, iid);
	if (m->build_id)
		add_number(&w->part, MAPPING_BUILD_ID, iid);
	add_number(&w->part, MAPPING_PATH, m->path + 1ull);
	add_message(&w->interned, INTERNED_MAPPINGS, &w->part);
}

static void write_frames(struct perfetto_writer *w, size_t i)
{
	const struct traces_location *l = &w->s->locations[i];
	const struct traces_mapping *m = &w->s->mappings[l->mapping];

	for (uint32_t k = 0; k < l->n; k++) {
		const struct traces_line *line = &w->s->lines[l->line + k];
		const struct traces_function *f = &w->s->functions[line->function];

		add_number(&w->part, FRAME_IID, l->line + k + 1ull);
		add_number(&w->part, FRAME_FUNCTION, f->name + 1ull);
		add_number(&w->part, FRAME_MAPPING, l->mapping ? l->mapping : w->s->n_mappings);
		add_number(&w->part, FRAME_ADDRESS, l->address - m->start + m->offset);
		if (f->file)
			add_number(&w->part, FRAME_SOURCE, f->file + 1ull);
		if (line->line)
			add_number(&w->part, FRAME_LINE, line->line);
		add_message(&w->interned, INTERNED_FRAMES, &w->part);
	}
}

static void add_location(struct perfetto_writer *w, uint32_t location)
{
	const struct traces_location *l = &w->s->locations[location];

	for (uint32_t k = 0; k < l->n; k++)
		add_number(&w->part, STACK_FRAMES, l->line + k + 1ull);
}

/* The stack of node i; or, after all nodes, of the location of a command, for stacks without frames. */
static void write_stack(struct perfetto_writer *w, size_t i)
{
	const struct traces *s = w->s;
	size_t n = 0;

	if (!w->by_node[i])
		return;
	add_number(&w->part, STACK_IID, i + 1);
	if (i >= s->n_nodes)
		add_location(w, (uint32_t)(i - s->n_nodes));
	for (uint32_t at = i < s->n_nodes ? (uint32_t)i : 0; at; at = s->nodes[at].parent) {
		if (!grow_array(&w->path, &w->cap_path, n, sizeof(*w->path))) {
			w->failed = true;
			return;
		}
		w->path[n++] = s->nodes[at].location;
	}
	while (n)
		add_location(w, w->path[--n]);
	add_message(&w->interned, INTERNED_STACKS, &w->part);
}

static size_t stack_of(const struct perfetto_writer *w, const struct traces_moment *m)
{
	return m->node ? m->node : w->s->n_nodes + w->s->owners[m->owner].bare;
}

static uint64_t mode_of(const struct perfetto_writer *w, const struct traces_moment *m)
{
	const struct traces *s = w->s;

	return m->node && s->mappings[s->locations[s->nodes[m->node].location].mapping].kernel ? MODE_KERNEL
											       : MODE_USER;
}

static void add_sample(struct perfetto_writer *w, const struct event *e, const struct traces_moment *m)
{
	const struct traces_owner *o = &w->s->owners[m->owner];
	uint64_t base = w->bases[e->thread];

	add_number(&w->part, SAMPLE_CPU, m->cpu);
	add_number(&w->part, SAMPLE_PID, o->pid + base);
	add_number(&w->part, SAMPLE_TID, o->tid + base);
	add_number(&w->part, SAMPLE_STACK, stack_of(w, m) + 1);
	add_number(&w->part, SAMPLE_MODE, mode_of(w, m));
	if (m->cpu < CPUS_MAX) {
		if (!grow_array(&w->counts, &w->cap_counts, m->cpu, sizeof(*w->counts))) {
			w->failed = true;
			return;
		}
		w->counts[m->cpu] += m->weight;
		add_number(&w->part, SAMPLE_COUNT, w->counts[m->cpu]);
	}
	add_message(&w->packet, PACKET_SAMPLE, &w->part);
}

static void annotate(struct perfetto_writer *w, const char *name, struct slice text)
{
	add_bytes(&w->inner, ANNOTATION_NAME, slice_of(name));
	add_bytes(&w->inner, ANNOTATION_TEXT, text);
	add_message(&w->part, EVENT_ANNOTATION, &w->inner);
}

/* Adds one end of the flow from a waker to the thread that it woke. The flow has the number of the moment. */
static void add_waking(struct perfetto_writer *w, const struct event *e, const struct traces_moment *m)
{
	const struct traces_owner *o = &w->s->owners[m->owner];
	bool wakes = e->kind == WAKES;

	add_number(&w->part, EVENT_TYPE, EVENT_INSTANT);
	add_number(&w->part, EVENT_TRACK, e->thread + 1ull);
	add_number(&w->part, EVENT_CATEGORY, 1);
	add_number(&w->part, EVENT_NAME, wakes ? NAME_WAKES : NAME_WOKEN);
	annotate(w, wakes ? "woken" : "waker", traces_get(w->s, wakes ? o->comm : o->waker));
	add_fixed(&w->part, wakes ? EVENT_FLOW : EVENT_FLOW_ENDS, e->moment + 1ull);
	add_message(&w->packet, PACKET_TRACK_EVENT, &w->part);
}

static void add_slice(struct perfetto_writer *w, const struct event *e, const struct traces_moment *m)
{
	add_number(&w->part, EVENT_TYPE, e->kind == WAIT_BEGINS ? EVENT_BEGINS : EVENT_ENDS);
	add_number(&w->part, EVENT_TRACK, e->thread + 1ull);
	if (e->kind == WAIT_BEGINS) {
		add_number(&w->part, EVENT_CATEGORY, 1);
		add_number(&w->part, EVENT_NAME, w->s->owners[m->owner].wait);
		add_number(&w->part, EVENT_STACK, stack_of(w, m) + 1);
		if (w->s->owners[m->owner].waker)
			annotate(w, "waker", traces_get(w->s, w->s->owners[m->owner].waker));
	}
	add_message(&w->packet, PACKET_TRACK_EVENT, &w->part);
}

static void write_event(struct perfetto_writer *w, size_t i)
{
	const struct event *e = &w->events[i];
	const struct traces_moment *m = &w->s->moments[e->moment];

	add_number(&w->packet, PACKET_TIME, e->time);
	if (e->kind == SAMPLED)
		add_sample(w, e, m);
	else if (e->kind == WAKES || e->kind == WOKEN)
		add_waking(w, e, m);
	else
		add_slice(w, e, m);
	end_packet(w, FLAGS_NEEDED);
}

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;
	int order = (x->time > y->time) - (x->time < y->time);

	if (order == 0)
		order = (int)x->kind - (int)y->kind;
	return order ? order : (x->moment > y->moment) - (x->moment < y->moment);
}

static void push_event(struct perfetto_writer *w, uint64_t time, enum event_kind kind, size_t moment,
		       size_t thread)
{
	w->events[w->n_events++] = (struct event){ time, (uint32_t)moment, (uint32_t)thread, kind };
}

static void push_waking(struct perfetto_writer *w, size_t moment, size_t thread)
{
	const struct traces_moment *m = &w->s->moments[moment];
	const struct traces_owner *o = &w->s->owners[m->owner];
	size_t waker = thread_moments_find(&w->threads, w->s, o->host, o->waker_pid, o->waker_tid);

	if (!o->waker_tid || waker == w->threads.n)
		return;
	push_event(w, m->time, WAKES, moment, waker);
	push_event(w, m->time, WOKEN, moment, thread);
}

/* Orders samples, and both ends of waits, by time. A wait of no length has no slice. */
static bool find_events(struct perfetto_writer *w)
{
	const struct traces *s = w->s;
	bool time = thread_moments_timed(s);

	w->by_node = calloc(s->n_nodes + s->n_locations, sizeof(*w->by_node));
	w->events = calloc(4 * s->n_moments + 1, sizeof(*w->events));
	if (!w->by_node || !w->events || s->n_moments > UINT32_MAX)
		return false;
	for (size_t t = 0; t < w->threads.n; t++) {
		for (size_t i = w->threads.threads[t].first; i < w->threads.threads[t].end; i++) {
			const struct traces_moment *m = &s->moments[i];

			w->by_node[stack_of(w, m)] = true;
			if (!s->owners[m->owner].wait) {
				push_event(w, m->time, SAMPLED, i, t);
			} else if (time && m->weight) {
				push_event(w, thread_moments_begin(s, m), WAIT_BEGINS, i, t);
				push_event(w, m->time, WAIT_ENDS, i, t);
				push_waking(w, i, t);
			}
		}
	}
	qsort(w->events, w->n_events, sizeof(*w->events), by_time);
	return true;
}

struct perfetto_writer *perfetto_new(struct traces *s)
{
	struct perfetto_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->s = s;
	if (thread_moments_init(&w->threads, s) && find_bases(w) && find_events(w))
		return w;
	perfetto_free(w);
	return NULL;
}

void perfetto_free(struct perfetto_writer *w)
{
	if (!w)
		return;
	thread_moments_release(&w->threads);
	buf_release(&w->out);
	buf_release(&w->packet);
	buf_release(&w->interned);
	buf_release(&w->part);
	buf_release(&w->inner);
	free(w->bases);
	free(w->events);
	free(w->by_node);
	free(w->counts);
	free(w->path);
	free(w);
}

bool perfetto_failed(const struct perfetto_writer *w)
{
	return w->failed;
}

static void next_step(struct perfetto_writer *w)
{
	end_interned(w);
	w->step++;
	w->at = 0;
}

bool perfetto_next(struct perfetto_writer *w, struct slice *bytes)
{
	const struct traces *s = w->s;
	const struct {
		void (*write)(struct perfetto_writer *w, size_t i);
		size_t n;
	} steps[] = {
		[STEP_THREADS] = { write_thread, w->threads.n },
		[STEP_TEXTS] = { write_text, s->texts.n },
		[STEP_MAPPINGS] = { write_mapping, s->n_mappings },
		[STEP_FRAMES] = { write_frames, s->n_locations },
		[STEP_STACKS] = { write_stack, s->n_nodes + s->n_locations },
		[STEP_EVENTS] = { write_event, w->n_events },
	};

	buf_clear(&w->out);
	if (w->step == STEP_HEAD)
		write_head(w);
	while (w->step != STEP_END && w->out.n < PIECE && !w->failed) {
		if (w->at == steps[w->step].n)
			next_step(w);
		else
			steps[w->step].write(w, w->at++);
		if (w->interned.n >= PIECE)
			end_interned(w);
		w->failed = w->failed || w->out.failed;
	}
	*bytes = buf_view(&w->out);
	return !w->failed && w->out.n;
}
