#include "cmd/cprof-top/lock_table.h"

#include <inttypes.h>

#include "cmd/cprof-top/views.h"

enum { PARTS_SHOWN = 3 }; /* per kind */

static const char *const titles[LOCK_PART_KINDS] = {
	[LOCK_HOLDER] = "held by", [LOCK_WAITER] = "waited", [LOCK_SITE] = "wanted in",
	[LOCK_RELEASE] = "released in", [LOCK_MEANWHILE] = "meanwhile",
};

static const char *const words[LOCK_PART_KINDS] = {
	[LOCK_HOLDER] = "holder", [LOCK_WAITER] = "waiter", [LOCK_SITE] = "site",
	[LOCK_RELEASE] = "release", [LOCK_MEANWHILE] = "meanwhile",
};

static size_t shown(const struct lock_sums *s, size_t rows)
{
	return rows && rows < s->n_locks ? rows : s->n_locks;
}

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

void lock_table_text(const struct lock_sums *s, size_t rows, struct buf *out)
{
	uint64_t all = 0;

	for (size_t i = 0; i < s->n_locks; i++)
		all += s->locks[i].ns;
	buf_printf(out, "Locks:      %zu of %zu shown; only long waits, see --off-cpu\n\n", shown(s, rows),
		   s->n_locks);
	buf_printf(out, "%10s %6s %8s %10s %8s  %s\n", "waited", "share", "waits", "longest", "threads",
		   "lock");
	for (size_t i = 0; i < shown(s, rows); i++) {
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

void lock_table_tsv(const struct lock_sums *s, size_t rows, struct buf *out)
{
	buf_text(out, "lock\tkind\twaits\tns\tlongest_ns\tpart\tname\tpart_ns\n");
	for (size_t i = 0; i < shown(s, rows); i++) {
		const struct lock_sum *l = &s->locks[i];
		struct slice lock = intern_get(&s->names, l->name);

		for (size_t j = l->first; j < l->end; j++) {
			struct slice name = intern_get(&s->names, s->parts[j].name);

			buf_bytes(out, lock.p, lock.n);
			buf_printf(out, "\t%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%s\t",
				   lock_kind_name(l->kind), l->waits, l->ns, l->longest,
				   words[s->parts[j].kind]);
			buf_bytes(out, name.p, name.n);
			buf_printf(out, "\t%" PRIu64 "\n", s->parts[j].ns);
		}
	}
}
