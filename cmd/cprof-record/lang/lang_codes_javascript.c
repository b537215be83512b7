#include <stdlib.h>
#include <string.h>

#include "cmd/cprof-record/lang/lang_codes.h"
#include "common/base/array.h"
#include "common/base/le.h"
#include "common/lang/javascript.h"
#include "common/javascript/javascript_positions.h"
#include "common/stream/record.h"

_Static_assert((int)LANG_LEVELS >= (int)JAVASCRIPT_LEVELS, "a place has room for all functions of V8's code");

enum { CACHED_MOST = 1 << 20 };

/* Decoded places. Decoding takes a microsecond or more, and most samples are at places of earlier ones. */
struct level_cache {
	struct idmap by_place; /* index of the code and position to index */
	struct lang_level *items; /* a place: one whose function is the number of levels, and these */
	size_t n, cap;
};

struct level_cache *level_cache_new(void)
{
	struct level_cache *c = calloc(1, sizeof(*c));

	if (c)
		idmap_init(&c->by_place);
	return c;
}

void level_cache_free(struct level_cache *c)
{
	if (!c)
		return;
	idmap_release(&c->by_place);
	free(c->items);
	free(c);
}

/* Takes the next part of the code's bytes, at most all that are left. */
static struct slice next_part(struct slice *rest, uint32_t n)
{
	struct slice part = { rest->p, n < rest->n ? n : rest->n };

	rest->p += part.n;
	rest->n -= part.n;
	return part;
}

static int decode_levels(const struct lang_codes *cs, const struct code *c, uint32_t position,
			 struct lang_level levels[static LANG_LEVELS])
{
	struct javascript_level decoded[JAVASCRIPT_LEVELS];
	struct javascript_code code = { .baseline = c->tier == LANG_TIER_BASELINE };
	struct slice rest = c->bytes, functions;
	const struct lang_image *image;
	int n, kept = 0;

	if (c->parts[JS_PART_IMAGE] >= LANG_IMAGES)
		return 0;
	image = &cs->images[c->parts[JS_PART_IMAGE]];
	code.version = image->version;
	code.lengths = (struct slice){ image->lengths, (size_t)image->bytecodes * 3 };
	code.positions = next_part(&rest, c->parts[JS_PART_POSITIONS]);
	code.inlinings = next_part(&rest, c->parts[JS_PART_INLININGS]);
	functions = next_part(&rest, c->parts[JS_PART_FUNCTIONS]);
	code.offsets = next_part(&rest, c->parts[JS_PART_OFFSETS]);
	code.bytecodes = next_part(&rest, c->parts[JS_PART_BYTECODES]);
	n = javascript_levels(&code, position, decoded);
	for (int i = 0; i < n; i++) {
		uint32_t id = 0;

		if (decoded[i].function != JAVASCRIPT_OWN) {
			if ((uint32_t)decoded[i].function < functions.n / 4)
				id = le32_load(functions.p + 4 * (uint32_t)decoded[i].function);
			if (!id) /* not known: the next one has called it */
				continue;
		}
		levels[kept++] = (struct lang_level){ id, decoded[i].position };
	}
	return kept;
}

static void cache_levels(struct level_cache *c, uint64_t key, const struct lang_level *levels, int n)
{
	if (c->n > CACHED_MOST) {
		idmap_clear(&c->by_place);
		c->n = 0;
	}
	for (int i = -1; i < n; i++) {
		if (!grow_array(&c->items, &c->cap, c->n, sizeof(*c->items)))
			return;
		c->items[c->n++] = i < 0 ? (struct lang_level){ (uint32_t)n, 0 } : levels[i];
	}
	idmap_set(&c->by_place, key, (uint32_t)(c->n - 1 - (size_t)n));
}

int lang_codes_javascript(const struct lang_codes *cs, uint32_t at, uint32_t position,
			  struct lang_level levels[static LANG_LEVELS])
{
	uint64_t key = (uint64_t)(at + 1) << 32 | position;
	uint32_t first;
	int n;

	if (cs->cache && idmap_find(&cs->cache->by_place, key, &first)) {
		n = (int)cs->cache->items[first].function;
		memcpy(levels, cs->cache->items + first + 1, (size_t)n * sizeof(*levels));
		return n;
	}
	n = decode_levels(cs, &cs->items[at], position, levels);
	if (cs->cache)
		cache_levels(cs->cache, key, levels, n);
	return n;
}
