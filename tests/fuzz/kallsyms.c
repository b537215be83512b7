/* Fuzzes bytes as kernel symbols: each result is a range that holds the address, with a name. */
#include "tests/lib/fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#include "common/resolve/kallsyms.h"

static void demand(bool holds)
{
	if (!holds)
		abort();
}

static void look(const struct kallsyms *t, uint64_t address)
{
	struct kernel_symbol s;

	if (!kallsyms_find(t, address, &s))
		return;
	demand(s.address <= address && address - s.address < s.size);
	demand(s.name.n > 0 && memchr(s.name.p, '\n', s.name.n) == NULL);
	demand(memchr(s.name.p, 0, s.name.n) == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct kallsyms t = { 0 };
	int fd = memfd_create("kallsyms", MFD_CLOEXEC);

	demand(fd >= 0 && write(fd, bytes, n) == (ssize_t)n && lseek(fd, 0, SEEK_SET) == 0);
	demand(kallsyms_read(&t, fd));
	kallsyms_module_end(&t, (struct slice){ bytes, n < 4 ? n : 4 }, 0xffffffffc0002000);
	for (size_t i = 0; i < t.n; i++) {
		demand(i == 0 || t.address[i - 1] < t.address[i]);
		look(&t, t.address[i] - 1);
		look(&t, t.address[i]);
		look(&t, t.address[i] + 4095);
	}
	if (t.n)
		kallsyms_remove(&t, t.address[t.n / 2], 64);
	look(&t, UINT64_MAX);
	kallsyms_release(&t);
	close(fd);
	return 0;
}

#ifndef FUZZING
int main(int argc, char **argv)
{
	return fuzz_replay(argc, argv);
}
#endif
