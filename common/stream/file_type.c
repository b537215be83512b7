#include "common/stream/file_type.h"

#include <string.h>

const char *file_type_known(struct slice start)
{
	static const struct { const char *magic; size_t n; const char *what; } known[] = {
		{ "\177ELF", 4, "an ELF file, not a cprof stream" },
		{ "PERFILE2", 8, "a perf.data file, not a cprof stream: "
				 "perf script -i FILE | cprof-convert -t stream" },
		{ "\x1f\x8b", 2, "compressed with gzip: decompress it first" },
		{ "\x28\xb5\x2f\xfd", 4, "compressed with zstd: decompress it first" },
		{ "\xfd" "7zXZ", 5, "compressed with xz: decompress it first" },
		{ "segment ", 8, "a stream as text: convert it with cprof-dump -r" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (start.n >= known[i].n && memcmp(start.p, known[i].magic, known[i].n) == 0)
			return known[i].what;
	}
	return NULL;
}

bool file_type_is_text(struct slice start)
{
	enum { LOOK = 4096 };

	for (size_t i = 0; i < start.n && i < LOOK; i++) {
		uint8_t b = start.p[i];

		if (b == 0x7f || (b < 0x20 && b != '\n' && b != '\t' && b != '\r' && b != '\f'))
			return false;
	}
	return true;
}
