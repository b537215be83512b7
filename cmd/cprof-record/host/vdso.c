#include "cmd/cprof-record/host/vdso.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "cmd/cprof-record/host/build_id.h"

enum { IMAGE_MAX = 1 << 20 }; /* 8 KiB on all kernels so far */

/* Returns the end of the vDSO's mapping, which starts at start; 0: there is none. */
static uint64_t mapping_end(uint64_t start)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uint64_t from, to, end = 0;
	char *line = NULL;
	size_t cap = 0;

	if (!maps)
		return 0;
	while (!end && getline(&line, &cap, maps) > 0)
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) == 2 && from == start && strstr(line, "[vdso]"))
			end = to;
	free(line);
	fclose(maps);
	return end;
}

bool vdso_image(struct buf *image, struct buf *build_id)
{
	uint64_t start = getauxval(AT_SYSINFO_EHDR);
	uint64_t end = start ? mapping_end(start) : 0;
	struct slice s;

	if (end <= start || end - start > IMAGE_MAX)
		return false;
	s = (struct slice){ (const uint8_t *)(uintptr_t)start, (size_t)(end - start) };
	buf_bytes(image, s.p, s.n);
	elf_build_id_image(s, build_id);
	return !image->failed && !build_id->failed;
}
