/*
 * A file system with faults, which the names of its files choose.
 *
 *	faultfs DIR BACK	mounts a FUSE file system at DIR with the files of the directory BACK; prints
 *				"ready"; a file named FAULT-CALL.REST has that fault at that call
 *
 * FAULT: stall (no answer), later (no answer from the third request on), eio, enospc, short (at most 1000
 * bytes are taken). CALL: lookup, open, read, write, truncate, flush, rename. SIGUSR2: no request is answered
 * from now on. SIGUSR1: answers all pending requests, and ends all faults. When the server ends, pending
 * requests end too.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST = 1 << 17, ROOT = 1, FILES = 100, HELD = 100, SHORT = 1000, LATER = 3 };

struct file {
	char name[256];
	int fd;
	unsigned int requests; /* how often the faulty call was made */
};

static struct file files[FILES]; /* the node is the index plus 2 */
static size_t n_files;
static char *held[HELD];
static size_t n_held;
static volatile sig_atomic_t released, stalled;
static int dev, back;

static void release_held(int signal)
{
	(void)signal;
	released = 1;
	stalled = 0;
}

static void stall_all(int signal)
{
	(void)signal;
	released = 0;
	stalled = 1;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void reply(const struct fuse_in_header *in, int error, const void *data, size_t n)
{
	static char bytes[MOST + 4096];
	struct fuse_out_header out = { .error = -error, .unique = in->unique };

	out.len = (uint32_t)(sizeof(out) + n);
	memcpy(bytes, &out, sizeof(out));
	if (n)
		memcpy(bytes + sizeof(out), data, n);
	if (write(dev, bytes, sizeof(out) + n) < 0 && errno != ENOENT)
		fail("write");
}

static struct fuse_attr attr_of(uint64_t node)
{
	struct stat st = { 0 };

	if (node == ROOT)
		return (struct fuse_attr){ .ino = ROOT, .mode = S_IFDIR | 0777, .nlink = 1, .blksize = 4096 };
	fstat(files[node - 2].fd, &st);
	return (struct fuse_attr){ .ino = node, .size = (uint64_t)st.st_size, .mode = S_IFREG | 0755, .nlink = 1,
				   .blocks = (uint64_t)st.st_blocks, .blksize = 4096 };
}

/* Returns the node of a file of BACK, 0 if there is none. */
static uint64_t find_file(const char *name, int flags)
{
	struct file *f = &files[n_files];

	for (size_t i = 0; i < n_files; i++)
		if (strcmp(files[i].name, name) == 0)
			return i + 2;
	if (n_files == FILES)
		fail("too many files");
	f->fd = openat(back, name, O_RDWR | O_CLOEXEC | flags, 0644);
	if (f->fd < 0)
		return 0;
	snprintf(f->name, sizeof(f->name), "%s", name);
	return n_files++ + 2;
}

static const char *call_name(uint32_t opcode, const void *body)
{
	switch (opcode) {
	case FUSE_LOOKUP: return "lookup";
	case FUSE_OPEN:
	case FUSE_CREATE: return "open";
	case FUSE_READ: return "read";
	case FUSE_WRITE: return "write";
	case FUSE_FLUSH: return "flush";
	case FUSE_RENAME:
	case FUSE_RENAME2: return "rename";
	case FUSE_SETATTR:
		return ((const struct fuse_setattr_in *)body)->valid & FATTR_SIZE ? "truncate" : "";
	default: return "";
	}
}

/* Returns the old name of a rename; the new one follows it. */
static const char *names_of(const struct fuse_in_header *in, const void *body)
{
	return (const char *)body +
	       (in->opcode == FUSE_RENAME ? sizeof(struct fuse_rename_in) : sizeof(struct fuse_rename2_in));
}

/* Returns the fault of this request: "stall", "eio", ..., or "". */
static const char *fault_of(const struct fuse_in_header *in, const void *body)
{
	const char *call = call_name(in->opcode, body), *name;
	static char fault[256];
	struct file *f = in->nodeid == ROOT ? NULL : &files[in->nodeid - 2];
	size_t n;

	name = f ? f->name : in->opcode == FUSE_LOOKUP ? body : "";
	if (in->opcode == FUSE_CREATE)
		name = (const char *)body + sizeof(struct fuse_create_in);
	if (in->opcode == FUSE_RENAME || in->opcode == FUSE_RENAME2)
		name = names_of(in, body);
	name += *name == '.'; /* a file that is being written may be hidden */
	n = strcspn(name, "-");
	if (!*call || name[n] != '-' || strncmp(name + n + 1, call, strlen(call)) != 0)
		return "";
	snprintf(fault, sizeof(fault), "%.*s", (int)n, name);
	if (strcmp(fault, "later") == 0)
		return f && ++f->requests >= LATER ? "stall" : "";
	return fault;
}

static struct fuse_entry_out entry_of(uint64_t node)
{
	return (struct fuse_entry_out){ .nodeid = node, .entry_valid = 3600, .attr = attr_of(node) };
}

static void do_write(const struct fuse_in_header *in, const struct fuse_write_in *w, bool is_short)
{
	size_t n = is_short && w->size > SHORT ? SHORT : w->size;
	ssize_t done = pwrite(files[in->nodeid - 2].fd, w + 1, n, (off_t)w->offset);
	struct fuse_write_out out = { .size = (uint32_t)done };

	reply(in, done < 0 ? errno : 0, &out, done < 0 ? 0 : sizeof(out));
}

static void do_read(const struct fuse_in_header *in, const struct fuse_read_in *r)
{
	static char bytes[MOST];
	ssize_t n = pread(files[in->nodeid - 2].fd, bytes, r->size < MOST ? r->size : MOST, (off_t)r->offset);

	reply(in, n < 0 ? errno : 0, bytes, n < 0 ? 0 : (size_t)n);
}

static void do_lookup(const struct fuse_in_header *in, const char *name)
{
	uint64_t node = find_file(name, 0);
	struct fuse_entry_out out;

	if (!node) {
		reply(in, ENOENT, NULL, 0);
		return;
	}
	out = entry_of(node);
	reply(in, 0, &out, sizeof(out));
}

static void do_create(const struct fuse_in_header *in, const struct fuse_create_in *c)
{
	uint64_t node = find_file((const char *)(c + 1), O_CREAT);
	struct { struct fuse_entry_out entry; struct fuse_open_out open; } out = { 0 };

	out.entry = entry_of(node);
	out.open.open_flags = FOPEN_DIRECT_IO;
	reply(in, 0, &out, sizeof(out));
}

static void do_setattr(const struct fuse_in_header *in, const struct fuse_setattr_in *s)
{
	struct fuse_attr_out out = { 0 };

	if (s->valid & FATTR_SIZE && ftruncate(files[in->nodeid - 2].fd, (off_t)s->size) != 0)
		fail("ftruncate");
	out.attr = attr_of(in->nodeid);
	reply(in, 0, &out, sizeof(out));
}

/* A file that is open keeps its node, without a name. */
static void forget_name(const char *name)
{
	for (size_t i = 0; i < n_files; i++)
		if (strcmp(files[i].name, name) == 0)
			files[i].name[0] = '\0';
}

static void do_unlink(const struct fuse_in_header *in, const char *name)
{
	int error = unlinkat(back, name, 0) != 0 ? errno : 0;

	if (!error)
		forget_name(name);
	reply(in, error, NULL, 0);
}

static void do_rename(const struct fuse_in_header *in, const void *body)
{
	const char *from = names_of(in, body), *to = from + strlen(from) + 1;
	unsigned int flags = in->opcode == FUSE_RENAME ? 0 : ((const struct fuse_rename2_in *)body)->flags;
	int error = syscall(SYS_renameat2, back, from, back, to, flags) != 0 ? errno : 0;

	if (!error) {
		forget_name(to);
		for (size_t i = 0; i < n_files; i++)
			if (strcmp(files[i].name, from) == 0)
				snprintf(files[i].name, sizeof(files[i].name), "%s", to);
	}
	reply(in, error, NULL, 0);
}

/* The offset of an entry is the number of those before it. */
static void do_readdir(const struct fuse_in_header *in, const struct fuse_read_in *r)
{
	static char bytes[MOST];
	DIR *d = fdopendir(openat(back, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	struct dirent *e;
	size_t n = 0;

	if (!d)
		fail("fdopendir");
	for (uint64_t i = 1; (e = readdir(d)); i++) {
		struct fuse_dirent entry = { .ino = e->d_ino, .off = i, .type = e->d_type,
					     .namelen = (uint32_t)strlen(e->d_name) };
		size_t size = FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + entry.namelen);

		if (i <= r->offset)
			continue;
		if (n + size > r->size || n + size > sizeof(bytes))
			break;
		memset(bytes + n, 0, size);
		memcpy(bytes + n, &entry, FUSE_NAME_OFFSET);
		memcpy(bytes + n + FUSE_NAME_OFFSET, e->d_name, entry.namelen);
		n += size;
	}
	closedir(d);
	reply(in, 0, bytes, n);
}

static void do_statfs(const struct fuse_in_header *in)
{
	struct fuse_statfs_out out = { 0 };
	struct statvfs st = { 0 };

	fstatvfs(back, &st);
	out.st = (struct fuse_kstatfs){ .blocks = st.f_blocks, .bfree = st.f_bfree, .bavail = st.f_bavail,
					.bsize = (uint32_t)st.f_bsize, .namelen = 255,
					.frsize = (uint32_t)st.f_frsize };
	reply(in, 0, &out, sizeof(out));
}

static void answer(const struct fuse_in_header *in)
{
	const void *body = in + 1;
	const char *fault = stalled ? "stall" : released ? "" : fault_of(in, body);
	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION, .minor = 31, .max_readahead = 4096,
				      .max_write = MOST / 2, .max_background = 16, .time_gran = 1 };
	/* Only a file that is read may be mapped. */
	struct fuse_open_out open = { .open_flags = in->opcode == FUSE_OPEN &&
		(((const struct fuse_open_in *)body)->flags & O_ACCMODE) != O_RDONLY ? FOPEN_DIRECT_IO : 0 };
	struct fuse_attr_out attr = { 0 };

	if (strcmp(fault, "stall") == 0) {
		if (n_held < HELD) {
			held[n_held] = malloc(in->len);
			memcpy(held[n_held++], in, in->len);
		}
		return;
	}
	if (strcmp(fault, "eio") == 0 || strcmp(fault, "enospc") == 0) {
		reply(in, fault[1] == 'i' ? EIO : ENOSPC, NULL, 0);
		return;
	}
	switch (in->opcode) {
	case FUSE_INIT:
		reply(in, 0, &init, sizeof(init));
		puts("ready");
		fflush(stdout);
		break;
	case FUSE_LOOKUP: do_lookup(in, body); break;
	case FUSE_CREATE: do_create(in, body); break;
	case FUSE_SETATTR: do_setattr(in, body); break;
	case FUSE_READ: do_read(in, body); break;
	case FUSE_READDIR: do_readdir(in, body); break;
	case FUSE_UNLINK: do_unlink(in, body); break;
	case FUSE_RENAME:
	case FUSE_RENAME2: do_rename(in, body); break;
	case FUSE_STATFS: do_statfs(in); break;
	case FUSE_WRITE: do_write(in, body, strcmp(fault, "short") == 0); break;
	case FUSE_GETATTR:
		attr.attr = attr_of(in->nodeid);
		reply(in, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR: reply(in, 0, &open, sizeof(open)); break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT: break;
	case FUSE_FLUSH:
	case FUSE_FSYNC:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_ACCESS: reply(in, 0, NULL, 0); break;
	default: reply(in, ENOSYS, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	static char question[MOST + 4096];
	struct sigaction on_release = { .sa_handler = release_held }, on_stall = { .sa_handler = stall_all };
	char options[128];

	if (argc != 3) {
		fputs("usage: faultfs DIR BACK\n", stderr);
		return 2;
	}
	dev = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	back = open(argv[2], O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dev < 0 || back < 0)
		fail("open");
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%u,group_id=%u,allow_other", dev,
		 getuid(), getgid());
	if (mount("faultfs", argv[1], "fuse.faultfs", MS_NOSUID | MS_NODEV, options) != 0)
		fail("mount");
	sigaction(SIGUSR1, &on_release, NULL);
	sigaction(SIGUSR2, &on_stall, NULL);
	for (;;) {
		ssize_t n = read(dev, question, sizeof(question));

		if (n < 0 && errno != EINTR && errno != ENOENT)
			return errno == ENODEV ? 0 : 1;
		while (released && n_held)
			answer((const struct fuse_in_header *)held[--n_held]);
		if (n >= (ssize_t)sizeof(struct fuse_in_header))
			answer((const struct fuse_in_header *)question);
	}
}
