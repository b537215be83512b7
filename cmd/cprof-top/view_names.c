#include "cmd/cprof-top/view_names.h"

#include <stdlib.h>

#include "cmd/shared/cli.h"
#include "common/profile/projection.h"

/* Splits the hidden module off the label. */
static struct slice split_module(const struct view_names *n, struct slice *label)
{
	const uint8_t *tab = n->hidden && label->n ? memrchr(label->p, PROJECTION_PART, label->n) : NULL;
	struct slice module = { NULL, 0 };

	if (tab) {
		module = (struct slice){ tab + 1, label->n - (size_t)(tab + 1 - label->p) };
		label->n = (size_t)(tab - label->p);
	}
	return module;
}

static bool note_label(struct view_names *n, uint32_t label)
{
	struct slice shown = profile_text(n->p, label), other, module = split_module(n, &shown);
	uint32_t id;
	bool known = intern_find(&n->shown, shown, &id);

	if (!known && !intern_add(&n->shown, shown, &id))
		return false;
	if (!known)
		n->modules[id] = label;
	other = profile_text(n->p, n->modules[id]);
	n->clashes[id] = n->clashes[id] || !slice_equal(module, split_module(n, &other));
	return true;
}

void view_names_init(struct view_names *n, const struct profile *p, const struct view *v, bool all)
{
	bool good = true;

	*n = (struct view_names){ .p = p, .all = all };
	n->hidden = v->parts & 1u << BY_MODULE && v->parts & 1u << BY_FUNCTION &&
		    view_has_key(v, BY_FUNCTION) && !view_has_key(v, BY_MODULE);
	intern_init(&n->shown);
	if (!n->hidden)
		return;
	n->modules = calloc(p->labels.n, sizeof(*n->modules));
	n->clashes = calloc(p->labels.n, sizeof(*n->clashes));
	good = n->modules && n->clashes;
	for (size_t i = 1; good && i < p->n; i++)
		good = p->nodes[i].parent == 0 || note_label(n, p->nodes[i].label);
	if (!good)
		cli_no_memory();
}

void view_names_release(struct view_names *n)
{
	intern_release(&n->shown);
	free(n->modules);
	free(n->clashes);
	*n = (struct view_names){ 0 };
}

struct slice view_names_shown(const struct view_names *n, uint32_t label)
{
	struct slice shown = profile_text(n->p, label);

	split_module(n, &shown);
	return shown;
}

struct slice view_names_module(const struct view_names *n, uint32_t label)
{
	struct slice shown = profile_text(n->p, label);

	return split_module(n, &shown);
}

/* Appends " [cc1]", if the name needs it. A place like "[app+0x12]" names its module already. */
static void append_module(const struct view_names *n, struct slice name, struct slice shown,
			  struct slice module, struct buf *out)
{
	uint32_t id;
	bool bare = module.n && module.p[0] == '[';

	if (!module.n || (name.n && name.p[0] == '['))
		return;
	if (!n->all && (!intern_find(&n->shown, shown, &id) || !n->clashes[id]))
		return;
	buf_text(out, bare ? " " : " [");
	buf_bytes(out, module.p, module.n);
	buf_text(out, bare ? "" : "]");
}

void view_names_column(const struct view_names *n, uint32_t label, size_t column, size_t columns,
		       struct buf *out)
{
	struct slice shown = profile_text(n->p, label), module = split_module(n, &shown), name;

	name = projection_part(shown, (unsigned int)column);
	buf_bytes(out, name.p, name.n);
	if (column + 1 == columns)
		append_module(n, name, shown, module, out);
}

void view_names_append(const struct view_names *n, uint32_t label, struct buf *out)
{
	struct slice shown = view_names_shown(n, label);
	size_t columns = 1;

	for (size_t i = 0; i < shown.n; i++)
		columns += shown.p[i] == PROJECTION_PART;
	for (size_t i = 0; i < columns; i++) {
		buf_text(out, i && projection_part(shown, (unsigned int)i).n ? "  " : "");
		view_names_column(n, label, i, columns, out);
	}
}
