/*
 * HotSpot's layout:
 *	lang-java identify FILE...	prints each file's image
 *	lang-java live PID FILE	prints the layout, code heaps and blobs of a process; FILE: its libjvm
 *	lang-java made		checks layouts and heaps of made-up memory, with lies in it
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>

#include "tests/lib/check.h"
#include "tests/lib/made-java.h"

#include "common/elf/unwind_sections.h"
#include "common/hotspot/java_heap.h"
#include "common/hotspot/java_names.h"
#include "common/lang/java_lines.h"
#include "common/lang/runtime.h"

static const char *const names[JAVA_AT] = {
	[JAVA_HEAP_HEADER] = "heap-header",
	[JAVA_HEAP_LENGTH] = "heap-length",
	[JAVA_HEAP_USED] = "heap-used",
	[JAVA_BLOB_NAME] = "blob-name",
	[JAVA_BLOB_FRAME_SIZE] = "frame-size",
	[JAVA_BLOB_FRAME_DONE] = "frame-done",
	[JAVA_BLOB_CODE_BEGIN] = "code-begin",
	[JAVA_BLOB_CODE_END] = "code-end",
	[JAVA_CODE] = "code",
	[JAVA_NM_BYTES] = "bytes",
	[JAVA_NM_METHOD] = "method",
	[JAVA_NM_COMPILE_ID] = "compile-id",
	[JAVA_NM_LEVEL] = "level",
	[JAVA_NM_ORIG_PC] = "orig-pc",
	[JAVA_NM_DEOPT] = "deopt",
	[JAVA_NM_DEOPT_MH] = "deopt-mh",
	[JAVA_DEOPT] = "deopt-as",
	[JAVA_DEBUG] = "debug",
	[JAVA_NM_PCS] = "pcs",
	[JAVA_NM_SCOPES] = "scopes",
	[JAVA_NM_PCS_END] = "pcs-end",
	[JAVA_NM_SCOPES_END] = "scopes-end",
	[JAVA_NM_IMMUTABLE] = "immutable",
	[JAVA_METADATA] = "metadata-as",
	[JAVA_NM_METADATA] = "metadata",
	[JAVA_NM_METADATA_BASE] = "metadata-base",
	[JAVA_METHOD_CONST] = "const",
	[JAVA_CONST_BYTES] = "const-bytes",
	[JAVA_CONST_POOL] = "const-pool",
	[JAVA_CONST_WORDS] = "const-words",
	[JAVA_CONST_CODE] = "const-code",
	[JAVA_CONST_NAME] = "const-name",
	[JAVA_CONST_SIGNATURE] = "const-signature",
	[JAVA_CONST_FLAGS] = "const-flags",
	[JAVA_POOL_BYTES] = "pool-bytes",
	[JAVA_POOL_LENGTH] = "pool-length",
	[JAVA_POOL_HOLDER] = "pool-holder",
	[JAVA_POOL_SOURCE] = "pool-source",
	[JAVA_KLASS_SOURCE] = "klass-source",
	[JAVA_KLASS_NAME] = "klass-name",
	[JAVA_SYMBOL_LENGTH] = "symbol-length",
	[JAVA_SYMBOL_BODY] = "symbol-body",
	[JAVA_ENTRY_BYTES] = "entry-bytes",
	[JAVA_BCP_SLOT] = "bcp-slot",
	[JAVA_U5_MORE] = "u5-more",
};

static struct elf_file *open_file(const char *path)
{
	struct elf_file *f;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd >= 0 && elf_open(fd, &f) == ELF_OPENED ? f : NULL;
}

static int identify_files(char **paths)
{
	struct lang_image image;

	for (; *paths; paths++) {
		struct elf_file *f = open_file(*paths);

		if (!f || !runtime_identify(f, &image))
			printf("no interpreter\n");
		else
			printf("language %" PRIu32 " usable %" PRIu32 " valid %d state %d\n", image.language,
			       image.usable, runtime_valid(&image), image.state != 0);
		elf_close(f);
	}
	return fflush(stdout) != 0;
}

static size_t reads, read_bytes;

static size_t read_live(void *arg, uint64_t from, void *to, size_t n)
{
	struct iovec into = { to, n }, at = { (void *)(uintptr_t)from, n };
	ssize_t got = process_vm_readv(*(pid_t *)arg, &into, 1, &at, 1, 0);

	reads++;
	return got > 0 ? (size_t)got : 0;
}

/* The run-time address less the linked address of its code. */
static bool find_bias(pid_t pid, const char *file, const struct lang_image *image, uint64_t *bias)
{
	char path[64], line[4096];
	uint64_t start, end, offset;
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "r");
	while (f && !found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " r-xp %" SCNx64, &start, &end, &offset) != 3 ||
		    strlen(line) < strlen(file) || strcmp(line + strlen(line) - strlen(file), file) != 0)
			continue;
		*bias = start - offset + image->text_offset - image->text;
		found = true;
	}
	if (f)
		fclose(f);
	return found;
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void print_process(const struct java_memory *m, const struct java_build *b)
{
	static struct java_blob blobs[JAVA_BLOBS_MOST];
	struct java_process p;
	char why[JAVA_WHY];
	uint64_t began = now_us();
	enum java_found f = java_process_read(m, b, &p, why);
	size_t n;

	printf("process %d %s\n", f, why);
	if (f != JAVA_FOUND)
		return;
	n = java_blobs(m, &b->layout, &p, blobs, JAVA_BLOBS_MOST);
	fprintf(stderr, "process read in %" PRIu64 " us\n", now_us() - began);
	printf("heaps %" PRIu32 " shift %" PRIu32 " interpreter %" PRIu64 " barrier %" PRIu64 " valid %d\n",
	       p.n_heaps, p.shift, (uint64_t)(p.interpreter_end - p.interpreter),
	       (uint64_t)(p.barrier_end - p.barrier), java_process_valid(&p));
	for (uint32_t i = 0; i < p.n_heaps; i++)
		printf("heap %" PRIx64 " %" PRIu64 " map %" PRIx64 "\n", (uint64_t)p.heaps[i].start,
		       (uint64_t)(p.heaps[i].end - p.heaps[i].start), (uint64_t)p.heaps[i].map);
	for (size_t i = 0; i < n; i++)
		printf("blob %" PRIu64 " %s\n", blobs[i].end - blobs[i].start, blobs[i].name);
}

static int print_live(pid_t pid, const char *file)
{
	struct elf_file *f = open_file(file);
	struct java_memory m = { read_live, &pid };
	struct lang_image image;
	struct java_build b;
	char why[JAVA_WHY];
	uint64_t bias, began;
	enum java_found found;

	if (!f || !runtime_identify(f, &image) || !find_bias(pid, strrchr(file, '/'), &image, &bias))
		return 1;
	elf_close(f);
	began = now_us();
	found = java_layout_read(&m, &image, bias, &b, why);
	fprintf(stderr, "layout read in %" PRIu64 " us, %zu reads\n", now_us() - began, reads);
	printf("layout %d %s\nversion %" PRIu32, found, why, b.layout.version);
	for (size_t i = 0; i < JAVA_AT; i++)
		printf(" %s %u", names[i], b.layout.at[i]);
	printf("\n");
	if (found == JAVA_FOUND)
		print_process(&m, &b);
	return fflush(stdout) != 0;
}

static struct made_java j;

static enum java_found read_made(struct java_build *b, char why[static JAVA_WHY])
{
	return java_layout_read(&(struct java_memory){ made_java_read, &j }, &j.image, MADE_JAVA_BIAS, b,
				why);
}

static enum java_found read_made_process(struct java_process *p)
{
	struct java_memory m = { made_java_read, &j };
	struct java_build b;
	char why[JAVA_WHY];

	if (read_made(&b, why) != JAVA_FOUND)
		return JAVA_UNREADABLE;
	return java_process_read(&m, &b, p, why);
}

/* Reads a layout without one field, or with another offset in it. */
static enum java_found read_changed(size_t changed, bool without, uint64_t offset, char why[static JAVA_WHY])
{
	struct made_java_field fields[MADE_JAVA_FIELDS];
	struct java_build b;

	memcpy(fields, made_java_fields, sizeof(fields));
	fields[changed].offset = offset;
	if (without)
		fields[changed] = (struct made_java_field){ "Nothing", "_nothing", 0, 0 };
	made_java_fill(&j, fields, MADE_JAVA_FIELDS);
	return read_made(&b, why);
}

static void check_whole(void)
{
	struct java_build b;
	char why[JAVA_WHY];

	made_java_fill(&j, made_java_fields, MADE_JAVA_FIELDS);
	check(read_made(&b, why) == JAVA_FOUND && *why == '\0', "a whole layout is read");
	check(b.layout.version == 17 && b.layout.at[JAVA_NM_COMPILE_ID] == 304 &&
		      b.layout.at[JAVA_NM_BYTES] == 312 && b.layout.at[JAVA_DEBUG] == JAVA_DEBUG_POINTER &&
		      b.layout.at[JAVA_CODE] == JAVA_CODE_POINTER,
	      "... with its numbers");
	check(java_layout_valid(&b.layout), "... and is valid");
	check(j.read < 160 << 10, "... of which little is read");
}

static void check_missing(void)
{
	int needed = 0, good = 0;
	char why[JAVA_WHY], want[JAVA_WHY];

	for (size_t i = 0; i < MADE_JAVA_FIELDS; i++) {
		const struct made_java_field *f = &made_java_fields[i];
		bool optional = strcmp(f->type, "nmethod") == 0 && !f->field;

		optional = optional || strcmp(f->type, "JDK_Version") == 0 ||
			   strcmp(f->type, "Abstract_VM_Version") == 0 ||
			   (f->field && strcmp(f->field, "_deopt_mh_handler_begin") == 0);
		snprintf(want, sizeof(want), "libjvm describes no %s%s%s", f->type, f->field ? "." : "",
			 f->field ? f->field : "");
		needed += !optional;
		if (read_changed(i, true, 0, why) != (optional ? JAVA_FOUND : JAVA_REFUSED))
			printf("# without %s.%s: %s\n", f->type, f->field ? f->field : "", why);
		else
			good += optional || strncmp(why, "libjvm describes no ", 20) == 0;
	}
	check(needed > 40, "most members are needed");
	check_is(good, MADE_JAVA_FIELDS, "a layout without one of them is refused, with a sentence");
	read_changed(12, true, 0, why);
	check_text(why, "libjvm describes no nmethod._compile_id", "... that names the member");
}

static void check_absurd(void)
{
	static const uint64_t values[] = { 383, 384, 1025, 1 << 16, UINT64_C(1) << 32, UINT64_MAX };
	int bad = 0, refused = 0;
	char why[JAVA_WHY];

	for (size_t i = 0; i < MADE_JAVA_FIELDS; i++) {
		for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
			enum java_found f;

			if (made_java_fields[i].is_static)
				continue;
			f = read_changed(i, false, values[v], why);
			refused += f == JAVA_REFUSED;
			bad += v >= 2 && f != JAVA_REFUSED &&
			       strcmp(made_java_fields[i].type, "nmethod") != 0;
			bad += f == JAVA_REFUSED && *why == '\0';
		}
	}
	check(bad == 0 && refused > 200, "a layout with an absurd place is refused");
}

static enum java_found read_with(size_t at, uint64_t value, size_t n, char why[static JAVA_WHY])
{
	struct java_build b;

	made_java_fill(&j, made_java_fields, MADE_JAVA_FIELDS);
	made_java_put(&j, at, value, n);
	return read_made(&b, why);
}

static void check_tables(void)
{
	char why[JAVA_WHY];
	struct java_build b;

	check(read_with(8 * JAVA_STRUCTS, 0, 8, why) == JAVA_LATER,
	      "a libjvm that is not loaded yet is read later");
	check_is(read_with(8 * JAVA_TYPES_STRIDE, 0, 8, why), JAVA_LATER, "... also without a stride");
	check_is(read_with(8 * JAVA_STRUCTS_STRIDE, 12, 8, why), JAVA_REFUSED, "an odd stride is refused");
	check(read_with(8 * JAVA_STRUCTS_STRIDE, 8, 8, why) == JAVA_REFUSED,
	      "... and one less than its members");
	check_is(read_with(8 * JAVA_STRUCTS_STRIDE, 1 << 20, 8, why), JAVA_REFUSED, "... and a huge one");
	check_is(read_with(8 * JAVA_STRUCTS_FIELD, 41, 8, why), JAVA_REFUSED, "... and a member beyond it");
	check_is(read_with(8 * JAVA_STRUCTS, 8, 8, why), JAVA_UNREADABLE, "a table elsewhere is unreadable");
	check(read_with(8 * JAVA_TYPES, UINT64_MAX - 4, 8, why) == JAVA_UNREADABLE,
	      "... also at the end of memory");
	check(read_with(MADE_JAVA_ENTRIES, 8, 8, why) == JAVA_REFUSED,
	      "a name elsewhere is that of no member");
	check(read_with(MADE_JAVA_STATICS + 8 * JAVA_STATIC_JDK, 0, 1, why) == JAVA_LATER,
	      "a version that is not set yet is read later");
	check(read_with(MADE_JAVA_STATICS + 8 * JAVA_STATIC_JDK, 7, 1, why) == JAVA_REFUSED,
	      "Java 7 is refused");
	made_java_fill(&j, made_java_fields, MADE_JAVA_FIELDS);
	memset(j.bytes + MADE_JAVA_TEXTS, 'x', MADE_JAVA_BYTES - MADE_JAVA_TEXTS);
	check_is(read_made(&b, why), JAVA_REFUSED, "texts without an end are names of no member");
	made_java_fill(&j, made_java_fields, MADE_JAVA_FIELDS);
	j.most = MADE_JAVA_TEXTS + 100;
	check_is(read_made(&b, why), JAVA_REFUSED, "... and those that end in an unreadable page");
}

/* All of its memory is one table without an end, each name in a page of its own. */
static size_t read_endless(void *arg, uint64_t from, void *to, size_t n)
{
	uint64_t *words = to, base = *(uint64_t *)arg;

	reads++;
	read_bytes += n;
	if (n == 8) { /* a variable */
		size_t i = (size_t)(from - base) / 8;

		*words = i == JAVA_STRUCTS || i == JAVA_TYPES		      ? 1 << 20
			 : i == JAVA_STRUCTS_STRIDE || i == JAVA_TYPES_STRIDE ? 48
									      : 8;
		return n;
	}
	for (size_t i = 0; i < n / 8; i++)
		words[i] = (from + 8 * i) * 4096 + 1;
	return n;
}

static void check_endless(void)
{
	uint64_t base = MADE_JAVA_AT;
	struct lang_image image = { .language = LANG_JAVA, .state = MADE_JAVA_AT };
	struct java_build b;
	char why[JAVA_WHY];

	for (size_t i = 0; i < JAVA_SYMBOLS; i++)
		image.at[i] = (uint32_t)(8 * i);
	reads = read_bytes = 0;
	check(java_layout_read(&(struct java_memory){ read_endless, &base }, &image, 0, &b, why) ==
		      JAVA_REFUSED,
	      "a table without an end is refused");
	check(read_bytes < 16 << 20 && reads < 2000, "... after a bounded number of reads");
	check_text(why, "a table of libjvm has no end", "... with a sentence");
}

static enum java_found process_with(size_t at, uint64_t value, size_t n)
{
	struct java_process p;

	made_java_fill(&j, made_java_fields, MADE_JAVA_FIELDS);
	made_java_put(&j, at, value, n);
	return read_made_process(&p);
}

static void check_process(void)
{
	const size_t array = MADE_JAVA_OBJECTS, heap = MADE_JAVA_OBJECTS + 0x100,
		     queue = MADE_JAVA_OBJECTS + 0x80;
	struct java_process p;

	made_java_fill(&j, made_java_fields, MADE_JAVA_FIELDS);
	check(read_made_process(&p) == JAVA_FOUND && java_process_valid(&p), "a process is read");
	check(p.n_heaps == 3 && p.shift == 7 &&
		      p.heaps[1].start == MADE_JAVA_AT + MADE_JAVA_HEAPS + MADE_JAVA_HEAP_BYTES &&
		      p.heaps[1].map == MADE_JAVA_AT + MADE_JAVA_MAPS + 256 &&
		      p.interpreter_end - p.interpreter == 128,
	      "... with its heaps and its interpreter");
	check_is(process_with(array, 0, 4), JAVA_LATER, "without heaps it is read later");
	check(process_with(MADE_JAVA_STATICS + 8 * JAVA_STATIC_HEAPS, 0, 8) == JAVA_LATER,
	      "... and without the array");
	check_is(process_with(heap + 16, 0, 8), JAVA_LATER, "... and without a heap's end");
	check_is(process_with(queue + 8, 0, 8), JAVA_LATER, "... and without the interpreter's code");
	check_is(process_with(array, 5, 4), JAVA_REFUSED, "5 heaps are refused");
	check_is(process_with(array, UINT32_MAX, 4), JAVA_REFUSED, "... and billions");
	check(process_with(heap + 16, MADE_JAVA_AT, 8) == JAVA_REFUSED,
	      "a heap that ends before it begins is refused");
	check(process_with(heap + 16, UINT64_MAX, 8) == JAVA_REFUSED,
	      "... and one in the kernel's addresses");
	check_is(process_with(heap + 8, 64, 8), JAVA_REFUSED, "... and one at 64");
	check_is(process_with(heap + 136, UINT64_MAX - 8, 8), JAVA_REFUSED, "... and its segment map there");
	check_is(process_with(heap + 256, 3, 4), JAVA_REFUSED, "segments of 8 bytes are refused");
	check_is(process_with(heap + 256, 17, 4), JAVA_REFUSED, "... and of 128 KiB");
	check_is(process_with(heap + 256, 8, 4), JAVA_REFUSED, "... and of two sizes");
	check(process_with(queue + 8, MADE_JAVA_AT, 8) == JAVA_REFUSED,
	      "an interpreter outside of the heaps is refused");
	check_is(process_with(queue + 20, UINT32_MAX, 4), JAVA_REFUSED, "... and one of 4 GiB");
}

static size_t blobs_with(size_t at, uint64_t value, size_t n, struct java_process *p, struct java_blob *blobs)
{
	struct java_memory m = { made_java_read, &j };
	struct java_build b;
	char why[JAVA_WHY];

	made_java_fill(&j, made_java_fields, MADE_JAVA_FIELDS);
	made_java_put(&j, at, value, n);
	if (read_made(&b, why) != JAVA_FOUND || java_process_read(&m, &b, p, why) != JAVA_FOUND)
		return 99;
	return java_blobs(&m, &b.layout, p, blobs, 8);
}

static void check_blobs(void)
{
	const size_t heap = MADE_JAVA_HEAPS;
	struct java_process p;
	struct java_blob b[8];

	check(blobs_with(0, MADE_JAVA_AT + MADE_JAVA_ENTRIES, 8, &p, b) == 4,
	      "free blocks and methods are no blobs");
	check(strcmp(b[0].name, "flush_icache_stub") == 0 && strcmp(b[2].name, "Interpreter") == 0 &&
		      b[1].start == MADE_JAVA_AT + heap + 256 + 16 && b[1].end == MADE_JAVA_AT + heap + 512,
	      "blobs have names and ranges");
	check(p.barrier == b[3].start && p.barrier_end == b[3].end && p.barrier,
	      "the return barrier is found");
	check_is(blobs_with(heap, 0, 8, &p, b), 0, "a block without a length ends the heap");
	check_is(blobs_with(heap, UINT32_MAX, 8, &p, b), 0, "... and one longer than the heap");
	check_is(blobs_with(heap + 16 + 96, 8, 8, &p, b), 3, "a blob with an unreadable name is left out");
	check_is(blobs_with(MADE_JAVA_TEXTS, 0, 0, &p, b), 4, "the heap is whole again");
	made_java_fill(&j, made_java_fields, MADE_JAVA_FIELDS);
	check(blobs_with(heap + 16 + 96, MADE_JAVA_AT + MADE_JAVA_MAPS + 1, 8, &p, b) == 4 &&
		      strspn(b[0].name, "?") == strlen(b[0].name),
	      "bytes that are not printable are shown as '?'");
}

static void check_class(const char *class, const char *want)
{
	struct buf out = { 0 };
	char text[256];

	java_class_name(&out, slice_of(class));
	snprintf(text, sizeof(text), "%s is %s", class, want);
	check(slice_is(buf_view(&out), want), text);
	buf_release(&out);
}

static void check_stub(const char *name, const char *want)
{
	struct buf out = { 0 };
	char text[256];

	java_stub_name(&out, slice_of(name));
	snprintf(text, sizeof(text), "%s is %s", name, want);
	check(slice_is(buf_view(&out), want), text);
	buf_release(&out);
}

static void check_names(void)
{
	struct buf out = { 0 };

	check_class("java/util/HashMap$Node", "java.util.HashMap$Node");
	check_class("Task$$Lambda$14+0x0000000800c03000", "Task$$Lambda");  /* 17 */
	check_class("a/Task$$Lambda+0x00007f3e5c003000", "a.Task$$Lambda"); /* 21 */
	check_class("a/Task$$Lambda/0x00007f3e5c003000", "a.Task$$Lambda");
	check_class("a/Task$$Lambda$7/1834188994", "a.Task$$Lambda"); /* 8 */
	check_class("java/lang/invoke/LambdaForm$MH+0x0000000800c05c00", "java.lang.invoke.LambdaForm$MH");
	check_class("java/lang/invoke/LambdaForm$DMH/1108411398", "java.lang.invoke.LambdaForm$DMH");
	check_class("jdk/internal/reflect/GeneratedMethodAccessor12",
		    "jdk.internal.reflect.GeneratedMethodAccessor");
	check_class("a/Model3", "a.Model3");
	check_class("a/B$1", "a.B$1");
	check_class("a/B$0x10", "a.B$0x10");
	check_class("com/sun/proxy/$Proxy5", "com.sun.proxy.$Proxy");
	check_class("jdk/proxy2/$Proxy12", "jdk.proxy.$Proxy");
	check_class("jdk/proxy/A1", "jdk.proxy.A1");
	check_class("jdk/proxy7", "jdk.proxy7");
	check_class("jdk/proxyx7/A", "jdk.proxyx7.A");
	check_class("a/jdk/proxy7/A", "a.jdk.proxy7.A");
	check_class("a/$Proxy", "a.$Proxy");
	check_class("$Proxy3", "$Proxy");
	check_class("+0x1", "");
	check_class("12", "12");
	check_class("", "");
	check_class("a/\xed\xa0\xbd\xed\xb8\x80", "a.\xf0\x9f\x98\x80"); /* U+1F600 */
	check_class("\xed\xa0\xbd!", "?!");
	check_class("\xed\xa0", "\xed\xa0");
	check_stub("StubRoutines (1)", "StubRoutines (initial stubs)");
	check_stub("StubRoutines (2)", "StubRoutines (final stubs)");
	check_stub("StubRoutines (continuation stubs)", "StubRoutines (continuation stubs)");
	check_stub("new_instance Runtime1 stub", "new_instance Runtime1 stub");
	check_stub("", "");
	java_source_path(&out, slice_of("java/util/HashMap$Node"), slice_of("HashMap.java"));
	check(slice_is(buf_view(&out), "java/util/HashMap.java"), "a source's path has its package");
	buf_clear(&out);
	java_source_path(&out, slice_of("Main$$Lambda/0x0000012"), slice_of("Main.java"));
	check(slice_is(buf_view(&out), "Main.java"), "... or none");
	buf_clear(&out);
	java_source_path(&out, slice_of("a/B"), slice_of(""));
	check_is(out.n, 0, "a class without a source has no path");
	buf_release(&out);
}

/* Checks the line of each bci below n; 0: it has none. */
static void check_lines(uint32_t version, struct slice table, const uint32_t *want, uint32_t n,
			const char *text)
{
	uint32_t line, wrong = 0;

	for (uint32_t bci = 0; bci < n; bci++)
		wrong += (java_line(version, table, bci, &line) ? line : 0) != want[bci];
	check_is(wrong, 0, text);
}

static void check_tables_of_lines(void)
{
	/* (0, 12) as pair of numbers 0 and 24; (+3, +1) as a byte; (+1, -2) as numbers 2 and 3; then the end */
	static const uint8_t old[] = { 0xff, 0, 24, 3 << 3 | 1, 0xff, 2, 3, 0 };
	static const uint8_t new[] = { 0xff, 1, 25, 3 << 3 | 1, 0xff, 3, 4, 0 };
	static const uint8_t large[] = { 0xff, 0, 192 + 16, 13, 0 }; /* 208 + 13 * 64 = 1040: line 520 */
	static const uint32_t want[] = { 12, 12, 12, 13, 11, 11 }, far[] = { 520, 520 },
			      none[] = { 0, 0, 0, 0, 0, 0 };
	int found = 0;
	uint32_t line;

	check_lines(17, (struct slice){ old, sizeof(old) }, want, 6, "lines of a table of JDK 17");
	check_lines(8, (struct slice){ old, sizeof(old) }, want, 6, "... and of JDK 8");
	check_lines(21, (struct slice){ new, sizeof(new) }, want, 6,
		    "... and of JDK 21, whose bytes are one more");
	check_lines(17, (struct slice){ large, sizeof(large) }, far, 2, "a number of two bytes");
	check_lines(17, (struct slice){ old, 0 }, none, 6, "an empty table has no lines");
	for (size_t n = 0; n < sizeof(old); n++)
		found += java_line(17, (struct slice){ old, n }, 4, &line);
	check_is(found, 0, "a table that was cut has no lines");
}

static int check_made(void)
{
	check_names();
	check_tables_of_lines();
	check_whole();
	check_missing();
	check_absurd();
	check_tables();
	check_endless();
	check_process();
	check_blobs();
	return checks_done();
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "identify") == 0)
		return identify_files(argv + 2);
	if (argc == 4 && strcmp(argv[1], "live") == 0)
		return print_live(atoi(argv[2]), argv[3]);
	return argc == 2 && strcmp(argv[1], "made") == 0 ? check_made() : 2;
}
