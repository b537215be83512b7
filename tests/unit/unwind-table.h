/* For tests of unwind tables: rules as text, and the paths on standard input. */
#ifndef CPROF_TESTS_UNWIND_TABLE_H
#define CPROF_TESTS_UNWIND_TABLE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/unwind/build.h"

/* Returns whether a rule of the table needs the caller's rbx. */
static inline bool has_rbx(const struct unwind_table *t)
{
	for (size_t i = 0; i < t->n_rules; i++) {
		if (t->rules[i].kind == UNWIND_CFA_RBX)
			return true;
	}
	return false;
}

static inline void print_at(const char *base, int64_t n)
{
	printf("%s%+lld", base, (long long)n);
}

static inline void print_save(const char *name, uint8_t how, int32_t at)
{
	if (how == UNWIND_SAME)
		return;
	printf(" %s=", name);
	if (how == UNWIND_LOST)
		printf("lost");
	else if (how == UNWIND_IS_CFA)
		print_at("cfa", at);
	else
		print_at(how == UNWIND_AT_CFA ? "[cfa" : "[rbp", at), printf("]");
}

/* Prints a rule on one line, without the newline. with_rbx: the caller's rbx as well. */
static inline void print_rule(const struct unwind_rule *r, bool with_rbx)
{
	static const char *const names[UNWIND_KINDS] = {
		"gap", "stop", "bad", "rsp", "rbp", "rbx", "reg", "[rsp", "[rbp", "plt", "signal", "in", "pushes", "pops",
		"switch",
	};

	printf("%s%s", unwind_from_code(r) ? "code " : "", names[r->kind]);
	if (r->kind == UNWIND_CFA_REG || r->kind == UNWIND_RA_REG || r->kind == UNWIND_PLT)
		printf("(%u)", r->reg);
	if (r->kind >= UNWIND_CFA_RSP && r->kind != UNWIND_SIGNAL) {
		print_at("", r->cfa);
		if (r->kind == UNWIND_DEREF_RSP || r->kind == UNWIND_DEREF_RBP)
			printf("]%+d", (int16_t)r->mask);
		else if (r->mask)
			printf(" mask=%#x", r->mask);
	}
	print_save("rbp", r->bp, r->bp_at);
	if (with_rbx)
		print_save("rbx", r->bx, r->bx_at);
}

enum { PATHS_MAX = 8192 };

/* Reads standard input, one path a line. The caller frees each. */
static inline size_t read_paths(char *paths[PATHS_MAX])
{
	char *line = NULL;
	size_t cap = 0, n = 0;
	ssize_t length;

	while (n < PATHS_MAX && (length = getline(&line, &cap, stdin)) > 0) {
		line[strcspn(line, "\n")] = '\0';
		paths[n++] = strdup(line);
	}
	free(line);
	return n;
}

#endif
