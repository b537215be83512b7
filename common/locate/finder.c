#include "common/locate/finder.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/foreign/foreign.h"

static const char deleted[] = " (deleted)";

/* The default debug directories: on the host, and in a --symfs tree. */
static const char *const default_dirs[] = { "/usr/lib/debug" };
static const char *const symfs_dirs[] = { "/usr/lib/debug", "" };

void finder_init(struct finder *f, const char *symfs, const char *const *debug_dirs, size_t n_debug_dirs)
{
	*f = (struct finder){ .symfs = symfs, .debug_dirs = debug_dirs, .n_debug_dirs = n_debug_dirs, .tree = -1, .found.fd = -1 };
	if (symfs)
		f->tree = open(symfs, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

void finder_release(struct finder *f)
{
	if (f->tree >= 0)
		close(f->tree);
	f->tree = -1;
	procroot_close(&f->found);
	procroots_release(&f->roots);
	unread_release(&f->unread);
	buf_release(&f->cut);
}

enum { OTHERS_MAX = 256 };

static int open_plain(struct buf *path)
{
	const char *p = buf_cstr(path);

	return path->failed ? -1 : foreign_open(AT_FDCWD, p);
}

/* Opens a path of this machine and copies it to opened. */
static int open_here(const char *path, struct buf *opened)
{
	buf_clear(opened);
	buf_text(opened, path);
	return open_plain(opened);
}

static enum source_status status_of_errno(void)
{
	return errno == EACCES || errno == EPERM ? SOURCE_PERMISSION :
	       errno == ENOEXEC			 ? SOURCE_NOT_ELF : SOURCE_NO_FILE;
}

/*
 * Calls elf_open, which takes over the descriptor, and notes a file that was refused. If out of memory the
 * note is dropped.
 */
static enum elf_opened open_elf(struct finder *f, int fd, const struct buf *path, struct elf_file **file)
{
	enum elf_opened opened = elf_open(fd, file);
	const char *why = elf_refusal(opened);

	if (why)
		(void)!unread_add(&f->unread, buf_view(path), 0, why);
	return opened;
}

static enum source_status status_of(enum elf_opened opened)
{
	switch (opened) {
	case ELF_OPENED:
		return SOURCE_OK;
	case ELF_NOT_ELF:
		return SOURCE_NOT_ELF;
	default:
		return SOURCE_DAMAGED;
	}
}

/*
 * Ranks the reasons; the highest is reported: missing rights (there might be names), another file in its
 * place, a file that is unusable, no file.
 */
static unsigned int weigh_status(enum source_status status)
{
	switch (status) {
	case SOURCE_OK:
	case SOURCE_STRIPPED:
		return 5;
	case SOURCE_PERMISSION:
		return 4;
	case SOURCE_MISMATCH:
	case SOURCE_CHANGED:
		return 3;
	case SOURCE_NO_FILE:
		return 1;
	default:
		return 2;
	}
}

bool finder_trusts(const struct finder *f, const struct elf_file *file)
{
	return f->symfs || file->owner == 0 || file->owner == geteuid();
}

enum source_status finder_worse(enum source_status a, enum source_status b)
{
	return weigh_status(a) >= weigh_status(b) ? a : b;
}

bool finder_may_retry(const struct module_identity *is, enum source_status status)
{
	struct procroot root;
	enum procroot_state state;

	if (is->host != HOST_BOOT || is->image.n || status == SOURCE_OK || status == SOURCE_STRIPPED)
		return false;
	state = procroot_open(&root, &is->user);
	procroot_close(&root);
	return state == PROCROOT_OWN || state == PROCROOT_FOREIGN;
}

/* The search for a module's file: one attempt after the other until one is right. */
struct search {
	struct finder *f;
	const struct module_identity *is;
	struct elf_file *file;
	enum source_status status;
	bool by_path;
	struct buf tried, *opened; /* the path of this attempt; the path that goes with status */
	struct buf silent;	   /* the first path that foreign.h refused; empty: none */
	const char *why;
	struct buf name;           /* the recorded path */
};

/* The proof that a file without a build ID needs to be accepted. */
enum proof {
	PROOF_NONE,  /* any file will do: in a tree */
	PROOF_DOUBT, /* anything not known to be another file */
	PROOF_SAME,
	PROOF_MAPPED, /* it is known to be the mapped file */
};

static enum source_status check_identity(struct search *s, int fd, enum proof proof)
{
	enum identity identity = proof == PROOF_MAPPED ? identity_of_mapped(fd, s->is) : identity_of(fd, s->is);

	s->by_path = identity != IDENTITY_SAME;
	return (identity == IDENTITY_OTHER && proof > PROOF_NONE) ||
			       (identity == IDENTITY_UNKNOWN && proof > PROOF_DOUBT) ? SOURCE_CHANGED : SOURCE_OK;
}

/* Takes over the descriptor. SOURCE_OK: the file is the right one, and is s->file now. */
static enum source_status check_file(struct search *s, int fd, enum proof proof)
{
	enum source_status status = SOURCE_OK;

	s->by_path = false;
	if (fd < 0) {
		const char *why = foreign_refusal(errno);

		if (why && s->silent.n == 0)
			buf_bytes(&s->silent, s->tried.p, s->tried.n);
		if (why)
			s->why = why;
		return status_of_errno();
	}
	if (s->is->build_id.n == 0)
		status = check_identity(s, fd, proof);
	if (status != SOURCE_OK) {
		close(fd);
		return status;
	}
	status = status_of(open_elf(s->f, fd, &s->tried, &s->file));
	if (status == SOURCE_OK && s->is->build_id.n && !elf_is_build(s->file, s->is->build_id)) {
		elf_close(s->file);
		s->file = NULL;
		return SOURCE_MISMATCH;
	}
	return status;
}

/* Keeps the more important reason; of two equal ones the later. */
static void note_status(struct search *s, enum source_status status)
{
	if (weigh_status(status) < weigh_status(s->status))
		return;
	s->status = status;
	buf_clear(s->opened);
	buf_bytes(s->opened, s->tried.p, s->tried.n);
	s->opened->failed |= s->tried.failed;
}

/* Tries the path in one place: in a process's root, in the tree, or here. */
static enum source_status try_name(struct search *s, const struct procroot *root, enum proof proof)
{
	const char *path = buf_cstr(&s->name);
	int fd;

	if (root)
		fd = procroot_file(root, path, &s->tried);
	else if (s->f->symfs)
		fd = procroot_open_below(s->f->tree, s->f->symfs, path, &s->tried);
	else
		fd = open_here(path, &s->tried);
	return check_file(s, fd, proof);
}

static bool try_place(struct search *s, const struct procroot *root, enum proof proof)
{
	enum source_status status = try_name(s, root, proof);
	size_t n = strlen(deleted), whole = s->name.n;

	note_status(s, status);
	if (status == SOURCE_NO_FILE && whole > n && memcmp(s->name.p + whole - n, deleted, n) == 0) {
		s->name.n -= n;
		note_status(s, try_name(s, root, proof));
		s->name.n = whole;
	}
	return s->status == SOURCE_OK;
}

/*
 * Tries the file that the process has mapped. This needs more rights than its root does, so missing rights
 * are reported only if nothing else is known.
 */
static bool try_mapped(struct search *s, const struct procroot *root)
{
	bool same = false;
	int fd = procroot_mapped(root, s->is, &s->tried, &same);
	enum source_status status = check_file(s, fd, same ? PROOF_MAPPED : PROOF_SAME);

	if (status == SOURCE_OK || (status == SOURCE_PERMISSION && s->status == SOURCE_NO_FILE))
		note_status(s, status);
	return s->status == SOURCE_OK;
}

/*
 * Tries the root of another process, in which only a trusted file may have the build ID of ours. A user may
 * name a control group like a container, but cannot enter that of somebody else's.
 */
static enum source_status try_other(struct search *s, const struct procroot_known *k, const struct procroot *root)
{
	enum source_status status = try_name(s, root, PROOF_SAME);

	if (status != SOURCE_OK || s->is->build_id.n == 0 || finder_trusts(s->f, s->file) ||
	    procroot_known_in(&s->f->roots, k, s->is->user.cgroup, true))
		return status;
	elf_close(s->file);
	s->file = NULL;
	return SOURCE_MISMATCH;
}

/*
 * Tries the roots of other processes. In the same container even a file without a build ID may be the right
 * one. A file that is missing there proves nothing.
 */
static bool try_others(struct search *s, bool same_container)
{
	struct procroots *roots = &s->f->roots;
	unsigned int tried = 0;
	struct procroot root;

	if (!procroots_look(roots))
		return false;
	for (size_t i = 0; i < roots->n && tried < OTHERS_MAX && s->status != SOURCE_OK; i++) {
		const struct procroot_known *k = &roots->items[i];
		enum source_status status;

		if (procroot_known_in(roots, k, s->is->user.cgroup, false) != same_container)
			continue;
		tried++;
		if (procroot_open_pid(&root, k->pid) == PROCROOT_FOREIGN) {
			status = try_other(s, k, &root);
			if (status == SOURCE_OK) {
				note_status(s, status);
				s->f->found = root;
				return true;
			}
		}
		procroot_close(&root);
	}
	return s->status == SOURCE_OK;
}

/*
 * Anybody can mount a copy of a file in a root of his own. If our root has a trusted file of that build, it
 * replaces the copy that was found.
 */
static bool try_trusted(struct search *s)
{
	struct elf_file *doubtful = s->file;

	if (s->is->build_id.n == 0 || finder_trusts(s->f, doubtful))
		return false;
	s->file = NULL;
	if (try_name(s, NULL, PROOF_SAME) == SOURCE_OK && finder_trusts(s->f, s->file)) {
		elf_close(doubtful);
		note_status(s, SOURCE_OK);
		return true;
	}
	elf_close(s->file);
	s->file = doubtful;
	return false;
}

/* Searches the places that only mean something until this machine reboots. */
static bool search_living(struct search *s)
{
	struct procroot root;
	enum procroot_state state = procroot_open(&root, &s->is->user);
	bool has_id = s->is->build_id.n > 0, found;

	found = (state == PROCROOT_FOREIGN && try_place(s, &root, PROOF_DOUBT)) ||
		(state == PROCROOT_OWN && try_place(s, NULL, PROOF_DOUBT)) ||
		(state >= PROCROOT_OWN && try_mapped(s, &root));
	if (found && (state != PROCROOT_FOREIGN || !try_trusted(s)))
		s->f->found = root; /* PROCROOT_OWN has no descriptor */
	else
		procroot_close(&root);
	/* If the process sees another file system, ours may have another file of that path and inode. */
	if (!found && state != PROCROOT_OWN && (state != PROCROOT_FOREIGN || root.own_mounts || has_id))
		found = try_place(s, NULL, state == PROCROOT_FOREIGN ? PROOF_SAME : PROOF_DOUBT);
	if (!found && state == PROCROOT_DENIED) {
		buf_clear(&s->tried);
		buf_text(&s->tried, root.path);
		note_status(s, SOURCE_PERMISSION);
	}
	return found || (s->is->user.pid && (try_others(s, true) || (has_id && try_others(s, false))));
}

enum source_status finder_open(struct finder *f, const struct module_identity *is, struct elf_file **file,
			       struct buf *opened, bool *by_path)
{
	struct search s = { .f = f, .is = is, .status = SOURCE_NO_FILE, .opened = opened };

	*file = NULL;
	f->doubtful = false;
	procroot_close(&f->found);
	f->found = (struct procroot){ .fd = -1 };
	buf_clear(opened);
	if (is->path.n == 0 || memchr(is->path.p, '\0', is->path.n))
		return SOURCE_NO_FILE;
	buf_bytes(&s.name, is->path.p, is->path.n);
	if (f->symfs)
		try_place(&s, NULL, PROOF_NONE);
	else if (is->host == HOST_BOOT)
		search_living(&s);
	else
		try_place(&s, NULL, PROOF_DOUBT);
	if (!s.file && s.silent.n && !s.silent.failed)
		(void)!unread_add(&f->unread, buf_view(&s.silent), 0, s.why);
	buf_release(&s.silent);
	buf_release(&s.tried);
	buf_release(&s.name);
	*file = s.file;
	f->doubtful = s.file && !finder_trusts(f, s.file);
	*by_path = s.file && s.by_path;
	return s.status;
}

static const char *debug_dir(const struct finder *f, size_t i)
{
	if (f->debug_dirs)
		return i < f->n_debug_dirs ? f->debug_dirs[i] : NULL;
	if (f->symfs)
		return i < sizeof(symfs_dirs) / sizeof(symfs_dirs[0]) ? symfs_dirs[i] : NULL;
	return i < sizeof(default_dirs) / sizeof(default_dirs[0]) ? default_dirs[i] : NULL;
}

static void name_by_build_id(struct buf *name, const char *dir, struct slice id)
{
	buf_printf(name, "%s/.build-id/%02x/", dir, id.p[0]);
	for (size_t i = 1; i < id.n; i++)
		buf_printf(name, "%02x", id.p[i]);
	buf_text(name, ".debug");
}

/* One place where a debug file may be. */
struct candidate {
	enum { AT_HOST, AT_TREE, AT_ROOT, AT_DEBUGINFOD } at;
	enum debuginfod_what what;
	struct slice id; /* the build ID to look up; unused for the places beside the file */
	struct buf name; /* empty: there is no such place */
	uint32_t crc;
	bool near; /* in a place that belongs to the module's file, so any user may have put it there */
};

/* Returns where the module's own directories are: in the tree, in the process's root, or here. */
static int at_recorded(const struct finder *f)
{
	return f->symfs ? AT_TREE : f->found.fd >= 0 ? AT_ROOT : AT_HOST;
}

/* Directories given by the user are on the host; the default ones are in the tree if there is one. */
static int at_named(const struct finder *f)
{
	return f->symfs && !f->debug_dirs ? AT_TREE : AT_HOST;
}

/* Returns the number of steps for one build ID: all directories, and the process's own. */
static size_t id_steps(const struct finder *f)
{
	size_t dirs = 0;

	while (debug_dir(f, dirs))
		dirs++;
	return dirs + 1;
}

/* Build IDs that the debug file may be filed under: the file's own; if there is no file, the recorded one. */
struct builds {
	struct slice ids[ELF_IDS];
	size_t n; /* at least 1; the first is empty if there is none */
};

static struct builds builds_of(const struct elf_file *file, const struct module_identity *is)
{
	struct builds b = { { is->build_id }, 1 };

	for (size_t i = 0; file && i < file->n_ids; i++)
		b.ids[i] = elf_build_id_at(file, i);
	if (file && file->n_ids)
		b.n = file->n_ids;
	return b;
}

/*
 * Describes step number `step`. For each build ID: each directory, then the process's own. Then the two
 * places beside the file, and each directory by name. Last debuginfod by each build ID, and the executable
 * from there. Returns false if there are no more.
 */
static bool make_candidate(const struct finder *f, size_t step, const struct elf_file *file,
			   const struct builds *builds, struct slice path, struct candidate *c)
{
	const uint8_t *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;
	struct slice folder = { path.p, slash ? (size_t)(slash - path.p) : 0 };
	char link[256];
	size_t dirs = id_steps(f) - 1;

	if (step < builds->n * (dirs + 1)) {
		const char *dir = debug_dir(f, step % (dirs + 1));

		c->id = builds->ids[step / (dirs + 1)];
		c->at = dir ? at_named(f) : AT_ROOT;
		c->near = !dir;
		if (c->id.n > 1 && (dir || at_recorded(f) == AT_ROOT))
			name_by_build_id(&c->name, dir ? dir : default_dirs[0], c->id);
		return true;
	}
	step -= builds->n * (dirs + 1);
	c->near = step < 2;
	if (step >= dirs + 2) {
		step -= dirs + 2;
		c->at = AT_DEBUGINFOD;
		c->what = step < builds->n ? DEBUGINFOD_DEBUG : DEBUGINFOD_EXECUTABLE;
		c->id = builds->ids[step < builds->n ? step : 0];
		return f->debuginfod && builds->ids[0].n > 1 && step < builds->n + (file ? 0 : 1);
	}
	c->at = step < 2 ? at_recorded(f) : at_named(f);
	if (!file || !elf_debuglink(file, link, sizeof(link), &c->crc))
		return true;
	buf_text(&c->name, step < 2 ? "" : debug_dir(f, step - 2));
	buf_bytes(&c->name, folder.p, folder.n);
	buf_printf(&c->name, "/%s%s", step == 1 ? ".debug/" : "", link);
	return true;
}

static int open_candidate(const struct finder *f, struct candidate *c, struct buf *opened)
{
	const char *name = buf_cstr(&c->name);

	if (c->at == AT_DEBUGINFOD)
		return debuginfod_find(f->debuginfod, c->what, c->id, opened);
	if (!name[0]) {
		errno = ENOENT;
		return -1;
	}
	return c->at == AT_TREE ? procroot_open_below(f->tree, f->symfs, name, opened) :
	       c->at == AT_ROOT ? procroot_file(&f->found, name, opened) : open_here(name, opened);
}

/* Compares the checksum, and notes a file that is too large for this, unless memory is out. */
static bool has_crc(struct finder *f, const struct elf_file *debug, const struct buf *opened, uint32_t crc)
{
	uint32_t is;
	enum elf_opened read = elf_crc32(debug, &is);
	const char *why = elf_refusal(read);

	if (why)
		(void)!unread_add(&f->unread, buf_view(opened), 0, why);
	return read == ELF_OPENED && is == crc;
}

static bool is_debug_file_of(struct finder *f, const struct elf_file *debug, const struct buf *opened,
			     const struct elf_file *file, struct slice recorded, uint32_t crc)
{
	if (file && debug->dev == file->dev && debug->inode == file->inode)
		return false;
	if (file && file->n_ids)
		return elf_share_build(debug, file);
	if (recorded.n)
		return elf_is_build(debug, recorded);
	return has_crc(f, debug, opened, crc);
}

/*
 * A link leads to a trusted file from any directory, in which its owner may put a debug file. The root of a
 * process may have any file, too.
 */
static bool is_planted(const struct finder *f, const struct candidate *c, const struct elf_file *debug)
{
	return c->near && !f->doubtful && !finder_trusts(f, debug);
}

/* Notes a file at the build ID's path that is only the beginning of one. */
static void note_cut(struct finder *f, const struct elf_file *there, const struct buf *opened)
{
	if (f->cut.n || (there && elf_is_whole(there)))
		return;
	buf_bytes(&f->cut, opened->p, opened->n);
}

/* Notes a file that may not be waited for. If out of memory the note is dropped. */
static void note_refusal(struct finder *f, int fd, const struct buf *opened)
{
	const char *why = fd < 0 ? foreign_refusal(errno) : NULL;

	if (why)
		(void)!unread_add(&f->unread, buf_view(opened), 0, why);
}

struct elf_file *finder_debug(struct finder *f, size_t *step, const struct elf_file *file,
			      const struct module_identity *is, struct buf *opened)
{
	struct builds builds = builds_of(file, is);
	struct candidate c = { 0 };
	struct elf_file *debug = NULL;

	if (*step == 0)
		buf_clear(&f->cut);
	while (!debug && make_candidate(f, *step, file, &builds, is->path, &c)) {
		bool by_id = *step < builds.n * id_steps(f);
		int fd = open_candidate(f, &c, opened);

		++*step;
		buf_clear(&c.name);
		note_refusal(f, fd, opened);
		if (fd < 0 || (open_elf(f, fd, opened, &debug) == ELF_OPENED &&
			       is_debug_file_of(f, debug, opened, file, is->build_id, c.crc) &&
			       !is_planted(f, &c, debug)))
			continue;
		if (by_id)
			note_cut(f, debug, opened);
		elf_close(debug);
		debug = NULL;
	}
	buf_release(&c.name);
	return debug;
}

/* Tries one place. Returns NULL if it has no file of this build. */
static struct elf_file *try_alt(struct finder *f, struct candidate *c, struct slice build_id)
{
	struct elf_file *file = NULL;
	struct buf opened = { 0 };
	int fd = c->name.failed ? -1 : open_candidate(f, c, &opened);

	if (fd >= 0)
		open_elf(f, fd, &opened, &file);
	buf_release(&opened);
	c->near = c->at == AT_ROOT;
	if (!file || (elf_is_build(file, build_id) && !is_planted(f, c, file)))
		return file;
	elf_close(file);
	return NULL;
}

struct elf_file *finder_alt(struct finder *f, struct slice name, struct slice build_id, struct slice base)
{
	struct module_identity is = { .build_id = build_id };
	struct candidate c = { .at = AT_HOST };
	struct elf_file *file = NULL;
	struct buf opened = { 0 };
	size_t step = 0;

	if (name.n == 0 || build_id.n == 0)
		return NULL;
	while (base.n && base.p[base.n - 1] != '/')
		base.n--;
	if (name.p[0] == '/')
		c.at = at_recorded(f);
	else
		buf_bytes(&c.name, base.p, base.n);
	buf_bytes(&c.name, name.p, name.n);
	file = try_alt(f, &c, build_id);
	if (!file && c.at != AT_HOST) {
		c.at = AT_HOST;
		file = try_alt(f, &c, build_id);
	}
	if (!file)
		file = finder_debug(f, &step, NULL, &is, &opened);
	buf_release(&opened);
	buf_release(&c.name);
	return file;
}
