#include "common/select/time_arg.h"

#include <stdio.h>
#include <time.h>

enum { HOUR = 3600, DAY = 86400, PLACES = 9 };

#define SECOND INT64_C(1000000000)

/* Parses ".25" as nanoseconds; returns false if the point has no digit after it. */
static bool parse_part(const char *text, const char **end, int64_t *ns)
{
	int64_t scale = SECOND / 10;

	*ns = 0;
	*end = text;
	if (*text != '.')
		return true;
	for (text++; *text >= '0' && *text <= '9' && scale; text++, scale /= 10)
		*ns += scale * (*text - '0');
	*end = text;
	return text[-1] != '.';
}

/* Parses digits only; *end is the next byte that is not a digit. */
static bool parse_whole(const char *text, const char **end, int64_t *v)
{
	const char *p = text;

	for (*v = 0; *p >= '0' && *p <= '9' && p - text < 18; p++)
		*v = *v * 10 + (*p - '0');
	*end = p;
	return p > text && !(*p >= '0' && *p <= '9');
}

static bool parse_seconds(const char *text, int64_t *ns)
{
	int64_t whole, part;
	const char *p;

	if (!parse_whole(text, &p, &whole) || whole > INT64_MAX / SECOND - 1 || !parse_part(p, &p, &part) || *p)
		return false;
	*ns = whole * SECOND + part;
	return true;
}

/* "14:03", "14:03:20", "14:03:20.5" */
static bool parse_daytime(const char *text, const char **end, int64_t *ns)
{
	unsigned int hour, minute, second = 0;
	int n = 0, m = 0;
	int64_t part = 0;

	if (text[0] < '0' || text[0] > '9' || sscanf(text, "%2u:%2u%n", &hour, &minute, &n) < 2 || !n || hour > 24 || minute > 59)
		return false;
	*end = text + n;
	if (text[n] == ':') {
		if (sscanf(text + n, ":%2u%n", &second, &m) < 1 || !m || second > 60 || !parse_part(text + n + m, end, &part))
			return false;
	}
	*ns = ((int64_t)hour * 3600 + minute * 60 + second) * SECOND + part;
	return hour < 24 || *ns == DAY * SECOND;
}

/*
 * Parses the zone at the end of a time: "Z", " UTC", "+01:00", "+0100" or none. Changes the offset, in seconds
 * ahead of UTC, unless there is none.
 */
static bool parse_zone(const char *text, long *offset)
{
	unsigned int hours, minutes = 0;
	int n = 0, m = 0;
	long sign;

	if (!*text)
		return true;
	text += strspn(text, " ");
	*offset = 0;
	if (strcmp(text, "Z") == 0 || strcmp(text, "UTC") == 0)
		return true;
	sign = *text == '+' ? 1 : *text == '-' ? -1 : 0;
	if (!sign || strspn(text + 1, "0123456789:") != strlen(text + 1) || strlen(text) > 6 ||
	    sscanf(text + 1, "%2u%n", &hours, &n) < 1 || n != 2)
		return false;
	text += 1 + n;
	text += *text == ':' && text[1];
	if (*text && (sscanf(text, "%2u%n", &minutes, &m) < 1 || m != 2 || text[m]))
		return false;
	*offset = sign * (long)(hours * HOUR + minutes * 60);
	return hours < 24 && minutes < 60;
}

static bool parse_moment(const char *text, long offset, int64_t *ns)
{
	struct tm tm = { 0 };
	int64_t daytime = 0, seconds;
	int n = 0, day;

	if (sscanf(text, "%4d-%2d-%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &n) < 3 || n != 10 || tm.tm_year < 1970 ||
	    tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_mday < 1 || tm.tm_mday > 31)
		return false;
	text += n;
	if ((*text == 'T' || *text == ' ') && text[1] >= '0' && text[1] <= '9' &&
	    !parse_daytime(text + 1, &text, &daytime))
		return false;
	if (!parse_zone(text, &offset))
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	day = tm.tm_mday;
	seconds = (int64_t)timegm(&tm) - offset;
	/* No sample is later than 2262, so the end of that range stands for all later years. */
	*ns = seconds > INT64_MAX / SECOND - 2 * DAY ? INT64_MAX : seconds * SECOND + daytime;
	return tm.tm_mday == day; /* false: that month has no such day */
}

/* The units of a span, and their names. */
static const struct unit {
	const char *name;
	int64_t ns;
} units[] = {
	{ "ms", SECOND / 1000 }, { "msec", SECOND / 1000 },
	{ "s", SECOND }, { "sec", SECOND }, { "second", SECOND }, { "seconds", SECOND },
	{ "m", 60 * SECOND }, { "min", 60 * SECOND }, { "minute", 60 * SECOND }, { "minutes", 60 * SECOND },
	{ "h", HOUR * SECOND }, { "hr", HOUR * SECOND },
	{ "hour", HOUR * SECOND }, { "hours", HOUR * SECOND },
	{ "d", DAY * SECOND }, { "day", DAY * SECOND }, { "days", DAY * SECOND },
	{ "w", 7 * DAY * SECOND }, { "week", 7 * DAY * SECOND }, { "weeks", 7 * DAY * SECOND },
};

static const char *skip_spaces(const char *p)
{
	return p + strspn(p, " ");
}

static bool parse_unit(const char **text, int64_t *ns)
{
	size_t n = strspn(*text, "abcdefghijklmnopqrstuvwxyz");

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strlen(units[i].name) == n && memcmp(units[i].name, *text, n) == 0) {
			*ns = units[i].ns;
			*text += n;
			return true;
		}
	}
	return false;
}

/* "1m30s", "1 hour 30 min", "1.5h"; *end: after the last unit. */
static bool parse_span(const char *text, const char **end, int64_t *ns)
{
	const char *p = text;

	*ns = 0;
	while (*p >= '0' && *p <= '9') {
		int64_t whole, part, unit;
		__int128 sum;

		if (!parse_whole(p, &p, &whole) || !parse_part(p, &p, &part))
			return false;
		p = skip_spaces(p);
		if (!parse_unit(&p, &unit))
			return false;
		sum = (__int128)whole * unit + (__int128)part * unit / SECOND + *ns;
		if (sum > INT64_MAX)
			return false;
		*ns = (int64_t)sum;
		*end = p;
		p = skip_spaces(p);
	}
	return p > text;
}

/* "-1h" or "1 hour ago": this span before now. Nothing is before 1970. */
static bool parse_ago(const char *text, int64_t now, int64_t *ns)
{
	bool minus = text[0] == '-';
	const char *end;
	int64_t span;

	if (!parse_span(text + minus, &end, &span) || strcmp(end, minus ? "" : " ago") != 0)
		return false;
	*ns = span < now ? now - span : 0;
	return true;
}

static bool parse_offset(const char *text, int64_t *ns)
{
	const char *end;

	return parse_seconds(text, ns) || (parse_span(text, &end, ns) && *end == '\0');
}

bool time_arg_parse(struct time_arg *w, const char *text, int64_t now, long offset)
{
	const char *end;

	w->kind = TIME_ARG_MOMENT;
	if (text[0] == '@')
		return parse_seconds(text + 1, &w->ns);
	if (parse_moment(text, offset, &w->ns) || parse_ago(text, now, &w->ns))
		return true;
	if (parse_daytime(text, &end, &w->ns)) {
		if (!parse_zone(end, &offset))
			return false;
		w->kind = TIME_ARG_DAYTIME;
		w->midnight = -offset * SECOND;
		w->ns += w->midnight;
		return true;
	}
	w->kind = TIME_ARG_OFFSET;
	return parse_offset(text, &w->ns);
}

/* Returns the time of day at this moment, by a clock that shows midnight when UTC shows ns. */
static int64_t in_day(int64_t clock, int64_t ns)
{
	int64_t since = (clock - ns) % (DAY * SECOND);

	return since < 0 ? since + DAY * SECOND : since;
}

/* Returns the length of a window between two times of the day. 24:00 ends the day that 00:00 begins. */
static int64_t window_length(const struct time_arg *from, const struct time_arg *to)
{
	int64_t length = in_day(to->ns, from->ns);

	return length == 0 && to->ns > from->ns ? DAY * SECOND : length;
}

static bool is_reached(const struct time_arg *w, int64_t after, int64_t clock)
{
	if (w->kind == TIME_ARG_DAYTIME)
		return in_day(clock, w->midnight) >= w->ns - w->midnight;
	return (w->kind == TIME_ARG_OFFSET ? after : clock) >= w->ns;
}

bool time_arg_between(const struct time_arg *from, const struct time_arg *to, int64_t after, int64_t clock)
{
	if (from->kind == TIME_ARG_DAYTIME && to->kind == TIME_ARG_DAYTIME)
		return in_day(clock, from->ns) < window_length(from, to);
	return (from->kind == TIME_ARG_UNSET || is_reached(from, after, clock)) &&
	       (to->kind == TIME_ARG_UNSET || !is_reached(to, after, clock));
}

bool time_arg_by_clock(const struct time_arg *from, const struct time_arg *to)
{
	return from->kind != TIME_ARG_OFFSET && to->kind != TIME_ARG_OFFSET && (from->kind || to->kind);
}

/* Returns whether a clock that shows midnight when UTC shows ns does so in (first, last], once past first. */
static bool day_begins(int64_t ns, int64_t first, int64_t last)
{
	return last - first >= DAY * SECOND - in_day(first, ns);
}

bool time_arg_overlaps(const struct time_arg *from, const struct time_arg *to, int64_t first, int64_t last)
{
	static const struct time_arg unset;

	if (from->kind == TIME_ARG_DAYTIME && to->kind == TIME_ARG_DAYTIME)
		return time_arg_between(from, to, 0, first) || day_begins(from->ns, first, last);
	if (from->kind == TIME_ARG_MOMENT ? last < from->ns :
	    from->kind == TIME_ARG_DAYTIME && !time_arg_between(from, &unset, 0, first) &&
	    !day_begins(from->ns, first, last))
		return false;
	return to->kind == TIME_ARG_UNSET || time_arg_between(&unset, to, 0, first) ||
	       (to->kind == TIME_ARG_DAYTIME && day_begins(to->midnight, first, last));
}

/* A span of clock time. Wide enough that no sum of two times overflows. */
struct stretch {
	__int128 from, to;
};

/* Cuts the span to the bounds that are not times of the day. */
static void clip_span(struct stretch *s, const struct time_arg *from, const struct time_arg *to, int64_t after,
		      int64_t clock)
{
	const __int128 first = (__int128)clock - after;

	if (from->kind == TIME_ARG_OFFSET || from->kind == TIME_ARG_MOMENT) {
		__int128 least = from->kind == TIME_ARG_OFFSET ? first + from->ns : from->ns;

		s->from = s->from > least ? s->from : least;
	}
	if (to->kind == TIME_ARG_OFFSET || to->kind == TIME_ARG_MOMENT) {
		__int128 most = to->kind == TIME_ARG_OFFSET ? first + to->ns : to->ns;

		s->to = s->to < most ? s->to : most;
	}
}

/*
 * Returns the length of the part of each day inside the times of day, or the whole day if there are none;
 * *begin: its start on some day.
 */
static int64_t daily_part(const struct time_arg *from, const struct time_arg *to, int64_t *begin)
{
	int64_t length = DAY * SECOND;

	*begin = 0;
	if (from->kind == TIME_ARG_DAYTIME && to->kind == TIME_ARG_DAYTIME) {
		*begin = from->ns;
		return window_length(from, to);
	}
	if (from->kind == TIME_ARG_DAYTIME) {
		*begin = from->ns;
		length -= from->ns - from->midnight;
	} else if (to->kind == TIME_ARG_DAYTIME) {
		*begin = to->midnight;
		length = to->ns - to->midnight < length ? to->ns - to->midnight : length;
	}
	return length > 0 ? length : 0;
}

/* Rounds down, also for times before begin. *rest: nanoseconds since the last begin. */
static __int128 days_since(__int128 time, int64_t begin, int64_t *rest)
{
	const __int128 day = DAY * SECOND, since = time - begin, days = since / day - (since % day < 0);

	*rest = (int64_t)(since - days * day);
	return days;
}

/* Returns how much of [begin, time) lies in the daily part. */
static __int128 daily_until(__int128 time, int64_t begin, int64_t length)
{
	int64_t rest;
	__int128 days = days_since(time, begin, &rest);

	return days * length + (rest < length ? rest : length);
}

uint64_t time_arg_overlap(const struct time_arg *from, const struct time_arg *to, int64_t after, int64_t clock, uint64_t n,
			 uint64_t *before)
{
	struct stretch s = { (__int128)clock - n, clock };
	int64_t begin, rest, length = daily_part(from, to, &begin);
	__int128 within;

	*before = 0;
	clip_span(&s, from, to, after, clock);
	if (s.to <= s.from)
		return 0;
	within = daily_until(s.to, begin, length) - daily_until(s.from, begin, length);
	if (within == 0)
		return 0;
	days_since(s.to, begin, &rest);
	if (rest == 0) /* the end belongs to the day before */
		rest = DAY * SECOND;
	*before = (uint64_t)(clock - s.to) + (uint64_t)(rest > length ? rest - length : 0);
	return (uint64_t)within;
}
