/*
 * The contents of a flame graph in any format: the tree, the texts around it, and its look.
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

#include "common/flame/heatmap_data.h"
#include "common/flame/layout.h"
#include "common/flame/verdict.h"

struct picture_pair {
	char *name, *value;
};

/* The look of a static picture. The page has the same values among its options, under their names. */
struct look {
	double width, row, fontsize; /* pixels; row: height of a level */
	double minwidth; /* pixels; negative: less this share of the width */
	bool fixed; /* the picture is width pixels wide, and not as wide as its place */
	const char *fonttype, *countname, *nametype;
	const char *colors, *background; /* see colour.h; background: a CSS colour, NULL: light or dark */
};
#define LOOK_DEFAULT                                                                                  \
	{                                                                                             \
		.width = 1200, .row = 17, .minwidth = -0.001, .fontsize = 12,                         \
		.fonttype = "system-ui, \"Segoe UI\", Roboto, \"DejaVu Sans\", sans-serif"            \
	}

/* Pointers are not owned and must outlive the picture, except facts and options. */
struct picture {
	const struct flame_tree *tree;    /* with its sums if sides is 2 or the picture is static */
	unsigned int sides;               /* 2: a comparison, before and after */
	const struct verdicts *verdicts;  /* if sides is 2 */
	const struct heatmap_data *moments;    /* for the heat map; NULL: none */
	const char *title, *subtitle;
	const char *tab;                  /* title of the browser's tab; NULL: title */
	const char *unit;                 /* "samples" or "ns" */
	const char *names[PROFILE_SIDES]; /* names of the sides, if there are two */
	struct look look;
	struct slice sources;             /* for the page: a block of annotate/source_block.h; empty: none */
	const bool *matches;              /* by label, for a static picture; NULL: no search */
	bool inverted;                    /* the root is at the top */
	/* Facts about the capture, and options of the command line; owned. */
	struct picture_pair *facts, *options;
	size_t n_facts, cap_facts, n_options, cap_options;
	bool failed; /* out of memory: a fact or an option is missing */
};

/* Adds a line of the ledger. The texts are copied; failed is set if out of memory. */
void picture_fact(struct picture *pic, const char *name, const char *value);
/*
 * Adds an option of the page or picture under the option's own name. The texts are copied; failed is set if
 * out of memory.
 */
void picture_option(struct picture *pic, const char *name, const char *value);
/*
 * Returns the option's last value, or NULL. Valid until picture_release. "summary" is the ledger in one line,
 * "caution" a warning about few samples, "samples" their number; it is 0 if weights are not estimated.
 */
const char *picture_get(const struct picture *pic, const char *name);
void picture_release(struct picture *pic);

/*
 * Returns a text of the command line as valid UTF-8 without control characters. The caller frees it. NULL:
 * out of memory.
 */
char *picture_clean(const char *text);

/*
 * Returns a box's width from 0 to 1: its share of the total. With two sides it is the mean of the shares, so
 * that vanished code is visible.
 */
double picture_share(const struct picture *pic, const uint64_t weights[PROFILE_SIDES]);

#endif
