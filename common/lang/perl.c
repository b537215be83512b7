#include "common/lang/perl.h"

#include "common/lang/runtime.h"

enum { OFFSET_MOST = 1 << 20 };

/* By minor version, with threads. Odd versions are perl's own development. */
static const struct row {
	unsigned int minor;
	uint32_t curcop, stackinfo, named_aux, nextstate;
} rows[] = {
	{ 32, 224, 240, 0, 195 }, { 34, 208, 224, 0, 195 }, { 36, 208, 224, 1, 195 },
	{ 38, 208, 224, 1, 198 }, { 40, 208, 224, 1, 198 }, { 42, 208, 224, 1, 202 },
	{ 44, 208, 224, 1, 202 },
};

enum { KEY, CURCOP, STACKINFO, REVISION, VERSION, SUBVERSION, LOOP, DEBUG_LOOP, SYMBOLS };

/* Each is one byte. */
static uint32_t read_version(const struct elf_file *f, const struct runtime_symbol *s)
{
	uint32_t version = 0;

	for (size_t i = REVISION; i <= SUBVERSION; i++) {
		uint8_t part;

		if (!s[i].value || !runtime_read(f, s[i].value, &part, 1))
			return 0;
		version = version << 8 | part;
	}
	return version;
}

/* Places the interpreter of a perl without threads: its variables are global. */
static void place_variables(const struct runtime_symbol *s, struct lang_image *image)
{
	uint64_t cop = s[CURCOP].value, stack = s[STACKINFO].value;

	image->state = cop < stack ? cop : stack;
	if (cop - image->state <= OFFSET_MOST && stack - image->state <= OFFSET_MOST) {
		image->at[PERL_CURCOP] = (uint32_t)(cop - image->state);
		image->at[PERL_STACKINFO] = (uint32_t)(stack - image->state);
	}
}

static void place_interpreter(const struct runtime_symbol *s, const struct row *row, struct lang_image *image)
{
	image->at[PERL_NAMED_AUX] = row->named_aux;
	image->at[PERL_NEXTSTATE] = row->nextstate;
	if (!s[KEY].value) {
		place_variables(s, image);
		return;
	}
	image->state = s[KEY].value;
	image->at[PERL_KEYED] = 1;
	image->at[PERL_CURCOP] = row->curcop;
	image->at[PERL_STACKINFO] = row->stackinfo;
}

/* Returns false if the variables are not data of the file. */
static bool check_places(const struct elf_file *f, const struct lang_image *image)
{
	if (image->at[PERL_KEYED])
		return runtime_contains(f, image->state, 4, false);
	return runtime_contains(f, image->state + image->at[PERL_CURCOP], 8, false) &&
	       runtime_contains(f, image->state + image->at[PERL_STACKINFO], 8, false);
}

bool perl_identify(const struct elf_file *f, struct lang_image *image)
{
	struct runtime_symbol s[SYMBOLS] = {
		[KEY] = { "PL_thr_key", 0, 0 }, [CURCOP] = { "PL_curcop", 0, 0 },
		[STACKINFO] = { "PL_curstackinfo", 0, 0 },
		[REVISION] = { "PL_revision", 0, 0 }, [VERSION] = { "PL_version", 0, 0 },
		[SUBVERSION] = { "PL_subversion", 0, 0 },
		[LOOP] = { "Perl_runops_standard", 0, 0 }, [DEBUG_LOOP] = { "Perl_runops_debug", 0, 0 },
	};
	bool has_loop;

	runtime_symbols(f, s, SYMBOLS);
	if (!s[LOOP].value || (!s[KEY].value && (!s[CURCOP].value || !s[STACKINFO].value)))
		return false;
	image->language = LANG_PERL;
	has_loop = runtime_add_loop(f, image, s[LOOP].value, s[LOOP].value + s[LOOP].size) == 0;
	runtime_add_loop(f, image, s[DEBUG_LOOP].value, s[DEBUG_LOOP].value + s[DEBUG_LOOP].size);
	image->version = read_version(f, s);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (image->version >> 8 != (5u << 8 | rows[i].minor))
			continue;
		place_interpreter(s, &rows[i], image);
		image->usable = has_loop && check_places(f, image) && perl_valid(image);
	}
	return true;
}

bool perl_valid(const struct lang_image *image)
{
	const uint32_t *at = image->at;

	return image->state && image->version >> 16 == 5 && at[PERL_KEYED] <= 1 && at[PERL_NAMED_AUX] <= 1 &&
	       at[PERL_CURCOP] <= OFFSET_MOST && at[PERL_STACKINFO] <= OFFSET_MOST &&
	       at[PERL_CURCOP] != at[PERL_STACKINFO];
}
