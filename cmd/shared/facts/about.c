#include "cmd/shared/facts/about.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "common/profile/sanitize.h"

/* Copies as many whole characters as fit. A text that was cut ends in "...". */
static void copy_text(char to[ABOUT_TEXT], struct slice text)
{
	static const char dots[] = "...";
	struct buf clean = { 0 };
	size_t n;

	if (text.n)
		sanitize_append_shown(&clean, text);
	n = clean.n;
	if (n >= ABOUT_TEXT) {
		n = ABOUT_TEXT - sizeof(dots);
		while (n && (clean.p[n] & 0xc0) == 0x80)
			n--;
	}
	if (n && !clean.failed)
		memcpy(to, clean.p, n);
	snprintf(to + n, ABOUT_TEXT - n, "%s", n < clean.n ? dots : "");
	buf_release(&clean);
}

static void take_fact(struct about_fact *f, const char *text)
{
	if (!text[0])
		return;
	f->differs = f->differs || (f->known && strcmp(f->text, text) != 0);
	if (!f->known)
		snprintf(f->text, sizeof(f->text), "%s", text);
	f->known = true;
}

static const char *fact_text(const struct about_fact *f)
{
	return f->known && !f->differs ? f->text : "";
}

static void take_text(struct about_fact *f, struct slice text)
{
	char copy[ABOUT_TEXT];

	copy_text(copy, text);
	take_fact(f, copy);
}

/* Takes the recorded command out of the recorder's own command line: it is after the first "--". */
static void take_command(struct about *a, struct slice line)
{
	static const char dashes[] = " -- ", all[] = " -a ";
	const uint8_t *at = line.n ? memmem(line.p, line.n, dashes, strlen(dashes)) : NULL;

	if (!at)
		return;
	a->whole = a->whole || memmem(line.p, (size_t)(at - line.p) + 1, all, strlen(all));
	at += strlen(dashes);
	take_text(&a->command, (struct slice){ at, (size_t)(line.p + line.n - at) });
}

/* Takes name and rate of the main event: the first one that is not waiting time. */
static void take_event(struct about *a, const struct capture *c)
{
	char text[ABOUT_TEXT];

	for (uint64_t i = 1; i < CAPTURE_EVENTS; i++) {
		if (!c->events[i].id || capture_wait(c, i) != CAPTURE_RUNS || capture_is_other(c, i))
			continue;
		take_text(&a->event, c->events[i].name);
		snprintf(text, sizeof(text), "%g Hz", (double)c->events[i].millihertz / 1000);
		if (c->events[i].millihertz)
			take_fact(&a->rate, text);
		return;
	}
}

/* The CPUs with a ledger; it is by CPU + 1. */
static void take_cpus(struct about *a, const struct capture *c)
{
	char text[ABOUT_TEXT];
	size_t cpus = 0;

	for (size_t i = 1; i < c->n_ledger; i++)
		cpus += c->ledger[i][OUTCOME_EXPECTED] > 0;
	snprintf(text, sizeof(text), "%zu CPU%s", cpus, cpus == 1 ? "" : "s");
	if (cpus)
		take_fact(&a->cpus, text);
}

static void take_time(struct about *a, uint64_t first, uint64_t last)
{
	if (first && (!a->first || first < a->first))
		a->first = first;
	if (last > a->last)
		a->last = last;
}

void about_take(struct about *a, const struct capture *c)
{
	if (!capture_counts(c))
		return;
	take_text(&a->host, capture_meta(c, "host"));
	take_command(a, capture_meta(c, "command-line"));
	take_event(a, c);
	take_cpus(a, c);
	take_time(a, c->realtime, c->realtime);
}

static void add_fact(struct about_fact *f, const struct about_fact *other)
{
	take_fact(f, other->text);
	f->differs = f->differs || other->differs;
}

void about_add(struct about *a, const struct about *other)
{
	add_fact(&a->host, &other->host);
	add_fact(&a->command, &other->command);
	add_fact(&a->event, &other->event);
	add_fact(&a->rate, &other->rate);
	add_fact(&a->cpus, &other->cpus);
	a->whole = a->whole || other->whole;
	take_time(a, other->first, other->last);
}

void about_name(const struct about *a, const char *otherwise, struct buf *out)
{
	const char *host = fact_text(&a->host), *what = fact_text(&a->command);
	bool during = a->whole && what[0] && host[0];

	what = what[0] ? what : otherwise;
	if (during || !what[0])
		buf_text(out, host);
	else
		buf_text(out, what);
	if (during)
		buf_printf(out, " during %s", what);
	else if (what[0] && host[0])
		buf_printf(out, " on %s", host);
}

static void append_date(const struct about *a, bool brief, struct buf *out)
{
	time_t seconds = (time_t)(a->first / 1000000000);
	char text[64];
	struct tm tm;

	if (a->first && localtime_r(&seconds, &tm) &&
	    strftime(text, sizeof(text), brief ? "%Y-%m-%d %H:%M %Z" : "%Y-%m-%d %H:%M:%S %Z", &tm))
		buf_text(out, text);
}

void about_length(uint64_t ns, struct buf *out)
{
	double s = (double)ns / 1e9;

	buf_printf(out, s < 10 ? "%.2f s" : s < 1000 ? "%.1f s" : "%.0f s", s);
}

/* Starts the next fact: all but the first, which is at begin, follow a comma. */
static void begin_fact(struct buf *out, size_t begin)
{
	buf_text(out, out->n > begin ? ", " : "");
}

static void append_event(const struct about *a, struct buf *out, size_t begin)
{
	const char *event = fact_text(&a->event), *rate = fact_text(&a->rate);

	if (!event[0])
		return;
	begin_fact(out, begin);
	buf_text(out, event);
	if (rate[0])
		buf_printf(out, " at %s", rate);
}

void about_facts(const struct about *a, uint64_t ns, bool brief, struct buf *out)
{
	size_t begin = out->n;

	append_date(a, brief, out);
	if (ns) {
		begin_fact(out, begin);
		about_length(ns, out);
	}
	if (brief) {
		if (ns && fact_text(&a->rate)[0])
			buf_printf(out, " at %s", fact_text(&a->rate));
		return;
	}
	append_event(a, out, begin);
	if (fact_text(&a->cpus)[0]) {
		begin_fact(out, begin);
		buf_text(out, fact_text(&a->cpus));
	}
	if (a->host.differs || a->command.differs) {
		begin_fact(out, begin);
		buf_text(out, a->host.differs ? "several hosts" : "several commands");
	}
}
