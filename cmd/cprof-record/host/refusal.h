/*
 * The kernel verifier's own reason for refusing a program. libbpf passes its log to one callback for the
 * whole process:
 *
 *	refusal_listen(verbose ? cli_warn : NULL);
 *	refusal_clear();
 *	if (sample_bpf__load(s) != 0 && refusal_program())
 *		...the verifier refused it; if refusals are reported, its reason was reported...
 */
#ifndef CPROF_RECORD_HOST_REFUSAL_H
#define CPROF_RECORD_HOST_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>

/* Silences libbpf. report, unless NULL, gets each refusal, with the last line of the verifier's log. */
void refusal_listen(void (*report)(const char *fmt, ...) __attribute__((format(printf, 1, 2))));
/* Are refusals reported? */
bool refusal_reported(void);
/* The program refused last since refusal_clear, valid until the next refusal; NULL: none by the verifier. */
const char *refusal_program(void);
void refusal_clear(void);

/* Finds the reason in a verifier's log: the last line that is not statistics; *n: its length. NULL: none. */
const char *refusal_reason(const char *log, size_t *n);

#endif
