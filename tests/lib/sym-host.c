/*
 * A host with many processes and large files, as a capture.
 *
 *	sym-host elf PATH NUMBER FUNCTIONS NAME_LENGTH SIZE
 *		writes an ELF file (made-elf.h)
 *	sym-host stream PROCESSES FRAMES FILES >STREAM
 *		each process maps FILES and has FRAMES different frames; FILES are "PATH FUNCTIONS" each,
 *		number 0, 1, ...
 *	sym-host check STREAM
 *		prints how many frames have their right name, a wrong one, none
 */
#include <fcntl.h>
#include <unistd.h>

#include "common/capture/capture.h"
#include "common/stream/reader.h"
#include "common/stream/writer.h"
#include "tests/lib/check.h"
#include "tests/lib/made-elf.h"

/* Each file is mapped in a slot of its own, at a different address there in each process. */
enum { SLOT_BITS = 36, SHIFT_BITS = 20, FILES_MAX = 64 };

static uint64_t start_of(uint64_t file, uint64_t process)
{
	return (file + 1) << SLOT_BITS | process << SHIFT_BITS;
}

static int make(char **argv)
{
	struct made_elf m = { (unsigned int)strtoul(argv[3], NULL, 10), (uint32_t)strtoul(argv[4], NULL, 10),
			      (uint32_t)strtoul(argv[5], NULL, 10), strtoull(argv[6], NULL, 10) };

	return !made_write(&m, argv[2]);
}

struct host {
	struct made_elf files[FILES_MAX];
	uint64_t n_files, frames;
	uint64_t frame; /* the last */
};

static void put_process(struct writer *w, struct host *h, uint64_t process)
{
	uint64_t time = process + 1;

	writer_put(w, &(struct record){ .type = RECORD_PROCESS, .process = { .id = process, .time = 1, .pid = process } });
	writer_put(w, &(struct record){ .type = RECORD_THREAD, .thread = { process, 1, process, process } });
	for (uint64_t f = 0; f < h->n_files; f++)
		writer_put(w, &(struct record){ .type = RECORD_MAPPING,
						.mapping = { 1, process, start_of(f, process), made_text_size(&h->files[f]),
							     MADE_TEXT, 5, f + 1 } });
	for (uint64_t i = 0; i < h->frames; i++) {
		uint64_t f = i % 2 ? random_below(h->n_files) : 0; /* half of them in the first file */
		uint64_t address = start_of(f, process) + random_below(made_text_size(&h->files[f]));

		h->frame++;
		writer_put(w, &(struct record){ .type = RECORD_FRAME, .frame = { h->frame, process, FRAME_EXACT, address } });
		writer_put(w, &(struct record){ .type = RECORD_NODE, .node = { NODE_FIRST + h->frame, 0, h->frame } });
		writer_put(w, &(struct record){ .type = RECORD_SAMPLE,
						.sample = { time, 1, 0, process, NODE_FIRST + h->frame, 0, 1 } });
	}
}

static int write_stream(int argc, char **argv)
{
	struct writer *w = writer_new(STDOUT_FILENO);
	uint64_t processes = strtoull(argv[2], NULL, 10);
	struct host h = { .frames = strtoull(argv[3], NULL, 10) };
	bool good;

	writer_put(w, &(struct record){ .type = RECORD_SEGMENT, .segment = { 1, 0, 1 } });
	writer_put(w, &(struct record){ .type = RECORD_EVENT, .event = { 1, slice_of("cpu-clock"), slice_of("ns"), 1, 99000 } });
	writer_put(w, &(struct record){ .type = RECORD_FLUSH });
	for (int i = 4; i + 1 < argc && h.n_files < FILES_MAX; i += 2) {
		struct made_elf *m = &h.files[h.n_files];
		uint8_t id[MADE_BUILD_ID];

		*m = (struct made_elf){ .number = (unsigned int)h.n_files++,
					.functions = (uint32_t)strtoul(argv[i + 1], NULL, 10) };
		made_build_id(m, id);
		writer_put(w, &(struct record){ .type = RECORD_FILE,
						.file = { .id = h.n_files, .dev_major = 8, .inode = h.n_files,
							  .build_id = { id, sizeof(id) }, .path = slice_of(argv[i]) } });
	}
	for (uint64_t p = 1; p <= processes; p++)
		put_process(w, &h, p);
	writer_put(w, &(struct record){ .type = RECORD_FLUSH });
	writer_put(w, &(struct record){ .type = RECORD_END, .end = { processes + 2, 0, h.frame } });
	good = writer_finish(w);
	writer_free(w);
	return !good;
}

static bool is_right(const struct capture_frame *f, struct slice name, uint64_t offset)
{
	uint64_t file = (f->address >> SLOT_BITS) - 1;
	uint64_t into = f->address - start_of(file, f->process);
	char begin[64];
	int n = snprintf(begin, sizeof(begin), "f%u_%u_", (unsigned int)file, (unsigned int)(into / MADE_STEP));

	return name.n > (size_t)n && memcmp(name.p, begin, (size_t)n) == 0 && offset == into % MADE_STEP &&
	       name.p[name.n - 1] == 'a' + into / MADE_STEP % 26;
}

static int check_stream(const char *path)
{
	struct reader *r = reader_new(open(path, O_RDONLY), path);
	size_t right = 0, wrong = 0, none = 0;
	struct capture c;
	struct record rec;

	if (!r || !capture_init(&c))
		return 1;
	while (reader_next(r, &rec) > 0)
		capture_apply(&c, &rec);
	for (size_t i = 1; i < c.n_frames; i++) {
		const struct capture_symbol *s = capture_symbol_from(&c, (uint32_t)i, 0);

		if (!s || !s->name)
			none++;
		else if (is_right(&c.frames[i], capture_text(&c, s->name), s->offset))
			right++;
		else
			wrong++;
	}
	printf("%zu right, %zu wrong, %zu without\n", right, wrong, none);
	capture_release(&c);
	reader_free(r);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 7 && strcmp(argv[1], "elf") == 0)
		return make(argv);
	if (argc >= 6 && strcmp(argv[1], "stream") == 0)
		return write_stream(argc, argv);
	if (argc == 3 && strcmp(argv[1], "check") == 0)
		return check_stream(argv[2]);
	fprintf(stderr, "usage: sym-host elf|stream|check ...\n");
	return 2;
}
