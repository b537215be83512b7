#!/bin/sh
# How true "complete" is, on programs with assembly or without call frame information: GMP, x264, a static
# program with musl, and Rust without unwind tables. A minute:
#
#	[BENCH_SECONDS=5] [BENCH_HERTZ=997] BIN=build/bin BUILD=build tests/bench/complete.sh [NAME ...]
#
# complete.py judges, by the bytes of the files alone. A stack that is called complete is true if its
# outermost frame has no caller, and each return address follows a call. Claimed are 99.5 % of them, and 80 %
# complete and true ones of the stacks with a frame in code without call frame information. A program whose
# tools are missing is left out. Fails if a claim is not met. Requires root.
set -u
tests=$(cd "$(dirname "$0")/.." && pwd)
: "${BIN:=$(dirname "$tests")/build/bin}" "${BENCH_SECONDS:=5}" "${BENCH_HERTZ:=997}"
PATH=$BIN:$PATH
export LC_ALL=C
[ "$(id -u)" = 0 ] || { echo "The recorder walks stacks in the kernel, which needs root: left out."; exit 0; }
for tool in readelf python3; do
	command -v $tool >/dev/null || { echo "There is no $tool, which the judge needs: left out."; exit 0; }
done
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cprof-bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
bad=0

without() { printf '%-6s left out: there is no %s\n' "$name" "$1"; }

# judge COMM COMMAND...: a row for the stacks of the threads with this name
judge() {
	comm=$1
	shift
	set -- timeout "$BENCH_SECONDS" "$@"
	cprof-record -q -F "$BENCH_HERTZ" -o "$tmp/file" -- "$@" >"$tmp/out" 2>&1 </dev/null
	cprof-dump "$tmp/file" | python3 "$tests/bench/complete.py" "$comm" >"$tmp/judged"
	awk -v name="$name" '{
		true = $2 ? 100 * $3 / $2 : 0
		whole = $4 ? 100 * $5 / $4 : 100
		met = $2 > 0 && true >= 99.5 && whole >= 80
		printf "%-6s %6d stacks, complete %6.2f %%, of them true %6.2f %%; ", name, $1,
			$1 ? 100 * $2 / $1 : 0, true
		printf "with gaps %6.2f %%, of them whole %6.2f %%%s\n", $1 ? 100 * $4 / $1 : 0, whole,
			met ? "" : ": not met"
	}
	END { exit !met }' "$tmp/judged" || bad=1
}

run_gmp() {
	cat >"$tmp/gmp.c" <<-'END'
	#include <gmp.h>
	__attribute__((noinline)) static void powers(mpz_t r, gmp_randstate_t s, unsigned long bits)
	{
		mpz_t b, e, m;
		mpz_inits(b, e, m, NULL);
		mpz_urandomb(b, s, bits);
		mpz_urandomb(e, s, bits);
		mpz_urandomb(m, s, bits);
		mpz_setbit(m, 0);
		mpz_powm(r, b, e, m);
		mpz_gcd(r, b, m);
		mpz_clears(b, e, m, NULL);
	}
	__attribute__((noinline)) static void products(mpz_t r, gmp_randstate_t s, unsigned long bits)
	{
		mpz_t a, b;
		mpz_inits(a, b, NULL);
		mpz_urandomb(a, s, bits);
		mpz_urandomb(b, s, bits / 2 + 1);
		mpz_mul(r, a, b);
		mpz_sqrt(r, r);
		mpz_tdiv_q(r, a, b);
		mpz_clears(a, b, NULL);
	}
	int main(void)
	{
		gmp_randstate_t s;
		mpz_t r;
		gmp_randinit_default(s);
		mpz_init(r);
		for (;;)
			for (unsigned long bits = 64; bits < 200000; bits *= 3) {
				if (bits < 5000)
					powers(r, s, bits);
				products(r, s, bits);
			}
	}
	END
	${CC:-cc} -O2 -o "$tmp/gmp" "$tmp/gmp.c" -lgmp 2>/dev/null || { without libgmp-dev; return; }
	judge gmp "$tmp/gmp"
}

run_x264() {
	command -v x264 >/dev/null || { without x264; return; }
	# Noise over a picture that moves
	python3 - "$tmp/video.yuv" <<-'END'
	import random, sys
	random.seed(7)
	w, h = 320, 192
	noise = bytes(random.randrange(64) for _ in range(w * h * 2))
	with open(sys.argv[1], 'wb') as f:
	    for n in range(60):
	        rows = (bytes((x * y // 97 + n * 3) % 192 for x in range(w)) for y in range(h))
	        y = bytes(a + b for a, b in zip(b''.join(rows), noise[n * 311 % w * h:]))
	        f.write(y + bytes([128]) * (w * h // 2))
	END
	judge x264 sh -c 'while :; do "$@"; done' sh \
		x264 --quiet --preset slow --threads 2 --input-res 320x192 --fps 25 \
		-o /dev/null "$tmp/video.yuv"
}

run_musl() {
	command -v musl-gcc >/dev/null || { without musl-gcc; return; }
	cat >"$tmp/musl.c" <<-'END'
	#include <math.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	static char text[20000][24], copy[20000][24];
	static int compare(const void *a, const void *b) { return strcmp(a, b); }
	__attribute__((noinline)) static double fill(void)
	{
		double sum = 0;
		for (int i = 0; i < 20000; i++) {
			snprintf(text[i], sizeof(text[i]), "%x-%.3f", (unsigned)rand(), sin(i));
			sum += strtod(text[i], NULL) + pow(i, 0.3);
		}
		return sum;
	}
	int main(void)
	{
		for (double sum = 0;; sum += fill()) {
			memcpy(copy, text, sizeof(text));
			qsort(copy, 20000, sizeof(*copy), compare);
			if (sum < 0)
				return 1;
		}
	}
	END
	musl-gcc -O2 -static -fomit-frame-pointer -fno-asynchronous-unwind-tables -o "$tmp/musl" \
		"$tmp/musl.c" -lm || { without "musl-gcc that builds"; return; }
	judge musl "$tmp/musl"
}

run_rust() {
	command -v rustc >/dev/null || { without rustc; return; }
	cat >"$tmp/rusty.rs" <<-'END'
	use std::collections::BTreeMap;
	#[inline(never)]
	fn depth(n: u64, m: &BTreeMap<u64, String>) -> u64 {
	    if n > 0 { return depth(n - 1, m).wrapping_add(n) }
	    m.range(5..).map(|(k, v)| k ^ v.len() as u64).sum()
	}
	#[inline(never)]
	fn fill(seed: u64) -> BTreeMap<u64, String> {
	    let mut x = seed;
	    let mut m = BTreeMap::new();
	    for i in 0..2000u64 {
	        x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
	        m.insert(x >> 33, format!("{}-{:x}", i, x));
	    }
	    m
	}
	fn main() {
	    std::thread::spawn(|| {
	        let mut s = 0u64;
	        while s != 1 { s = s.wrapping_add(depth(20, &fill(s))) }
	    });
	    let mut s = 1u64;
	    while s != 0 {
	        let mut v: Vec<_> = fill(s).into_iter().collect();
	        v.sort_by(|a, b| a.1.cmp(&b.1));
	        s = s.wrapping_add(v[7].0);
	    }
	}
	END
	rustc -O -C panic=abort -C force-unwind-tables=no -o "$tmp/rusty" "$tmp/rusty.rs" \
		2>"$tmp/err" || { without "rustc that builds: $(head -n 1 "$tmp/err")"; return; }
	judge rusty "$tmp/rusty"
}

[ $# -gt 0 ] || set -- gmp x264 musl rust
for name; do "run_$name"; done
exit $bad
