#include "common/perfscript/script_stack.h"

#include <stdlib.h>

#include "common/base/intern.h"
#include "common/perfscript/script_ids.h"

enum { FILE_SHIFT = 47 }; /* bits of addresses that each file has */

/* An offset that no file has, so that nobody takes an address that perf made up for a place in the file. */
#define NOWHERE (1ull << 62)

static bool is_perf_map(const struct script_known *k)
{
	return k->kind == SCRIPT_JIT && slice_begins(slice_base(k->f.file), "perf-");
}

/* Returns the address of a frame: perf's address inside the range of its file. */
static uint64_t user_address(struct script_reader *r, const struct script_known *k, uint64_t process, bool called)
{
	uint64_t address = k->f.address & ((1ull << FILE_SHIFT) - 1), file = 0, base;
	bool fresh;

	if (called && !address)
		address = 1; /* the address before it must be in the file's range, too */
	if (!k->f.file.n)
		return address;
	base = script_number(r, &r->files, k->f.file, &fresh) + 1ull;
	if (!is_perf_map(k))
		file = base;
	if (fresh && file)
		script_put(r, (struct record){ .type = RECORD_FILE, .file = { .id = file, .path = k->f.file } });
	else if (fresh) /* ids are dense, so this number must be defined, too */
		script_put(r, (struct record){ .type = RECORD_FILE, .file = { .id = base, .path = slice_of("//anon") } });
	script_id(r, &r->mappings, process << 32 | base, 0, &fresh);
	if (fresh)
		script_put(r, (struct record){ .type = RECORD_MAPPING,
					       .mapping = { r->time, process, base << FILE_SHIFT, 1ull << FILE_SHIFT,
							    NOWHERE, 5, file } });
	return base << FILE_SHIFT | address;
}

/*
 * Writes the module of a kernel frame; the function's name is written apart. Symbols with one address and one
 * time are aliases, of which the first counts, so each has a time for itself.
 */
static void put_module(struct script_reader *r, const struct script_known *k, uint64_t address)
{
	struct slice module = slice_base(k->f.file);
	const uint8_t *dot;

	if (k->kind != SCRIPT_MODULE || !k->f.name.n)
		return;
	dot = memmem(module.p, module.n, ".ko", 3);
	if (slice_begins(module, "bpf_prog_"))
		module = slice_of("bpf");
	else if (dot)
		module.n = (size_t)(dot - module.p);
	else if (module.n > 2 && module.p[0] == '[' && module.p[module.n - 1] == ']')
		module = (struct slice){ module.p + 1, module.n - 2 };
	r->ksym_time = r->time > r->ksym_time ? r->time : r->ksym_time + 1;
	script_put(r, (struct record){ .type = RECORD_KSYM,
				       .ksym = { .time = r->ksym_time, .address = address, .size = 1,
						 .module = module } });
}

/* Returns the name of a frame without a symbol: "[libx.so]", with its offset if perf has that. */
static uint64_t place_name(struct script_reader *r, const struct script_known *k)
{
	static const char deleted[] = " (deleted)";
	struct slice base = slice_base(k->f.file);
	struct buf text = { 0 };
	uint64_t id;

	if (base.n > sizeof(deleted) - 1 && memcmp(base.p + base.n - sizeof(deleted) + 1, deleted, sizeof(deleted) - 1) == 0)
		base.n -= sizeof(deleted) - 1;
	if (base.n > 2 && base.p[0] == '[' && base.p[base.n - 1] == ']')
		base = (struct slice){ base.p + 1, base.n - 2 };
	if (k->kind == SCRIPT_JIT || k->kind == SCRIPT_KERNEL)
		base = slice_of(k->kind == SCRIPT_JIT ? "jit" : "kernel");
	buf_byte(&text, '[');
	buf_bytes(&text, base.p, base.n);
	if (k->f.has_file_offset)
		buf_printf(&text, "+0x%llx", (unsigned long long)k->f.file_offset);
	buf_byte(&text, ']');
	r->failed = text.failed || r->failed;
	id = script_string(r, buf_view(&text));
	buf_release(&text);
	return id;
}

static enum name_source source_of(const struct script_known *k, bool kernel)
{
	struct slice name = k->f.name;

	if (!name.n || (name.p[0] == '[' && name.p[name.n - 1] == ']')) /* as cprof-convert writes places */
		return NAME_BOUNDS;
	return kernel ? NAME_KSYM : is_perf_map(k) ? NAME_PERFMAP : k->kind == SCRIPT_JIT ? NAME_JITDUMP : NAME_SYMTAB;
}

/* Names a function by cprof-sym's rule, so that its name is the same in captures of both. */
static uint64_t function_name(struct script_reader *r, struct slice name, enum name_source source)
{
	struct buf text = { 0 };
	uint64_t id;

	if (source != NAME_SYMTAB) /* other sources follow their own rules */
		return script_string(r, name);
	demangle_given(&text, name, r->demangle);
	r->failed = text.failed || r->failed;
	id = script_string(r, buf_view(&text));
	buf_release(&text);
	return id;
}

/* Writes the names of a unit's frames: the function, then those inlined into it. */
static void put_names(struct script_reader *r, uint64_t frame, bool kernel, const uint32_t *members, size_t n)
{
	enum name_source source = source_of(&r->known[members[0]], kernel);

	if (!r->known[members[0]].f.name.n && n == 1 && (kernel || !r->known[members[0]].f.file.n))
		return;
	for (size_t i = 0; i < n; i++) {
		const struct script_known *k = &r->known[members[i]];
		struct record rec = { .type = RECORD_SYMBOL, .symbol = { .frame = frame, .level = i, .source = source } };

		rec.symbol.name = k->f.name.n ? function_name(r, k->f.name, source) : k->f.file.n ? place_name(r, k) :
				  script_string(r, slice_of("[unknown]"));
		rec.symbol.offset = i == 0 ? k->f.offset : 0;
		rec.symbol.file = k->source.n ? script_string(r, k->source) : 0;
		rec.symbol.line = k->source.n ? k->source_line : 0;
		script_put(r, rec);
	}
}

static uint64_t frame_id(struct script_reader *r, uint64_t process, uint32_t unit, enum frame_kind kind)
{
	bool fresh;
	uint64_t id = script_id(r, &r->frames, process << 33 | (uint64_t)unit << 1 | kind, r->n_frames + 1, &fresh);
	struct slice text;
	struct record rec = { .type = RECORD_FRAME, .frame = { id, process, kind, 0 } };
	const struct script_known *k;
	uint32_t *members;

	if (!fresh)
		return id;
	r->n_frames++;
	text = intern_get(&r->units, unit);
	members = malloc(text.n + 1);
	if (!members) {
		r->failed = true;
		return id;
	}
	memcpy(members, text.p, text.n);
	k = &r->known[members[0]];
	rec.frame.address = process ? user_address(r, k, process, kind == FRAME_RETURN) : k->f.address;
	if (!process) /* first, because the last symbol before a frame counts */
		put_module(r, k, rec.frame.address - (kind == FRAME_RETURN && rec.frame.address));
	script_put(r, rec);
	put_names(r, id, !process, members, text.n / sizeof(*members));
	free(members);
	return id;
}

/* Returns whether the frame is inlined into the one after it. */
static bool is_inlined(const struct script_reader *r, size_t i)
{
	const struct script_known *k = &r->known[r->stack[i]];

	return k->f.inlined && i + 1 < r->n_stack && r->known[r->stack[i + 1]].f.address == k->f.address;
}

size_t script_count_kernel(const struct script_reader *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_stack; i++) {
		const struct script_known *k = &r->known[r->stack[i]];

		if (is_inlined(r, i))
			continue;
		if (k->kind != SCRIPT_KERNEL && k->kind != SCRIPT_MODULE)
			break;
		n = i + 1;
	}
	return n;
}

/* Returns the unit of a function, at base in the stack, and the functions inlined into it, down to first. */
static uint32_t unit_of_frames(struct script_reader *r, size_t first, size_t base)
{
	struct script_known *k = &r->known[r->stack[base]];
	uint32_t *members, unit;
	size_t n = base - first + 1;
	bool fresh;

	if (n == 1 && k->unit)
		return k->unit - 1;
	members = malloc(n * sizeof(*members));
	if (!members) {
		r->failed = true;
		return 0;
	}
	for (size_t i = 0; i < n; i++)
		members[i] = r->stack[base - i];
	unit = script_number(r, &r->units, (struct slice){ (const uint8_t *)members, n * sizeof(*members) }, &fresh);
	free(members);
	if (n == 1)
		k->unit = unit + 1;
	return unit;
}

/*
 * Returns the node of a unit below another node. A node's process is that of its parent. Only below a root,
 * where all processes begin, does the frame distinguish nodes; elsewhere the frame is looked up once a node.
 */
static uint64_t node_id(struct script_reader *r, uint64_t parent, uint64_t process, uint32_t unit, enum frame_kind kind)
{
	uint64_t frame = parent < NODE_FIRST ? frame_id(r, process, unit, kind) : 0;
	uint64_t key = frame ? frame : (uint64_t)unit << 1 | kind, id;
	bool fresh;

	id = script_id(r, &r->nodes, parent << 32 | key, r->n_nodes, &fresh);
	if (!fresh)
		return id;
	r->n_nodes++;
	if (!frame)
		frame = frame_id(r, process, unit, kind);
	script_put(r, (struct record){ .type = RECORD_NODE, .node = { id, parent, frame } });
	return id;
}

uint64_t script_stack(struct script_reader *r, size_t begin, size_t end, uint64_t process)
{
	uint64_t node = r->cut && end == r->n_stack ? ROOT_DEPTH : ROOT_FP_END;

	while (end > begin && !r->failed) {
		size_t base = end - 1, first = base;

		while (first > begin && is_inlined(r, first - 1))
			first--;
		end = first;
		node = node_id(r, node, process, unit_of_frames(r, first, base), end > begin ? FRAME_RETURN : FRAME_EXACT);
	}
	return node;
}
