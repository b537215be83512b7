/*
 * The files that code belongs to, told apart if several have the same base name.
 *
 *	struct gather_modules m;
 *
 *	gather_modules_init(&m);
 *	gather_modules_add(&m, path, build_id, side, &number);
 *	gather_modules_label(&text, number, "+0x128f");	// a provisional label, not for display
 *	...all samples are in the profile...
 *	if (!gather_modules_settle(&m, &profile, sides, 0)) ...out of memory...
 *	gather_modules_release(&m);
 *
 * A file is identified by its build ID, or by its path if it has none. Only when all has been read is it
 * known which base names need more than that, so labels carry a number until then. Afterwards a file is
 * called "[app+0x128f]" if there is one app; with as much of the paths as distinguishes them,
 * "[o1/app+0x128f]", if there are more; and with the first digits of the build ID, "app (0123abcd)", if one
 * path had several. The names depend only on the set of files, not on order or addresses.
 *
 * In a comparison of two sides, one path is one module even if the file was rebuilt. If each side has just
 * one module of a base name, the two are one module as well.
 */
#ifndef CPROF_GATHER_GATHER_MODULES_H
#define CPROF_GATHER_GATHER_MODULES_H

#include "common/base/intern.h"
#include "common/profile/profile.h"

struct gather_module {
	struct slice path, base, build_id;
	unsigned int sides; /* bit by side: where it was seen */
	/*
	 * After gather_modules_settle: the number of the group's first module, which holds the group's data
	 * below.
	 */
	uint32_t group;
	struct slice name;
	uint32_t shown;            /* the module that the group is named after */
	unsigned int group_sides;
	unsigned int id_sides;     /* sides on which the group has a build ID */
	bool id_shared;            /* one build ID is on both sides */
};

struct gather_modules {
	struct intern keys, names;
	struct gather_module *list; /* by number */
	size_t n, cap;
};

void gather_modules_init(struct gather_modules *m);
void gather_modules_release(struct gather_modules *m);
/* Sets *number for the file; returns false if out of memory. */
bool gather_modules_add(struct gather_modules *m, struct slice path, struct slice build_id, unsigned int side,
		 uint32_t *number);
/*
 * Appends a label for the file. offset: a place in the file as "+0x128f"; "" for the file itself, or a mark
 * like "_[l]" to put after its name.
 */
void gather_modules_label(struct buf *out, uint32_t number, const char *offset);

/*
 * Gives every label its final name. sides: 2 if they are compared. stack_max: the profile's from now on (see
 * profile.h), because lengths are not known earlier. Returns false if out of memory.
 */
bool gather_modules_settle(struct gather_modules *m, struct profile *p, unsigned int sides, size_t stack_max);
/* After gather_modules_settle: appends the final name of a label that is kept outside the profile. */
void gather_modules_text(const struct gather_modules *m, struct slice label, struct buf *out);
/*
 * After gather_modules_settle with two sides: returns how many modules have build IDs on both sides and none
 * in common; *name is the first of them by name, valid as long as m.
 */
size_t gather_modules_rebuilt(const struct gather_modules *m, struct slice *name);

/* Returns the last part of a path, without the kernel's " (deleted)"; a part of the path's text. */
struct slice gather_module_base(struct slice path);

/* Returns the path without the " (deleted)" that the kernel appends to a removed file's name. */
struct slice gather_module_undeleted(struct slice path);

#endif
