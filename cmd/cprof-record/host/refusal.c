#include "cmd/cprof-record/host/refusal.h"

#include <bpf/libbpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRAM = 64, REASON_MOST = 400 };

static struct {
	void (*report)(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
	char program[PROGRAM];
} heard;

/* Lines of statistics that the verifier, or libbpf, adds after the reason. */
static bool is_figure(const char *line)
{
	static const char *const begins[] = { "processed ", "verification time ", "stack depth ", "peak_states ", "-- END " };

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		if (strncmp(line, begins[i], strlen(begins[i])) == 0)
			return true;
	}
	return false;
}

const char *refusal_reason(const char *log, size_t *n)
{
	const char *reason = NULL;

	while (*log) {
		size_t length = strcspn(log, "\n");

		if (length && !is_figure(log)) {
			reason = log;
			*n = length;
		}
		log += length + (log[length] == '\n');
	}
	return reason;
}

/* "libbpf: prog 'NAME': -- BEGIN PROG LOAD LOG --", and the log from the next line on. */
static void report_log(const char *text)
{
	const char *name = strchr(text, '\''), *log = strchr(text, '\n'), *reason;
	size_t n = 0;

	snprintf(heard.program, sizeof(heard.program), "%.*s", name ? (int)strcspn(name + 1, "'") : 1, name ? name + 1 : "?");
	reason = log ? refusal_reason(log, &n) : NULL;
	if (heard.report && reason)
		heard.report("the verifier refuses the program \"%s\": %.*s", heard.program, (int)(n < REASON_MOST ? n : REASON_MOST),
			 reason);
	else if (heard.report)
		heard.report("the verifier refuses the program \"%s\" without a reason", heard.program);
}

static int on_libbpf_print(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char *text;

	if (level != LIBBPF_WARN || !strstr(fmt, "BEGIN PROG LOAD LOG") || vasprintf(&text, fmt, ap) < 0)
		return 0;
	report_log(text);
	free(text);
	return 0;
}

void refusal_listen(void (*report)(const char *fmt, ...))
{
	heard.report = report;
	libbpf_set_print(on_libbpf_print);
}

bool refusal_reported(void)
{
	return heard.report != NULL;
}

const char *refusal_program(void)
{
	return heard.program[0] ? heard.program : NULL;
}

void refusal_clear(void)
{
	heard.program[0] = '\0';
}
