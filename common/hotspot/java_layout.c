#include "common/hotspot/java_layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ENTRIES_MOST = 8192, /* the entries of one table; JDK 17 has 1,954 in all, 25 has 1,266 */
	STRIDE_MOST = 256,
	CHUNK = 16 << 10,
	WINDOW = 32 << 10, /* bytes of texts that are read at once */
	WINDOWS = 192,
	NAME_ROOM = 48, /* longer names are of no interest */
	VERSION_LEAST = 8,
	VERSION_MOST = 99,
	NOT_FOUND = 0xffff, /* in java_build.host */
	/* ContinuationEntry, which the tables of 21 lack. Seen there in stacks of virtual threads. */
	ENTRY_BYTES = 64,
	ENTRY_SINCE = 20,
};

/* A table's entry is a member, a variable, or the size of a type. */
enum row_kind { MEMBER, STATIC, SIZE };

/* Bits of row.sets: JAVA_CODE and others, if the row is the one that was found. */
enum { SETS_NONE, SETS_CODE, SETS_DEOPT, SETS_DEBUG, SETS_METADATA };

struct row {
	uint8_t kind;  /* enum row_kind */
	uint8_t at;    /* enum java_at; from HOST on: enum java_host_at; of STATIC: enum java_static */
	uint8_t bytes; /* the member's size */
	uint8_t sets, value;
	const char *type, *field;
};

#define HOST JAVA_AT

/* Alternatives are in order: the first one that is found holds. */
static const struct row rows[] = {
	{ SIZE, JAVA_HEAP_HEADER, 0, 0, 0, "HeapBlock", NULL },
	{ MEMBER, JAVA_HEAP_LENGTH, 4, 0, 0, "HeapBlock::Header", "_length" },
	{ MEMBER, JAVA_HEAP_USED, 1, 0, 0, "HeapBlock::Header", "_used" },
	{ MEMBER, JAVA_BLOB_NAME, 8, 0, 0, "CodeBlob", "_name" },
	{ MEMBER, JAVA_BLOB_FRAME_SIZE, 4, 0, 0, "CodeBlob", "_frame_size" },
	{ MEMBER, JAVA_BLOB_FRAME_DONE, 2, 0, 0, "CodeBlob", "_frame_complete_offset" },
	{ MEMBER, JAVA_BLOB_CODE_BEGIN, 8, SETS_CODE, JAVA_CODE_POINTER, "CodeBlob", "_code_begin" },
	{ MEMBER, JAVA_BLOB_CODE_BEGIN, 4, SETS_CODE, JAVA_CODE_OFFSET, "CodeBlob", "_code_offset" },
	{ MEMBER, JAVA_BLOB_CODE_END, 8, 0, 0, "CodeBlob", "_code_end" },
	{ MEMBER, JAVA_BLOB_CODE_END, 4, 0, 0, "CodeBlob", "_data_offset" },
	{ MEMBER, JAVA_NM_METHOD, 8, 0, 0, "nmethod", "_method" },
	{ MEMBER, JAVA_NM_METHOD, 8, 0, 0, "CompiledMethod", "_method" },
	{ MEMBER, JAVA_NM_COMPILE_ID, 4, 0, 0, "nmethod", "_compile_id" },
	{ MEMBER, JAVA_NM_LEVEL, 1, 0, 0, "nmethod", "_comp_level" },
	{ MEMBER, JAVA_NM_ORIG_PC, 4, 0, 0, "nmethod", "_orig_pc_offset" },
	{ MEMBER, JAVA_NM_DEOPT, 8, SETS_DEOPT, JAVA_CODE_POINTER, "CompiledMethod", "_deopt_handler_begin" },
	{ MEMBER, JAVA_NM_DEOPT, 8, SETS_DEOPT, JAVA_CODE_POINTER, "nmethod", "_deopt_handler_begin" },
	{ MEMBER, JAVA_NM_DEOPT, 4, SETS_DEOPT, JAVA_CODE_OFFSET, "nmethod", "_deopt_handler_entry_offset" },
	{ MEMBER, JAVA_NM_DEOPT, 4, SETS_DEOPT, JAVA_CODE_OFFSET, "nmethod", "_deopt_handler_offset" },
	{ MEMBER, JAVA_NM_DEOPT, 4, SETS_DEOPT, JAVA_CODE_OFFSET, "nmethod", "_deoptimize_offset" },
	{ MEMBER, JAVA_NM_DEOPT_MH, 8, 0, 0, "CompiledMethod", "_deopt_mh_handler_begin" },
	{ MEMBER, JAVA_NM_DEOPT_MH, 4, 0, 0, "nmethod", "_deopt_mh_handler_offset" },
	{ MEMBER, JAVA_NM_DEOPT_MH, 4, 0, 0, "nmethod", "_deoptimize_mh_offset" },
	{ MEMBER, JAVA_NM_IMMUTABLE, 8, 0, 0, "nmethod", "_immutable_data" },
	{ MEMBER, JAVA_NM_PCS, 4, 0, 0, "nmethod", "_scopes_pcs_offset" },
	{ MEMBER, JAVA_NM_SCOPES, 8, SETS_DEBUG, JAVA_DEBUG_POINTER, "CompiledMethod", "_scopes_data_begin" },
	{ MEMBER, JAVA_NM_SCOPES, 4, SETS_DEBUG, JAVA_DEBUG_OFFSETS, "nmethod", "_scopes_data_offset" },
	{ MEMBER, JAVA_NM_PCS_END, 4, 0, 0, "nmethod", "_dependencies_offset" },
	{ MEMBER, JAVA_NM_SCOPES_END, 4, 0, 0, "nmethod", "_immutable_data_size" },
	{ MEMBER, JAVA_NM_METADATA, 4, SETS_METADATA, JAVA_METADATA_NM, "nmethod", "_metadata_offset" },
	{ MEMBER, JAVA_NM_METADATA, 4, SETS_METADATA, JAVA_METADATA_MUTABLE, "CodeBlob", "_relocation_size" },
	{ MEMBER, JAVA_NM_METADATA_BASE, 8, 0, 0, "CodeBlob", "_mutable_data" },
	{ MEMBER, JAVA_NM_METADATA_BASE, 4, 0, 0, "CodeBlob", "_data_offset" },
	{ MEMBER, JAVA_METHOD_CONST, 8, 0, 0, "Method", "_constMethod" },
	{ SIZE, JAVA_CONST_BYTES, 0, 0, 0, "ConstMethod", NULL },
	{ MEMBER, JAVA_CONST_POOL, 8, 0, 0, "ConstMethod", "_constants" },
	{ MEMBER, JAVA_CONST_WORDS, 4, 0, 0, "ConstMethod", "_constMethod_size" },
	{ MEMBER, JAVA_CONST_CODE, 2, 0, 0, "ConstMethod", "_code_size" },
	{ MEMBER, JAVA_CONST_NAME, 2, 0, 0, "ConstMethod", "_name_index" },
	{ MEMBER, JAVA_CONST_SIGNATURE, 2, 0, 0, "ConstMethod", "_signature_index" },
	{ MEMBER, JAVA_CONST_FLAGS, 2, 0, 0, "ConstMethod", "_flags._flags" },
	{ MEMBER, JAVA_CONST_FLAGS, 2, 0, 0, "ConstMethod", "_flags" },
	{ SIZE, JAVA_POOL_BYTES, 0, 0, 0, "ConstantPool", NULL },
	{ MEMBER, JAVA_POOL_LENGTH, 4, 0, 0, "ConstantPool", "_length" },
	{ MEMBER, JAVA_POOL_HOLDER, 8, 0, 0, "ConstantPool", "_pool_holder" },
	{ MEMBER, JAVA_POOL_SOURCE, 2, 0, 0, "ConstantPool", "_source_file_name_index" },
	{ MEMBER, JAVA_KLASS_SOURCE, 2, 0, 0, "InstanceKlass", "_source_file_name_index" },
	{ MEMBER, JAVA_KLASS_NAME, 8, 0, 0, "Klass", "_name" },
	{ MEMBER, JAVA_SYMBOL_LENGTH, 2, 0, 0, "Symbol", "_length" },
	{ MEMBER, JAVA_SYMBOL_LENGTH, 4, 0, 0, "Symbol", "_length_and_refcount" },
	{ MEMBER, JAVA_SYMBOL_BODY, 1, 0, 0, "Symbol", "_body" },
	{ MEMBER, JAVA_SYMBOL_BODY, 1, 0, 0, "Symbol", "_body[0]" },
	{ SIZE, JAVA_ENTRY_BYTES, 0, 0, 0, "ContinuationEntry", NULL },
	{ MEMBER, HOST + JAVA_ARRAY_LENGTH, 4, 0, 0, "GrowableArrayBase", "_len" },
	{ MEMBER, HOST + JAVA_ARRAY_LENGTH, 4, 0, 0, "GenericGrowableArray", "_len" },
	{ MEMBER, HOST + JAVA_ARRAY_DATA, 8, 0, 0, "GrowableArray<int>", "_data" },
	{ MEMBER, HOST + JAVA_HEAP_MEMORY, 8, 0, 0, "CodeHeap", "_memory" },
	{ MEMBER, HOST + JAVA_HEAP_MAP, 8, 0, 0, "CodeHeap", "_segmap" },
	{ MEMBER, HOST + JAVA_HEAP_SHIFT, 4, 0, 0, "CodeHeap", "_log2_segment_size" },
	{ MEMBER, HOST + JAVA_SPACE_START, 8, 0, 0, "VirtualSpace", "_low_boundary" },
	{ MEMBER, HOST + JAVA_SPACE_END, 8, 0, 0, "VirtualSpace", "_high_boundary" },
	{ MEMBER, HOST + JAVA_SPACE_LOW, 8, 0, 0, "VirtualSpace", "_low" },
	{ MEMBER, HOST + JAVA_QUEUE_START, 8, 0, 0, "StubQueue", "_stub_buffer" },
	{ MEMBER, HOST + JAVA_QUEUE_SIZE, 4, 0, 0, "StubQueue", "_buffer_limit" },
	{ MEMBER, HOST + JAVA_JDK_MAJOR, 1, 0, 0, "JDK_Version", "_major" },
	{ STATIC, JAVA_STATIC_HEAPS, 8, 0, 0, "CodeCache", "_heaps" },
	{ STATIC, JAVA_STATIC_HEAP, 8, 0, 0, "CodeCache", "_heap" },
	{ STATIC, JAVA_STATIC_INTERPRETER, 8, 0, 0, "AbstractInterpreter", "_code" },
	{ STATIC, JAVA_STATIC_JDK, 1, 0, 0, "JDK_Version", "_current" },
	{ STATIC, JAVA_STATIC_MAJOR, 4, 0, 0, "Abstract_VM_Version", "_vm_major_version" },
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

/* Members that some releases lack. check_members demands some of them, by release. */
static const uint8_t optional[] = {
	JAVA_NM_DEOPT_MH,	  JAVA_NM_IMMUTABLE,	  JAVA_NM_PCS_END,	 JAVA_NM_SCOPES_END,
	JAVA_NM_METADATA_BASE,	  JAVA_POOL_SOURCE,	  JAVA_KLASS_SOURCE,	 JAVA_ENTRY_BYTES,
	HOST + JAVA_ARRAY_LENGTH, HOST + JAVA_ARRAY_DATA, HOST + JAVA_JDK_MAJOR,
};

/* Numbers that are not from the tables. */
static const uint8_t derived[] = { JAVA_CODE,	  JAVA_NM_BYTES, JAVA_DEOPT,  JAVA_DEBUG,
				   JAVA_METADATA, JAVA_BCP_SLOT, JAVA_U5_MORE };

struct window {
	uint64_t at;
	size_t n;
	char *bytes;
};

struct reading {
	const struct java_memory *m;
	struct window windows[WINDOWS];
	size_t n, last;
	uint64_t symbols[JAVA_SYMBOLS];
	bool found[ROWS];
	uint64_t values[ROWS];
	struct java_build *b;
	char *why;
};

bool java_read(const struct java_memory *m, uint64_t from, void *to, size_t n)
{
	return m->read(m->arg, from, to, n) == n;
}

uint64_t java_read64(const struct java_memory *m, uint64_t from)
{
	uint64_t v = 0;

	return java_read(m, from, &v, sizeof(v)) ? v : 0;
}

uint32_t java_read32(const struct java_memory *m, uint64_t from)
{
	uint32_t v = 0;

	return java_read(m, from, &v, sizeof(v)) ? v : 0;
}

static enum java_found refuse(const struct reading *r, const char *text, const char *type, const char *field)
{
	snprintf(r->why, JAVA_WHY, "%s%s%s%s", text, type, field ? "." : "", field ? field : "");
	return JAVA_REFUSED;
}

static const struct window *find_window(struct reading *r, uint64_t at)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct window *w = &r->windows[(r->last + i) % r->n];

		if (at >= w->at && at - w->at < w->n && (w->n - (at - w->at) >= NAME_ROOM || w->n < WINDOW)) {
			r->last = (size_t)(w - r->windows);
			return w;
		}
	}
	return NULL;
}

/* Texts are near each other: a read of a window has many of them. */
static const struct window *add_window(struct reading *r, uint64_t at)
{
	struct window *w = &r->windows[r->n];

	if (r->n == WINDOWS)
		return NULL;
	*w = (struct window){ at & -UINT64_C(4096), 0, malloc(WINDOW) };
	if (!w->bytes)
		return NULL;
	w->n = r->m->read(r->m->arg, w->at, w->bytes, WINDOW);
	r->last = r->n++;
	return at - w->at < w->n ? w : NULL;
}

/* Returns the text at this address, of up to NAME_ROOM - 1 bytes; "": unreadable or longer. */
static const char *text_at(struct reading *r, uint64_t at)
{
	const struct window *w = find_window(r, at);
	size_t from, left;

	if (!w)
		w = add_window(r, at);
	if (!w)
		return "";
	from = (size_t)(at - w->at);
	left = w->n - from < NAME_ROOM ? w->n - from : NAME_ROOM;
	return memchr(w->bytes + from, 0, left) ? w->bytes + from : "";
}

static uint64_t load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static void note_field(struct reading *r, const uint8_t *e)
{
	const char *type = text_at(r, load64(e + r->symbols[JAVA_STRUCTS_TYPE]));
	const char *field = text_at(r, load64(e + r->symbols[JAVA_STRUCTS_FIELD]));
	bool is_static = (uint32_t)load64(e + r->symbols[JAVA_STRUCTS_STATIC]) != 0;

	for (size_t i = 0; i < ROWS && *type; i++) {
		if (r->found[i] || rows[i].kind == SIZE || (rows[i].kind == STATIC) != is_static ||
		    strcmp(rows[i].field, field) != 0 || strcmp(rows[i].type, type) != 0)
			continue;
		r->found[i] = true;
		r->values[i] = load64(e + r->symbols[is_static ? JAVA_STRUCTS_ADDRESS : JAVA_STRUCTS_OFFSET]);
	}
}

static void note_type(struct reading *r, const uint8_t *e)
{
	const char *type = text_at(r, load64(e + r->symbols[JAVA_TYPES_TYPE]));

	for (size_t i = 0; i < ROWS && *type; i++) {
		if (r->found[i] || rows[i].kind != SIZE || strcmp(rows[i].type, type) != 0)
			continue;
		r->found[i] = true;
		r->values[i] = load64(e + r->symbols[JAVA_TYPES_SIZE]);
	}
}

/* Reads a table up to the entry without a type. */
static enum java_found read_table(struct reading *r, enum java_symbol table,
				  void (*note)(struct reading *r, const uint8_t *e))
{
	size_t stride = r->symbols[table + 1], type = r->symbols[table + 2], seen = 0;
	uint64_t at = r->symbols[table];
	uint8_t chunk[CHUNK];

	while (seen < ENTRIES_MOST) {
		size_t n = r->m->read(r->m->arg, at, chunk, CHUNK) / stride;

		if (n == 0)
			return JAVA_UNREADABLE;
		for (size_t i = 0; i < n; i++, seen++) {
			if (load64(chunk + i * stride + type) == 0)
				return JAVA_FOUND;
			note(r, chunk + i * stride);
		}
		at += n * stride;
	}
	return refuse(r, "a table of libjvm has no end", "", NULL);
}

static bool check_table(const struct reading *r, size_t table, size_t end)
{
	uint64_t stride = r->symbols[table + 1];

	if (stride > STRIDE_MOST || stride % 8)
		return false;
	for (size_t i = table + 2; i < end; i++) {
		if (r->symbols[i] > stride - 8)
			return false;
	}
	return true;
}

/* libjvm's constructors set the numbers, so they are 0 until it is loaded. */
static enum java_found read_symbols(struct reading *r, const struct lang_image *image, uint64_t bias)
{
	static const uint8_t never_0[] = { JAVA_STRUCTS,	 JAVA_STRUCTS_STRIDE, JAVA_STRUCTS_FIELD,
					   JAVA_STRUCTS_ADDRESS, JAVA_TYPES,	      JAVA_TYPES_STRIDE,
					   JAVA_TYPES_SIZE };

	for (size_t i = 0; i < JAVA_SYMBOLS; i++) {
		if (!java_read(r->m, image->state + image->at[i] + bias, &r->symbols[i], 8))
			return JAVA_UNREADABLE;
	}
	for (size_t i = 0; i < sizeof(never_0); i++) {
		if (r->symbols[never_0[i]] == 0)
			return JAVA_LATER;
	}
	if (!check_table(r, JAVA_STRUCTS, JAVA_TYPES) || !check_table(r, JAVA_TYPES, JAVA_SYMBOLS))
		return refuse(r, "libjvm describes its tables in an unknown way", "", NULL);
	return JAVA_FOUND;
}

static bool is_among(const uint8_t *list, size_t n, size_t at)
{
	return memchr(list, (int)at, n) != NULL;
}

static void set_derived(struct java_layout *l, const struct row *row)
{
	static const uint8_t of[] = { [SETS_CODE] = JAVA_CODE,
				      [SETS_DEOPT] = JAVA_DEOPT,
				      [SETS_DEBUG] = JAVA_DEBUG,
				      [SETS_METADATA] = JAVA_METADATA };

	if (row->sets != SETS_NONE)
		l->at[of[row->sets]] = row->value;
}

static enum java_found take_row(struct reading *r, const struct row *row, uint64_t value)
{
	struct java_layout *l = &r->b->layout;

	if (row->kind == STATIC) {
		r->b->statics[row->at] = value;
		return JAVA_FOUND;
	}
	if (row->kind == SIZE ? value == 0 || value > JAVA_SIZE_MOST
			      : value > (uint64_t)JAVA_OBJECT_MOST - row->bytes)
		return refuse(r, "libjvm describes a place that cannot be: ", row->type, row->field);
	if (row->at >= HOST)
		r->b->host[row->at - HOST] = (uint16_t)value;
	else
		l->at[row->at] = (uint16_t)value;
	/* The length is the upper half of that member. */
	if (row->at == JAVA_SYMBOL_LENGTH && row->bytes == 4)
		l->at[row->at] += 2;
	set_derived(l, row);
	return JAVA_FOUND;
}

/* Takes the first alternative of each number. */
static enum java_found take_members(struct reading *r)
{
	bool taken[JAVA_AT + JAVA_HOST_AT] = { false };

	for (size_t i = 0; i < ROWS; i++) {
		const struct row *row = &rows[i];

		if (!r->found[i] || (row->kind != STATIC && taken[row->at]))
			continue;
		if (row->kind != STATIC)
			taken[row->at] = true;
		if (take_row(r, row, r->values[i]) != JAVA_FOUND)
			return JAVA_REFUSED;
	}
	for (size_t i = 0; i < ROWS; i++) {
		const struct row *row = &rows[i];

		if (row->kind != STATIC && !taken[row->at] && !is_among(optional, sizeof(optional), row->at))
			return refuse(r, "libjvm describes no ", row->type, row->field);
	}
	return JAVA_FOUND;
}

/* Decides between the ways of releases, and checks what each of them requires. */
static enum java_found check_members(struct reading *r)
{
	uint16_t *at = r->b->layout.at;
	const uint64_t *statics = r->b->statics;

	if (!statics[JAVA_STATIC_HEAPS] && !statics[JAVA_STATIC_HEAP])
		return refuse(r, "libjvm describes no ", "CodeCache", "_heaps");
	if (statics[JAVA_STATIC_HEAPS] && r->b->host[JAVA_ARRAY_DATA] == NOT_FOUND)
		return refuse(r, "libjvm describes no ", "GrowableArray<int>", "_data");
	if (statics[JAVA_STATIC_HEAPS] && r->b->host[JAVA_ARRAY_LENGTH] == NOT_FOUND)
		return refuse(r, "libjvm describes no ", "GrowableArrayBase", "_len");
	if (!statics[JAVA_STATIC_INTERPRETER])
		return refuse(r, "libjvm describes no ", "AbstractInterpreter", "_code");
	if (!statics[JAVA_STATIC_MAJOR] && !statics[JAVA_STATIC_JDK])
		return refuse(r, "libjvm describes no ", "Abstract_VM_Version", "_vm_major_version");
	if (!at[JAVA_POOL_SOURCE] && !at[JAVA_KLASS_SOURCE])
		return refuse(r, "libjvm describes no ", "ConstantPool", "_source_file_name_index");
	if (at[JAVA_POOL_SOURCE])
		at[JAVA_KLASS_SOURCE] = 0;
	if (at[JAVA_NM_IMMUTABLE]) {
		at[JAVA_DEBUG] = JAVA_DEBUG_IMMUTABLE;
		at[JAVA_NM_PCS_END] = 0;
		if (!at[JAVA_NM_SCOPES_END])
			return refuse(r, "libjvm describes no ", "nmethod", "_immutable_data_size");
		if (at[JAVA_METADATA] == JAVA_METADATA_NM)
			at[JAVA_METADATA] = JAVA_METADATA_DATA;
		if (!at[JAVA_NM_METADATA_BASE])
			return refuse(r, "libjvm describes no ", "CodeBlob", "_mutable_data");
		return JAVA_FOUND;
	}
	at[JAVA_NM_SCOPES_END] = at[JAVA_NM_METADATA_BASE] = 0;
	if (!at[JAVA_NM_PCS_END])
		return refuse(r, "libjvm describes no ", "nmethod", "_dependencies_offset");
	if (at[JAVA_METADATA] != JAVA_METADATA_NM)
		return refuse(r, "libjvm describes no ", "nmethod", "_metadata_offset");
	return JAVA_FOUND;
}

/* The version of HotSpot is that of the JDK from 9 on; that of JDK 8 is 25. */
static enum java_found read_version(struct reading *r)
{
	struct java_layout *l = &r->b->layout;
	uint8_t major = 0;

	if (r->b->statics[JAVA_STATIC_JDK] && r->b->host[JAVA_JDK_MAJOR] != NOT_FOUND) {
		if (!java_read(r->m, r->b->statics[JAVA_STATIC_JDK] + r->b->host[JAVA_JDK_MAJOR], &major, 1))
			return JAVA_UNREADABLE;
		l->version = major;
	} else {
		l->version = java_read32(r->m, r->b->statics[JAVA_STATIC_MAJOR]);
	}
	if (l->version == 0)
		return JAVA_LATER;
	if (l->version < VERSION_LEAST || l->version > VERSION_MOST)
		return refuse(r, "this version of Java is not supported", "", NULL);
	l->at[JAVA_BCP_SLOT] = l->version < 9 ? 7 : 8;
	l->at[JAVA_U5_MORE] = l->version >= 20;
	if (l->version >= ENTRY_SINCE && !l->at[JAVA_ENTRY_BYTES])
		l->at[JAVA_ENTRY_BYTES] = ENTRY_BYTES;
	return JAVA_FOUND;
}

static bool is_of_nmethod(size_t at)
{
	return at >= JAVA_BLOB_NAME && at <= JAVA_NM_METADATA_BASE && !is_among(derived, sizeof(derived), at);
}

/* An nmethod is read up to the end of the last member. */
static void set_bytes(const struct reading *r)
{
	uint16_t *at = r->b->layout.at;
	unsigned int end = 0;

	for (size_t i = 0; i < ROWS; i++) {
		unsigned int n = rows[i].at < HOST ? at[rows[i].at] + rows[i].bytes : 0;

		if (rows[i].kind == MEMBER && is_of_nmethod(rows[i].at) && n > end)
			end = n;
	}
	at[JAVA_NM_BYTES] = (uint16_t)((end + 7) & ~7u);
}

static enum java_found read_all(struct reading *r, const struct lang_image *image, uint64_t bias)
{
	enum java_found f = read_symbols(r, image, bias);

	if (f == JAVA_FOUND)
		f = read_table(r, JAVA_STRUCTS, note_field);
	if (f == JAVA_FOUND)
		f = read_table(r, JAVA_TYPES, note_type);
	if (f == JAVA_FOUND)
		f = take_members(r);
	if (f == JAVA_FOUND)
		f = check_members(r);
	if (f == JAVA_FOUND)
		f = read_version(r);
	if (f != JAVA_FOUND)
		return f;
	set_bytes(r);
	return java_layout_valid(&r->b->layout)
		       ? JAVA_FOUND
		       : refuse(r, "libjvm describes places that cannot be", "", NULL);
}

enum java_found java_layout_read(const struct java_memory *m, const struct lang_image *image, uint64_t bias,
				 struct java_build *b, char why[static JAVA_WHY])
{
	struct reading *r = calloc(1, sizeof(*r));
	enum java_found f;

	*why = '\0';
	memset(b, 0, sizeof(*b));
	memset(b->host, 0xff, sizeof(b->host));
	if (!r)
		return JAVA_UNREADABLE;
	r->m = m;
	r->b = b;
	r->why = why;
	f = read_all(r, image, bias);
	for (size_t i = 0; i < r->n; i++)
		free(r->windows[i].bytes);
	free(r);
	return f;
}

bool java_layout_valid(const struct java_layout *l)
{
	const uint16_t *at = l->at;

	for (size_t i = 0; i < ROWS; i++) {
		const struct row *row = &rows[i];

		if (row->kind == STATIC || row->at >= HOST)
			continue;
		if (row->kind == SIZE ? at[row->at] > JAVA_SIZE_MOST
				      : at[row->at] > JAVA_OBJECT_MOST - row->bytes + 2)
			return false;
	}
	for (size_t i = JAVA_AT; i < sizeof(l->at) / sizeof(l->at[0]); i++) {
		if (at[i] != 0)
			return false;
	}
	return l->version >= VERSION_LEAST && l->version <= VERSION_MOST && l->pad == 0 &&
	       at[JAVA_CODE] <= JAVA_CODE_OFFSET && at[JAVA_DEOPT] <= JAVA_CODE_OFFSET &&
	       at[JAVA_DEBUG] <= JAVA_DEBUG_IMMUTABLE && at[JAVA_METADATA] <= JAVA_METADATA_MUTABLE &&
	       at[JAVA_NM_BYTES] > 0 && at[JAVA_NM_BYTES] <= JAVA_BLOB_MOST && at[JAVA_NM_BYTES] % 8 == 0 &&
	       (at[JAVA_BCP_SLOT] == 7 || at[JAVA_BCP_SLOT] == 8) && at[JAVA_U5_MORE] <= 1 &&
	       at[JAVA_HEAP_HEADER] >= 8 && at[JAVA_CONST_BYTES] >= 16 && at[JAVA_POOL_BYTES] >= 16;
}
