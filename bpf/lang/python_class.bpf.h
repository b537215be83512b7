/*
 * Finds the qualified name of a method of CPython before 3.11, whose code object has the bare name only.
 *
 * The classes of the first argument are searched for the function with this code, in the interpreter's own
 * order (tp_mro). Functions have qualified names. Only a function with the very same code counts, so a first
 * argument other than "self" gives no wrong name.
 *
 * Sources: Include/cpython/object.h, Include/funcobject.h, Objects/dict-common.h, and lookdict() of
 * Objects/dictobject.c.
 */
#ifndef CPROF_BPF_LANG_PYTHON_CLASS_H
#define CPROF_BPF_LANG_PYTHON_CLASS_H

#include "bpf/lang/lang.bpf.h"
#include "common/lang/python.h"

enum {
	PY_OBJECT_TYPE = 8,
	PY_TYPE_FLAGS = 168,
	PY_TYPE_DICT = 264,
	PY_TYPE_MRO = 344,
	PY_TYPE_IS_CLASS = 31, /* a bit of the flags: Py_TPFLAGS_TYPE_SUBCLASS */
	PY_TUPLE_SIZE = 16,
	PY_TUPLE_ITEMS = 24,
	PY_DICT_KEYS = 32,
	PY_KEYS_SIZE = 8, /* slots of the table of indexes, a power of two */
	PY_KEYS_INDEXES = 40,
	PY_KEYS_ENTRY = 24, /* bytes of an entry; its members: */
	PY_ENTRY_KEY = 8,
	PY_ENTRY_VALUE = 16,
	PY_STR_HASH = 24,
	PY_WRAPPED = 16, /* in a classmethod, a staticmethod and a property: the function */
	PY_SETTER = 24,  /* in a property */
	PY_CELL_OBJECT = 16,
	PY_CODE_ARGUMENTS = 16, /* their number */
	PY_CLASSES = 24,      /* classes that are searched, at most ... */
	PY_PROBES = 16,	      /* ... and slots in one of them */
	PY_SLOTS_MOST = 1 << 15, /* an index into a table of at most this size has one or two bytes */
	PY_CELLS = 4,	      /* variables of inner functions that are searched for the argument */
};

/* Returns the function with this code, if the value in a class's dictionary is it or wraps it; 0: neither. */
static __always_inline __u64 python_unwrap(const struct lang_image *im, __u64 value, __u64 code)
{
	__u64 wrapped = lang_read64(value + PY_WRAPPED), setter = lang_read64(value + PY_SETTER);
	__u32 at = im->at[PY_FUNCTION_CODE];

	return lang_read64(value + at) == code	   ? value
	       : lang_read64(wrapped + at) == code ? wrapped
	       : lang_read64(setter + at) == code  ? setter
						   : 0;
}

/* Searches the dictionary of a class. Names are interned, so equal ones have the same address. */
WALK_FN __u64 python_in_class(__u64 class, __u64 name, __u64 code)
{
	struct lang_walk *l = lang_walk_state();
	__u64 keys = lang_read64(lang_read64(class + PY_TYPE_DICT) + PY_DICT_KEYS), entry, index;
	__u64 slots = lang_read64(keys + PY_KEYS_SIZE), hash = lang_read64(name + PY_STR_HASH), at = hash;
	const struct lang_image *im;
	__u32 width;

	im = l ? lang_image_of(l) : NULL;
	if (!im || slots - 1 >= PY_SLOTS_MOST)
		return 0;
	width = slots < 256 ? 1 : 2;
	for (int i = 0; i < PY_PROBES; i++) {
		at &= slots - 1;
		index = lang_read64(keys + PY_KEYS_INDEXES + at * width) & ((1ull << 8 * width) - 1);
		if (index == (1ull << 8 * width) - 1) /* DKIX_EMPTY; a removed one is DKIX_DUMMY, one less */
			return 0;
		entry = keys + PY_KEYS_INDEXES + slots * width + index * PY_KEYS_ENTRY;
		if (index < slots && lang_read64(entry + PY_ENTRY_KEY) == name)
			return python_unwrap(im, lang_read64(entry + PY_ENTRY_VALUE), code);
		hash >>= 5;
		at = at * 5 + hash + 1;
	}
	return 0;
}

/* Searches a class and those that it inherits from. Returns the function, or 0. */
WALK_FN __u64 python_in_classes(__u64 class, __u64 name, __u64 code)
{
	__u64 mro = lang_read64(class + PY_TYPE_MRO), n = lang_read64(mro + PY_TUPLE_SIZE), function = 0;

	for (__u32 i = 0; i < PY_CLASSES && i < n && !function; i++)
		function = python_in_class(lang_read64(mro + PY_TUPLE_ITEMS + i * 8ull), name, code);
	return function;
}

/*
 * Returns the first argument of the current frame, whose code is in l->object; 0: it has none. An argument
 * that inner functions use is in a cell, and co_cell2arg has the arguments' numbers by cell.
 */
static __always_inline __u64 python_first_argument(struct lang_walk *l, const struct lang_image *im)
{
	__u64 locals = l->at + im->at[PY_FRAME_LOCALS], argument = lang_read64(locals), numbers[PY_CELLS];
	__u64 cells = lang_object(l, im->at[PY_CODE_PATH] - 8);

	if (!lang_object32(l, PY_CODE_ARGUMENTS))
		return 0;
	if (argument || !cells || bpf_probe_read_user(numbers, sizeof(numbers), (const void *)cells))
		return argument;
	locals += 8 * (__u64)lang_object32(l, im->at[PY_CODE_LOCALS]);
	for (int i = 0; i < PY_CELLS && !argument; i++)
		argument = numbers[i] ? 0 : lang_read64(lang_read64(locals + 8ull * i) + PY_CELL_OBJECT);
	return argument;
}

/* Returns the name of the current frame's code, which is in l->object: the qualified name if found. */
WALK_FN __u64 python_method_name(__u64 code, __u64 name)
{
	struct lang_walk *l = lang_walk_state();
	const struct lang_image *im;
	__u64 argument, type, function = 0;

	im = l ? lang_image_of(l) : NULL;
	argument = im ? python_first_argument(l, im) : 0;
	if (!argument)
		return name;
	type = lang_read64(argument + PY_OBJECT_TYPE);
	if (lang_read64(type + PY_TYPE_FLAGS) >> PY_TYPE_IS_CLASS & 1)
		function = python_in_classes(argument, name, code); /* a class method */
	if (!function)
		function = python_in_classes(type, name, code);
	return function ? lang_read64(function + im->at[PY_FUNCTION_NAME]) : name;
}

#endif
