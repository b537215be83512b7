#include "common/base/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CLEARED_MAX = 64 << 10 }; /* bytes of an array that is kept when it is cleared */

void clear_array(void *array_ptr, size_t *cap, size_t size)
{
	void *p;

	memcpy(&p, array_ptr, sizeof(p));
	if (!p)
		return;
	if (*cap <= CLEARED_MAX / size) {
		memset(p, 0, *cap * size);
		return;
	}
	free(p);
	p = NULL;
	memcpy(array_ptr, &p, sizeof(p));
	*cap = 0;
}

bool enlarge_array(void *array_ptr, size_t *cap, size_t n, size_t size, bool zeroed)
{
	size_t want = *cap ? *cap : 16;
	void *old, *p;

	while (want <= n) {
		if (want > SIZE_MAX / 2 / size)
			return false;
		want *= 2;
	}
	memcpy(&old, array_ptr, sizeof(old));
	p = realloc(old, want * size);
	if (!p)
		return false;
	if (zeroed)
		memset((uint8_t *)p + *cap * size, 0, (want - *cap) * size);
	memcpy(array_ptr, &p, sizeof(p));
	*cap = want;
	return true;
}
