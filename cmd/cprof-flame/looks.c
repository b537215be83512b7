#include "cmd/cprof-flame/flame.h"

#include <stdlib.h>

#include "common/flame/colour.h"

static char *clean_text(const char *text)
{
	char *copy = picture_clean(text);

	if (!copy)
		cli_no_memory();
	return copy;
}

/* Returns a number of pixels, which may have a fraction. An invalid number is a usage error. */
static double parse_pixels(const char *option, const char *text, double least, double most)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !(v >= least && v <= most) || strspn(text, "0123456789.") != strlen(text))
		cli_usage("invalid --%s \"%s\" (expected a number from %g to %g)", option, text, least, most);
	return v;
}

/* "3" is pixels, "0.5%" a share of the width, as for flamegraph.pl. Returns the member of the look. */
static double parse_minwidth(const char *option, const char *text)
{
	if (strchr(text, '%'))
		return -cli_percent("--minwidth", text) / 100;
	return parse_pixels(option, text, 0, 10000);
}

/*
 * Returns a CSS colour: the argument, if it is of hexadecimal digits, or one of flamegraph.pl's backgrounds.
 */
static const char *parse_background(const char *text)
{
	static const char *const known[][2] = {
		{ "yellow", "#f8f8e4" }, { "blue", "#eaeefa" }, { "green", "#eaf7ea" }, { "grey", "#f4f4f4" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(text, known[i][0]) == 0)
			return known[i][1];
	}
	if (text[0] != '#' || strspn(text + 1, "0123456789abcdefABCDEF") != strlen(text + 1) ||
	    (strlen(text) != 4 && strlen(text) != 7))
		cli_usage("invalid --bgcolors \"%s\" (expected yellow, blue, green, grey or a colour like #f8f8f8)", text);
	return text;
}

static void store_look(struct flame_settings *s, int c, const char *name, const char *text)
{
	struct look *look = &s->pic.look;

	switch (c) {
	case FLAME_TITLE:
		s->pic.title = text;
		break;
	case FLAME_SUBTITLE:
		s->pic.subtitle = text;
		break;
	case FLAME_NOTES:
		picture_fact(&s->pic, "Notes", text);
		break;
	case FLAME_WIDTH:
		look->width = parse_pixels(name, text, 100, 100000);
		look->fixed = true;
		break;
	case FLAME_HEIGHT:
		look->row = parse_pixels(name, text, 4, 200);
		break;
	case FLAME_MINWIDTH:
		look->minwidth = parse_minwidth(name, text);
		break;
	case FLAME_FONTTYPE:
		look->fonttype = text;
		break;
	case FLAME_FONTSIZE:
		look->fontsize = parse_pixels(name, text, 4, 200);
		break;
	case FLAME_COUNTNAME:
		look->countname = text;
		break;
	case FLAME_NAMETYPE:
		look->nametype = text;
		break;
	case FLAME_COLORS:
		if (!colours_known(text))
			cli_usage("invalid --colors \"%s\" (expected one of %s)", text, COLOURS);
		look->colors = text;
		break;
	case FLAME_BGCOLORS:
		look->background = parse_background(text);
		break;
	default: /* only the page uses it */
		break;
	}
}

void flame_take_look(struct flame_settings *s, int option, const char *name, const char *argument)
{
	char **text = &s->texts[option - FLAME_LOOKS];

	free(*text);
	*text = clean_text(argument);
	store_look(s, option, name, *text);
	/* Title, subtitle and notes have their own places in the page's data. */
	if (option != FLAME_TITLE && option != FLAME_SUBTITLE && option != FLAME_NOTES)
		picture_option(&s->pic, name, *text);
}
