#include "common/profile/projection.h"

#include <stdlib.h>

#include "common/base/array.h"

/* State of the system call up to a node: none, entered but without a name, or the label of its name. */
enum { NOT_CALLED, NOT_NAMED, NAMED };

struct projecting {
	const struct projection *j;
	const struct profile *from;
	struct profile *to;
	bool collapse;
	uint32_t *depth;
	uint32_t *root;       /* by node: its stack's innermost frame that is a root; 0: it has none */
	uint32_t *calls;      /* by node: NOT_CALLED, NOT_NAMED, or NAMED + label; NULL: not asked for */
	uint32_t *names;      /* by label: 0 if not looked at, otherwise NOT_..., NAMED + label, + 1 */
	struct idmap nodes;   /* call << 32 | node to its node in the new tree */
	struct idmap groups;  /* call << 32 | innermost root to the number of the group */
	struct idmap labels;  /* group << 32 | label to the new label */
	uint32_t *path;
	size_t cap_path;
	struct buf text;
};

struct slice projection_part(struct slice label, unsigned int n)
{
	const uint8_t *end;

	for (; (end = label.n ? memchr(label.p, PROJECTION_PART, label.n) : NULL) && n > 0; n--)
		label = (struct slice){ end + 1, label.n - (size_t)(end + 1 - label.p) };
	if (n > 0)
		return (struct slice){ NULL, 0 };
	return end ? (struct slice){ label.p, (size_t)(end - label.p) } : label;
}

/* Returns the name after a prefix, without a suffix like ".isra.0" or "_[k]". */
static struct slice entry_name(struct slice function, const char *prefix)
{
	size_t n = strlen(prefix), end = n;

	while (end < function.n && function.p[end] != '.' && function.p[end] != ' ' &&
	       !(end + 1 < function.n && function.p[end] == '_' && function.p[end + 1] == '['))
		end++;
	return (struct slice){ function.p + n, end - n };
}

bool projection_syscall(struct slice function, struct buf *out)
{
	static const char *const prefixes[] = {
		"__x64_sys_", "__ia32_sys_", "__arm64_sys_", "__riscv_sys_", "__s390x_sys_", "__se_sys_",
		"__do_sys_", "__x64_compat_sys_", "__ia32_compat_sys_", "__arm64_compat_sys_", "__se_compat_sys_",
		"__do_compat_sys_", "ksys_", "__sys_", "SyS_",
	};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		struct slice name;

		if (!slice_begins(function, prefixes[i]))
			continue;
		name = entry_name(function, prefixes[i]);
		if (slice_is(name, "mmap_pgoff"))
			name.n = strlen("mmap");
		buf_bytes(out, name.p, name.n);
		return name.n > 0;
	}
	return false;
}

/* Returns whether the function runs only in a system call. */
static bool is_gate(struct slice function)
{
	static const char *const gates[] = {
		"do_syscall_64", "do_fast_syscall_32", "do_int80_syscall_32", "x64_sys_call", "ia32_sys_call",
		"entry_SYSCALL_64", "el0_svc", "do_el0_svc", "invoke_syscall",
	};

	for (size_t i = 0; i < sizeof(gates) / sizeof(gates[0]); i++) {
		if (slice_begins(function, gates[i]))
			return true;
	}
	return false;
}

/* Sets *call for a function's label. */
static bool call_of(struct projecting *p, uint32_t label, uint32_t *call)
{
	struct slice function = projection_part(profile_text(p->to, label), 0);
	uint32_t name;

	if (!p->names[label]) {
		*call = is_gate(function) ? NOT_NAMED : NOT_CALLED;
		buf_clear(&p->text);
		if (projection_syscall(function, &p->text)) {
			if (p->text.failed || !profile_label(p->to, buf_view(&p->text), &name))
				return false;
			*call = NAMED + name;
		}
		p->names[label] = *call + 1;
	}
	*call = p->names[label] - 1;
	return true;
}

static bool find_calls(struct projecting *p)
{
	p->calls = calloc(p->from->n, sizeof(*p->calls));
	p->names = calloc(p->to->labels.n, sizeof(*p->names));
	if (!p->calls || !p->names)
		return false;
	for (size_t i = 1; i < p->from->n; i++) {
		const struct profile_node *node = &p->from->nodes[i];
		uint32_t outer = p->calls[node->parent], own = NOT_CALLED;

		if (outer < NAMED && p->depth[i] > p->j->roots && !call_of(p, node->label, &own))
			return false;
		p->calls[i] = own > outer ? own : outer;
	}
	return true;
}

static struct slice call_text(const struct projecting *p, uint32_t call)
{
	if (call >= NAMED)
		return profile_text(p->to, call - NAMED);
	return slice_of(call == NOT_NAMED ? "[unknown system call]" : "[no system call]");
}

/* Returns the text of root number n of a stack; root: its innermost root. */
static struct slice root_text(const struct projecting *p, uint32_t root, unsigned int n)
{
	while (p->depth[root] > n + 1)
		root = p->from->nodes[root].parent;
	return profile_text(p->to, p->from->nodes[root].label);
}

/* Returns a part of a frame's label. A label without parts, as a command's, is in the first column of frames. */
static struct slice part_text(const struct projection *j, const struct projection_column *c,
			      struct slice label)
{
	const struct projection_column *first = j->columns;

	while (first->kind != COLUMN_PART)
		first++;
	if (label.n && memchr(label.p, PROJECTION_PART, label.n))
		return projection_part(label, c->index);
	return c == first ? label : (struct slice){ NULL, 0 };
}

static struct slice column_text(const struct projecting *p, const struct projection_column *c, uint32_t root,
				uint32_t call, struct slice label)
{
	return c->kind == COLUMN_ROOT ? root_text(p, root, c->index) :
	       c->kind == COLUMN_SYSCALL ? call_text(p, call) : part_text(p->j, c, label);
}

/* Splits a kind like "_[k]" off the text. */
static struct slice split_kind(struct slice *text)
{
	struct slice kind = { text->p + text->n, 0 };

	if (text->n > 4 && memcmp(text->p + text->n - 4, "_[", 2) == 0 && text->p[text->n - 1] == ']') {
		kind = (struct slice){ text->p + text->n - 4, 4 };
		text->n -= 4;
	}
	return kind;
}

/* Appends the parts of a frame for people: "main [cc1]", "vfs_read [kernel]_[k]". */
static void append_parts(struct projecting *p, struct slice label)
{
	struct slice kind = { NULL, 0 };
	bool first = true;

	for (size_t i = 0; i < p->j->n_columns; i++) {
		const struct projection_column *c = &p->j->columns[i];
		struct slice text, own;
		bool bare;

		if (c->kind != COLUMN_PART)
			continue;
		text = column_text(p, c, 0, 0, label);
		if (text.n == 0)
			continue;
		own = split_kind(&text);
		kind = own.n ? own : kind;
		bare = first || (text.p[0] == '[' && text.p[text.n - 1] == ']');
		buf_text(&p->text, first ? "" : bare ? " " : " [");
		buf_bytes(&p->text, text.p, text.n);
		buf_text(&p->text, bare ? "" : "]");
		first = false;
	}
	buf_bytes(&p->text, kind.p, kind.n);
}

/* Appends the parts of a frame for a program. */
static void append_tabs(struct projecting *p, struct slice label)
{
	bool first = true;

	for (size_t i = 0; i < p->j->n_columns; i++) {
		const struct projection_column *c = &p->j->columns[i];
		struct slice text;

		if (c->kind != COLUMN_PART)
			continue;
		text = column_text(p, c, 0, 0, label);
		if (!first)
			buf_byte(&p->text, PROJECTION_PART);
		buf_bytes(&p->text, text.p, text.n);
		first = false;
	}
}

/* Appends all columns of a row. label: that of the frame. */
static void append_columns(struct projecting *p, uint32_t root, uint32_t call, struct slice label)
{
	for (size_t i = 0; i < p->j->n_columns; i++) {
		struct slice text = column_text(p, &p->j->columns[i], root, call, label);

		if (i)
			buf_byte(&p->text, PROJECTION_PART);
		buf_bytes(&p->text, text.p, text.n);
	}
}

size_t projection_outermost(const struct projection *j)
{
	size_t n = 0;

	for (size_t i = 0; i < j->n_columns; i++)
		n += j->columns[i].kind != COLUMN_PART;
	return n;
}

static bool has_column(const struct projection *j, enum projection_kind kind)
{
	for (size_t i = 0; i < j->n_columns; i++) {
		if (j->columns[i].kind == kind)
			return true;
	}
	return false;
}

/* Sets *group to the number of the stacks with this innermost root and this call. */
static bool find_group(struct projecting *p, uint32_t root, uint32_t call, uint32_t *group)
{
	uint64_t key = (uint64_t)call << 32 | root;

	if (idmap_find(&p->groups, key, group))
		return true;
	*group = (uint32_t)p->groups.n;
	return idmap_set(&p->groups, key, *group);
}

/* Sets *label to the new label of a frame. Only rows depend on the root and the call. */
static bool find_label(struct projecting *p, uint32_t root, uint32_t call, uint32_t old, uint32_t *label)
{
	uint32_t group = 0;
	uint64_t key;

	if (p->j->joined && !find_group(p, root, call, &group))
		return false;
	key = (uint64_t)group << 32 | old;
	if (idmap_find(&p->labels, key, label))
		return true;
	buf_clear(&p->text);
	if (p->j->joined)
		append_columns(p, root, call, profile_text(p->to, old));
	else if (p->j->tabs)
		append_tabs(p, profile_text(p->to, old));
	else
		append_parts(p, profile_text(p->to, old));
	return !p->text.failed && profile_label(p->to, buf_view(&p->text), label) &&
	       idmap_set(&p->labels, key, *label);
}

/* Sets *at to the node of the outermost frames that come from keys; 0 if there is none. */
static bool place_roots(struct projecting *p, uint32_t root, uint32_t call, uint32_t *at)
{
	uint32_t label;

	*at = 0;
	if (p->j->joined && has_column(p->j, COLUMN_PART))
		return true;
	if (p->j->joined)
		return find_label(p, root, call, 0, &label) && profile_child(p->to, 0, label, at);
	for (size_t i = 0; i < p->j->n_columns; i++) {
		const struct projection_column *c = &p->j->columns[i];

		if (c->kind == COLUMN_PART)
			continue;
		if (!profile_label(p->to, column_text(p, c, root, call, (struct slice){ NULL, 0 }), &label) ||
		    !profile_child(p->to, *at, label, at))
			return false;
	}
	return true;
}

/* Places one frame below its parent, or leaves it out. */
static bool place_frame(struct projecting *p, uint32_t node, uint32_t root, uint32_t call, uint32_t *at)
{
	const struct projection *j = p->j;
	bool command = p->depth[node] == j->roots + 1 && !j->cut;
	bool keyed = has_column(j, COLUMN_ROOT) || has_column(j, COLUMN_SYSCALL);
	uint32_t label, old = p->from->nodes[node].label;

	if (!has_column(j, COLUMN_PART) || (command && keyed && !j->joined))
		return true;
	if (!find_label(p, root, call, old, &label))
		return false;
	if (p->collapse && *at && p->to->nodes[*at].label == label)
		return true;
	return profile_child(p->to, *at, label, at);
}

/* Places the stack that ends at a node: outwards to a frame that has its place, and back. */
static bool place_stack(struct projecting *p, uint32_t node, uint32_t *at)
{
	uint32_t call = p->calls ? p->calls[node] : 0;
	size_t n = 0;

	while (p->depth[node] > p->j->roots && !idmap_find(&p->nodes, (uint64_t)call << 32 | node, at)) {
		if (!grow_array(&p->path, &p->cap_path, n, sizeof(*p->path)))
			return false;
		p->path[n++] = node;
		node = p->from->nodes[node].parent;
	}
	if (p->depth[node] <= p->j->roots) {
		if (!place_roots(p, node, call, at))
			return false;
	} else {
		node = p->root[node];
	}
	while (n) {
		uint32_t inner = p->path[--n];

		if (!place_frame(p, inner, node, call, at) ||
		    !idmap_set(&p->nodes, (uint64_t)call << 32 | inner, *at))
			return false;
	}
	return true;
}

static bool place_all(struct projecting *p, uint32_t *map)
{
	const struct profile *from = p->from;

	for (size_t i = 1; i < from->n; i++) {
		p->depth[i] = p->depth[from->nodes[i].parent] + 1;
		p->root[i] = p->depth[i] <= p->j->roots ? (uint32_t)i : p->root[from->nodes[i].parent];
	}
	if (has_column(p->j, COLUMN_SYSCALL) && !find_calls(p))
		return false;
	for (size_t i = 1; i < from->n; i++) {
		const uint64_t *self = from->nodes[i].self;

		if ((self[0] || self[1]) && !place_stack(p, (uint32_t)i, &map[i]))
			return false;
	}
	return true;
}

bool projection_apply(const struct projection *j, const struct profile *from, struct profile *to,
		      uint32_t *map, bool collapse)
{
	struct projecting p = { .j = j, .from = from, .to = to, .collapse = collapse };
	bool good;

	idmap_init(&p.nodes);
	idmap_init(&p.groups);
	idmap_init(&p.labels);
	p.depth = calloc(from->n, sizeof(*p.depth));
	p.root = calloc(from->n, sizeof(*p.root));
	good = p.depth && p.root && place_all(&p, map);
	free(p.depth);
	free(p.root);
	free(p.calls);
	free(p.names);
	free(p.path);
	idmap_release(&p.nodes);
	idmap_release(&p.groups);
	idmap_release(&p.labels);
	buf_release(&p.text);
	return good;
}
