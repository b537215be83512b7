/*
 * What a flame graph is made of, whichever form it takes: the tree, what is written around it, and how it is
 * to look.
 *
 *	struct picture pic = { .tree = &tree, .title = "Flame Graph", .unit = "samples", .sides = 1 };
 *	struct buf html = { 0 };
 *
 *	picture_fact(&pic, "Samples", "2,970 of 2,970 expected");
 *	picture_option(&pic, "fontsize", "12");
 *	if (!page_append(&html, &pic)) ...out of memory...	// page.h
 *	picture_release(&pic);
 */
#ifndef CPROF_FLAME_PICTURE_H
#define CPROF_FLAME_PICTURE_H

#include "common/flame/moments.h"
#include "common/flame/tree.h"
#include "common/flame/verdict.h"

struct picture_pair {
	char *name, *value;
};

/* What a static picture looks like; the page has the same under their names among its options. */
struct look {
	double width, row, minwidth, fontsize; /* pixels; row: from one level to the next */
	const char *fonttype, *countname, *nametype;
	const char *colors, *background; /* see colour.h; background: what CSS takes for a colour */
};
#define LOOK_DEFAULT                                                                                              \
	{                                                                                                         \
		.width = 1200, .row = 17, .minwidth = 0.1, .fontsize = 12,                                        \
		.fonttype = "system-ui, \"Segoe UI\", Roboto, \"DejaVu Sans\", sans-serif", .background = "#ffffff" \
	}

/* All that is lent lives as long as the picture. */
struct picture {
	const struct flame_tree *tree;    /* with its sums where there are two sides, and for a picture that stands still */
	unsigned int sides;               /* 2: a comparison, before and after */
	const struct verdicts *verdicts;  /* where sides is 2 */
	const struct moments *moments;    /* for the heat map; NULL: none */
	const char *title, *subtitle;
	const char *unit;                 /* "samples" or "ns" */
	const char *names[PROFILE_SIDES]; /* of the sides, where there are two */
	struct look look;
	const bool *matches;              /* by label, for a picture that stands still; NULL: nothing is searched for */
	bool inverted;                    /* the root is at the top */
	/* What is known of the capture, and what the command line said; owned. */
	struct picture_pair *facts, *options;
	size_t n_facts, cap_facts, n_options, cap_options;
	bool failed; /* out of memory: a fact or an option is missing */
};

/* A line of the ledger; the texts are copied. */
void picture_fact(struct picture *pic, const char *name, const char *value);
/* What the page or the picture is to do, under the name that the option has. */
void picture_option(struct picture *pic, const char *name, const char *value);
/* The option's value, NULL where it was not given. */
const char *picture_get(const struct picture *pic, const char *name);
void picture_release(struct picture *pic);

/*
 * Text of a command line as the picture can show it: valid UTF-8 without control characters. To be freed; NULL
 * without memory.
 */
char *picture_clean(const char *text);

/* A box's width: its share of all, or with two sides the mean of its shares, so that what vanished is seen. */
double picture_share(const struct picture *pic, const uint64_t weights[PROFILE_SIDES]);

#endif
