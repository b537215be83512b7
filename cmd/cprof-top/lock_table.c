#include "cmd/cprof-top/lock_table.h"

#include <inttypes.h>

#include "cmd/cprof-top/views.h"

enum { PARTS_SHOWN = 3, FIRST_ROWS = 3 }; /* parts per kind */

static const char *const titles[LOCK_PART_KINDS] = {
	[LOCK_HOLDER] = "held by", [LOCK_WAITER] = "waited", [LOCK_SITE] = "wanted in",
	[LOCK_RELEASE] = "released in", [LOCK_MEANWHILE] = "meanwhile",
};

static const char *const words[LOCK_PART_KINDS] = {
	[LOCK_HOLDER] = "holder", [LOCK_WAITER] = "waiter", [LOCK_SITE] = "site",
	[LOCK_RELEASE] = "release", [LOCK_MEANWHILE] = "meanwhile",
};

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Prints the heaviest parts of each kind. */
static void put_parts(const struct lock_sums *s, const struct lock_sum *l, struct buf *out)
{
	size_t n[LOCK_PART_KINDS] = { 0 };

	for (size_t i = l->first; i < l->end; i++) {
		const struct lock_part *p = &s->parts[i];
		struct slice name = intern_get(&s->names, p->name);

		if (n[p->kind]++ >= PARTS_SHOWN)
			continue;
		buf_printf(out, "%10s %5.1f%%  %-11s ", "", percent(p->ns, l->ns), titles[p->kind]);
		buf_bytes(out, name.p, name.n);
		buf_byte(out, '\n');
	}
	for (size_t i = 0; i < LOCK_PART_KINDS; i++) {
		if (n[i] > PARTS_SHOWN)
			buf_printf(out, "%17s  %-11s %zu more\n", "", titles[i], n[i] - PARTS_SHOWN);
	}
}

uint64_t lock_table_ns(const struct lock_sums *s)
{
	uint64_t all = 0;

	for (size_t i = 0; i < s->n_locks; i++)
		all += s->locks[i].ns;
	return all;
}

size_t lock_table_shown(const struct lock_sums *s, size_t rows)
{
	return rows && rows < s->n_locks ? rows : s->n_locks;
}

void lock_table_text(const struct lock_sums *s, size_t rows, struct buf *out)
{
	uint64_t all = lock_table_ns(s);

	buf_printf(out, "Locks:      %zu of %zu shown; only long waits, see --off-cpu\n\n",
		   lock_table_shown(s, rows), s->n_locks);
	buf_printf(out, "%10s %6s %8s %10s %8s  %s\n", "waited", "share", "waits", "longest", "threads",
		   "lock");
	for (size_t i = 0; i < lock_table_shown(s, rows); i++) {
		const struct lock_sum *l = &s->locks[i];
		struct slice name = intern_get(&s->names, l->name);
		char waited[32], longest[32];

		views_time(waited, sizeof(waited), l->ns);
		views_time(longest, sizeof(longest), l->longest);
		buf_printf(out, "%10s %5.1f%% %8" PRIu64 " %10s %8zu  ", waited, percent(l->ns, all),
			   l->waits,
			   longest, l->counts[LOCK_WAITER]);
		buf_bytes(out, name.p, name.n);
		buf_byte(out, '\n');
		put_parts(s, l, out);
	}
}

void lock_table_rows(const struct lock_sums *s, size_t rows, struct rows *to)
{
	for (size_t i = 0; i < lock_table_shown(s, rows); i++) {
		const struct lock_sum *l = &s->locks[i];

		for (size_t j = l->first; j < l->end; j++) {
			rows_text(to, intern_get(&s->names, l->name));
			rows_text(to, slice_of(lock_kind_name(l->kind)));
			rows_count(to, l->waits);
			rows_count(to, l->ns);
			rows_count(to, l->longest);
			rows_text(to, slice_of(words[s->parts[j].kind]));
			rows_text(to, intern_get(&s->names, s->parts[j].name));
			rows_count(to, s->parts[j].ns);
		}
	}
}

/* Appends the heaviest part of a kind with its share, or nothing. */
static void put_heaviest(const struct lock_sums *s, const struct lock_sum *l, enum lock_part_kind kind,
			 struct buf *out)
{
	for (size_t i = l->first; i < l->end; i++) {
		const struct lock_part *p = &s->parts[i];

		if (p->kind != kind)
			continue;
		brief_name(out, intern_get(&s->names, p->name));
		buf_printf(out, " %.3g %%", percent(p->ns, l->ns));
		return;
	}
}

void lock_table_brief(const struct lock_sums *s, size_t rows, size_t first, size_t later, struct brief *b)
{
	static const enum lock_part_kind kinds[] = { LOCK_HOLDER, LOCK_SITE, LOCK_RELEASE };
	uint64_t all = lock_table_ns(s);

	brief_section(b, "Locks waited for",
		      "| waited | % | waits | longest | threads | lock | held by | wanted in | released in "
		      "|\n"
		      "|---:|---:|---:|---:|---:|---|---|---|---|\n");
	for (size_t i = 0; i < lock_table_shown(s, rows); i++) {
		const struct lock_sum *l = &s->locks[i];
		char waited[32], longest[32];
		struct buf text = { 0 };

		views_time(waited, sizeof(waited), l->ns);
		views_time(longest, sizeof(longest), l->longest);
		buf_printf(&text, "%s | %.3g | %" PRIu64 " | %s | %zu | ", waited, percent(l->ns, all),
			   l->waits, longest, l->counts[LOCK_WAITER]);
		brief_name(&text, intern_get(&s->names, l->name));
		for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
			buf_text(&text, " | ");
			put_heaviest(s, l, kinds[k], &text);
		}
		brief_line(b, i < FIRST_ROWS ? first : later, "| %s |", buf_cstr(&text));
		b->failed = b->failed || text.failed;
		buf_release(&text);
	}
}
