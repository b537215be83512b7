#include "cmd/cprof-record/host/trigger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/cprof-record/host/cgroup.h"

static bool read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* "cpu.some", "memory.full", … */
static bool parse_pressure(struct trigger *w, const char *name, size_t n)
{
	static const char *const files[] = { "cpu", "memory", "io" }, *const lines[] = { "some", "full" };
	char wanted[16];

	for (size_t i = 0; i < 3; i++) {
		for (size_t j = 0; j < 2; j++) {
			snprintf(wanted, sizeof(wanted), "%s.%s", files[i], lines[j]);
			if (strlen(wanted) != n || strncmp(wanted, name, n) != 0)
				continue;
			w->line = lines[j];
			w->kind = TRIGGER_PRESSURE;
			return asprintf(&w->path, "/proc/pressure/%s", files[i]) > 0;
		}
	}
	return false;
}

static bool parse_left(struct trigger *w, const char *text, size_t n, struct buf *error)
{
	static const char throttled[] = "throttled:";
	size_t head = sizeof(throttled) - 1;
	char *group;

	if (n == 3 && strncmp(text, "cpu", n) == 0) {
		w->kind = TRIGGER_CPU;
		return true;
	}
	if (n > head && strncmp(text, throttled, head) == 0) {
		w->kind = TRIGGER_THROTTLED;
		group = strndup(text + head, n - head);
		w->path = group ? cgroup_cpu_stat(group, error) : NULL;
		free(group);
		return w->path != NULL;
	}
	if (parse_pressure(w, text, n))
		return true;
	buf_printf(error, "invalid condition \"%.*s\" (expected cpu, cpu.some, cpu.full, memory.some, memory.full, io.some, io.full or "
		   "throttled:CGROUP)",
		   (int)n, text);
	return false;
}

bool trigger_parse(struct trigger *w, const char *text, struct buf *error)
{
	size_t n = strcspn(text, ">");
	char *end = NULL;

	*w = (struct trigger){ 0 };
	w->more = text[n] ? strtod(text + n + 1, &end) : -1;
	if (!end || end == text + n + 1 || (*end && strcmp(end, "%") != 0) || !(w->more >= 0 && w->more < 100)) {
		buf_printf(error, "invalid condition \"%s\" (expected one like cpu>90)", text);
		return false;
	}
	if (!parse_left(w, text, n, error))
		return false;
	w->text = strdup(text);
	return w->text != NULL;
}

/* Has part grown by more than the threshold's share of whole since the last call? The first only looks. */
static bool is_more(struct trigger *w, uint64_t part, uint64_t whole)
{
	bool holds = w->whole && whole > w->whole && part >= w->part && /* a new group counts from 0 */
		     100.0 * (double)(part - w->part) > w->more * (double)(whole - w->whole);

	w->part = part;
	w->whole = whole;
	return holds;
}

/* "cpu user nice system idle iowait irq softirq steal", in ticks of all CPUs */
static bool cpu_holds(struct trigger *w)
{
	unsigned long long t[8] = { 0 };
	uint64_t whole = 0;
	char text[512];

	if (!read_text("/proc/stat", text, sizeof(text)) ||
	    sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6],
		   &t[7]) < 5)
		return false;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		whole += t[i];
	return is_more(w, whole - t[3] - t[4], whole);
}

/* "some avg10=1.53 avg60=…" */
static bool pressure_holds(const struct trigger *w)
{
	char text[512], wanted[32];
	const char *at;

	snprintf(wanted, sizeof(wanted), "%s avg10=", w->line);
	if (!read_text(w->path, text, sizeof(text)))
		return false;
	at = strstr(text, wanted);
	return at && strtod(at + strlen(wanted), NULL) > w->more;
}

static uint64_t field_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static bool throttled_holds(struct trigger *w)
{
	char text[1024];

	return read_text(w->path, text, sizeof(text)) &&
	       is_more(w, field_of(text, "nr_throttled "), field_of(text, "nr_periods "));
}

bool trigger_holds(struct trigger *w)
{
	switch (w->kind) {
	case TRIGGER_CPU:
		return cpu_holds(w);
	case TRIGGER_PRESSURE:
		return pressure_holds(w);
	default:
		return throttled_holds(w);
	}
}
