#include "common/export/perfpipe_internal.h"

/* Bits of the attribute's flags. */
#define FLAG(bit) (1ull << (bit))
#define FLAG_FREQ FLAG(10)
/* mmap, comm, task, sample_id_all, exclude_guest, mmap2, comm_exec, use_clockid, ksymbol, build_id. */
#define FLAGS (FLAG(8) | FLAG(9) | FLAG(13) | FLAG(18) | FLAG(20) | FLAG(23) | FLAG(24) | FLAG(25) | \
	       FLAG(29) | FLAG(34))

enum {
	KERNEL_TEXT = 256 << 20, /* bytes; no kernel's text is larger */
	UPDATE_NAME = 2,
	ATTR_SIZE = 128, /* PERF_ATTR_SIZE_VER7, that of perf 6.1 */
};

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

uint32_t perf_pipe_event(struct perf_pipe *p, uint64_t event)
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

void perf_pipe_header(struct perf_pipe *p)
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
			perf_pipe_event(p, event);
	}
	if (p->events.n == 0) /* perf can read no other record before an event, so there is at least one */
		perf_pipe_event(p, 1);
	if (first) {
		put_feature(p, HOSTNAME, "host");
		put_feature(p, OSRELEASE, "kernel-release");
		put_feature(p, VERSION, "recorder");
		put_feature(p, ARCH, "arch");
	}
	put_kernel(p);
}
