#include "cmd/cprof-record/lang/script_functions.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/array.h"
#include "common/base/le.h"
#include "common/hotspot/java_names.h"
#include "common/lang/java_lines.h"
#include "common/python/python_lines.h"
#include "common/ruby/ruby_lines.h"
#include "common/stream/record.h"

void script_functions_init(struct script_functions *fs)
{
	*fs = (struct script_functions){ 0 };
	idmap_init(&fs->by_id);
	intern_init(&fs->keys);
	intern_init(&fs->script_keys);
}

void script_functions_release(struct script_functions *fs)
{
	idmap_release(&fs->by_id);
	intern_release(&fs->keys);
	intern_release(&fs->script_keys);
	free(fs->items);
	free(fs->scripts);
	buf_release(&fs->scratch);
	buf_release(&fs->path);
	*fs = (struct script_functions){ 0 };
}

void script_functions_clear(struct script_functions *fs)
{
	script_functions_release(fs);
	script_functions_init(fs);
}

static void put_utf8(struct buf *out, uint32_t c)
{
	if (c >= 0x110000 || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	if (c < 0x80) {
		buf_byte(out, (uint8_t)c);
		return;
	}
	if (c >= 0x10000) {
		buf_byte(out, (uint8_t)(0xf0 | c >> 18));
		buf_byte(out, (uint8_t)(0x80 | (c >> 12 & 0x3f)));
	} else if (c >= 0x800) {
		buf_byte(out, (uint8_t)(0xe0 | c >> 12));
	}
	if (c >= 0x800)
		buf_byte(out, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
	else
		buf_byte(out, (uint8_t)(0xc0 | c >> 6));
	buf_byte(out, (uint8_t)(0x80 | (c & 0x3f)));
}

/* Are these two units of UTF-16 one character? */
static bool is_pair(uint32_t c, const uint8_t *bytes, size_t n)
{
	return c >= 0xd800 && c < 0xdc00 && n >= 4 && (le16_load(bytes + 2) & 0xfc00) == 0xdc00;
}

static uint32_t read_pair(uint32_t c, const uint8_t *second)
{
	return 0x10000 + ((c & 0x3ff) << 10 | (le16_load(second) & 0x3ff));
}

/* Appends characters as UTF-8. */
static void put_units(struct buf *out, const uint8_t *bytes, size_t n, enum lang_text coding)
{
	size_t width = coding == LANG_UCS2 ? 2 : coding == LANG_UCS4 ? 4 : 1;

	if (coding == LANG_BYTES) {
		buf_bytes(out, bytes, n);
		return;
	}
	for (size_t i = 0; i + width <= n; i += width) {
		uint32_t c = 0;

		memcpy(&c, bytes + i, width); /* x86-64 and arm64 are little-endian */
		if (coding == LANG_UCS2 && is_pair(c, bytes + i, n - i))
			c = read_pair(c, bytes + (i += width));
		put_utf8(out, c);
	}
}

/* Appends pieces that each have a coding of their own. */
static void put_pieces(struct buf *out, const uint8_t *bytes, size_t n)
{
	while (n > 2) {
		size_t head = le16_load(bytes), piece = head & ~(size_t)LANG_PIECE_WIDE;

		piece = piece < n - 2 ? piece : n - 2;
		put_units(out, bytes + 2, piece, head & LANG_PIECE_WIDE ? LANG_UCS2 : LANG_LATIN1);
		bytes += 2 + piece;
		n -= 2 + piece;
	}
}

/* Appends a text of the process as UTF-8. */
static void put_text(struct buf *out, const uint8_t *bytes, size_t n, enum lang_text coding)
{
	if (coding == LANG_PIECES)
		put_pieces(out, bytes, n);
	else
		put_units(out, bytes, n, coding);
}

static bool add_script(struct script_functions *fs, const struct script *new, uint32_t *at)
{
	struct slice path = new->path;
	struct buf key = { 0 };
	bool good;

	buf_varint(&key, new->language);
	buf_varint(&key, new->units);
	buf_varint(&key, new->place.file);
	buf_varint(&key, new->place.width);
	buf_varint(&key, new->place.offset);
	buf_slice(&key, path);
	good = !key.failed && intern_add(&fs->script_keys, buf_view(&key), at);
	buf_release(&key);
	if (!good || *at < fs->n_scripts)
		return good;
	if (*at != fs->n_scripts ||
	    !grow_array(&fs->scripts, &fs->cap_scripts, fs->n_scripts, sizeof(*fs->scripts)))
		return false;
	path.p = intern_get(&fs->script_keys, *at).p + intern_get(&fs->script_keys, *at).n - path.n;
	fs->scripts[fs->n_scripts] = *new;
	fs->scripts[fs->n_scripts++].path = path;
	return true;
}

static struct slice compose_java_name(struct script_functions *fs, const struct lang_function *f)
{
	struct slice name = { f->name, f->name_n };

	buf_clear(&fs->scratch);
	if (f->joint && f->class_n) {
		java_class_name(&fs->scratch, (struct slice){ f->class, f->class_n });
		buf_byte(&fs->scratch, f->joint);
		java_text(&fs->scratch, name);
	} else {
		java_stub_name(&fs->scratch, name);
	}
	return buf_view(&fs->scratch);
}

/* The name as users of the language write it. */
static struct slice compose_name(struct script_functions *fs, const struct lang_function *f)
{
	size_t prefix = f->joint && f->prefix < f->name_n ? f->prefix : 0;

	buf_clear(&fs->scratch);
	put_text(&fs->scratch, f->name, prefix, f->name_text);
	if (f->joint && f->class_n) {
		put_text(&fs->scratch, f->class, f->class_n, f->class_text);
		buf_byte(&fs->scratch, f->joint);
		if (f->joint == ':')
			buf_byte(&fs->scratch, ':');
	}
	put_text(&fs->scratch, f->name + prefix, f->name_n - prefix, f->name_text);
	return buf_view(&fs->scratch);
}

/* V8 has a function for the code of a script, or of a module, outside of all functions. */
static uint32_t top_level(const struct lang_function *f)
{
	return f->language == LANG_JAVASCRIPT && f->name_n == 0 && f->start == 0 && f->units && f->end >= f->units
		? FUNCTION_TOP_LEVEL : 0;
}

/* Finds the function by its contents, or adds it. False: out of memory. */
static bool intern_function(struct script_functions *fs, const struct lang_function *f, struct script_place place,
			    uint32_t *at)
{
	struct script from = { .language = f->language, .units = f->units, .place = place };
	struct buf key = { 0 };
	struct slice name, whole;
	uint32_t script;
	bool good;

	buf_clear(&fs->path);
	if (f->language == LANG_JAVA)
		java_source_path(&fs->path, (struct slice){ f->class, f->class_n },
				 (struct slice){ f->path, f->path_n });
	else
		put_text(&fs->path, f->path, f->path_n, f->path_text);
	from.path = buf_view(&fs->path);
	if (fs->path.failed || !add_script(fs, &from, &script))
		return false;
	name = f->language == LANG_JAVA ? compose_java_name(fs, f) : compose_name(fs, f);
	buf_varint(&key, script);
	buf_varint(&key, f->version);
	buf_varint(&key, f->line);
	buf_varint(&key, f->flags);
	buf_varint(&key, f->start);
	buf_varint(&key, f->end);
	buf_bytes(&key, name.p, name.n);
	buf_bytes(&key, f->lines, f->table);
	buf_varint(&key, f->table);
	good = !key.failed && !fs->scratch.failed && intern_add(&fs->keys, buf_view(&key), at);
	if (good && *at >= fs->n) {
		good = *at == fs->n && grow_array(&fs->items, &fs->cap, fs->n, sizeof(*fs->items));
		whole = intern_get(&fs->keys, *at);
		if (good) {
			const uint8_t *end = whole.p + whole.n;
			size_t tail = 1;

			for (uint32_t v = f->table; v >= 0x80; v >>= 7)
				tail++;
			fs->items[fs->n++] = (struct function){
				.language = f->language,
				.version = f->version,
				.script = script,
				.line = f->line,
				.flags = f->flags | top_level(f),
				.start = f->start,
				.end = f->end,
				.name = { end - tail - f->table - name.n, name.n },
				.lines = { end - tail - f->table, f->table },
			};
		}
	}
	buf_release(&key);
	return good;
}

bool script_functions_full(const struct script_functions *fs)
{
	return fs->keys.bytes + fs->script_keys.bytes > FUNCTIONS_BYTES || fs->by_id.n > FUNCTIONS_IDS;
}

void script_functions_take(struct script_functions *fs, const struct lang_function *f, struct script_place place)
{
	uint32_t at;

	if (fs->keys.bytes > 2 * (size_t)FUNCTIONS_BYTES || fs->by_id.n > 2 * (size_t)FUNCTIONS_IDS ||
	    !intern_function(fs, f, place, &at))
		return; /* its frames say that the record was lost */
	idmap_set(&fs->by_id, f->id, at);
}

static uint32_t line_at(const struct function *f, uint32_t position)
{
	uint32_t line = 0;

	if (f->version == 0 && position == 0) /* from a call probe */
		return f->line;
	if (f->language == LANG_PYTHON)
		return python_line(f->version, f->lines, f->line, position, &line) ? line : 0;
	if (f->language == LANG_RUBY)
		return ruby_line(f->version, f->lines, position, &line) ? line : f->line;
	if (f->language == LANG_JAVA)
		return java_line(f->version, f->lines, position, &line) ? line : 0;
	return position ? position : f->line; /* it is the line, if it could be read */
}

/* The tier and the mark of an inlined function stay above the line or position. */
static uint64_t walked_at(const struct function *f, uint32_t at, uint64_t frame)
{
	uint32_t bits = (uint32_t)(frame >> LANG_POSITION_SHIFT) & 0x3fffffff, position = bits & SCRIPT_AT, line = 0;

	if (position != SCRIPT_AT)
		line = f->language == LANG_JAVASCRIPT ? position + 1 : line_at(f, position);
	return (uint64_t)(at + 1) << 32 | (bits & ~SCRIPT_AT) | (line < SCRIPT_AT ? line : 0);
}

bool script_functions_has(const struct script_functions *fs, uint32_t id)
{
	uint32_t at;

	return idmap_find(&fs->by_id, id, &at);
}

uint64_t script_functions_at(const struct script_functions *fs, uint64_t frame)
{
	uint32_t id = (uint32_t)frame,
		 position = (uint32_t)(frame >> LANG_POSITION_SHIFT) & LANG_POSITION_MOST, at;

	if (id == 0)
		return position;
	if (!idmap_find(&fs->by_id, id, &at))
		return LANG_LOST;
	if (lang_is_walked(fs->items[at].language))
		return walked_at(&fs->items[at], at, frame);
	return (uint64_t)(at + 1) << 32 | line_at(&fs->items[at], position);
}
