/*
 * Arrays that grow.
 *
 *	struct thing *items = NULL;
 *	size_t n = 0, cap = 0;
 *
 *	if (!grow_array(&items, &cap, n, sizeof(*items)))
 *		...out of memory...
 *	items[n++] = ...;
 *	free(items);
 */
#ifndef CPROF_BASE_ARRAY_H
#define CPROF_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Makes room for element n of an array by doubling it. array_ptr points to the array's pointer, cap to its
 * capacity in elements; size is the bytes of one element. New elements are zero. Returns false if out of
 * memory; the array is then unchanged.
 */
static inline bool grow_array(void *array_ptr, size_t *cap, size_t n, size_t size);
/* Like grow_array, but leaves new elements undefined. For arrays that are written before they are read. */
static inline bool extend_array(void *array_ptr, size_t *cap, size_t n, size_t size);

/*
 * Zeroes an array for reuse, or frees a large one. Otherwise one large use makes each later one expensive.
 */
void clear_array(void *array_ptr, size_t *cap, size_t size);

/* The slow path of the two above, taken when n >= *cap. */
bool enlarge_array(void *array_ptr, size_t *cap, size_t n, size_t size, bool zeroed);

static inline bool grow_array(void *array_ptr, size_t *cap, size_t n, size_t size)
{
	return n < *cap || enlarge_array(array_ptr, cap, n, size, true);
}

static inline bool extend_array(void *array_ptr, size_t *cap, size_t n, size_t size)
{
	return n < *cap || enlarge_array(array_ptr, cap, n, size, false);
}

#endif
