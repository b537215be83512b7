#include "common/lang/ruby.h"

#include <string.h>

#include "common/ruby/ruby_internal.h"
#include "common/ruby/ruby_lines.h"

enum { VERSION, CONTEXT, CURRENT, LOOP, SYMBOLS };
enum { RACTORS = 0x030000, VERSION_BYTES = 16 };

/* From this version on, up to the next row. The last row has no offsets. */
static const struct row {
	uint32_t from;
	uint32_t thread, frame, fixnum, insns[3], string; /* as the enum has them */
	uint32_t class, class_at[4];
} rows[] = {
	{ 0x020700, 32, 56, 1, { 120, 136, 144 }, 16, RB_CLASS_TABLE, { 24, 8, 8, 0x1000 } },
	{ 0x030000, 40, 56, 1, { 120, 136, 144 }, 16, RB_CLASS_TABLE, { 24, 8, 8, 0x1000 } },
	{ 0x030100, 40, 64, 1, { 120, 136, 144 }, 16, RB_CLASS_TABLE, { 24, 8, 8, 0x1000 } },
	/* The path is among the variables, which have no names here but by their shape. */
	{ 0x030200, 48, 64, 0, { 112, 128, 136 }, 24, RB_CLASS_NONE, { 0, 0, 0, 0 } },
	{ 0x030300, 48, 56, 0, { 112, 128, 136 }, 24, RB_CLASS_FIELD, { 32, 120, 96, 0x1000 } },
	{ 0x030400, 48, 56, 0, { 112, 128, 136 }, 24, RB_CLASS_FIELD, { 32, 120, 96, 0x2000 } },
	{ 0x030500, 0, 0, 0, { 0, 0, 0 }, 0, 0, { 0, 0, 0, 0 } }, /* was never released */
	{ 0x040000, 48, 56, 0, { 112, 128, 136 }, 24, RB_CLASS_FIELD, { 24, 128, 112, 0x2000 } },
	{ 0x040100, 0, 0, 0, { 0, 0, 0 }, 0, 0, { 0, 0, 0, 0 } },
};

static bool set_offsets(struct lang_image *image)
{
	const struct row *r = NULL;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && rows[i].from <= image->version; i++)
		r = &rows[i];
	if (!r || !r->frame)
		return false;
	image->at[RB_THREAD_EC] = r->thread;
	image->at[RB_CFP_BYTES] = r->frame;
	image->at[RB_LINE_FIXNUM] = r->fixnum;
	image->at[RB_INSNS_BODY] = r->insns[0];
	image->at[RB_INSNS_SIZE] = r->insns[1];
	image->at[RB_INSNS_TABLE] = r->insns[2];
	image->at[RB_INSNS_ENTRY] = ruby_line_entry(image->version);
	image->at[RB_STR_EMBEDDED] = r->string;
	image->at[RB_CLASS] = r->class;
	image->at[RB_CLASS_EXT] = r->class_at[0];
	image->at[RB_CLASS_PATH] = r->class_at[1];
	image->at[RB_CLASS_ATTACHED] = r->class_at[2];
	image->at[RB_SINGLETON] = r->class_at[3];
	return true;
}

/* Reads "3.1.2" as 0x030102. Returns 0 for other texts. */
static uint32_t read_version(const struct elf_file *f, const struct runtime_symbol *s)
{
	char text[VERSION_BYTES] = { 0 };
	uint32_t parts[3] = { 0 };
	size_t part = 0, n = s->size;

	if (n < 6 || n >= sizeof(text) || !runtime_read(f, s->value, text, n))
		return 0;
	for (const char *c = text; *c; c++) {
		if (*c == '.')
			part++;
		else if (*c >= '0' && *c <= '9' && part < 3)
			parts[part] = parts[part] * 10 + (uint32_t)(*c - '0');
		else
			return 0;
		if (part > 2 || parts[part] > 255)
			return 0;
	}
	return part == 2 ? parts[0] << 16 | parts[1] << 8 | parts[2] : 0;
}

static bool find_context(const struct elf_file *f, struct lang_image *image, const struct runtime_symbol *s)
{
	if (image->version >= RACTORS)
		return ruby_tls(f, image, s[CURRENT].size ? &s[CURRENT] : NULL);
	image->at[RB_EC] = RB_EC_GLOBAL;
	image->state = s[CONTEXT].value;
	return runtime_contains(f, image->state, sizeof(uint64_t), false);
}

bool ruby_identify(const struct elf_file *f, struct lang_image *image)
{
	struct runtime_symbol s[SYMBOLS] = {
		[VERSION] = { "ruby_version", 0, 0 },
		[CONTEXT] = { "ruby_current_execution_context_ptr", 0, 0 },
		[CURRENT] = { "ruby_current_ec", 0, 0 },
		[LOOP] = { "vm_exec_core", 0, 0 },
	};

	runtime_symbols(f, s, SYMBOLS);
	if (!s[VERSION].value)
		return false;
	image->version = read_version(f, &s[VERSION]);
	if (!image->version)
		return false;
	image->language = LANG_RUBY;
	image->usable = set_offsets(image) && find_context(f, image, s) && ruby_valid(image);
	ruby_loops(f, image, s[LOOP].value ? &s[LOOP] : NULL);
	return true;
}

/* The bounds are those of lang_object in bpf/lang/lang.bpf.h. */
static bool is_body_offset(uint32_t at)
{
	return at % 8 == 0 && at >= 96 && at < 256;
}

bool ruby_valid(const struct lang_image *image)
{
	const uint32_t *at = image->at;

	if (at[RB_EC] > RB_EC_BELOW ||
	    (at[RB_EC] != RB_EC_GLOBAL && (at[RB_TLS_WORDS] == 0 || at[RB_TLS_WORDS] > RB_TLS_WORDS_MOST)))
		return false;
	if (at[RB_TLS_FIRST] % 8 || at[RB_TLS_FIRST] > 1 << 16 || at[RB_THREAD_EC] % 8 ||
	    at[RB_THREAD_EC] > 64)
		return false;
	if (at[RB_CFP_BYTES] != 56 && at[RB_CFP_BYTES] != 64)
		return false;
	if (!is_body_offset(at[RB_INSNS_BODY]) || !is_body_offset(at[RB_INSNS_SIZE]) ||
	    !is_body_offset(at[RB_INSNS_TABLE]))
		return false;
	if ((at[RB_INSNS_ENTRY] != 8 && at[RB_INSNS_ENTRY] != 12) ||
	    (at[RB_STR_EMBEDDED] != 16 && at[RB_STR_EMBEDDED] != 24))
		return false;
	return at[RB_CLASS] <= RB_CLASS_TABLE && at[RB_CLASS_EXT] < 256 && at[RB_CLASS_PATH] < 256 &&
	       at[RB_CLASS_ATTACHED] < 256;
}
