/*
 * Fuzzes bytes as an ELF file with DWARF: its units and chains, with itself as its dwz file. Bytes that are
 * not an ELF file become a line table, and a list of pieces whose intervals must match a plain search for
 * each address.
 */
#include "tests/lib/fuzz.h"

#include "common/dwarf/flat.h"
#include "common/dwarf/lines.h"
#include "common/dwarf/line_table.h"

static void demand(bool holds)
{
	if (!holds)
		abort();
}

struct input {
	struct slice bytes;
};

static struct elf_file *open_same(void *arg, struct slice name, struct slice build_id)
{
	const struct input *in = arg;
	struct elf_file *f;

	(void)name;
	(void)build_id;
	return elf_open_bytes(in->bytes, &f) == ELF_OPENED ? f : NULL;
}

static void ask(struct lines *l, uint64_t address)
{
	struct lines_chain c, again;

	if (lines_find(l, address, &c) <= 0)
		return;
	demand(c.n > 0 && c.n <= LINES_LEVELS_MAX);
	for (uint32_t i = 0; i < c.n; i++) {
		demand(lines_text(l, c.level[i].name).p[lines_text(l, c.level[i].name).n] == '\0');
		demand(lines_text(l, c.level[i].file).p != NULL);
	}
	demand(lines_find(l, address, &again) == 1 && again.n == c.n);
	demand(memcmp(again.level, c.level, c.n * sizeof(c.level[0])) == 0);
}

static void ask_file(struct elf_file *f, struct input *in)
{
	struct lines_unread unread = { 0 }, alt_unread = { 0 };
	struct lines_options o = { open_same, in, in->bytes.p[in->bytes.n - 1] & 1 ? 4096 : 0, true, &unread, &alt_unread };
	struct lines *l;

	if (lines_open(f, &o, &l) != LINES_OPENED) {
		demand(l == NULL);
		return;
	}
	elf_settle(f);
	for (size_t i = 0; i < f->n_segments && i < 8; i++) {
		for (uint64_t o2 = 0; o2 < 4096; o2 += 13)
			ask(l, f->segments[i].vaddr + o2);
	}
	for (unsigned int i = 0; i < 64; i++)
		ask(l, (uint64_t)1 << i);
	ask(l, 0);
	ask(l, UINT64_MAX);
	demand(lines_bytes(l) > 0);
	lines_close(l);
}

static void try_table(struct slice bytes, const struct code *code)
{
	struct line_sections s = { bytes, bytes, bytes };
	struct line_table t = { 0 };
	struct line_scratch scratch = { 0 };

	demand(line_table_read(&t, &s, 0, code, &scratch));
	demand(code || t.n_rows == 0);
	for (size_t i = 0; i < t.n_rows; i++)
		demand(i == 0 || t.rows[i - 1].start < t.rows[i].start);
	demand(t.n_rows == 0 || t.rows[t.n_rows - 1].file == ROW_GAP);
	line_table_release(&t);
	line_scratch_release(&scratch);
}

/* Takes pieces of two bytes each, in a space of 256 addresses. */
static void try_pieces(struct slice bytes)
{
	struct flat f = { 0 };
	struct flat_piece pieces[64], sorted[64];
	size_t n = bytes.n / 2 < 64 ? bytes.n / 2 : 64;

	for (size_t i = 0; i < n; i++) {
		uint8_t start = bytes.p[2 * i], end = bytes.p[2 * i + 1];

		pieces[i] = (struct flat_piece){ start < end ? start : end, (start < end ? end : start) + 1, (uint32_t)i / 2 };
	}
	memcpy(sorted, pieces, n * sizeof(*pieces));
	demand(flat_settle(&f, sorted, n));
	for (uint64_t a = 0; a < 260; a++) {
		uint32_t last = NODE_NONE;

		for (size_t i = 0; i < n; i++) {
			if (a >= pieces[i].start && a < pieces[i].end)
				last = pieces[i].node;
		}
		demand(flat_node_at(&f, a) == last);
	}
	free(f.intervals);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct input in = { { bytes, n } };
	struct code_range range = { 16, 1 << 20 };
	struct code code = { &range, 1 }, anywhere = { NULL, 0 };
	struct elf_file *f;

	if (elf_open_bytes(in.bytes, &f) == ELF_OPENED) {
		ask_file(f, &in);
		elf_close(f);
		return 0;
	}
	try_table(in.bytes, &code);
	try_table(in.bytes, &anywhere);
	try_table(in.bytes, NULL);
	try_pieces(in.bytes);
	return 0;
}

#ifndef FUZZING
int main(int argc, char **argv)
{
	return fuzz_replay(argc, argv);
}
#endif
