#include "common/lang/php.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/le.h"
#include "common/elf/unwind_sections.h"
#include "common/lang/runtime.h"
#include "common/lang/runtime_code.h"
#include "common/unwind/functions.h"

#define ROW(from, current, opcodes, last, path, line) \
	{ from, { [PHP_CURRENT] = current, [PHP_OPCODES] = opcodes, [PHP_LAST] = last, [PHP_PATH] = path, \
		  [PHP_FIRST_LINE] = line } }

static const struct row {
	uint32_t from; /* 0x080200: from 8.2 on */
	uint32_t at[PHP_OFFSETS];
} rows[] = {
	{ 0x080700, { 0 } }, /* not known yet */
	ROW(0x080500, 512, 104, 96, 168, 176),
	ROW(0x080400, 488, 104, 96, 168, 176),
	ROW(0x080300, 488, 80, 76, 144, 152),
	ROW(0x080200, 488, 88, 80, 152, 160),
	ROW(0x080000, 488, 72, 68, 144, 152),
	ROW(0x070400, 488, 64, 60, 136, 144),
	{ 0, { 0 } },
};

enum { GLOBALS, GLOBALS_OFFSET, GETTER, LOOP, HANDLER, SYMBOLS };
enum { OFFSET_MOST = 4096, CODE_BYTES = 24 };

/* The header of a web server's answers (main/SAPI.h): the one text that is known to have the version. */
static const char banner[] = "X-Powered-By: PHP/";

/* Reads a number of up to two digits, and steps over it. */
static uint32_t read_number(const uint8_t **p, const uint8_t *end)
{
	uint32_t n = 0;

	for (int i = 0; i < 2 && *p < end && **p >= '0' && **p <= '9'; i++)
		n = n * 10 + (uint32_t)(*(*p)++ - '0');
	return n;
}

/* "8.2.36" as 0x080224. 0: another text. */
static uint32_t read_version(const uint8_t *p, const uint8_t *end)
{
	uint32_t major = read_number(&p, end), minor, patch = 0;

	if (major == 0 || p == end || *p++ != '.')
		return 0;
	minor = read_number(&p, end);
	if (p < end && *p++ == '.')
		patch = read_number(&p, end);
	return major << 16 | minor << 8 | patch;
}

static uint32_t find_version(const struct elf_file *f)
{
	struct section s;
	const uint8_t *p, *end;
	uint32_t version = 0;

	if (!section_find(f, ".rodata", &s))
		return 0;
	end = s.bytes.p + s.bytes.n;
	for (p = s.bytes.p; version == 0 && p < end; p++) {
		p = memmem(p, (size_t)(end - p), banner, sizeof(banner) - 1);
		if (!p)
			break;
		version = read_version(p + sizeof(banner) - 1, end);
	}
	return version;
}

/*
 * The loop jumps from handler to handler by a table of some 3,500 labels. The compiler moves the rare ones to
 * a part of their own, which has no symbol in a stripped file. The table has their addresses.
 */
enum { LABELS_LEAST = 256, RARE_LEAST = 16, LABELS_SECTION = 64 << 20 };

struct labels {
	struct slice words; /* a section with its relocations applied */
	struct lang_loop loop;
};

static bool is_inside(const struct lang_loop *l, uint64_t address)
{
	return address >= l->start && address < l->end;
}

static uint64_t word_at(const struct labels *l, size_t i)
{
	return le64_load(l->words.p + i * 8);
}

/* Writes what the dynamic loader would write to the section's copy, less the load address. */
static void relocate(const struct elf_file *f, const struct section *s, uint8_t *copy)
{
	struct section rela;

	if (!section_find(f, ".rela.dyn", &rela))
		return;
	for (size_t at = 0; at + sizeof(Elf64_Rela) <= rela.bytes.n; at += sizeof(Elf64_Rela)) {
		const uint8_t *r = rela.bytes.p + at; /* offset, type, addend */
		uint64_t to = le64_load(r) - s->vaddr;

		if (le32_load(r + 8) == R_X86_64_RELATIVE && to < s->bytes.n && s->bytes.n - to >= 8)
			memcpy(copy + to, r + 16, 8);
	}
}

/* All the labels of the table that begins here are in two ranges of code: the loop and its rare part. */
static bool take_labels(const struct labels *l, const struct function_list *functions, size_t *i,
			struct lang_loop *rare)
{
	size_t n = l->words.n / 8, inside = 0, outside = 0, at, found;

	for (at = *i; at < n; at++) {
		uint64_t label = word_at(l, at);

		if (is_inside(&l->loop, label)) {
			inside++;
			continue;
		}
		if (!is_inside(rare, label)) {
			if (rare->end || !functions_find(functions, label, &found))
				break;
			rare->start = functions->items[found].start;
			rare->end = functions->items[found].end;
		}
		outside++;
	}
	*i = at;
	/* with fewer, they are pointers to functions, after the table */
	return inside >= LABELS_LEAST && outside >= RARE_LEAST;
}

static bool find_rare(const struct elf_file *f, const char *name, const struct function_list *functions,
		      const struct lang_loop *loop, struct lang_loop *rare)
{
	struct section s;
	struct labels l = { .loop = *loop };
	uint8_t *copy;
	bool found = false;

	if (!section_find(f, name, &s) || s.bytes.n > LABELS_SECTION)
		return false;
	copy = malloc(s.bytes.n);
	if (!copy)
		return false;
	memcpy(copy, s.bytes.p, s.bytes.n);
	relocate(f, &s, copy);
	l.words = (struct slice){ copy, s.bytes.n };
	for (size_t i = 0; !found && i < s.bytes.n / 8; i++) {
		*rare = (struct lang_loop){ 0, 0 };
		if (is_inside(loop, word_at(&l, i)))
			found = take_labels(&l, functions, &i, rare);
	}
	free(copy);
	return found;
}

static void find_loops(const struct elf_file *f, const struct runtime_symbol *symbol,
		       struct lang_image *image)
{
	struct function_list functions = { 0 };
	struct lang_loop *loop = image->loops, rare;

	loop->start = symbol->value;
	loop->end = symbol->value + symbol->size;
	if (loop->end < loop->start)
		loop->end = loop->start;
	if (functions_read(f, &functions) && (find_rare(f, ".data.rel.ro", &functions, loop, &rare) ||
					      find_rare(f, ".rodata", &functions, loop, &rare)))
		image->loops[1] = rare;
	functions_release(&functions);
}

/*
 * In a thread-safe build each thread has its globals, some bytes (executor_globals_offset) after the address
 * that is its specific data. tsrm_get_ls_cache, which returns this data, has the key:
 *	mov KEY(%rip),%edi; jmp pthread_getspecific
 */
static bool find_key(const struct elf_file *f, const struct runtime_symbol *s, struct lang_image *image)
{
	uint8_t code[CODE_BYTES];
	struct cursor c = cursor_over(code, sizeof(code));
	int32_t disp;

	if (!s[GLOBALS_OFFSET].value || !s[GETTER].value ||
	    !runtime_read(f, s[GETTER].value, code, sizeof(code)))
		return false;
	code_start(&c);
	if (!code_skip(&c, "\x8b\x3d", 2) || !code_disp(&c, &disp))
		return false;
	image->type = s[GETTER].value + (uint64_t)(c.p - code) + (uint64_t)(int64_t)disp;
	image->state = s[GLOBALS_OFFSET].value;
	image->at[PHP_KEYED] = 1;
	return runtime_contains(f, image->type, 4, false);
}

static bool find_globals(const struct elf_file *f, const struct runtime_symbol *s, struct lang_image *image)
{
	image->state = s[GLOBALS].value;
	return image->state != 0 || find_key(f, s, image);
}

bool php_identify(const struct elf_file *f, struct lang_image *image)
{
	struct runtime_symbol s[SYMBOLS] = {
		[GLOBALS] = { "executor_globals", 0, 0 },
		[GLOBALS_OFFSET] = { "executor_globals_offset", 0, 0 },
		[GETTER] = { "tsrm_get_ls_cache", 0, 0 },
		[LOOP] = { "execute_ex", 0, 0 }, [HANDLER] = { "zif_array_map", 0, 0 },
	};
	size_t i = 0;

	runtime_symbols(f, s, SYMBOLS);
	if ((!s[GLOBALS].value && !s[GLOBALS_OFFSET].value) || !s[LOOP].value)
		return false;
	image->language = LANG_PHP;
	image->version = find_version(f);
	find_loops(f, &s[LOOP], image);
	while (image->version < rows[i].from)
		i++;
	memcpy(image->at, rows[i].at, sizeof(rows[i].at));
	image->at[PHP_HANDLERS] = s[HANDLER].value != 0;
	image->usable = find_globals(f, s, image) && image->at[PHP_CURRENT] != 0;
	return true;
}

bool php_valid(const struct lang_image *image)
{
	for (size_t i = 0; i < PHP_OFFSETS; i++) {
		if (image->at[i] > OFFSET_MOST)
			return false;
	}
	return image->at[PHP_HANDLERS] <= 1 && image->at[PHP_KEYED] <= 1;
}
