/*
 * Reads a unit's entries (DIEs) one after the other. Internal to common/dwarf.
 *
 *	struct entry e;
 *
 *	if (entries_use(&es, abbreviations, offset, &unit_die, end))
 *		while (entries_begin(&es, p, &e) && !e.ends_level && entries_pass(&es, &e, NULL))
 *			p = e.next;
 *
 * libdw looks up an entry's abbreviation for every query and scans all its attributes each time, which took
 * most of the time of flattening. Here an abbreviation is decoded once, into the wanted attributes and the
 * sizes of the gaps between them; libdw still decodes the values.
 */
#ifndef CPROF_DWARF_ENTRIES_H
#define CPROF_DWARF_ENTRIES_H
#ifdef HAVE_LIBDW

#include <elfutils/libdw.h>

#include "common/base/cursor.h"
#include "common/base/idmap.h"

/* The attributes that are used. */
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
	WANT_SIBLING = WANTED, /* used by entries.c only */
	WANT_NONE,
};

/* The used attributes of an entry, by enum wanted. */
struct attributes {
	Dwarf_Attribute of[WANTED];
	bool has[WANTED];
};

/*
 * An entry may take one byte and have millions of attributes of no bytes, so those that are examined are
 * limited. About 20 are usual. An entry that has more counts as damaged.
 */
enum { ATTRIBUTES_MAX = 256 };

/* Returns the enum value for a DW_AT code, or WANT_NONE. */
enum wanted wanted_of(uint64_t code);

struct abbreviation {
	uint64_t code;
	uint32_t tag;
	uint32_t first, n; /* range in stops */
	uint32_t tail;     /* bytes after the last of its stops */
	bool children;
};

/* An attribute that has to be examined, because it is wanted or its size varies. */
struct stop {
	uint32_t gap;      /* bytes between the stop before and this one */
	uint32_t constant; /* offset in the section of a value that is the same for all entries */
	uint16_t code, form;
	uint8_t size;   /* bytes, or SIZE_VARIES */
	uint8_t wanted; /* enum wanted */
};

/* Starts zeroed. One for all units of a module, so that memory is reused. */
struct entries {
	struct slice section; /* .debug_abbrev */
	uint64_t offset;      /* where the unit's abbreviations begin in it */
	const uint8_t *p;     /* the next abbreviation to decode; NULL: none is left */
	uint64_t decoded;     /* bytes of abbreviations decoded, for all units */
	struct Dwarf_CU *cu;
	const uint8_t *start, *end; /* the unit's bytes */
	uint8_t address_size, offset_size;
	uint16_t version;
	struct abbreviation *abbreviations;
	size_t n, cap;
	struct stop *stops;
	size_t n_stops, cap_stops;
	struct idmap others; /* code to index, for codes that are not index + 1 */
	bool failed;         /* out of memory */
};

struct entry {
	const uint8_t *p;
	bool ends_level; /* a null entry, which ends the current level */
	struct abbreviation is;
	const uint8_t *values;
	const uint8_t *next;    /* the following entry: its first child, if it has children */
	const uint8_t *sibling; /* the entry after all its children, from DW_AT_sibling; or NULL */
};

/*
 * Switches to the unit of this entry, which ends at end and whose abbreviations are at offset in section.
 * Returns false if libdw does not know the unit.
 */
bool entries_use(struct entries *es, struct slice section, uint64_t offset, const Dwarf_Die *die, const uint8_t *end);
/*
 * Decodes the beginning of the entry at p, up to its values. Returns false if there is no valid entry, or if
 * out of memory (es->failed).
 */
bool entries_begin(struct entries *es, const uint8_t *p, struct entry *e);
/* Decodes the rest, and the attributes unless a is NULL. Returns false if they are not inside the unit. */
bool entries_pass(const struct entries *es, struct entry *e, struct attributes *a);
/* Returns the bytes of memory held. */
size_t entries_bytes(const struct entries *es);
void entries_release(struct entries *es);

#endif
#endif
