/*
 * The files that code lies in, kept apart where several have one base name.
 *
 *	struct modules m;
 *
 *	modules_init(&m);
 *	modules_add(&m, path, build_id, side, &number);
 *	modules_label(&text, number, "+0x128f");	// a label that is not for the eye yet
 *	...all samples are in the profile...
 *	if (!modules_settle(&m, &profile, sides, 0)) ...out of memory...
 *	modules_release(&m);
 *
 * A file is identified by its build ID, or by its path where it has none. Which base names need more
 * than that is known only when all has been read, so labels carry a number till then. Afterwards they
 * are called "[app+0x128f]" where there is one app; with as much of the paths as tells them apart,
 * "[o1/app+0x128f]", where there are more; and by the beginning of the build ID too, "app (0123abcd)",
 * where one path had several. That depends on which files there are, and on no order or address.
 *
 * With two sides to be compared, one path is one module though it was built anew, and so are the two
 * where each side has one of that name.
 */
#ifndef CPROF_PROFILE_MODULE_H
#define CPROF_PROFILE_MODULE_H

#include "common/profile/profile.h"

struct module {
	struct slice path, base, build_id;
	unsigned int sides; /* bit by side: where it was seen */
	/* After settling: the number of the group's first module, which holds what is said of the group. */
	uint32_t group;
	struct slice name;
	uint32_t shown;            /* the module that it is named after */
	unsigned int group_sides;
	unsigned int id_sides;     /* sides that have a build ID of it */
	bool id_shared;            /* one of them is on both sides */
};

struct modules {
	struct intern keys, names;
	struct module *list; /* by number */
	size_t n, cap;
};

void modules_init(struct modules *m);
void modules_release(struct modules *m);
/* The number of the file; false without memory. */
bool modules_add(struct modules *m, struct slice path, struct slice build_id, unsigned int side,
		 uint32_t *number);
/* Appends a label for the file, or for a place in it: its offset as "+0x128f". */
void modules_label(struct buf *out, uint32_t number, const char *offset);

/*
 * Gives every label its final name. sides: 2 if they are to be compared. stack_max: the profile's from
 * now on (see profile.h); it can be looked after only now. False without memory.
 */
bool modules_settle(struct modules *m, struct profile *p, unsigned int sides, size_t stack_max);
/* After settling, for who keeps labels elsewhere than in a profile: appends the final name of one. */
void modules_text(const struct modules *m, struct slice label, struct buf *out);
/*
 * After settling with two sides: how many modules have build IDs on both and none in common; *name is
 * that of the first one.
 */
size_t modules_rebuilt(const struct modules *m, struct slice *name);

/* The last part of a path, without the kernel's " (deleted)". */
struct slice module_base(struct slice path);

/* The path without what the kernel says of a file that is no more: " (deleted)". */
struct slice module_undeleted(struct slice path);

#endif
