#include "common/resolve/kernelfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/symbols/symbols.h"
#include "common/foreign/foreign.h"

enum { RELEASE_MAX = 128, PATH_MOST = 4096 };

/* The open file, of either kind. */
struct source {
	struct buf path;
	struct elf_file *elf; /* the file of symbols */
	struct symbols *symbols;
	struct kallsyms text;
	bool has_stext;
	uint64_t stext;
};

struct kernel_files {
	const struct kernel_options *o;
	struct source source;
	bool open;     /* source is open */
	bool usable;   /* for this segment, with this offset: */
	uint64_t offset;
	enum source_status status;
	const char *why;
	struct buf name;
};

static void source_close(struct source *s)
{
	symbols_free(s->symbols);
	elf_close(s->elf);
	kallsyms_release(&s->text);
	buf_release(&s->path);
	*s = (struct source){ 0 };
}

void kernel_files_free(struct kernel_files *k)
{
	if (!k)
		return;
	source_close(&k->source);
	buf_release(&k->name);
	free(k);
}

/* --- opening --------------------------------------------------------------------------------- */

static enum source_status reject_source(struct kernel_files *k, enum source_status status, const char *why)
{
	source_close(&k->source);
	k->why = why;
	return status;
}

static enum source_status read_elf(struct kernel_files *k)
{
	struct source *s = &k->source;
	long n;

	s->has_stext = elf_symbol(s->elf, "_stext", &s->stext);
	s->symbols = symbols_new();
	n = s->symbols ? symbols_add(s->symbols, s->elf, SYMBOLS_SYMTAB) : -1;
	if (n < 0 || !symbols_settle(s->symbols))
		return reject_source(k, SOURCE_DAMAGED, "out of memory");
	return n ? SOURCE_OK : reject_source(k, SOURCE_STRIPPED, "it has no symbols");
}

static enum source_status read_text(struct kernel_files *k, int fd)
{
	struct source *s = &k->source;
	bool good = lseek(fd, 0, SEEK_SET) == 0 && kallsyms_read(&s->text, fd);
	int error = errno;

	s->text.with_init = true; /* as in a vmlinux */
	close(fd);
	if (!good)
		return reject_source(k, SOURCE_DAMAGED, strerror(error));
	if (s->text.lines == 0)
		return reject_source(k, SOURCE_NOT_ELF, "it is neither a vmlinux nor a System.map");
	if (s->text.n == 0)
		return reject_source(k, SOURCE_STRIPPED, "its addresses are hidden");
	s->has_stext = s->text.stext != 0;
	s->stext = s->text.stext;
	return SOURCE_OK;
}

/* Takes over the descriptor. */
static enum source_status read_source(struct kernel_files *k, int fd)
{
	int again = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	enum elf_opened opened = elf_open(fd, &k->source.elf);

	if (opened == ELF_NOT_ELF && again >= 0)
		return read_text(k, again);
	if (again >= 0)
		close(again);
	if (opened == ELF_OPENED)
		return read_elf(k);
	return reject_source(k, SOURCE_DAMAGED, opened == ELF_NO_MEMORY ? "out of memory" :
					 elf_refusal(opened)	 ? elf_refusal(opened) : "it is damaged");
}

static bool open_named(struct kernel_files *k, struct buf *error)
{
	int fd = foreign_open(AT_FDCWD, k->o->path);

	if (fd < 0) {
		buf_printf(error, "%s: %s", k->o->path, errno == ENOEXEC ? "it is not a regular file" : strerror(errno));
		return false;
	}
	k->status = read_source(k, fd);
	if (k->status != SOURCE_OK) {
		buf_printf(error, "%s: %s", k->o->path, k->why);
		return false;
	}
	buf_text(&k->source.path, k->o->path);
	k->open = true;
	return true;
}

struct kernel_files *kernel_files_new(const struct kernel_options *o, struct buf *error)
{
	struct kernel_files *k = calloc(1, sizeof(*k));

	if (!k) {
		buf_text(error, strerror(ENOMEM));
		return NULL;
	}
	k->o = o;
	if (!o->path || open_named(k, error))
		return k;
	kernel_files_free(k);
	return NULL;
}

/* --- searching ------------------------------------------------------------------------------- */

static int open_in_tree(const char *tree, const char *path)
{
	int root = open(tree, O_PATH | O_DIRECTORY | O_CLOEXEC), fd;

	if (root < 0)
		return -1;
	fd = foreign_open_below(root, path);
	close(root);
	return fd;
}

/* Opens the file as the source if it is the vmlinux with this build ID. */
static bool try_vmlinux(struct kernel_files *k, const char *tree, const char *path, struct slice id)
{
	int fd = tree ? open_in_tree(tree, path) : foreign_open(AT_FDCWD, path);

	if (fd < 0 || elf_open(fd, &k->source.elf) != ELF_OPENED)
		return false;
	if (!elf_is_build(k->source.elf, id) || read_elf(k) != SOURCE_OK) {
		source_close(&k->source);
		return false;
	}
	buf_printf(&k->source.path, "%s%s", tree ? tree : "", path);
	return true;
}

/* Returns true if the release can be a part of a path: "6.1.0-18-amd64". */
static bool is_release(struct slice release)
{
	return release.n > 0 && release.n < RELEASE_MAX && release.p[0] != '.' && !memchr(release.p, '/', release.n) &&
	       !memchr(release.p, 0, release.n);
}

static bool try_debug_dir(struct kernel_files *k, const char *tree, const char *dir, struct slice release,
			  struct slice id)
{
	char path[PATH_MOST];
	size_t n;

	for (size_t i = 0; i < 2; i++) {
		n = (size_t)snprintf(path, sizeof(path), "%s%s%.*s%s", dir, i ? "/lib/modules/" : "/boot/vmlinux-",
				     (int)release.n, release.p, i ? "/vmlinux" : "");
		if (n < sizeof(path) && try_vmlinux(k, tree, path, id))
			return true;
	}
	n = (size_t)snprintf(path, sizeof(path), "%s/.build-id/%02x/", dir, id.p[0]);
	for (size_t i = 1; i < id.n && n < sizeof(path); i++)
		n += (size_t)snprintf(path + n, sizeof(path) - n, "%02x", id.p[i]);
	if (n < sizeof(path))
		n += (size_t)snprintf(path + n, sizeof(path) - n, ".debug");
	return n < sizeof(path) && try_vmlinux(k, tree, path, id);
}

static bool search_vmlinux(struct kernel_files *k, struct slice release, struct slice id)
{
	static const char *const places[] = { "/boot/vmlinux-%.*s", "/lib/modules/%.*s/vmlinux",
					      "/lib/modules/%.*s/build/vmlinux" };
	const struct kernel_options *o = k->o;
	char path[RELEASE_MAX + 64];

	if (!is_release(release) || id.n < 2)
		return false;
	for (size_t i = 0; o->debug_dirs && i < o->n_debug_dirs; i++) {
		if (try_debug_dir(k, NULL, o->debug_dirs[i], release, id))
			return true;
	}
	if (!o->debug_dirs && (try_debug_dir(k, o->symfs, "/usr/lib/debug", release, id) ||
			       (o->symfs && try_debug_dir(k, o->symfs, "", release, id))))
		return true;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), places[i], (int)release.n, release.p);
		if (try_vmlinux(k, o->symfs, path, id))
			return true;
	}
	return false;
}

/* --- a segment ------------------------------------------------------------------------------- */

/* Parses hexadecimal digits of the header. */
static bool parse_hex(struct slice text, uint64_t *v)
{
	char digits[17] = "", *end;

	if (text.n == 0 || text.n > 16)
		return false;
	memcpy(digits, text.p, text.n);
	*v = strtoull(digits, &end, 16);
	return *end == '\0';
}

/* Returns the length of the kernel's build ID, 0 if there is none. */
static size_t recorded_id(const struct capture *c, uint8_t id[ELF_BUILD_ID_MAX])
{
	struct slice text = capture_meta(c, "kernel-build-id");
	size_t n = text.n % 2 || text.n / 2 > ELF_BUILD_ID_MAX ? 0 : text.n / 2;
	uint64_t v;

	for (size_t i = 0; i < n; i++) {
		if (!parse_hex((struct slice){ text.p + 2 * i, 2 }, &v))
			return 0;
		id[i] = (uint8_t)v;
	}
	return n;
}

static enum source_status no_use(struct kernel_files *k, enum source_status status, const char *why)
{
	k->why = why;
	return status;
}

/* Checks if the source fits this segment, and computes how far its kernel was moved. */
static enum source_status judge_source(struct kernel_files *k, const struct capture *c, struct slice id)
{
	struct source *s = &k->source;
	uint64_t stext;

	if (s->elf && id.n && !elf_is_build(s->elf, id))
		return no_use(k, SOURCE_MISMATCH, "its build ID is not that of the recorded kernel");
	k->offset = k->o->offset;
	if (!k->o->has_offset) {
		if (!s->has_stext)
			return no_use(k, SOURCE_CHANGED, "it has no symbol _stext, which gives the offset of the kernel");
		if (!parse_hex(capture_meta(c, "kernel-stext"), &stext))
			return no_use(k, SOURCE_CHANGED, "the capture does not say where the kernel was loaded");
		k->offset = stext - s->stext;
	}
	k->usable = true;
	return no_use(k, SOURCE_OK, NULL);
}

void kernel_files_segment(struct kernel_files *k, const struct capture *c)
{
	uint8_t bytes[ELF_BUILD_ID_MAX];
	struct slice id = { bytes, recorded_id(c, bytes) };

	k->usable = false;
	if (!k->o->path) {
		source_close(&k->source);
		k->open = search_vmlinux(k, capture_meta(c, "kernel-release"), id);
	}
	if (k->open)
		k->status = judge_source(k, c, id);
	else
		k->status = no_use(k, SOURCE_NO_FILE, NULL);
}

bool kernel_files_find(struct kernel_files *k, uint64_t address, struct kernel_symbol *out)
{
	struct source *s = &k->source;
	uint32_t id;

	if (!k->usable)
		return false;
	if (!s->symbols) {
		if (!kallsyms_find(&s->text, address - k->offset, out))
			return false;
		/*
		 * Modules and BPF programs have other addresses in each boot: these are the right ones only
		 * without an offset.
		 */
		if (out->module.n && k->offset)
			return false;
		out->address += k->offset;
		return true;
	}
	id = symbols_find(s->symbols, address - k->offset);
	if (id == SYMBOL_NONE || !symbols_name(s->symbols, id, &k->name))
		return false;
	out->address = symbols_get(s->symbols, id)->start + k->offset;
	out->size = 0; /* its end is unknown here */
	out->name = buf_view(&k->name);
	out->module = (struct slice){ NULL, 0 };
	return true;
}

bool kernel_files_asked(const struct kernel_files *k)
{
	return k->o->path != NULL;
}

enum name_source kernel_files_kind(const struct kernel_files *k)
{
	return k->source.symbols ? NAME_SYMTAB : NAME_KSYM;
}

enum source_status kernel_files_state(const struct kernel_files *k, struct slice *path, const char **why)
{
	*path = (struct slice){ k->source.path.p, k->source.path.n };
	*why = k->why;
	return k->status;
}
