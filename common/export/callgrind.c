#include "common/export/callgrind.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/intern.h"
#include "common/capture/capture.h"

enum { PIECE = 64 << 10 };

/* A unit of cost: a line of a function, or a call from there. Has no padding, because it is a key. */
struct cost_key {
	uint32_t function, callee; /* callee 0: the line itself */
	uint32_t line;
};

struct line_cost {
	struct cost_key key;
	uint64_t weight[CAPTURE_WAITS]; /* by event: one, or if there are waits by enum capture_wait */
};

struct callgrind_writer {
	const struct traces *s;
	struct callgrind_options options;
	size_t events;
	uint64_t total[CAPTURE_WAITS];
	struct intern keys; /* struct cost_key */
	struct line_cost *costs; /* by key, and then sorted */
	size_t cap_costs;
	/* By function, then by text for commands: the number of the last stack that contained it, plus 1. */
	size_t *seen;
	bool *names, *files; /* by function, by text: already written, so the number is enough */
	struct cost_key *path;
	size_t cap_path;
	size_t at;
	uint32_t function; /* the function whose costs were written last */
	bool begun, failed;
	struct buf out;
};

static uint32_t command_function(const struct callgrind_writer *w, uint32_t comm)
{
	return (uint32_t)w->s->n_functions + comm;
}

static bool sum_cost(struct callgrind_writer *w, struct cost_key key, size_t event, uint64_t cost)
{
	uint32_t id;

	if (!intern_add(&w->keys, (struct slice){ (const uint8_t *)&key, sizeof(key) }, &id) ||
	    !grow_array(&w->costs, &w->cap_costs, id, sizeof(*w->costs)))
		return false;
	w->costs[id].key = key;
	w->costs[id].weight[event] += cost;
	return true;
}

static bool push_cost(struct callgrind_writer *w, size_t *n, uint32_t function, uint32_t line)
{
	if (!grow_array(&w->path, &w->cap_path, *n, sizeof(*w->path)))
		return false;
	w->path[(*n)++] = (struct cost_key){ .function = function, .line = line };
	return true;
}

/* Puts the frames of a stack into w->path, innermost first; the command is the last. */
static bool walk_stack(struct callgrind_writer *w, const struct traces_sample *it, size_t *n)
{
	const struct traces *s = w->s;

	*n = 0;
	for (uint32_t at = it->node; at; at = s->nodes[at].parent) {
		const struct traces_location *l = &s->locations[s->nodes[at].location];

		for (uint32_t i = l->n; i-- > 0;) {
			const struct traces_line *line = &s->lines[l->line + i];

			if (!push_cost(w, n, s->functions[line->function].same, line->line))
				return false;
		}
	}
	return push_cost(w, n, command_function(w, s->owners[it->owner].comm), 0);
}

static bool add_sample(struct callgrind_writer *w, const struct traces_sample *it, size_t number)
{
	uint64_t cost = w->options.weight ? it->weight : it->samples;
	size_t event = w->events > 1 ? w->s->owners[it->owner].wait : 0, n;

	w->total[event] += cost;
	if (!walk_stack(w, it, &n))
		return false;
	for (size_t i = n - 1; i-- > 0;) {
		struct cost_key call = w->path[i + 1];
		size_t *seen = &w->seen[w->path[i].function];

		call.callee = w->path[i].function;
		if (*seen != number + 1 && !sum_cost(w, call, event, cost))
			return false;
		*seen = number + 1;
	}
	return sum_cost(w, w->path[0], event, cost);
}

static int by_key(const void *a, const void *b)
{
	const struct cost_key *x = &((const struct line_cost *)a)->key, *y = &((const struct line_cost *)b)->key;

	if (x->function != y->function)
		return x->function > y->function ? 1 : -1;
	if (x->callee != y->callee)
		return x->callee > y->callee ? 1 : -1;
	return (x->line > y->line) - (x->line < y->line);
}

static bool is_time(const struct traces *s)
{
	return slice_is(traces_get(s, s->unit), "ns");
}

/* One for each kind of wait, but throttled time is rare: it has a column only if there is some. */
static size_t count_events(const struct traces *s)
{
	uint32_t last = traces_last_wait(s);

	return !last ? 1 : last > CAPTURE_QUEUED ? CAPTURE_WAITS : CAPTURE_QUEUED + 1;
}

struct callgrind_writer *callgrind_new(const struct traces *s, const struct callgrind_options *options)
{
	size_t functions = s->n_functions + s->texts.n;
	struct callgrind_writer *w = calloc(1, sizeof(*w));
	bool good;

	if (!w)
		return NULL;
	w->s = s;
	w->options = *options;
	w->events = options->weight && is_time(s) ? count_events(s) : 1;
	intern_init(&w->keys);
	w->seen = calloc(functions, sizeof(*w->seen));
	w->names = calloc(functions, sizeof(*w->names));
	w->files = calloc(s->texts.n + 1, sizeof(*w->files));
	good = w->seen && w->names && w->files && functions < UINT32_MAX;
	for (size_t i = 0; good && i < s->n_samples; i++)
		good = add_sample(w, &s->samples[i], i);
	if (!good) {
		callgrind_free(w);
		return NULL;
	}
	if (w->keys.n)
		qsort(w->costs, w->keys.n, sizeof(*w->costs), by_key);
	return w;
}

void callgrind_free(struct callgrind_writer *w)
{
	if (!w)
		return;
	intern_release(&w->keys);
	buf_release(&w->out);
	free(w->costs);
	free(w->seen);
	free(w->names);
	free(w->files);
	free(w->path);
	free(w);
}

bool callgrind_failed(const struct callgrind_writer *w)
{
	return w->failed;
}

/* Writes a name after its number the first time; later the number alone. */
static void write_name(struct callgrind_writer *w, const char *what, uint32_t number, bool *defined,
		       struct slice name)
{
	buf_printf(&w->out, "%s(%" PRIu32 ")", what, number);
	if (!*defined) {
		buf_byte(&w->out, ' ');
		buf_bytes(&w->out, name.p, name.n);
	}
	*defined = true;
	buf_byte(&w->out, '\n');
}

/* A file's number is that of its text plus 1; 1 means unknown, and one past all texts is "[command]". */
static void write_function(struct callgrind_writer *w, const char *file, const char *name, uint32_t function)
{
	const struct traces *s = w->s;
	bool is_command = function >= s->n_functions;
	uint32_t text = is_command ? (uint32_t)s->texts.n : s->functions[function].file;
	struct slice path = is_command ? slice_of("[command]") : text ? traces_get(s, text) : slice_of("???");

	write_name(w, file, text + 1, &w->files[text], path);
	write_name(w, name, function, &w->names[function],
		   traces_get(s, is_command ? function - (uint32_t)s->n_functions : s->functions[function].name));
}

static uint64_t sum_of(const struct callgrind_writer *w, const uint64_t *weights)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < w->events; i++)
		sum += weights[i];
	return sum;
}

static void write_numbers(struct callgrind_writer *w, const uint64_t *weights)
{
	for (size_t i = 0; i < w->events; i++)
		buf_printf(&w->out, " %" PRIu64, weights[i]);
	buf_byte(&w->out, '\n');
}

static void write_cost(struct callgrind_writer *w, const struct line_cost *it)
{
	struct cost_key key = it->key;

	if (key.function != w->function) {
		buf_byte(&w->out, '\n');
		write_function(w, "fl=", "fn=", key.function);
		w->function = key.function;
	}
	if (key.callee) {
		write_function(w, "cfi=", "cfn=", key.callee);
		buf_printf(&w->out, "calls=%" PRIu64 " 0\n", sum_of(w, it->weight));
	}
	buf_printf(&w->out, "%" PRIu32, key.line);
	write_numbers(w, it->weight);
}

static void write_head(struct callgrind_writer *w)
{
	struct slice unit = traces_get(w->s, w->s->unit);

	buf_printf(&w->out, "# callgrind format\nversion: 1\ncreator: %s\npositions: line\nevents: ", w->options.creator);
	if (w->events > 1)
		buf_printf(&w->out, "Cpu OffCpuSleep OffCpuUninterruptible OffCpuRunQueue%s",
			   w->events == CAPTURE_WAITS ? " OffCpuThrottled" : "");
	else if (w->options.weight && unit.n)
		buf_text(&w->out, is_time(w->s) ? "Nanoseconds" : "Weight");
	else
		buf_text(&w->out, "Samples");
	buf_text(&w->out, "\nsummary:");
	write_numbers(w, w->total);
	w->begun = true;
}

bool callgrind_next(struct callgrind_writer *w, struct slice *bytes)
{
	buf_clear(&w->out);
	if (!w->begun)
		write_head(w);
	for (; w->at < w->keys.n && w->out.n < PIECE; w->at++)
		write_cost(w, &w->costs[w->at]);
	w->failed = w->out.failed;
	*bytes = buf_view(&w->out);
	return !w->failed && w->out.n;
}
