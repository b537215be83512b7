#include "common/flame/colour.h"

#include <math.h>
#include <stdio.h>

struct oklch {
	double l, c, h;
};

static const struct oklch kinds[KINDS] = {
	[KIND_USER] = { 0.815, 0.115, 72 },
	[KIND_KERNEL] = { 0.765, 0.1, 238 },
	[KIND_INLINED] = { 0.735, 0.1, 166 },
	[KIND_JIT] = { 0.735, 0.115, 346 },
	[KIND_INTERPRETED] = { 0.915, 0.125, 106 },
	[KIND_ROOT] = { 0.82, 0.012, 260 },
	[KIND_NONAME] = { 0.885, 0.008, 260 },
	[KIND_SLEEPING] = { 0.86, 0.06, 310 },
	[KIND_LEFTOUT] = { 0.93, 0.006, 260 },
	[KIND_UNINTERRUPTIBLE] = { 0.64, 0.13, 295 },
	[KIND_QUEUED] = { 0.67, 0.17, 38 },
};

/* hue: -1 keeps the kinds' hues, -2 is grey. */
static const struct scheme {
	const char *name;
	double hue;
} schemes[] = {
	{ "kind", -1 },	   { "java", -1 },  { "js", -1 },     { "perl", -1 },  { "python", -1 },  { "hot", 45 },
	{ "red", 25 },	   { "orange", 60 }, { "yellow", 100 }, { "green", 150 }, { "aqua", 200 }, { "blue", 250 },
	{ "purple", 310 }, { "io", 250 },    { "mem", 145 },	{ "grey", -2 },
};

static const struct scheme *find_scheme(const char *name)
{
	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		if (strcmp(schemes[i].name, name) == 0)
			return &schemes[i];
	}
	return NULL;
}

bool colours_known(const char *scheme)
{
	return find_scheme(scheme) != NULL;
}

static unsigned int channel_value(double v)
{
	v = v < 0 ? 0 : v > 1 ? 1 : v;
	return (unsigned int)(255 * (v <= 0.0031308 ? 12.92 * v : 1.055 * pow(v, 1 / 2.4) - 0.055) + 0.5);
}

static double cube(double v)
{
	return v * v * v;
}

static void format_colour(char to[COLOUR_TEXT], struct oklch k)
{
	double a = k.c * cos(k.h * M_PI / 180), b = k.c * sin(k.h * M_PI / 180);
	double x = cube(k.l + 0.3963377774 * a + 0.2158037573 * b);
	double y = cube(k.l - 0.1055613458 * a - 0.0638541728 * b);
	double z = cube(k.l - 0.0894841775 * a - 1.291485548 * b);

	snprintf(to, COLOUR_TEXT, "#%02x%02x%02x",
		 channel_value(4.0767416621 * x - 3.3077115913 * y + 0.2309699292 * z) & 255,
		 channel_value(-1.2684380046 * x + 2.6097574011 * y - 0.3413193965 * z) & 255,
		 channel_value(-0.0041960863 * x - 0.7034186147 * y + 1.707614701 * z) & 255);
}

/* Hashes the beginning of a name: FNV-1a over UTF-16, as the page's JavaScript does. */
static uint32_t hash_name(struct slice name)
{
	enum { MOST = 200 };
	uint32_t h = 2166136261u;

	for (size_t i = 0, units = 0; i < name.n && units < MOST; units++) {
		uint8_t c = name.p[i];
		size_t n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
		uint32_t v = n == 1 ? c : c & (0x7fu >> n);

		for (size_t k = 1; k < n && i + k < name.n; k++)
			v = v << 6 | (name.p[i + k] & 0x3f);
		i += n;
		if (v >= 0x10000) {
			h = (h ^ (0xd7c0 + (v >> 10))) * 16777619u;
			v = 0xdc00 | (v & 0x3ff);
			if (++units == MOST)
				break;
		}
		h = (h ^ v) * 16777619u;
	}
	return h ^ h >> 15;
}

static struct oklch base_of(const char *name, enum kind kind, bool *kept)
{
	const struct scheme *scheme = find_scheme(name ? name : "kind");
	struct oklch k = kinds[kind];

	*kept = !scheme || scheme->hue < 0;
	if (scheme && scheme->hue < -1)
		k.c = 0;
	else if (!*kept && kind < KIND_ROOT)
		k = (struct oklch){ 0.8, 0.12, scheme->hue };
	return k;
}

void colour_name(char to[COLOUR_TEXT], const char *scheme, enum kind kind, struct slice name)
{
	uint32_t h = hash_name(name);
	double s = (h & 1023) / 511.5 - 1, t = (h >> 10 & 1023) / 511.5 - 1;
	bool kept;
	struct oklch k = base_of(scheme, kind, &kept);
	double play = kind >= KIND_ROOT ? 0.3 : kept ? 1 : 1.6;

	k.l += 0.033 * s * play;
	k.c *= 1 + 0.12 * t * play;
	k.h += 7 * t * play;
	format_colour(to, k);
}

void colour_kind(char to[COLOUR_TEXT], const char *scheme, enum kind kind)
{
	bool kept;

	format_colour(to, base_of(scheme, kind, &kept));
}

void colour_change(char to[COLOUR_TEXT], double change)
{
	enum { LESS = 248, MORE = 55 };
	double size = 0.25 + 0.75 * fabs(change);

	if (change == 0)
		format_colour(to, (struct oklch){ 0.865, 0.004, 260 });
	else
		format_colour(to, (struct oklch){ 0.87 - 0.17 * size, 0.15 * size, change < 0 ? LESS : MORE });
}
