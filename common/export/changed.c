#include "common/export/changed.h"

#include "common/profile/projection.h"

#define COLUMNS(kind)                                                                                            \
	kind "_a", kind "_b", kind "_a_percent", kind "_b_percent", kind "_change", kind "_low", kind "_high", \
		kind "_p", kind "_q", kind "_seen"

bool changed_init(struct rows *r, enum rows_format format, const char **columns, size_t n_keys)
{
	static const char *const figures[] = { "changed", COLUMNS("flat"), COLUMNS("cum"), NULL };

	_Static_assert(sizeof(figures) / sizeof(figures[0]) <= CHANGED_COLUMNS, "the columns have room");
	if (n_keys < 2) {
		n_keys = 1;
		columns[0] = "name";
	}
	memcpy(columns + n_keys, figures, sizeof(figures));
	return rows_init(r, format, columns);
}

static double percent_of_total(const struct profile *p, const uint64_t *weight, unsigned int side)
{
	return p->total[side] ? 100.0 * (double)weight[side] / (double)p->total[side] : 0;
}

static void add_change(struct rows *r, const struct profile *p, const struct changes *c,
		       const uint64_t *weight, const struct change *change)
{
	double before = percent_of_total(p, weight, 0), after = percent_of_total(p, weight, 1);

	rows_count(r, weight[0]);
	rows_count(r, weight[1]);
	rows_number(r, before);
	rows_number(r, after);
	rows_number(r, after - before);
	rows_number(r, 100 * change->interval.low);
	rows_number(r, 100 * change->interval.high);
	rows_number(r, change->p);
	rows_number(r, change->q);
	rows_number(r, 100 * changes_detectable(c, change));
}

void changed_add(struct rows *r, const struct profile *p, const struct changes *c,
		 const struct table_row *row, size_t n_keys)
{
	const struct changes_row *of = &c->by_label[row->label];

	for (size_t i = 0; i < (n_keys > 1 ? n_keys : 1); i++)
		rows_text(r, n_keys > 1 ? projection_part(profile_text(p, row->label), (unsigned int)i) :
					  profile_text(p, row->label));
	rows_count(r, changes_significant(of));
	add_change(r, p, c, row->flat, &of->flat);
	add_change(r, p, c, row->cum, &of->cum);
}
