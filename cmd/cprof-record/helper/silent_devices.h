/*
 * Devices of file systems that did not answer. Each rests for a while: nothing accesses it meanwhile.
 *
 *	struct silent_devices s = { 0 };
 *
 *	if (!silent_devices_has(&s, major, minor, now))
 *		...access a file there; without an answer: silent_devices_note(&s, major, minor, now, &first)...
 *		...with one: silent_devices_forget(&s, major, minor)...
 *
 * The first rest of a device takes SILENT_DEVICES_FIRST, and each further one twice as long as the last one,
 * up to SILENT_DEVICES_LAST. A stall of a few seconds thus costs the tables of some ten seconds, and a dead
 * server one wait in ten minutes. Times are CLOCK_MONOTONIC, in ns.
 */
#ifndef CPROF_RECORD_HELPER_SILENT_DEVICES_H
#define CPROF_RECORD_HELPER_SILENT_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SILENT_DEVICES_MOST = 64 }; /* remembered; a new one takes the place of one whose rest is over */
#define SILENT_DEVICES_FIRST UINT64_C(10000000000)
#define SILENT_DEVICES_LAST UINT64_C(600000000000)

struct silent_devices {
	struct silent_device {
		uint64_t major, minor;
		uint64_t rest, until; /* length and end of the last rest */
	} items[SILENT_DEVICES_MOST];
	size_t n;
};

/* Returns the length of the rest after one of this length; 0: there was none. */
uint64_t silent_devices_longer(uint64_t rest);
/* Returns true if the device rests. */
bool silent_devices_has(const struct silent_devices *s, uint64_t major, uint64_t minor, uint64_t now);
/* Lets the device rest. *first: it was not known. Returns false if too many other devices rest. */
bool silent_devices_note(struct silent_devices *s, uint64_t major, uint64_t minor, uint64_t now, bool *first);
/* The device answered. */
void silent_devices_forget(struct silent_devices *s, uint64_t major, uint64_t minor);
#endif
