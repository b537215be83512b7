#include "common/export/slice_rows.h"

#include "common/profile/sanitize.h"

enum { PIECE = 64 << 10 };

static const char *const columns[] = { "host", "time", "comm", "pid", "container", "labels", "stack", "weight", NULL };

bool slice_rows_init(struct slice_rows *w, enum rows_format format, const struct profile *p, const struct origins *o,
		      uint64_t length)
{
	*w = (struct slice_rows){ 0 };
	return slices_init(&w->slices, p, o, length) && rows_init(&w->rows, format, columns);
}

void slice_rows_release(struct slice_rows *w)
{
	rows_release(&w->rows);
	slices_release(&w->slices);
}

bool slice_rows_failed(const struct slice_rows *w)
{
	return w->rows.failed || w->slices.failed;
}

static void put_text(struct rows *r, struct slice text)
{
	if (text.n)
		rows_text(r, text);
	else
		rows_null(r);
}

static void put_known(struct rows *r, bool known, uint64_t v)
{
	if (known)
		rows_count(r, v);
	else
		rows_null(r);
}

static void put_row(struct rows *r, const struct slices_row *row)
{
	static const struct origin unknown = { 0 };
	const struct origin *o = row->origin ? row->origin : &unknown;

	put_text(r, o->host);
	put_known(r, row->time, row->time);
	rows_text(r, row->origin ? o->comm : sanitize_root(row->stack));
	put_known(r, row->origin, o->pid);
	put_text(r, o->container);
	put_text(r, o->labels);
	rows_text(r, row->stack);
	rows_count(r, row->weight);
}

/* Before the first call, rows.out holds the head; it must not be cleared then. */
bool slice_rows_next(struct slice_rows *w, struct slice *bytes)
{
	struct slices_row row;
	bool more = true;

	if (w->ended)
		return false;
	if (w->rows.rows)
		buf_clear(&w->rows.out);
	while (w->rows.out.n < PIECE && (more = slices_next(&w->slices, &row)))
		put_row(&w->rows, &row);
	if (!more) {
		rows_end(&w->rows);
		w->ended = true;
	}
	*bytes = buf_view(&w->rows.out);
	return !slice_rows_failed(w);
}
