/* Fuzzes bytes as an ELF file: names and calls in .gopclntab, names in .gnu_debugdata, .eh_frame ranges. */
#include "tests/lib/fuzz.h"

#include "common/elf/minidebug.h"
#include "common/symbols/symbols.h"
#include "common/resolve/fallback_names.h"
#include "common/unwind/functions.h"

static void demand(bool holds)
{
	if (!holds)
		abort();
}

static uint64_t read_all(struct slice s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s.n; i++)
		sum += s.p[i];
	return sum;
}

static void look_go(const struct gonames *g, uint64_t vaddr)
{
	static volatile uint64_t sum;
	struct goname_call calls[GONAMES_DEPTH];
	uint32_t i = gonames_find(g, vaddr);
	size_t n = gonames_chain(g, vaddr, calls);

	demand(n <= GONAMES_DEPTH && (n > 0) == (i != GONAME_NONE));
	if (i == GONAME_NONE)
		return;
	demand(gonames_start(g, i) <= vaddr);
	demand(slice_equal(calls[0].name, gonames_name(g, i)));
	for (size_t k = 0; k < n; k++) {
		demand(calls[k].name.n > 0 && (calls[k].line == 0 || calls[k].file.n > 0));
		sum = sum + read_all(calls[k].name) + read_all(calls[k].file);
	}
}

static void look_more(struct fallback_names *m, uint64_t vaddr)
{
	struct buf text = { 0 };
	struct fallback_names_hit hit;

	if (fallback_names_go(m))
		look_go(fallback_names_go(m), vaddr);
	if (fallback_names_find(m, vaddr, &hit)) {
		demand(hit.start <= vaddr && (hit.source == NAME_GO || hit.source == NAME_BOUNDS));
		fallback_names_text(&hit, slice_of("/lib/x.so"), &text);
		demand(text.n > 0);
	}
	buf_release(&text);
}

static void look_at_functions(const struct elf_file *f)
{
	struct function_list l;
	size_t at;

	demand(functions_read(f, &l));
	for (size_t i = 0; i < l.n; i++) {
		demand(l.items[i].start < l.items[i].end);
		demand(i == 0 || l.items[i - 1].end <= l.items[i].start);
		demand(functions_find(&l, l.items[i].start, &at) && at == i);
	}
	functions_release(&l);
}

static void look_at_minidebug(const struct elf_file *f)
{
	struct elf_file *mini;
	struct symbols *t;

	demand(minidebug_open(f, &mini));
	if (!mini)
		return;
	t = symbols_new();
	demand(t && symbols_add(t, mini, SYMBOLS_SYMTAB | SYMBOLS_MINIDEBUG) >= 0 && symbols_settle(t));
	elf_close(mini);
	for (uint64_t vaddr = 0x1000; vaddr < 0x1400; vaddr += 5) {
		uint32_t s = symbols_find(t, vaddr);

		demand(s == SYMBOL_NONE || (symbols_get(t, s)->start <= vaddr && symbols_get(t, s)->origin == ORIGIN_MINIDEBUG));
	}
	symbols_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct slice all = { bytes, n };
	struct elf_file *f;
	struct fallback_names *m;

	if (elf_open_bytes(all, &f) != ELF_OPENED)
		return 0;
	look_at_functions(f);
	look_at_minidebug(f);
	demand(fallback_names_open(f, true, &m));
	elf_settle(f);
	for (size_t i = 0; m && i < f->n_segments && i < 8; i++) {
		for (uint64_t o = 0; o < 512; o += 7)
			look_more(m, f->segments[i].vaddr + o);
	}
	if (m) {
		look_more(m, 0);
		look_more(m, UINT64_MAX);
		demand(fallback_names_bytes(m) > 0);
	}
	fallback_names_free(m);
	elf_close(f);
	return 0;
}

#ifndef FUZZING
int main(int argc, char **argv)
{
	return fuzz_replay(argc, argv);
}
#endif
