/*
 * A unit's entries (DIEs) one after the other, for this room only.
 *
 *	struct entry e;
 *
 *	if (entries_use(&es, abbreviations, offset, &unit_die, end))
 *		while (entries_begin(&es, p, &e) && !e.ends_level && entries_pass(&es, &e, NULL))
 *			p = e.next;
 *
 * libdw looks an entry's abbreviation up for each question that it is asked of it, and goes over all its attributes
 * each time, which was most of what flattening took. Here an abbreviation is decoded once, to what has to be passed
 * over and where between lies what somebody wants; libdw still decodes the values.
 */
#ifndef CPROF_DWARF_ENTRIES_H
#define CPROF_DWARF_ENTRIES_H
#ifdef HAVE_LIBDW

#include <elfutils/libdw.h>

#include "common/base/cursor.h"
#include "common/base/hash.h"

/* What of an entry's attributes is asked for. */
enum wanted {
	WANT_NAME,
	WANT_LINKAGE_NAME,
	WANT_LOW_PC,
	WANT_HIGH_PC,
	WANT_ENTRY_PC,
	WANT_RANGES,
	WANT_ORIGIN,
	WANT_SPECIFICATION,
	WANT_CALL_FILE,
	WANT_CALL_LINE,
	WANT_STMT_LIST,
	WANT_COMP_DIR,
	WANT_DWO_NAME,
	WANT_RNGLISTS_BASE,
	WANT_LANGUAGE,
	WANTED,
	WANT_SIBLING = WANTED, /* for this file alone */
	WANT_NONE,
};

struct attributes {
	Dwarf_Attribute of[WANTED];
	bool has[WANTED];
};

enum wanted wanted_of(uint64_t code);

struct abbreviation {
	uint64_t code;
	uint32_t tag;
	uint32_t first, n; /* stops */
	uint32_t tail;     /* bytes behind the last of them */
	bool children;
};

/* An attribute to look at: someone wants it, or its size is not always the same. */
struct stop {
	uint32_t gap;      /* bytes before it */
	uint32_t constant; /* where in the section its value is, if that is the same for all entries */
	uint16_t code, form;
	uint8_t size; /* or that it varies */
	uint8_t wanted;
};

/* Begins as zeros; one for all units of a module, so that memory is not asked for again. */
struct entries {
	struct slice section; /* of abbreviations */
	uint64_t offset;      /* in it, where the unit's begin */
	const uint8_t *p;     /* what of them is not decoded yet; NULL: nothing */
	uint64_t decoded;     /* bytes of them, for all units */
	struct Dwarf_CU *cu;
	const uint8_t *start, *end; /* of the unit */
	uint8_t address_size, offset_size;
	uint16_t version;
	struct abbreviation *abbreviations;
	size_t n, cap;
	struct stop *stops;
	size_t n_stops, cap_stops;
	struct idmap others; /* code to index, where the one is not the other + 1 */
	bool failed;         /* no memory */
};

struct entry {
	const uint8_t *p;
	bool ends_level; /* it has no abbreviation, and ends the level that it is on */
	struct abbreviation is;
	const uint8_t *values;
	const uint8_t *next;    /* what comes behind it: its first child, if it has children */
	const uint8_t *sibling; /* what it says that comes behind all its children, or NULL */
};

/* From here on it is the unit of this entry, which ends there. False: libdw does not know what unit that is. */
bool entries_use(struct entries *es, struct slice section, uint64_t offset, const Dwarf_Die *die, const uint8_t *end);
/* The entry that begins here, as far as to values. False: there is none that can be decoded, or no memory. */
bool entries_begin(struct entries *es, const uint8_t *p, struct entry *e);
/* The rest of it; and its attributes, where a is not NULL. False where they do not lie in the unit. */
bool entries_pass(const struct entries *es, struct entry *e, struct attributes *a);
size_t entries_bytes(const struct entries *es);
void entries_release(struct entries *es);

#endif
#endif
