#include <stdlib.h>
#include <unistd.h>

#include "common/unwind/edges.h"
#include "common/unwind/sections.h"

/* mov $15,%rax; syscall */
static const uint8_t sigreturn[] = { 0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05 };

enum { SCANNED_MAX = ELF_PART_MAX }; /* bytes of one file: it may be sparse, and claim any size */

struct scan {
	int fd;
	struct spans *s;
	uint64_t left;
	uint8_t bytes[1 << 16];
};

/* A range of the file, of code that nothing is known of. */
static void scan_gap(struct scan *scan, uint64_t start, uint64_t end)
{
	static const struct unwind_rule signal = { .kind = UNWIND_SIGNAL };
	uint64_t at = start;

	while (at < end && end - at >= sizeof(sigreturn) && scan->left) {
		size_t want = end - at < sizeof(scan->bytes) ? (size_t)(end - at) : sizeof(scan->bytes);
		ssize_t got = pread(scan->fd, scan->bytes, want, (off_t)at);
		const uint8_t *p = scan->bytes, *found;

		if (got < (ssize_t)sizeof(sigreturn))
			return;
		while ((found = memmem(p, (size_t)(scan->bytes + got - p), sigreturn, sizeof(sigreturn)))) {
			uint64_t code = at + (uint64_t)(found - scan->bytes);

			/* The frame's address is the first byte's; as a return address it is looked up one before. */
			spans_add(scan->s, SPAN_CODE, code > start ? code - 1 : code, code + sizeof(sigreturn), &signal);
			p = found + sizeof(sigreturn);
		}
		at += (size_t)got - (sizeof(sigreturn) - 1);
		scan->left -= scan->left < (uint64_t)got ? scan->left : (uint64_t)got;
	}
}

static uint64_t edge_start(const struct edges *e, size_t i)
{
	return e->base + e->items[i].start;
}

/* The first edge that is beyond this offset. */
static size_t edge_after(const struct edges *e, uint64_t offset)
{
	size_t low = 0, high = e->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (edge_start(e, middle) <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void sigreturn_spans(const struct elf_file *f, const struct edges *e, struct spans *s)
{
	struct scan *scan = malloc(sizeof(*scan));
	size_t n = 0;
	struct code_range *ranges = code_ranges(f, &n);

	s->failed |= !scan || !ranges;
	if (s->failed)
		n = 0;
	else
		*scan = (struct scan){ .fd = f->fd, .s = s, .left = SCANNED_MAX };
	for (size_t i = 0; i < n && scan->left; i++) {
		uint64_t at = ranges[i].start, next;

		for (size_t k = edge_after(e, at); at < ranges[i].end; at = next, k++) {
			next = k < e->n ? least(edge_start(e, k), ranges[i].end) : ranges[i].end;
			if (k == 0 || e->items[k - 1].rule == EDGE_GAP)
				scan_gap(scan, at, next);
		}
	}
	free(ranges);
	free(scan);
}
