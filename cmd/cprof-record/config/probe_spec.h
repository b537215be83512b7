/*
 * Finds the probe in user code that the argument of -e names: "uprobe:FILE:FUNCTION",
 * "uprobe:FILE:FUNCTION+8", "uprobe:FILE:0x1136", "usdt:FILE:PROVIDER:NAME". Any can end in ":arg2" or
 * ":arg2:string".
 *
 *	struct probe *p;
 *
 *	if (probe_is(text) && probe_find(&p, text, &error) != EVENT_FOUND)
 *		...error is as of event_find...
 *
 * probe_find opens the file with the user's rights (host_user_begin). The kernel gets the descriptor, so it
 * probes the file that was read.
 */
#ifndef CPROF_RECORD_CONFIG_PROBE_SPEC_H
#define CPROF_RECORD_CONFIG_PROBE_SPEC_H

#include "common/base/buf.h"
#include "common/elf/probe_arg.h"
#include "common/elf/probe_sites.h"

enum event_found {
	EVENT_FOUND,
	EVENT_UNKNOWN, /* the text is invalid, or this kernel or file has no such event */
	EVENT_REFUSED, /* the system does not let us look */
};

struct probe {
	int fd;	       /* the file, open until the program ends */
	uint32_t type; /* the kernel's number for uprobe events, for perf_event_attr */
	struct probe_sites sites;
	/* An argument that labels the samples: its number, 0 for none, and its place at each of the sites. */
	unsigned int label;
	bool label_is_text;
	struct probe_arg *label_args;
};

/* Returns true for the text of a probe. */
bool probe_is(const char *text);
/* text is without a count. The probe lives until the program ends. */
enum event_found probe_find(const struct probe **p, const char *text, struct buf *error);

/*
 * The steps of probe_find: opens the file, with the user's rights; opens it as an ELF file, to be closed by
 * elf_close; fills p->type, and checks that the kernel can set the semaphores of p->sites.
 */
enum event_found probe_open_file(const char *path, int *fd, struct buf *error);
enum event_found probe_open_elf(const char *path, int fd, struct elf_file **f, struct buf *error);
enum event_found probe_find_type(struct probe *p, struct buf *error);

#endif
