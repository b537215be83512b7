#include <string.h>

#include "common/javascript/javascript_internal.h"
#include "common/unwind/functions.h"

/*
 * The builtins are in one part of .text. Symbols name them if the file is not stripped, the interpreter's
 * bytecode handlers last. Their code has no entries in .eh_frame: the largest gap there is theirs, 1.4 to
 * 2.1 MB.
 */
enum { GAP_LEAST = 512 << 10 };

static const char lengths_name[] = "_ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE";

struct parts {
	struct lang_loop all, trampoline;
	uint64_t handlers; /* start */
	struct runtime_symbol lengths;
};

static void take_symbol(void *arg, const struct runtime_symbol *s)
{
	struct parts *p = arg;
	uint64_t end = s->value + s->size;

	if (strcmp(s->name, lengths_name) == 0)
		p->lengths = *s;
	if (strncmp(s->name, "Builtins_", 9) != 0 || end <= s->value)
		return;
	if (!p->all.end || s->value < p->all.start)
		p->all.start = s->value;
	if (end > p->all.end)
		p->all.end = end;
	if (strcmp(s->name + 9, "InterpreterEntryTrampoline") == 0)
		p->trampoline = (struct lang_loop){ s->value, end };
	if (strcmp(s->name + 9, "WideHandler") == 0)
		p->handlers = s->value;
}

/* Code without entries is one range of the list. */
static void find_gap(const struct elf_file *f, struct lang_loop *gap)
{
	struct function_list l = { 0 };
	uint64_t most = GAP_LEAST;

	if (functions_read(f, &l)) {
		for (size_t i = 0; i < l.n; i++) {
			if (l.items[i].end - l.items[i].start < most)
				continue;
			most = l.items[i].end - l.items[i].start;
			*gap = (struct lang_loop){ l.items[i].start, l.items[i].end };
		}
	}
	functions_release(&l);
}

static void set_range(const struct elf_file *f, struct lang_loop range, struct lang_loop *to)
{
	if (range.start < range.end && runtime_contains(f, range.start, range.end - range.start, true))
		*to = range;
}

/* Three rows of equal length, for operands of 1, 2 and 4 bytes. */
static void read_lengths(const struct elf_file *f, const struct runtime_symbol *s, struct lang_image *image)
{
	if (s->size < 3 || s->size % 3 != 0 || s->size > LANG_LENGTHS ||
	    !runtime_read(f, s->value, image->lengths, s->size))
		return;
	image->bytecodes = (uint32_t)s->size / 3;
}

void javascript_builtins(const struct elf_file *f, struct lang_image *image)
{
	struct parts p = { 0 };

	runtime_each_dynamic(f, take_symbol, &p);
	runtime_each_symbol(f, take_symbol, &p);
	if (!p.all.end)
		find_gap(f, &p.all);
	set_range(f, p.all, &image->loops[JS_BUILTINS]);
	set_range(f, p.trampoline, &image->loops[JS_TRAMPOLINE]);
	if (p.handlers)
		set_range(f, (struct lang_loop){ p.handlers, p.all.end }, &image->loops[JS_HANDLERS]);
	if (p.lengths.value)
		read_lengths(f, &p.lengths, image);
}
