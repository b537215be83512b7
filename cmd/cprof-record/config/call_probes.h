/*
 * Call probes: the static probes at the entry and the return of each function of an interpreted language.
 *
 *	struct call_probes *c;
 *
 *	if (call_probes_find(&c, "ruby", o->command, &error) != EVENT_FOUND)
 *		...error is as of event_find...
 *
 * The text is PROVIDER or PROVIDER:FILE. Without a file, the provider is searched in the command's executable
 * and in the libraries that it needs; for processes that run already (command NULL), the user names the file,
 * because they choose their own paths. Files are opened with the user's rights.
 */
#ifndef CPROF_RECORD_CONFIG_CALL_PROBES_H
#define CPROF_RECORD_CONFIG_CALL_PROBES_H

#include <sys/types.h>

#include "cmd/cprof-record/config/probe_spec.h"

enum call_arg { CALL_CLASS, CALL_NAME, CALL_PATH, CALL_LINE, CALL_ARGS };
enum call_what { CALL_ENTRY, CALL_RETURN, CALL_RESET };

struct call_site {
	enum call_what what;
	bool builtin; /* the function is not written in the language */
	bool has[CALL_ARGS];
	struct probe_arg args[CALL_ARGS]; /* the line is a number, the others are addresses of texts */
};

struct call_probes {
	const char *provider;
	uint32_t language; /* enum language */
	char joint;	   /* between class and function, as in struct lang_function */
	const char *hint;  /* how to switch the probes on */
	char *file;
	struct probe probe;	 /* the places of all its probes */
	struct call_site *sites; /* for each of probe.sites */
	size_t cap;
};

/* The result lives until the program ends. */
enum event_found call_probes_find(struct call_probes **to, const char *text, char *const *command,
				  struct buf *error);

#endif
