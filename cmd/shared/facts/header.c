#include "cmd/shared/facts/header.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/shared/facts/losses.h"
#include "cmd/shared/facts/summary.h"
#include "common/base/array.h"
#include "common/capture/damage.h"
#include "common/capture/sample_counts.h"
#include "common/select/ends.h"
#include "common/profile/sanitize.h"

enum {
	LABEL_WIDTH = 12,
	LINE = 80,      /* columns of the first lines */
	NAME_LEAST = 20, /* columns of the name, before facts are left out */
};

/* Percent of stacks; fewer truncated ones have a line only if all lines are wanted. */
#define TRUNCATED_MANY 1.0

double header_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Appends the line and takes the text out of the buffer. */
static void append_line(struct header *h, const char *label, struct buf *text)
{
	char *copy = strdup(buf_cstr(text));

	if (text->failed || !copy || !grow_array(&h->lines, &h->cap, h->n, sizeof(*h->lines)))
		cli_no_memory();
	h->lines[h->n++] = (struct header_line){ label, copy };
	buf_clear(text);
}

void header_add(struct header *h, const char *label, const char *fmt, ...)
{
	char *text;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0 || !grow_array(&h->lines, &h->cap, h->n, sizeof(*h->lines)))
		cli_no_memory();
	h->lines[h->n++] = (struct header_line){ label, text };
}

static void add_samples(struct header *h, const struct loaded *l, struct buf *text)
{
	samples_append(text, &l->totals, l->sums.samples, 0);
	append_line(h, "Samples", text);
}

static void add_waits(struct header *h, const struct capture_totals *t, struct buf *text)
{
	if (!t->waits)
		return;
	buf_printf(text, "%.3f s asleep, %.3f s uninterruptible, %.3f s for a CPU",
		   (double)t->waited[CAPTURE_SLEEPS] / 1e9, (double)t->waited[CAPTURE_UNINTERRUPTIBLE] / 1e9,
		   (double)t->waited[CAPTURE_QUEUED] / 1e9);
	if (t->waited[CAPTURE_THROTTLED])
		buf_printf(text, ", %.3f s throttled", (double)t->waited[CAPTURE_THROTTLED] / 1e9);
	buf_text(text, " (--event off-cpu, --wall)");
	append_line(h, "Waiting", text);
}

/* The outcomes of the ticks that occurred, and the number of ticks expected. */
static void add_ledger(struct header *h, const struct capture_totals *t, struct buf *text)
{
	const char *between = " expected: ";

	if (!t->outcomes[OUTCOME_EXPECTED] && !losses_count(t))
		return;
	buf_printf(text, "%" PRIu64, t->outcomes[OUTCOME_EXPECTED]);
	for (unsigned int o = OUTCOME_EMITTED; o < OUTCOMES; o++) {
		if (!t->outcomes[o] || !outcome_is_tick(o))
			continue;
		buf_printf(text, "%s%" PRIu64 " %s", between, t->outcomes[o], outcome_name(o));
		between = ", ";
	}
	buf_text(text, between[0] == ' ' ? " expected" : "");
	append_line(h, "Ledger", text);
}

static void add_lost(struct header *h, const struct capture_totals *t, struct buf *text)
{
	losses_print(text, t);
	if (text->n == 0 && !t->outcomes[OUTCOME_EXPECTED] && !t->tally[OUTCOME_EXPECTED])
		return; /* unknown */
	if (text->n == 0)
		buf_text(text, losses_waits(t) ? "no sample, no wait" : "nothing");
	append_line(h, "Lost", text);
}

/* As add_ledger for events that are not ticks: counts the events, however many each sample stands for. */
static void add_tally(struct header *h, const struct capture_totals *t, struct buf *text)
{
	const char *between = " happened: ";

	if (!t->tally[OUTCOME_EXPECTED])
		return;
	buf_printf(text, "%" PRIu64, t->tally[OUTCOME_EXPECTED]);
	for (unsigned int o = OUTCOME_EMITTED; o < OUTCOMES; o++) {
		if (!t->tally[o])
			continue;
		buf_printf(text, "%s%" PRIu64 " %s", between, t->tally[o], outcome_name(o));
		between = ", ";
	}
	append_line(h, "Events", text);
}

static void add_damage(struct header *h, const struct capture_totals *t, struct buf *text)
{
	if (damage_append(text, t))
		append_line(h, "Damaged", text);
}

/* "0.40% truncated (12 no-table, 3 depth)" */
static void append_truncated(struct buf *text, const struct ends *e, const uint64_t *by_root)
{
	const char *between = " (";

	buf_printf(text, "%.2f%% truncated", header_percent(e->truncated, e->stacks));
	for (unsigned int i = 0; i < NODE_FIRST; i++) {
		if (!ends_truncated(i) || !by_root[i])
			continue;
		buf_printf(text, "%s%" PRIu64 " %s", between, by_root[i], root_name(i));
		between = ", ";
	}
	buf_text(text, e->truncated ? ")" : "");
}

/*
 * How complete the stacks are. Kernel stacks nearly always are: they get a line only if some are truncated.
 */
static void add_stacks(struct header *h, const struct gather_sums *s, struct buf *text)
{
	struct ends user = ends_of(s->user), kernel = ends_of(s->kernel);

	if (user.stacks) {
		buf_printf(text, "%" PRIu64 " user, ", user.stacks);
		if (user.unknown < user.stacks)
			buf_printf(text, "%.2f%% complete, ", header_percent(user.complete, user.stacks));
		if (user.unknown)
			buf_printf(text, "%.2f%% ended for an unknown reason, ",
				   header_percent(user.unknown, user.stacks));
		if (user.unverified)
			buf_printf(text, "%.2f%% by frame pointers (unverified), ",
				   header_percent(user.unverified, user.stacks));
		append_truncated(text, &user, s->user);
		append_line(h, "Stacks", text);
	}
	if (kernel.truncated) {
		buf_printf(text, "%" PRIu64 " stacks, ", kernel.stacks);
		append_truncated(text, &kernel, s->kernel);
		append_line(h, "Kernel", text);
	}
}

/* "  8.33%         12 in /lib/x.so (stripped)": all reasons, and their share of `whole`. */
static void add_reasons(struct header *h, const struct reasons *r, uint64_t whole, struct buf *text)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct reason *it = &r->list[i];

		buf_printf(text, "%6.2f%% %10" PRIu64 " in ", header_percent(it->samples, whole), it->samples);
		sanitize_append(text, it->where);
		buf_text(text, " (");
		buf_bytes(text, it->why.p, it->why.n);
		buf_byte(text, ')');
		append_line(h, "", text);
	}
}

/*
 * "98.70% named (python), 1.30% not-yet": each language with the states of its frames; below, the processes of
 * frames without a name.
 */
static void add_languages(struct header *h, const struct gather_sums *s, const struct reasons *processes,
			  struct buf *text)
{
	uint64_t frames = 0;

	for (size_t l = 0; l < LANGUAGES; l++) {
		const uint64_t *states = s->languages[l];
		uint64_t all = 0;

		for (size_t i = 0; i < LANG_STATES; i++)
			all += states[i];
		frames += all;
		if (!all)
			continue;
		buf_printf(text, "%s%.2f%% named (%s)", text->n ? "; " : "", header_percent(states[LANG_OK], all),
			   language_name(l));
		for (size_t i = LANG_OK + 1; i < LANG_STATES; i++) {
			if (states[i])
				buf_printf(text, ", %.2f%% %s", header_percent(states[i], all),
					   lang_state_name(i));
		}
	}
	if (text->n)
		append_line(h, "Languages", text);
	if (processes)
		add_reasons(h, processes, frames, text);
}

static void add_unresolved(struct header *h, const struct loaded *l, const struct reasons *reasons,
			   struct buf *text)
{
	header_add(h, "Unresolved", "%.2f%% of innermost frames", header_percent(l->sums.unresolved, l->sums.samples));
	if (reasons)
		add_reasons(h, reasons, l->sums.samples, text);
}

/* The unwind tables, and those for which memory was short. */
static void add_tables(struct header *h, const struct capture_totals *t, struct buf *text)
{
	const uint64_t *costs = t->costs;

	if (!costs[COST_TABLES] && !costs[COST_TABLE_BYTES] && !costs[COST_TABLES_REFUSED])
		return;
	buf_printf(text, "%" PRIu64 " built, %.1f MiB", costs[COST_TABLES], (double)costs[COST_TABLE_BYTES] / (1 << 20));
	if (costs[COST_TABLES_REFUSED])
		buf_printf(text, ", memory was short %" PRIu64 " time%s", costs[COST_TABLES_REFUSED],
			   costs[COST_TABLES_REFUSED] == 1 ? "" : "s");
	if (costs[COST_TABLES_EVICTED])
		buf_printf(text, ", %" PRIu64 " evicted to make room", costs[COST_TABLES_EVICTED]);
	if (costs[COST_STACKS_DEFERRED])
		buf_printf(text, "; %" PRIu64 " stack%s unwound in user space", costs[COST_STACKS_DEFERRED],
			   costs[COST_STACKS_DEFERRED] == 1 ? "" : "s");
	append_line(h, "Tables", text);
}

static void add_cost(struct header *h, const struct capture_totals *t, struct buf *text)
{
	uint64_t cpu = t->costs[COST_USER_NS] + t->costs[COST_SYSTEM_NS] + t->costs[COST_BPF_NS];

	if (!cpu && !t->costs[COST_BYTES])
		return;
	buf_printf(text, "%.3f s of CPU (%.3f user, %.3f system, %.3f BPF), %" PRIu64 " bytes written",
		   (double)cpu / 1e9, (double)t->costs[COST_USER_NS] / 1e9, (double)t->costs[COST_SYSTEM_NS] / 1e9,
		   (double)t->costs[COST_BPF_NS] / 1e9, t->costs[COST_BYTES]);
	if (t->costs[COST_RSS_BYTES])
		buf_printf(text, ", %.1f MiB of memory", (double)t->costs[COST_RSS_BYTES] / (1 << 20));
	append_line(h, "Recorder", text);
}

/* Without this line, the lines above would seem to describe everything shown. */
static void add_texts(struct header *h, const struct loaded *l)
{
	if (l->texts)
		header_add(h, "Text", "%" PRIu64 " more from folded text, for which none of this is known", l->counts);
}

/* Returns the bytes of the first columns characters of a text, or of all. */
static size_t bytes_of(const char *text, size_t columns)
{
	size_t n = 0;

	while (text[n] && (columns || ((uint8_t)text[n] & 0xc0) == 0x80)) {
		columns -= ((uint8_t)text[n] & 0xc0) != 0x80;
		n++;
	}
	return n;
}

/* "make -j2 on build7, 2026-11-21 14:03 UTC, 55.7 s at 199 Hz"; a long name is cut. */
static void add_about(struct header *h, const struct loaded *l, struct buf *text)
{
	struct buf name = { 0 }, facts = { 0 };
	size_t room, fits;

	about_name(&l->about, "", &name);
	about_facts(&l->about, l->totals.seconds_ns, true, &facts);
	room = facts.n + 2 + NAME_LEAST < LINE ? LINE - facts.n - 2 : NAME_LEAST;
	fits = bytes_of(buf_cstr(&name), room);
	if (fits < name.n)
		buf_printf(text, "%.*s...", (int)bytes_of(buf_cstr(&name), room - 3), buf_cstr(&name));
	else
		buf_text(text, buf_cstr(&name));
	buf_printf(text, "%s%s", text->n && facts.n ? ", " : "", buf_cstr(&facts));
	text->failed = text->failed || name.failed || facts.failed;
	if (text->n)
		append_line(h, NULL, text);
	buf_release(&name);
	buf_release(&facts);
}

/* Appends a text without a label, as several lines if it is too wide, cut after a semicolon or comma. */
static void add_wrapped(struct header *h, const char *words, struct buf *text)
{
	while (words[bytes_of(words, LINE)]) {
		size_t n = bytes_of(words, LINE), at = n;

		while (at && !(words[at] == ' ' && strchr(";,", words[at - 1])))
			at--;
		if (!at)
			break;
		buf_bytes(text, words, at);
		append_line(h, NULL, text);
		words += at + 1;
	}
	buf_text(text, words);
	append_line(h, NULL, text);
}

static void add_summary(struct header *h, const struct loaded *l, const struct header_want *want,
			struct buf *text)
{
	struct buf words = { 0 };

	summary_append(&words, l, want->view, want->share);
	add_wrapped(h, buf_cstr(&words), text);
	buf_clear(&words);
	if (!want->window)
		summary_caution(&words, summary_samples(l, want->view, want->share));
	if (words.n)
		header_add(h, "Caution", "%s", buf_cstr(&words));
	if (words.failed)
		cli_no_memory();
	buf_release(&words);
}

static bool truncates_many(const struct gather_sums *s)
{
	struct ends user = ends_of(s->user), kernel = ends_of(s->kernel);

	return header_percent(user.truncated, user.stacks) >= TRUNCATED_MANY ||
	       header_percent(kernel.truncated, kernel.stacks) >= TRUNCATED_MANY;
}

static void add_account(struct header *h, const struct loaded *l, const struct header_want *want,
			struct buf *text)
{
	if (!want->window)
		add_samples(h, l, text);
	add_waits(h, &l->totals, text);
	add_ledger(h, &l->totals, text);
	add_lost(h, &l->totals, text);
	add_tally(h, &l->totals, text);
	add_damage(h, &l->totals, text);
	add_stacks(h, &l->sums, text);
	add_languages(h, &l->sums, want->states, text);
	add_unresolved(h, l, want->reasons, text);
	add_tables(h, &l->totals, text);
	add_cost(h, &l->totals, text);
}

/* The lines of the account that say that data is missing. */
static void add_missing(struct header *h, const struct loaded *l, struct buf *text)
{
	const struct capture_totals *t = &l->totals;

	losses_print(text, t);
	if (text->n)
		append_line(h, "Lost", text);
	add_damage(h, t, text);
	if (truncates_many(&l->sums))
		add_stacks(h, &l->sums, text);
}

void header_make(struct header *h, const struct loaded *l, const struct header_want *want)
{
	struct buf text = { 0 };

	if (!l->streams)
		return;
	if (!want->window)
		add_about(h, l, &text);
	if (want->filters && want->filters[0])
		header_add(h, "Selected", "%s", want->filters);
	add_summary(h, l, want, &text);
	if (want->verbose)
		add_account(h, l, want, &text);
	else
		add_missing(h, l, &text);
	add_texts(h, l);
	buf_release(&text);
}

void header_print(const struct header *h, struct buf *out)
{
	for (size_t i = 0; i < h->n; i++) {
		const char *label = h->lines[i].label;

		if (!label) {
			buf_printf(out, "%s\n", h->lines[i].text);
			continue;
		}
		buf_printf(out, "%s%s%*s%s\n", label, label[0] ? ":" : "",
			   LABEL_WIDTH - (int)strlen(label) - (label[0] != '\0'), "", h->lines[i].text);
	}
}

void header_release(struct header *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->lines[i].text);
	free(h->lines);
	*h = (struct header){ 0 };
}
