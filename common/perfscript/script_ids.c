#include "common/perfscript/script_ids.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/idmap.h"
#include "common/base/intern.h"

enum {
	EVENT_OTHER = 63, /* for all events without an id of their own */
	FILES_MAX = 60000, /* with those of one more sample still below 2^17, for which addresses have room */
};

/* Comments of perf script --header that have a key in a stream's header. */
static const struct fact {
	const char *comment, *key;
} facts[] = {
	{ "# hostname : ", "host" },
	{ "# os release : ", "kernel-release" },
	{ "# arch : ", "arch" },
	{ "# cmdline : ", "command-line" },
};

void script_segment_init(struct script_reader *r)
{
	intern_init(&r->lines_seen);
	intern_init(&r->units);
	intern_init(&r->strings);
	intern_init(&r->events);
	intern_init(&r->files);
	intern_init(&r->comms);
	idmap_init(&r->processes);
	idmap_init(&r->threads);
	idmap_init(&r->mappings);
	idmap_init(&r->frames);
	idmap_init(&r->nodes);
	r->n_frames = 0;
	r->n_nodes = NODE_FIRST;
	r->segment_samples = 0;
}

void script_segment_release(struct script_reader *r)
{
	intern_release(&r->lines_seen);
	intern_release(&r->units);
	intern_release(&r->strings);
	intern_release(&r->events);
	intern_release(&r->files);
	intern_release(&r->comms);
	idmap_release(&r->processes);
	idmap_release(&r->threads);
	idmap_release(&r->mappings);
	idmap_release(&r->frames);
	idmap_release(&r->nodes);
	free(r->known);
	free(r->thread_comms);
	r->known = NULL;
	r->thread_comms = NULL;
	r->cap_known = r->cap_thread_comms = 0;
}

static void put_meta(struct script_reader *r, const char *key, struct slice value)
{
	if (value.n)
		script_put(r, (struct record){ .type = RECORD_META, .meta = { slice_of(key), value } });
}

void script_segment_begin(struct script_reader *r)
{
	if (r->begun)
		return;
	r->begun = true;
	script_put(r, (struct record){ .type = RECORD_SEGMENT, .segment = { STREAM_MAJOR, STREAM_MINOR, STREAM_MAJOR } });
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		put_meta(r, facts[i].key, buf_view(&r->facts[i]));
	put_meta(r, "recorder", slice_of("perf"));
	put_meta(r, "engine", slice_of("perf-script"));
	script_put(r, (struct record){ .type = RECORD_FLUSH });
}

void script_segment_end(struct script_reader *r, enum end_reason reason)
{
	script_segment_begin(r);
	script_put(r, (struct record){ .type = RECORD_END, .end = { r->time, reason, r->segment_samples } });
	script_put(r, (struct record){ .type = RECORD_FLUSH });
	script_segment_release(r);
	script_segment_init(r);
	r->begun = false;
}

/* Estimates the memory that the tables take. Names of C++ may be thousands of bytes long. */
static size_t table_bytes(const struct script_reader *r)
{
	size_t each = sizeof(struct script_known) + 56; /* bytes of a line, apart from its text */
	size_t texts = r->lines_seen.bytes + r->units.bytes + r->strings.bytes + r->files.bytes +
		       r->comms.bytes;

	return texts + r->lines_seen.n * each + r->units.n * 56 + r->n_frames * 32 + r->n_nodes * 24 +
	       r->threads.n * 48;
}

bool script_segment_full(const struct script_reader *r)
{
	return table_bytes(r) > SCRIPT_SEGMENT || r->files.n >= FILES_MAX;
}

bool script_segment_over(const struct script_reader *r)
{
	return table_bytes(r) / 2 > SCRIPT_SEGMENT;
}

void script_comment(struct script_reader *r, struct slice line)
{
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		size_t n = strlen(facts[i].comment);

		if (slice_begins(line, facts[i].comment)) {
			buf_clear(&r->facts[i]);
			buf_bytes(&r->facts[i], line.p + n, line.n - n);
		}
	}
}

uint64_t script_string(struct script_reader *r, struct slice text)
{
	bool fresh;
	uint32_t number = script_number(r, &r->strings, text, &fresh);

	if (fresh)
		script_put(r, (struct record){ .type = RECORD_STRING, .string = { number + 1, text } });
	return number + 1;
}

/*
 * Returns whether it is one of the kernel's software events or a tracepoint. A tracepoint has letters other
 * than perf's modifiers, as in "cycles:ppp", after its colon.
 */
static bool is_counted(struct slice event)
{
	static const char *const names[] = {
		"page-faults", "faults", "minor-faults", "major-faults", "context-switches", "cs", "cpu-migrations", "migrations",
		"alignment-faults", "emulation-faults",
	};
	static const char modifiers[] = "ukhpPGHSDIWeb:";
	const uint8_t *colon = event.n ? memchr(event.p, ':', event.n) : NULL;
	size_t n = colon ? (size_t)(colon - event.p) : event.n;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (n == strlen(names[i]) && memcmp(event.p, names[i], n) == 0)
			return true;
	}
	for (n++; n < event.n; n++) {
		if (!memchr(modifiers, event.p[n], sizeof(modifiers) - 1))
			return true;
	}
	return false;
}

/*
 * Periods of clocks and of waiting time, which cprof itself has written, are nanoseconds. Periods of things
 * that happen once add up as "events". Hardware events have as many units as there are events. An event
 * without a period in the text counts samples.
 */
static const char *unit_of(const struct script_head *h)
{
	if (!h->has_period)
		return "";
	if (slice_begins(h->event, EVENT_OFF_CPU)) /* not a tracepoint, although it has a colon */
		return "ns";
	if (is_counted(h->event))
		return "events";
	if (slice_begins(h->event, "cpu-clock") || slice_begins(h->event, "task-clock"))
		return "ns";
	return slice_begins(h->event, "cycles") || slice_begins(h->event, "cpu-cycles") ? "cycles" : "";
}

uint64_t script_event(struct script_reader *r, const struct script_head *h)
{
	struct slice name = h->event.n ? h->event : slice_of("unknown");
	uint32_t number;
	bool fresh;

	if (r->events.n >= EVENT_OTHER - 1 && !intern_find(&r->events, name, &number))
		name = slice_of("other");
	number = script_number(r, &r->events, name, &fresh);
	if (fresh)
		script_put(r, (struct record){ .type = RECORD_EVENT,
					       .event = { number + 1, name, slice_of(unit_of(h)),
							  h->has_period ? h->period : 1, 0 } });
	return number + 1;
}

/* Unknown numbers are written as 0; only the id here distinguishes them from process 0. */
static uint64_t known_number(uint64_t number)
{
	return number == SCRIPT_NOBODY ? 0 : number;
}

static uint64_t process_id(struct script_reader *r, uint64_t pid)
{
	bool fresh;
	uint64_t id = script_id(r, &r->processes, pid, r->processes.n + 1, &fresh);

	if (fresh)
		script_put(r, (struct record){ .type = RECORD_PROCESS,
					       .process = { .id = id, .time = r->time, .pid = known_number(pid) } });
	return id;
}

uint64_t script_thread(struct script_reader *r, const struct script_head *h)
{
	uint64_t process = process_id(r, h->pid), id;
	uint32_t comm;
	bool fresh, renamed;

	id = script_id(r, &r->threads, h->pid << 32 | h->tid, r->threads.n + 1, &fresh);
	if (fresh)
		script_put(r, (struct record){ .type = RECORD_THREAD, .thread = { id, r->time, process, known_number(h->tid) } });
	comm = script_number(r, &r->comms, h->comm, &renamed) + 1;
	if (!grow_array(&r->thread_comms, &r->cap_thread_comms, (size_t)id, sizeof(*r->thread_comms))) {
		r->failed = true;
		return id;
	}
	if (r->thread_comms[id] != comm && h->comm.n) {
		r->thread_comms[id] = comm;
		script_put(r, (struct record){ .type = RECORD_COMM, .comm = { r->time, id, h->comm } });
	}
	return id;
}
