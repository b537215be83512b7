/* Fuzzes bytes as a file to archive, as its debug file, and as an archived file that is replaced. */
#include "tests/lib/fuzz.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/elf/slim.h"
#include "common/symbols/symbols.h"

static void demand(bool holds)
{
	if (!holds)
		abort();
}

/* Checks that the same offsets mean the same addresses. */
static void compare_segments(const struct elf_file *was, const struct elf_file *is)
{
	uint64_t a, b;

	for (size_t i = 0; i < was->n_segments && i < 16; i++) {
		for (uint64_t o = 0; o < 4096; o += 173) {
			bool loaded = elf_vaddr(was, was->segments[i].offset + o, &a);

			demand(loaded == elf_vaddr(is, was->segments[i].offset + o, &b));
			demand(!loaded || a == b);
		}
	}
}

static void read_symbols(const struct elf_file *f)
{
	struct symbols *t = symbols_new();

	demand(t && symbols_add(t, f, SYMBOLS_SYMTAB | SYMBOLS_DYNAMIC) >= 0 && symbols_settle(t));
	for (size_t i = 0; i < f->n_segments && i < 4; i++)
		symbols_find(t, f->segments[i].vaddr + 1);
	symbols_free(t);
}

/* Makes an archived file of these and opens it; returns NULL if there is nothing to archive. */
static struct elf_file *make(const struct elf_file *runtime, const struct elf_file *debug, size_t most)
{
	struct elf_file *made = NULL;
	struct slim *s;
	struct stat st;
	int fd;

	if (slim_plan(&s, runtime, debug, SLIM_DWARF) != SLIM_DONE)
		return NULL;
	fd = memfd_create("slim", MFD_CLOEXEC);
	demand(fd >= 0);
	if (slim_write(s, fd) != SLIM_DONE) {
		close(fd);
		slim_free(s);
		return NULL;
	}
	demand(fstat(fd, &st) == 0 && (uint64_t)st.st_size == slim_bytes(s));
	demand((size_t)st.st_size <= most);
	demand(elf_open(fd, &made) == ELF_OPENED);
	made->own = true; /* nothing to wait for */
	demand(made->archived == slim_holds(s) && elf_is_whole(made));
	slim_free(s);
	return made;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct slice all = { bytes, n };
	/* Bytes are kept once; 40 bytes of header become two sections of 64 bytes and a name of at most 255. */
	size_t most = 4 * n + n / 40 * 2 * (64 + 256 + 64) + (1 << 17);
	struct elf_file *f, *g, *made, *again;
	const char *path;
	struct slice id;

	if (elf_open_bytes(all, &f) != ELF_OPENED)
		return 0;
	demand(elf_open_bytes(all, &g) == ELF_OPENED);
	elf_is_whole(f);
	elf_has_dwarf(f);
	if (elf_altlink(f, &path, &id))
		demand(strlen(path) > 0 && id.n <= ELF_BUILD_ID_MAX);
	made = make(f, NULL, most);
	if (made) {
		compare_segments(f, made);
		read_symbols(made);
		again = make(f, made, 2 * most);
		elf_close(again);
		again = make(made, g, 2 * most);
		elf_close(again);
	}
	elf_close(made);
	elf_close(make(NULL, f, most));
	made = make(f, g, 2 * most);
	if (made)
		read_symbols(made);
	elf_close(made);
	elf_close(f);
	elf_close(g);
	return 0;
}

#ifndef FUZZING
int main(int argc, char **argv)
{
	return fuzz_replay(argc, argv);
}
#endif
