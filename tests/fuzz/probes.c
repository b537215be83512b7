/* Fuzzes bytes as an ELF file with probes: all places are inside the file's code, each once. */
#include "tests/lib/fuzz.h"

#include <elf.h>

#include "common/elf/mapped.h"
#include "common/elf/probe_arg.h"
#include "common/elf/probe_sites.h"
#include "common/unwind/insn_start.h"

static void demand(bool holds)
{
	if (!holds)
		abort();
}

static bool in_segment(const struct elf_file *f, uint64_t offset, bool exec)
{
	for (size_t i = 0; i < f->n_segments; i++) {
		const struct elf_segment *s = &f->segments[i];

		if (s->exec == exec && offset >= s->offset && offset - s->offset < s->filesz)
			return true;
	}
	return false;
}

static void check_sites(const struct elf_file *f, struct probe_sites *s, enum probe_sites_found found)
{
	demand(s->n <= PROBE_SITES_MAX && (found != PROBE_SITES_FOUND || s->n > 0));
	for (size_t i = 0; i < s->n; i++) {
		demand(in_segment(f, s->items[i].offset, true) &&
		       (i == 0 || s->items[i].offset > s->items[i - 1].offset));
		demand(s->items[i].semaphore == 0 || in_segment(f, s->items[i].semaphore, false));
		for (unsigned int n = 0; n < 4 && s->items[i].args; n++) {
			struct probe_arg a;

			if (probe_arg_parse(n % 2 ? EM_X86_64 : EM_AARCH64, s->items[i].args, n, &a))
				demand((a.reg <= 256 || a.reg == PROBE_NO_REG) && a.shift <= 3 &&
				       a.size <= 8);
		}
		if (i < 4)
			insn_starts(f, s->items[i].offset);
	}
	probe_sites_release(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct probe_sites s = { 0 };
	static bool guarded;
	struct elf_file *f;

	if (!guarded)
		demand(guarded = mapped_guard());
	if (elf_open_bytes((struct slice){ bytes, n }, &f) != ELF_OPENED)
		return 0;
	check_sites(f, &s, probe_sites_usdt(f, "cprof", "both", &s));
	check_sites(f, &s, probe_sites_usdt(f, "cprof", "asked", &s));
	check_sites(f, &s, probe_sites_symbol(f, "step_leaf", 5, &s));
	check_sites(f, &s, probe_sites_symbol(f, "main", UINT64_MAX, &s));
	check_sites(f, &s, probe_sites_address(f, 0x1136, &s));
	elf_close(f);
	return 0;
}

#ifndef FUZZING
int main(int argc, char **argv)
{
	return fuzz_replay(argc, argv);
}
#endif
