#include "common/go/gopclntab.h"

#include <elf.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/le.h"

enum {
	MAGIC_1_2 = 0xfb, /* the first byte, followed by 0xff three times */
	MAGIC_1_16 = 0xfa,
	MAGIC_1_18 = 0xf0,
	MAGIC_1_20 = 0xf1,
	FUNCTIONS_AT_1_2 = 16, /* functab, in the oldest layout */
	/* in the header: after magic, two zeroes, least length of an instruction, size of a pointer */
	WORDS_AT = 8,
	NAME_MAX_GO = 128, /* no longer name is needed */
	FLAG_MOVES_RSP = 2,
	/* where the text's address is in the runtime's moduledata, which begins with the table's address */
	MODULE_TEXT = 22 * 8,
	SCAN_STEP = 8,
	FILE_HEADER = 64,
	RELA_SIZE = 24,
	DEPTH_MAX = 1 << 30, /* a larger frame fits no stack */
};

/* The header's words from WORDS_AT on. */
enum word {
	WORD_FUNCTIONS, WORD_FILES, WORD_TEXT, WORD_NAMES, WORD_UNITS, WORD_PATHS, WORD_VALUES, WORD_RECORDS, WORDS
};

/* Tables of all versions for amd64 begin with: magic, 0, 0, 1, 8. */
static bool is_header(const uint8_t *p)
{
	return (p[0] == MAGIC_1_2 || p[0] == MAGIC_1_16 || p[0] == MAGIC_1_18 || p[0] == MAGIC_1_20) && p[1] == 0xff &&
	       p[2] == 0xff && p[3] == 0xff && p[4] == 0 && p[5] == 0 && p[6] == 1 && p[7] == 8;
}

/* Returns the part from here to the end, since no header records the end of a part. */
static bool part_from(const struct gopclntab *t, uint64_t at, struct slice *s)
{
	if (at > t->bytes.n)
		return false;
	*s = (struct slice){ t->bytes.p + at, t->bytes.n - at };
	return true;
}

/* In the oldest layout the number after functab locates the list of paths, which begins with its length. */
static void find_paths(struct gopclntab *t)
{
	size_t at = (2 * t->n + 1) * t->field;
	uint64_t n;

	t->units = (struct slice){ NULL, 0 };
	t->paths = t->bytes;
	if (t->functab.n - at < 4 || !part_from(t, le32_load(t->functab.p + at), &t->units) || t->units.n < 4)
		return;
	n = (uint64_t)le32_load(t->units.p) * 4;
	t->units.n = n < t->units.n ? (size_t)n : t->units.n;
}

/* Reads everything but the address of the text. */
static bool read_header(struct gopclntab *t)
{
	const uint8_t *p = t->bytes.p, *w = p + WORDS_AT;
	bool good;

	t->field = p[0] == MAGIC_1_2 || p[0] == MAGIC_1_16 ? 8 : 4;
	if (p[0] == MAGIC_1_2) {
		good = t->bytes.n >= FUNCTIONS_AT_1_2 && part_from(t, FUNCTIONS_AT_1_2, &t->functab);
		t->names = t->values = t->records = t->bytes;
	} else {
		/* Before 1.18 the address of the text is not among the words. */
		size_t skip = t->field == 8 ? 8 : 0;

		good = t->bytes.n >= WORDS_AT + WORDS * 8 &&
		       part_from(t, le64_load(w + WORD_NAMES * 8 - skip), &t->names) &&
		       part_from(t, le64_load(w + WORD_UNITS * 8 - skip), &t->units) &&
		       part_from(t, le64_load(w + WORD_PATHS * 8 - skip), &t->paths) &&
		       part_from(t, le64_load(w + WORD_VALUES * 8 - skip), &t->values) &&
		       part_from(t, le64_load(w + WORD_RECORDS * 8 - skip), &t->records);
		t->functab = t->records;
		t->flag_at = p[0] == MAGIC_1_16 || p[0] == MAGIC_1_20 ? 41 : 37;
	}
	if (!good || le64_load(w) >= t->functab.n / t->field / 2)
		return false;
	t->n = (size_t)le64_load(w);
	if (p[0] == MAGIC_1_2)
		find_paths(t);
	return true;
}

void gopclntab_relocate(const struct elf_file *f, uint8_t *p, size_t n, uint64_t vaddr)
{
	struct section rela;

	if (!section_find(f, ".rela.dyn", &rela))
		return;
	for (size_t at = 0; at + RELA_SIZE <= rela.bytes.n; at += RELA_SIZE) {
		uint64_t where = le64_load(rela.bytes.p + at) - vaddr;

		if (le64_load(rela.bytes.p + at + 8) == R_X86_64_RELATIVE && where < n && n - where >= 8)
			le64_store(p + where, le64_load(rela.bytes.p + at + 16));
	}
}

bool gopclntab_keep(struct gopclntab *t)
{
	if (t->own)
		return true;
	t->own = malloc(t->bytes.n);
	if (!t->own)
		return false;
	memcpy(t->own, t->bytes.p, t->bytes.n);
	t->bytes.p = t->own;
	/* the parts move along; the bytes may have changed if the file is being written */
	return read_header(t);
}

/* Checks if the text is here: runtime.goexit's code must be nop, call. guess: fail if the table lacks it. */
static bool text_fits(const struct elf_file *f, const struct code_map *code, struct gopclntab *t, uint64_t text,
		      bool guess)
{
	struct go_function fn;
	uint64_t offset, left;
	uint8_t bytes[2];

	if (text == 0 || !code_map_offset(code, text, &offset, &left))
		return false;
	t->text = text;
	if (f->archived) /* its code is not in an archive */
		return !guess;
	for (size_t i = 0; i < t->n; i++) {
		if (!gopclntab_function(t, i, &fn) ||
		    (!slice_is(fn.name, "runtime.goexit") && !slice_is(fn.name, "runtime.goexit.abi0")))
			continue;
		return code_map_offset(code, fn.start, &offset, &left) && left >= sizeof(bytes) &&
		       pread(f->fd, bytes, sizeof(bytes), (off_t)offset) == sizeof(bytes) && bytes[0] == 0x90 &&
		       bytes[1] == 0xe8;
	}
	return !guess;
}

/*
 * From 1.18 on addresses are relative to the start of the text. Up to 1.25 it is in the header; after that in
 * the runtime's moduledata, which has its own section. The last resort is where linkers put it: at the start
 * of .text, or of the code's segment, with or without a page of headers in front.
 */
static bool find_text(const struct elf_file *f, const struct code_map *code, struct gopclntab *t)
{
	uint64_t in_header = le64_load(t->bytes.p + WORDS_AT + WORD_TEXT * 8);
	struct section module;
	uint8_t word[8];

	if (in_header)
		return text_fits(f, code, t, in_header, false);
	if (section_find(f, ".go.module", &module) && module.bytes.n >= MODULE_TEXT + sizeof(word)) {
		memcpy(word, module.bytes.p + MODULE_TEXT, sizeof(word));
		gopclntab_relocate(f, word, sizeof(word), module.vaddr + MODULE_TEXT);
		if (text_fits(f, code, t, le64_load(word), false))
			return true;
	}
	if (text_fits(f, code, t, section_vaddr(f, ".text"), true))
		return true;
	return code->n && (text_fits(f, code, t, code->items[0].vaddr, true) ||
			   text_fits(f, code, t, code->items[0].vaddr + 0x1000, true));
}

/* Returns true if the file has something that only Go's linker makes, or no section names that could tell. */
static bool may_be_go(const struct elf_file *f)
{
	uint8_t header[FILE_HEADER];

	if (section_vaddr(f, ".go.buildinfo") || section_vaddr(f, ".note.go.buildid"))
		return true;
	/* e_shoff, e_shnum */
	return pread(f->fd, header, sizeof(header), 0) == sizeof(header) &&
	       (le64_load(header + 40) == 0 || le16_load(header + 60) == 0);
}

/* Reads t->bytes if there is a header here, with a functab that fits. */
static enum gopclntab_found try_at(const struct elf_file *f, uint64_t at, uint64_t left, struct gopclntab *t)
{
	size_t n = (size_t)(left < ELF_PART_MAX ? left : ELF_PART_MAX), have = 0;
	uint8_t *p = malloc(n);

	while (p && have < n) {
		ssize_t got = pread(f->fd, p + have, n - have, (off_t)(at + have));

		if (got <= 0)
			break;
		have += (size_t)got;
	}
	*t = (struct gopclntab){ .own = p, .bytes = { p, have } };
	if (!p)
		return GOPCLNTAB_NO_MEMORY;
	if (have > FUNCTIONS_AT_1_2 && read_header(t) && t->n > 0)
		return GOPCLNTAB_FOUND;
	gopclntab_close(t);
	return GOPCLNTAB_NONE;
}

/* Finds the first header in a segment. *budget: bytes that may still be read. */
static enum gopclntab_found scan_segment(const struct elf_file *f, const struct elf_segment *seg, uint64_t size,
					 uint64_t *budget, struct gopclntab *t)
{
	uint8_t bytes[1 << 14];
	uint64_t at = (seg->offset + SCAN_STEP - 1) & ~(uint64_t)(SCAN_STEP - 1), end = seg->offset + seg->filesz;
	enum gopclntab_found found;

	end = end < seg->offset || end > size ? size : end;
	while (at < end && *budget > sizeof(bytes)) {
		size_t want = end - at < sizeof(bytes) ? (size_t)(end - at) : sizeof(bytes);
		ssize_t got = pread(f->fd, bytes, want, (off_t)at);

		if (got < SCAN_STEP)
			break;
		*budget -= sizeof(bytes);
		for (ssize_t i = 0; i + SCAN_STEP <= got; i += SCAN_STEP) {
			/* A false header costs a read of its segment's rest. Only hostile files have any. */
			if (!is_header(bytes + i) || *budget < end - at)
				continue;
			*budget -= end - at;
			found = try_at(f, at + (uint64_t)i, end - at - (uint64_t)i, t);
			if (found == GOPCLNTAB_FOUND)
				t->vaddr = seg->vaddr + (at + (uint64_t)i - seg->offset);
			if (found != GOPCLNTAB_NONE)
				return found;
		}
		at += (uint64_t)got & ~(uint64_t)(SCAN_STEP - 1);
	}
	return GOPCLNTAB_NONE;
}

/* Finds the table by its first bytes in loaded data: C's linker merges it into .data.rel.ro. */
static enum gopclntab_found scan_segments(const struct elf_file *f, struct gopclntab *t)
{
	struct stat st;
	uint64_t budget;

	if (!may_be_go(f) || fstat(f->fd, &st) != 0)
		return GOPCLNTAB_NONE;
	budget = 4 * (uint64_t)st.st_size + (1 << 16);
	for (size_t i = 0; i < f->n_loaded; i++) {
		const struct elf_segment *seg = &f->loaded[i];

		if (!seg->exec && seg->filesz && seg->offset < (uint64_t)st.st_size) {
			enum gopclntab_found found = scan_segment(f, seg, (uint64_t)st.st_size, &budget, t);

			if (found != GOPCLNTAB_NONE)
				return found;
		}
	}
	return GOPCLNTAB_NONE;
}

static enum gopclntab_found locate_table(const struct elf_file *f, struct gopclntab *t)
{
	struct section s;

	if (!section_find(f, ".gopclntab", &s) && !section_find(f, ".data.rel.ro.gopclntab", &s))
		return scan_segments(f, t);
	if (s.bytes.n < SCAN_STEP)
		return GOPCLNTAB_DAMAGED;
	if (!is_header(s.bytes.p))
		return GOPCLNTAB_NONE;
	t->bytes = s.bytes;
	t->vaddr = s.vaddr;
	return read_header(t) ? GOPCLNTAB_FOUND : GOPCLNTAB_DAMAGED;
}

enum gopclntab_found gopclntab_open(const struct elf_file *f, const struct code_map *code, struct gopclntab *t)
{
	enum gopclntab_found found;
	struct section rela;

	*t = (struct gopclntab){ 0 };
	found = locate_table(f, t);
	if (found == GOPCLNTAB_FOUND && section_find(f, ".rela.dyn", &rela)) {
		if (gopclntab_keep(t))
			gopclntab_relocate(f, t->own, t->bytes.n, t->vaddr);
		else
			found = t->own ? GOPCLNTAB_DAMAGED : GOPCLNTAB_NO_MEMORY;
		if (found == GOPCLNTAB_FOUND && !read_header(t)) /* the header's words may have changed */
			found = GOPCLNTAB_DAMAGED;
	}
	if (found == GOPCLNTAB_FOUND && t->field == 4 && !find_text(f, code, t))
		found = GOPCLNTAB_DAMAGED;
	if (found != GOPCLNTAB_FOUND)
		gopclntab_close(t);
	return found;
}

void gopclntab_close(struct gopclntab *t)
{
	free(t->own);
	*t = (struct gopclntab){ 0 };
}

static uint64_t functab_field(const struct gopclntab *t, size_t i)
{
	const uint8_t *p = t->functab.p + i * t->field;

	return t->field == 8 ? le64_load(p) : le32_load(p);
}

struct slice gopclntab_text(struct slice part, uint32_t at, size_t max)
{
	struct slice s = { NULL, 0 };

	if (at >= part.n)
		return s;
	s.p = part.p + at;
	s.n = strnlen((const char *)s.p, part.n - at < max ? part.n - at : max);
	return s;
}

uint64_t gopclntab_start(const struct gopclntab *t, size_t i)
{
	return t->text + functab_field(t, 2 * i);
}

bool gopclntab_function(const struct gopclntab *t, size_t i, struct go_function *fn)
{
	uint64_t start = functab_field(t, 2 * i), record = functab_field(t, 2 * i + 1),
		 end = functab_field(t, 2 * i + 2);
	/* A record: the address in a field, then four bytes each: name, arguments, deferreturn, depths. */
	size_t least = t->flag_at ? t->flag_at + 1 : t->field + 16;
	const uint8_t *p;

	if (start >= end || t->text + end < end || record >= t->records.n || t->records.n - record < least)
		return false;
	p = t->records.p + record;
	*fn = (struct go_function){
		.start = t->text + start,
		.end = t->text + end,
		.name = gopclntab_text(t->names, le32_load(p + t->field), NAME_MAX_GO),
		.record = { p, (size_t)(t->records.n - record) },
		.depths = le32_load(p + t->field + 12),
		.moves_rsp = t->flag_at && (p[t->flag_at] & FLAG_MOVES_RSP),
	};
	return true;
}

void go_depths_begin(const struct gopclntab *t, const struct go_function *fn, struct go_depths *d)
{
	*d = (struct go_depths){ .start = fn->start, .end = fn->start, .depth = -1, .limit = fn->end };
	if (fn->depths == 0 || fn->depths >= t->values.n)
		d->damaged = fn->depths != 0;
	else
		d->in = cursor_over(t->values.p + fn->depths, t->values.n - fn->depths);
}

/*
 * Reads the next pair of differences: to the previous depth (zigzag), and to the address up to which it
 * holds. A depth difference of 0 ends the list, except in the first pair.
 */
bool go_depths_next(struct go_depths *d)
{
	uint64_t up, length;

	if (d->damaged || !d->in.p || d->end >= d->limit)
		return false;
	if (!cursor_varint(&d->in, &up) || up > UINT32_MAX) {
		d->damaged = true;
		return false;
	}
	if (up == 0 && d->begun) {
		d->in.p = NULL;
		return false;
	}
	if (!cursor_varint(&d->in, &length) || length == 0 || length > UINT32_MAX) {
		d->damaged = true;
		return false;
	}
	d->depth = (int32_t)((uint32_t)d->depth + (uint32_t)unzigzag(up));
	if (d->depth < -DEPTH_MAX || d->depth > DEPTH_MAX) {
		d->damaged = true;
		return false;
	}
	d->begun = true;
	d->start = d->end;
	d->end = length < d->limit - d->start ? d->start + length : d->limit;
	return true;
}
