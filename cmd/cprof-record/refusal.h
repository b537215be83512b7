/*
 * Why the kernel's verifier refused a program, in its own words. libbpf hands its log to a callback, of the whole process:
 *
 *	refusal_listen(verbose ? cli_warn : NULL);
 *	refusal_clear();
 *	if (sample_bpf__load(s) != 0 && refusal_program())
 *		...the verifier refused it, and where refusals are reported its reason was...
 */
#ifndef CPROF_RECORD_REFUSAL_H
#define CPROF_RECORD_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>

/* From here on libbpf prints nothing. report: gets each refusal with the last line of the verifier's log; or NULL. */
void refusal_listen(void (*report)(const char *fmt, ...) __attribute__((format(printf, 1, 2))));
bool refusal_reported(void);
/* The program that was refused last since the last clear; NULL: none, or not by the verifier. */
const char *refusal_program(void);
void refusal_clear(void);

/* The line of a verifier's log that has the reason: the last one that is no figure. *n: its length; NULL: there is none. */
const char *refusal_reason(const char *log, size_t *n);

#endif
