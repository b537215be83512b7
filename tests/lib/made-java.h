/*
 * A made-up JVM's memory: the tables of a libjvm 17, three code heaps, and blobs in the first one.
 *
 *	static struct made_java j;
 *
 *	made_java_fill(&j, made_java_fields, MADE_JAVA_FIELDS);
 *	java_layout_read(&(struct java_memory){ made_java_read, &j }, &j.image, MADE_JAVA_BIAS, ...)
 *
 * Offsets in `bytes` are addresses less MADE_JAVA_AT.
 */
#ifndef CPROF_TESTS_MADE_JAVA_H
#define CPROF_TESTS_MADE_JAVA_H

#include <string.h>

#include "common/hotspot/java_heap.h"

#define MADE_JAVA_AT UINT64_C(0x7f0000000000)
#define MADE_JAVA_BIAS (MADE_JAVA_AT - 0x1000)

enum {
	MADE_JAVA_BYTES = 256 << 10,
	MADE_JAVA_VARIABLES = 0,	/* image.state: 8 bytes each */
	MADE_JAVA_STATICS = 0x200,	/* the variables of enum java_static, 8 bytes each */
	MADE_JAVA_OBJECTS = 0x400,	/* the array of heaps, the heaps, the interpreter's queue */
	MADE_JAVA_ENTRIES = 0x2000,	/* the first table, 48 bytes each */
	MADE_JAVA_TYPES = 0x6000,	/* the second one */
	MADE_JAVA_TEXTS = 0x8000,
	MADE_JAVA_MAPS = 0x10000,	/* segment maps of 256 bytes */
	MADE_JAVA_HEAPS = 0x20000,	/* 32 KiB each */
	MADE_JAVA_HEAP_BYTES = 0x8000,
	MADE_JAVA_STRIDE = 48,
};

struct made_java_field {
	const char *type, *field; /* field NULL: the size of a type */
	uint64_t offset;	  /* or the index of a variable, enum java_static */
	int is_static;
};

/* As in Debian's OpenJDK 17.0.15. */
static const struct made_java_field made_java_fields[] = {
	{ "HeapBlock", NULL, 16, 0 }, { "ConstMethod", NULL, 48, 0 }, { "ConstantPool", NULL, 72, 0 },
	{ "nmethod", NULL, 352, 0 },
	{ "HeapBlock::Header", "_length", 0, 0 }, { "HeapBlock::Header", "_used", 8, 0 },
	{ "CodeBlob", "_name", 96, 0 }, { "CodeBlob", "_frame_size", 28, 0 },
	{ "CodeBlob", "_frame_complete_offset", 20, 0 }, { "CodeBlob", "_code_begin", 32, 0 },
	{ "CodeBlob", "_code_end", 40, 0 }, { "CompiledMethod", "_method", 112, 0 },
	{ "nmethod", "_compile_id", 304, 0 }, { "nmethod", "_comp_level", 308, 0 },
	{ "nmethod", "_orig_pc_offset", 300, 0 },
	{ "CompiledMethod", "_deopt_handler_begin", 128, 0 },
	{ "CompiledMethod", "_deopt_mh_handler_begin", 136, 0 },
	{ "nmethod", "_scopes_pcs_offset", 268, 0 }, { "CompiledMethod", "_scopes_data_begin", 120, 0 },
	{ "nmethod", "_dependencies_offset", 272, 0 }, { "nmethod", "_metadata_offset", 260, 0 },
	{ "Method", "_constMethod", 8, 0 }, { "ConstMethod", "_constants", 8, 0 },
	{ "ConstMethod", "_constMethod_size", 24, 0 }, { "ConstMethod", "_code_size", 32, 0 },
	{ "ConstMethod", "_name_index", 34, 0 }, { "ConstMethod", "_signature_index", 36, 0 },
	{ "ConstMethod", "_flags", 28, 0 }, { "ConstantPool", "_length", 60, 0 },
	{ "ConstantPool", "_pool_holder", 24, 0 }, { "ConstantPool", "_source_file_name_index", 54, 0 },
	{ "Klass", "_name", 24, 0 }, { "Symbol", "_length", 4, 0 }, { "Symbol", "_body", 6, 0 },
	{ "GrowableArrayBase", "_len", 0, 0 }, { "GrowableArray<int>", "_data", 8, 0 },
	{ "CodeHeap", "_memory", 8, 0 }, { "CodeHeap", "_segmap", 120, 0 },
	{ "CodeHeap", "_log2_segment_size", 256, 0 }, { "VirtualSpace", "_low_boundary", 0, 0 },
	{ "VirtualSpace", "_high_boundary", 8, 0 }, { "VirtualSpace", "_low", 16, 0 },
	{ "StubQueue", "_stub_buffer", 8, 0 }, { "StubQueue", "_buffer_limit", 20, 0 },
	{ "JDK_Version", "_major", 0, 0 }, { "CodeCache", "_heaps", JAVA_STATIC_HEAPS, 1 },
	{ "AbstractInterpreter", "_code", JAVA_STATIC_INTERPRETER, 1 },
	{ "JDK_Version", "_current", JAVA_STATIC_JDK, 1 },
	{ "Abstract_VM_Version", "_vm_major_version", JAVA_STATIC_MAJOR, 1 },
};

enum { MADE_JAVA_FIELDS = sizeof(made_java_fields) / sizeof(made_java_fields[0]) };

struct made_java {
	struct lang_image image;
	size_t texts;	  /* bytes of texts */
	size_t read, most; /* bytes that were read, and address up to which memory is readable */
	uint8_t bytes[MADE_JAVA_BYTES];
};

static inline size_t made_java_read(void *arg, uint64_t from, void *to, size_t n)
{
	struct made_java *j = arg;
	uint64_t at = from - MADE_JAVA_AT;

	if (from < MADE_JAVA_AT || at >= j->most)
		return 0;
	n = n < j->most - at ? n : (size_t)(j->most - at);
	memcpy(to, j->bytes + at, n);
	j->read += n;
	return n;
}

static inline void made_java_put(struct made_java *j, size_t at, uint64_t value, size_t n)
{
	memcpy(j->bytes + at, &value, n);
}

/* Returns the text's address. */
static inline uint64_t made_java_text(struct made_java *j, const char *text)
{
	size_t at = MADE_JAVA_TEXTS + j->texts;

	memcpy(j->bytes + at, text, strlen(text) + 1);
	j->texts += strlen(text) + 1;
	return MADE_JAVA_AT + at;
}

static inline void made_java_entry(struct made_java *j, size_t at, const struct made_java_field *f)
{
	made_java_put(j, at, made_java_text(j, f->type), 8);
	if (!f->field) {
		made_java_put(j, at + 24, f->offset, 8);
		return;
	}
	made_java_put(j, at + 8, made_java_text(j, f->field), 8);
	made_java_put(j, at + 24, (uint64_t)f->is_static, 4);
	if (f->is_static)
		made_java_put(j, at + 40, MADE_JAVA_AT + MADE_JAVA_STATICS + 8 * f->offset, 8);
	else
		made_java_put(j, at + 32, f->offset, 8);
}

/* Each heap begins with blocks of 2 segments; `used` of them have a blob with this name. */
static inline void made_java_heap(struct made_java *j, int i, const char *const *names)
{
	size_t object = MADE_JAVA_OBJECTS + 0x100 + 0x200 * (size_t)i;
	size_t heap = MADE_JAVA_HEAPS + MADE_JAVA_HEAP_BYTES * (size_t)i, at = heap;

	made_java_put(j, object + 8, MADE_JAVA_AT + heap, 8);
	made_java_put(j, object + 16, MADE_JAVA_AT + heap + MADE_JAVA_HEAP_BYTES, 8);
	made_java_put(j, object + 136, MADE_JAVA_AT + MADE_JAVA_MAPS + 256 * (size_t)i, 8);
	made_java_put(j, object + 256, 7, 4);
	memset(j->bytes + MADE_JAVA_MAPS + 256 * (size_t)i, 0xff, 256);
	for (; *names; names++, at += 256) {
		made_java_put(j, at, 2, 8);
		made_java_put(j, at + 8, **names != '-', 1);
		made_java_put(j, at + 16 + 96, made_java_text(j, *names), 8);
		made_java_put(j, MADE_JAVA_MAPS + 256 * (size_t)i + (at - heap) / 128, 0x0100, 2);
	}
}

static inline void made_java_objects(struct made_java *j)
{
	static const char *const first[] = { "flush_icache_stub", "StubRoutines (1)", "-", "Interpreter",
					     "nmethod", "StubRoutines (continuation stubs)", NULL };
	static const char *const other[] = { "nmethod", NULL };
	size_t statics = MADE_JAVA_STATICS, at = MADE_JAVA_OBJECTS;

	made_java_put(j, statics + 8 * JAVA_STATIC_HEAPS, MADE_JAVA_AT + at, 8);
	made_java_put(j, statics + 8 * JAVA_STATIC_INTERPRETER, MADE_JAVA_AT + at + 0x80, 8);
	made_java_put(j, statics + 8 * JAVA_STATIC_JDK, 17, 1);
	made_java_put(j, statics + 8 * JAVA_STATIC_MAJOR, 17, 4);
	made_java_put(j, at, 3, 4);
	made_java_put(j, at + 8, MADE_JAVA_AT + at + 0x20, 8);
	for (size_t i = 0; i < 3; i++) {
		made_java_put(j, at + 0x20 + 8 * i, MADE_JAVA_AT + at + 0x100 + 0x200 * i, 8);
		made_java_heap(j, (int)i, i == 0 ? first : other);
	}
	made_java_put(j, at + 0x88, MADE_JAVA_AT + MADE_JAVA_HEAPS + 3 * 256 + 32, 8);
	made_java_put(j, at + 0x80 + 20, 128, 4);
}

static inline void made_java_fill(struct made_java *j, const struct made_java_field *fields, size_t n)
{
	static const uint64_t variables[JAVA_SYMBOLS] = {
		MADE_JAVA_AT + MADE_JAVA_ENTRIES, MADE_JAVA_STRIDE, 0, 8, 24, 32, 40,
		MADE_JAVA_AT + MADE_JAVA_TYPES, 32, 0, 24,
	};
	size_t entry = MADE_JAVA_ENTRIES, type = MADE_JAVA_TYPES;

	memset(j, 0, sizeof(*j));
	j->most = MADE_JAVA_BYTES;
	j->image = (struct lang_image){ .language = LANG_JAVA, .usable = 1, .state = 0x1000 };
	for (size_t i = 0; i < JAVA_SYMBOLS; i++) {
		j->image.at[i] = (uint32_t)(8 * i);
		made_java_put(j, MADE_JAVA_VARIABLES + 8 * i, variables[i], 8);
	}
	for (size_t i = 0; i < n; i++) {
		if (fields[i].field)
			made_java_entry(j, entry, &fields[i]);
		else
			made_java_entry(j, type, &fields[i]);
		entry += fields[i].field ? MADE_JAVA_STRIDE : 0;
		type += fields[i].field ? 0 : 32;
	}
	made_java_objects(j);
}

#endif
