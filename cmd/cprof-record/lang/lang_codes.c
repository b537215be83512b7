#include "cmd/cprof-record/lang/lang_codes.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/stream/record.h"

void lang_codes_init(struct lang_codes *cs, const struct lang_image *images)
{
	*cs = (struct lang_codes){ .images = images, .cache = level_cache_new() };
	idmap_init(&cs->by_id);
	intern_init(&cs->keys);
}

void lang_codes_release(struct lang_codes *cs)
{
	idmap_release(&cs->by_id);
	intern_release(&cs->keys);
	free(cs->items);
	level_cache_free(cs->cache);
	*cs = (struct lang_codes){ 0 };
}

void lang_codes_clear(struct lang_codes *cs)
{
	const struct lang_image *images = cs->images;

	lang_codes_release(cs);
	lang_codes_init(cs, images);
}

bool lang_codes_full(const struct lang_codes *cs)
{
	return cs->keys.bytes > CODES_BYTES || cs->by_id.n > CODES_IDS;
}

/* Finds the code by its contents, or adds it. False: out of memory. */
static bool intern_code(struct lang_codes *cs, const struct lang_code *code, uint32_t *at)
{
	uint32_t language = code->language & ~LANG_RECORD_CODE;
	struct buf key = { 0 };
	struct slice whole;
	bool good;

	buf_bytes(&key, &language, sizeof(language));
	buf_bytes(&key, &code->tier, sizeof(code->tier));
	buf_bytes(&key, code->parts, sizeof(code->parts));
	buf_bytes(&key, code->bytes, code->n);
	good = !key.failed && intern_add(&cs->keys, buf_view(&key), at);
	if (good && *at >= cs->n) {
		good = *at == cs->n && grow_array(&cs->items, &cs->cap, cs->n, sizeof(*cs->items));
		whole = intern_get(&cs->keys, *at);
		if (good) {
			struct code *c = &cs->items[cs->n++];

			*c = (struct code){ .language = language,
					    .tier = code->tier < LANG_TIERS ? code->tier : LANG_TIER_NONE,
					    .bytes = { whole.p + whole.n - code->n, code->n } };
			memcpy(c->parts, code->parts, sizeof(c->parts));
		}
	}
	buf_release(&key);
	return good;
}

void lang_codes_take(struct lang_codes *cs, const struct lang_code *code)
{
	uint32_t at;

	if (cs->keys.bytes > 2 * (size_t)CODES_BYTES || cs->by_id.n > 2 * (size_t)CODES_IDS ||
	    !intern_code(cs, code, &at))
		return; /* its frames have their outer function only */
	idmap_set(&cs->by_id, code->id, at);
}

/* The code of one place: struct lang_place, innermost first. One without a function has a state. */
static int place_levels(const struct code *c, struct lang_level levels[static LANG_LEVELS])
{
	size_t n = c->bytes.n / sizeof(struct lang_place);
	struct lang_place place;

	if (n > LANG_LEVELS)
		n = LANG_LEVELS;
	for (size_t i = 0; i < n; i++) {
		memcpy(&place, c->bytes.p + i * sizeof(place), sizeof(place));
		levels[i] = (struct lang_level){ place.function ? place.function : LEVEL_STATE, place.position };
	}
	return (int)n;
}

int lang_codes_levels(const struct lang_codes *cs, uint32_t id, uint32_t position,
		      struct lang_level levels[static LANG_LEVELS], uint32_t *tier)
{
	const struct code *c;
	uint32_t at;

	*tier = LANG_TIER_NONE;
	if (!id || !idmap_find(&cs->by_id, id, &at))
		return 0;
	c = &cs->items[at];
	*tier = c->tier;
	if (c->language == LANG_JAVASCRIPT)
		return lang_codes_javascript(cs, at, position, levels);
	return c->language == LANG_JAVA ? place_levels(c, levels) : 0;
}
