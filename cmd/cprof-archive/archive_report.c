#include "cmd/cprof-archive/archive.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cmd/shared/cli.h"

bool archive_is_good(unsigned int outcome)
{
	return outcome == WRITTEN || outcome == THERE || outcome == FOREIGN;
}

static const char *outcome_text(unsigned int outcome)
{
	return outcome == WRITTEN	? "written" :
	       outcome == THERE		? "there" :
	       outcome == FOREIGN	? "foreign" :
	       outcome == UNREADABLE	? "unreadable-there" :
	       outcome == NO_BUILD_ID	? "no-build-id" :
	       outcome == LONG_BUILD_ID ? "build-id-too-long" : source_status_name(outcome);
}

/* Appends "4.1 MB". */
static void print_bytes(struct buf *b, uint64_t n)
{
	if (n < 1000000)
		buf_printf(b, "%.1f kB", (double)n / 1000);
	else
		buf_printf(b, "%.1f MB", (double)n / 1000000);
}

static void print_item(struct archive *a, const struct item *item)
{
	static const struct { uint32_t bit; const char *name; } parts[] = {
		{ ARCHIVED_SYMTAB, "symtab" }, { ARCHIVED_DYNSYM, "dynsym" }, { ARCHIVED_FRAMES, "frames" },
		{ ARCHIVED_GO, "go" }, { ARCHIVED_DWARF, "dwarf" },
	};
	struct slice path = intern_get(&a->texts, item->path);
	const char *before = " (";
	struct buf holds = { 0 };

	for (size_t i = 0; item->outcome == WRITTEN && i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (item->holds & parts[i].bit) {
			buf_printf(&holds, "%s%s", before, parts[i].name);
			before = " ";
		}
	}
	if (item->outcome == WRITTEN)
		buf_printf(&holds, "; %" PRIu64 " of %" PRIu64 " bytes)", item->bytes, item->original);
	cli_line("  %-18s %.*s%s", outcome_text(item->outcome), (int)path.n, (const char *)path.p,
		 buf_cstr(&holds));
	buf_release(&holds);
}

static int by_outcome(const void *x, const void *y)
{
	const struct item *a = x, *b = y;

	if (a->outcome != b->outcome)
		return a->outcome < b->outcome ? -1 : 1;
	return a->path < b->path ? -1 : a->path > b->path;
}

/* "cprof-archive: 14 files: 12 written (3.1 MB of 210.4 MB), 1 there already; not archived: 1 no-file" */
void archive_report(struct archive *a, bool verbose)
{
	size_t counts[LONG_BUILD_ID + 1] = { 0 };
	uint64_t bytes = 0, original = 0;
	struct buf line = { 0 };
	const char *before = "; not archived: ";

	for (size_t i = 0; i < a->n; i++) {
		counts[a->items[i].outcome]++;
		if (a->items[i].outcome == WRITTEN) {
			bytes += a->items[i].bytes;
			original += a->items[i].original;
		}
	}
	buf_printf(&line, "%zu %s: %zu written", a->n, a->n == 1 ? "file" : "files", counts[WRITTEN]);
	if (counts[WRITTEN]) {
		buf_text(&line, " (");
		print_bytes(&line, bytes);
		buf_text(&line, " of ");
		print_bytes(&line, original);
		buf_text(&line, ")");
	}
	buf_printf(&line, ", %zu there already", counts[THERE]);
	if (counts[FOREIGN])
		buf_printf(&line, ", %zu there by another program and left alone", counts[FOREIGN]);
	for (unsigned int i = 0; i <= LONG_BUILD_ID; i++) {
		if (counts[i] && !archive_is_good(i)) {
			buf_printf(&line, "%s%zu %s", before, counts[i], outcome_text(i));
			before = ", ";
		}
	}
	cli_warn("%s", buf_cstr(&line));
	buf_release(&line);
	if (!verbose || !a->n)
		return;
	qsort(a->items, a->n, sizeof(*a->items), by_outcome);
	for (size_t i = 0; i < a->n; i++)
		print_item(a, &a->items[i]);
}
