#include "cmd/cprof-convert/collected.h"

#include "common/timed/firefox.h"
#include "common/timed/perfetto.h"
#include "common/export/thread_moments.h"

/* As collect_all, with the time of each sample. */
static enum status collect_timed(struct conversion *c, struct collected *it)
{
	enum status status;

	it->timed = true;
	status = collect_all(c, it);
	if (it->loaded.texts)
		cli_die(STATUS_USAGE, "this format requires a capture, not folded text");
	return status;
}

/* Time counts as such, unless --weight asks for samples. */
static bool shows_weight(const struct conversion *c, const struct collected *it)
{
	const struct view *v = &c->filters.view;

	return thread_moments_timed(&it->traces) ? !c->filters.weighed || v->weight == WEIGHT_NS : !v->ones;
}

enum status convert_firefox(struct conversion *c)
{
	struct collected it = { .wakers = true };
	enum status status = collect_timed(c, &it);
	struct firefox_options o = { shows_weight(c, &it), creator_name() };
	struct firefox_writer *w = firefox_new(&it.traces, &o);
	struct slice bytes;

	if (!w)
		cli_no_memory();
	while (firefox_next(w, &bytes))
		write_stdout(bytes);
	if (firefox_failed(w))
		cli_no_memory();
	firefox_free(w);
	traces_release(&it.traces);
	return status;
}

enum status convert_perfetto(struct conversion *c)
{
	struct collected it = { .wakers = true };
	enum status status = collect_timed(c, &it);
	struct perfetto_writer *w = perfetto_new(&it.traces);
	struct slice bytes;

	if (!w)
		cli_no_memory();
	while (perfetto_next(w, &bytes))
		write_stdout(bytes);
	if (perfetto_failed(w))
		cli_no_memory();
	perfetto_free(w);
	traces_release(&it.traces);
	return status;
}
