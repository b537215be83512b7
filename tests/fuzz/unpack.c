/*
 * Fuzzes decompression of gzip, zstd and xz: the pieces in which bytes come and go change nothing.
 *
 *	clang -fsanitize=fuzzer,address,undefined -DFUZZING ...		fuzzes
 *	fuzz-unpack [-m N] FILE ...					replays, and N changed copies too
 */
#include "common/compress/unpack.h"

#include <stdlib.h>

#include "tests/lib/fuzz.h"

enum { MOST = 4 << 20, SMALL = 1 << 16 };

static void must(bool good)
{
	if (!good)
		abort();
}

/* Decompresses by pieces. Returns the state, and whether the input was whole. */
static enum unpack_state unpack_pieces(struct slice all, size_t in_size, size_t out_size, struct buf *out,
				       bool *whole)
{
	struct unpack *u = unpack_new(packing_of(all));
	enum unpack_state state;
	bool good = true;

	must(u);
	while (good && all.n && out->n < MOST) {
		struct slice in = { all.p, all.n < in_size ? all.n : in_size };
		size_t given = in.n, n = out_size;

		while (good && n == out_size && out->n < MOST) {
			must(buf_reserve(out, out_size));
			good = unpack_step(u, &in, out->p + out->n, out_size, &n);
			must(n <= out_size);
			out->n += n;
		}
		must(!good || out->n >= MOST || !in.n);
		all = (struct slice){ all.p + given, all.n - given };
	}
	state = unpack_state(u);
	*whole = unpack_ended(u) && good;
	unpack_free(u);
	return state;
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct slice bytes = { p, n };
	struct buf out[2] = { 0 }, all = { 0 };
	enum unpack_state state[2];
	bool whole[2], good;

	if (packing_of(bytes) == PACKED_NOT || packing_lacks(packing_of(bytes)))
		return 0;
	must(!packing_open((struct slice){ p, n < PACKING_BYTES ? n : PACKING_BYTES }) || n < PACKING_BYTES);
	state[0] = unpack_pieces(bytes, n, SMALL, &out[0], &whole[0]);
	state[1] = unpack_pieces(bytes, 7, 5, &out[1], &whole[1]);
	good = unpack_whole(packing_of(bytes), bytes, MOST, &all);
	if (out[0].n < MOST) {
		must(state[0] == state[1] && whole[0] == whole[1] && good == whole[0]);
		if (state[0] == UNPACK_GOOD) /* how much is delivered before damage depends on the pieces */
			must(out[0].n == out[1].n && (!out[0].n || !memcmp(out[0].p, out[1].p, out[0].n)));
		must(!good || (all.n == out[0].n && (!all.n || !memcmp(all.p, out[0].p, all.n))));
	}
	buf_release(&out[0]);
	buf_release(&out[1]);
	buf_release(&all);
	return 0;
}

#ifndef FUZZING
int main(int argc, char **argv)
{
	return fuzz_replay(argc, argv);
}
#endif
