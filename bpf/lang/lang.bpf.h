/*
 * Reads the frames of interpreted languages from the memory of the sampled thread: the parts that all
 * languages share. Include percpu.bpf.h or event_ring.bpf.h before.
 *
 * Three tail calls follow each other. The sampling program takes the machine's frames and calls lang_find.
 * lang_find calls the program of the process's language. That program appends its frames and calls the end of
 * the sampling program. So a machine without interpreters pays one test of a word, and a language is verified
 * and loaded only when the first of its processes is met.
 *
 * The program reads a function's names in the running thread when it first meets the function. When names
 * were read later from outside, up to 88 % were gone. Names go into the ring lang_ring before a sample refers
 * to them.
 *
 * No CO-RE relocation: offsets in the kernel's structures come from BTF by way of rodata.
 */
#ifndef CPROF_BPF_LANG_H
#define CPROF_BPF_LANG_H

#include "bpf/calls.bpf.h"
#include "bpf/lang/exe.bpf.h"
#include "bpf/lang/recent.bpf.h"
#include "bpf/scratch.h"
#include "common/lang/lang.h"

/*
 * Set before loading. Ids of functions are id_first + CPU + n × id_step,
 * different on each CPU and in each object.
 */
const volatile unsigned int id_first = 0, id_step = 1;
const volatile unsigned int fsbase_at = 0; /* in struct task_struct: thread.fsbase */
const volatile unsigned int auxv_at = 0;   /* in struct mm_struct: saved_auxv */
/*
 * The offsets that lead from a task to its executable, as in lang_procs.bpf.c;
 * exec_known 0: they are not known.
 */
const volatile unsigned int exec_known = 0, mm_at = 0, exe_at = 0, code_at = 0, f_inode_at = 0, i_ino_at = 0,
			    i_sb_at = 0, s_dev_at = 0;

enum {
	LANG_FRAME_READ = 128, /* bytes of one frame */
	LANG_WINDOW = 2048,    /* bytes of adjacent frames in one read; a power of two */
	LANG_NEAR = 512,       /* frames at most so far apart are adjacent */
	LANG_PAGE = 4096,
	LANG_OBJECT = 256,     /* bytes of one object at first sight */
	LANG_ROUNDS = 32,      /* frames in one call of a function */
	LANG_RING_WAKE = 256 << 10,
};

/* The results of a step. */
enum lang_step {
	LANG_STEP_ON,
	LANG_STEP_END,
	LANG_STEP_CUT,  /* unreadable */
	LANG_STEP_FULL, /* no room */
	/*
	 * Bits beside one of these: the caller must first name and append the last frame (NAME), or append
	 * the frames for which it stands (MORE). The step itself does not, because the verifier adds up the
	 * stacks of functions that call each other.
	 */
	LANG_STEP_NAME = 16,
	LANG_STEP_MORE = 32,
};

struct lang_key {
	__u32 pid;
	__u32 kind;   /* and lang_proc.generation from bit LANG_RECENT_KIND on */
	__u64 object; /* address of the function in the process */
};

struct lang_known {
	__u64 sign; /* differs if another function has taken the address */
	__u32 id;
	__u32 more; /* code: Java, the id of its outermost function; V8, from its start to this address */
};

/* The state of one walk, by CPU. The members that each frame needs are adjacent. */
struct lang_walk {
	__u64 at;     /* address of the frame that comes next */
	__u64 window; /* the address of bytes; 0: they are of one frame */
	__u64 bias;
	__u64 thread; /* address of the thread's state in the interpreter */
	__u32 image, pid, n, fresh;
	__u32 generation; /* the process's */
	__u32 ids;    /* ids given by this CPU so far */
	__u32 base;   /* where the frame that was read last begins in bytes */
	__u32 held;   /* where the last frame begins that bytes hold whole */
	__u64 words[16]; /* by language */
	struct lang_recents recents;
	__u64 frames[LANG_SLOTS];
	unsigned char bytes[LANG_WINDOW + 8];
	unsigned char object[LANG_OBJECT + 8];
	struct lang_function out;
};

_Static_assert(sizeof(struct lang_walk) <= 32 << 10, "a value of a per-CPU map: PCPU_MIN_UNIT_SIZE");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct lang_walk);
} lang_walks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LANG_IMAGES);
	__type(key, __u32);
	__type(value, struct lang_image);
} lang_images SEC(".maps");

/* By process. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct lang_proc);
} lang_procs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct lang_key);
	__type(value, struct lang_known);
} lang_functions SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} lang_ring SEC(".maps");

static __always_inline struct lang_walk *lang_walk_state(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&lang_walks, &zero);
}

static __always_inline const struct lang_image *lang_image_of(const struct lang_walk *l)
{
	__u32 at = l->image;

	return bpf_map_lookup_elem(&lang_images, &at);
}

/* A number of the frame that was read last. The mask is for the verifier. */
static __always_inline __u64 lang_field(const struct lang_walk *l, __u32 at)
{
	return *(const __u64 *)(l->bytes + ((l->base + at) & (LANG_WINDOW - 8)));
}

static __always_inline __u32 lang_field32(const struct lang_walk *l, __u32 at)
{
	return *(const __u32 *)(l->bytes + ((l->base + at) & (LANG_WINDOW - 4)));
}

static __always_inline __u8 lang_byte(const struct lang_walk *l, __u32 at)
{
	return l->bytes[(l->base + at) & (LANG_WINDOW - 1)];
}

static __always_inline __u64 lang_object(const struct lang_walk *l, __u32 at)
{
	return *(const __u64 *)(l->object + (at & (LANG_OBJECT - 8)));
}

static __always_inline __u32 lang_object32(const struct lang_walk *l, __u32 at)
{
	return *(const __u32 *)(l->object + (at & (LANG_OBJECT - 4)));
}

static __always_inline __u64 lang_read64(__u64 from)
{
	__u64 v = 0;

	bpf_probe_read_user(&v, sizeof(v), (const void *)from);
	return v;
}

/* Masks an index. The compiler drops a mask that a comparison makes needless, but 5.10 does not see that. */
static __always_inline __u32 lang_mask(__u32 index, __u32 mask)
{
	asm volatile("" : "+r"(index));
	return index & mask;
}

/* Appends a frame. Returns false if there is no room. */
static __always_inline int lang_push(struct lang_walk *l, __u32 id, __u32 position, __u64 entry)
{
	__u32 n = l->n;

	if (n >= LANG_FRAMES)
		return 0;
	l->frames[lang_mask(n, LANG_SLOTS - 1)] =
		id | (__u64)(position & LANG_POSITION_MOST) << LANG_POSITION_SHIFT | entry;
	l->n = n + 1;
	return 1;
}

/* Marks the frame that was appended last: LANG_ENTRY, LANG_STACK. */
static __always_inline void lang_mark(struct lang_walk *l, __u64 mark)
{
	__u32 n = l->n - 1;

	if (n >= LANG_FRAMES)
		return;
	l->frames[lang_mask(n, LANG_SLOTS - 1)] |= mark;
}

/* Marks the frame that was appended last as the outermost one of its call of the loop. */
static __always_inline void lang_mark_entry(struct lang_walk *l)
{
	lang_mark(l, LANG_ENTRY);
}

/*
 * Appends a mark of a machine frame, struct lang_mark: key, function and code as there. at: the position and
 * LANG_MARK_... flags. Returns false if there is no room.
 */
static __always_inline int lang_mark_frame(struct lang_walk *l, __u32 key, __u32 function, __u32 code,
					   __u32 at)
{
	__u32 n = l->n;

	if (n > LANG_FRAMES - 2)
		return 0;
	l->frames[lang_mask(n, LANG_SLOTS - 1)] = key | (__u64)function << 32;
	l->frames[lang_mask(n + 1, LANG_SLOTS - 1)] = code | (__u64)at << 32;
	l->n = n + 2;
	return 1;
}

/* The frames end before the true root: a last frame says why. */
static __always_inline void lang_cut(struct lang_walk *l, __u32 state)
{
	if (l->n >= LANG_FRAMES)
		l->n = LANG_FRAMES - 1;
	lang_push(l, 0, state, 0);
}

static __always_inline struct lang_key lang_key_of(const struct lang_walk *l, __u32 kind, __u64 object)
{
	return (struct lang_key){ l->pid, kind | l->generation << LANG_RECENT_KIND, object };
}

/* Returns the id of a function that this walk has met before; 0: ask lang_find_id. */
static __always_inline __u32 lang_met(struct lang_walk *l, __u32 kind, __u64 object)
{
	const struct lang_recent *r = recent_slot(&l->recents, object);
	__u64 owner = recent_owner(&l->recents, l->pid, kind);

	return recent_is(r, object, owner) && r->walk == l->recents.walk ? r->id : 0;
}

/* Lets lang_met find this function in the same walk. */
static __always_inline void lang_note_met(struct lang_walk *l, __u32 kind, __u64 object, __u32 id)
{
	recent_note(&l->recents, object, 0, recent_owner(&l->recents, l->pid, kind), id);
}

/* Returns the id of a function that was sent before; 0: send it. */
static __always_inline __u32 lang_find_sent(const struct lang_walk *l, __u32 kind, __u64 object, __u64 sign)
{
	struct lang_key key = lang_key_of(l, kind, object);
	const struct lang_known *known = bpf_map_lookup_elem(&lang_functions, &key);

	return known && known->sign == sign ? known->id : 0;
}

/* The same, if this CPU has met the function lately. */
static __always_inline __u32 lang_find_recent(struct lang_walk *l, __u32 kind, __u64 object, __u64 sign)
{
	struct lang_recent *r = recent_slot(&l->recents, object);

	if (!recent_is(r, object, recent_owner(&l->recents, l->pid, kind)) || r->sign != sign)
		return 0;
	r->walk = l->recents.walk;
	return r->id;
}

/* The same, first among those that this CPU has met lately. */
static __always_inline __u32 lang_find_id(struct lang_walk *l, __u32 kind, __u64 object, __u64 sign)
{
	__u32 id = lang_find_recent(l, kind, object, sign);

	if (id)
		return id;
	id = lang_find_sent(l, kind, object, sign);
	if (id)
		recent_note(&l->recents, object, sign, recent_owner(&l->recents, l->pid, kind), id);
	return id;
}

/* Begins the record of a function. Returns false if this sample has met too many. */
static __always_inline int lang_begin_function(struct lang_walk *l, __u32 language)
{
	if (l->fresh >= LANG_NEW)
		return 0;
	l->fresh++;
	l->out.language = language;
	l->out.pid = l->pid;
	l->out.image = l->image;
	l->out.bias = l->bias;
	l->out.line = l->out.table = l->out.flags = 0;
	l->out.name_n = l->out.class_n = l->out.path_n = 0;
	l->out.name_text = l->out.class_text = l->out.path_text = LANG_BYTES;
	l->out.joint = l->out.prefix = 0;
	return 1;
}

/* Sends the record, and remembers its id. Returns the id; 0: the ring is full. */
static __always_inline __u32 lang_send_function(struct lang_walk *l, __u32 kind, __u64 object, __u64 sign)
{
	struct lang_key key = lang_key_of(l, kind, object);
	__u32 id = id_first + bpf_get_smp_processor_id() + (l->ids + 1) * id_step, n = l->out.table;
	__u64 flags = bpf_ringbuf_query(&lang_ring, BPF_RB_AVAIL_DATA) > LANG_RING_WAKE ? BPF_RB_FORCE_WAKEUP
											: BPF_RB_NO_WAKEUP;
	struct lang_known known = { sign, id, 0 };

	l->out.id = id;
	if (id >> 31) /* the sign of python_name's result; millions of functions on each CPU */
		return 0;
	if (n > LANG_TABLE)
		n = 0;
	if (bpf_ringbuf_output(&lang_ring, &l->out, __builtin_offsetof(struct lang_function, lines) + n,
			       flags))
		return 0;
	l->ids++;
	bpf_map_update_elem(&lang_functions, &key, &known, BPF_ANY);
	return id;
}

/*
 * Copies up to `most` bytes, a power of two less than 64 KiB, of `n` to `to`.
 * Returns their number; 0: unreadable.
 */
static __always_inline __u32 lang_copy(void *to, __u64 from, __u64 n, __u32 most)
{
	__u32 bytes = n < most ? n : most;

	/* Otherwise the compiler compares the 64-bit number, which says nothing of this one to the verifier. */
	asm volatile("" : "+r"(bytes));
	if (bytes > most)
		return 0;
	/* Otherwise one comparison of bytes - 1 takes the place of both, and 5.10 does not learn from it. */
	asm volatile("" : "+r"(bytes));
	if (bytes == 0)
		return 0;
	return bpf_probe_read_user(to, bytes, (const void *)from) == 0 ? bytes : 0;
}

/*
 * Reads the frame at l->at, of less than LANG_FRAME_READ bytes, for lang_field. Frames often stand next to
 * each other, the outer ones at lower addresses. Then one read gives several of them: a read costs more than
 * its bytes. It stays in the frame's page, because a fault costs as much as ten reads. inner: the address of
 * the frame before. Returns false if the frame is unreadable.
 */
static __always_inline int lang_read_frame(struct lang_walk *l, __u64 inner, __u32 bytes)
{
	__u64 in = l->at - l->window, before = l->at & (LANG_PAGE - 1);

	if (l->window && in <= l->held) {
		l->base = in;
		return 1;
	}
	l->window = l->base = 0;
	if (inner - l->at <= LANG_NEAR && !(l->at & 7)) {
		if (before > LANG_WINDOW - LANG_FRAME_READ)
			before = LANG_WINDOW - LANG_FRAME_READ;
		if (!lang_copy(l->bytes, l->at - before, before + bytes, LANG_WINDOW))
			return 0;
		l->window = l->at - before;
		l->base = l->held = before;
		return 1;
	}
	return lang_copy(l->bytes, l->at, bytes, LANG_FRAME_READ) == bytes;
}

/* The thread pointer of the sampled thread. */
static __always_inline __u64 lang_thread_pointer(void)
{
	__u64 fs = 0;

	bpf_probe_read_kernel(&fs, sizeof(fs), (const void *)(bpf_get_current_task() + fsbase_at));
	return fs;
}

enum {
	GLIBC_FIRST = 0x310,	/* struct pthread.specific_1stblock, nptl/descr.h, x86-64 */
	GLIBC_SPECIFIC = 0x510, /* struct pthread.specific: the addresses of all blocks */
	GLIBC_BLOCK = 32,	/* keys in a block; an entry is {sequence number, value} */
	MUSL_TSD = 0x80,	/* struct pthread.tsd, src/internal/pthread_impl.h, 1.2.2 and later, x86-64 */
};

/* pthread_getspecific of the sampled thread; 0: it has none. */
static __always_inline __u64 lang_specific(const struct lang_image *im, __u32 key)
{
	__u64 fs = lang_thread_pointer(), block;

	if (!fs || key >= 1024)
		return 0;
	if (im->libc == LANG_MUSL) {
		block = lang_read64(fs + MUSL_TSD);
		return block ? lang_read64(block + key * 8) : 0;
	}
	if (key < GLIBC_BLOCK)
		return lang_read64(fs + GLIBC_FIRST + key * 16 + 8);
	block = lang_read64(fs + GLIBC_SPECIFIC + 8 * (key / GLIBC_BLOCK));
	return block ? lang_read64(block + key % GLIBC_BLOCK * 16 + 8) : 0;
}

/*
 * Notes the executable of the process, so that its next process is known at exec. In the kernel, because user
 * space sees other numbers of devices and inodes for some file systems.
 */
static __always_inline void lang_learn(const struct lang_image *im, __u32 image, __u64 bias)
{
	struct lang_at at = { mm_at, exe_at, code_at, f_inode_at, i_ino_at, i_sb_at, s_dev_at };
	struct lang_exe exe = { image, 0, im->text };
	struct lang_file key = { 0, 0 };
	__u64 code;

	if (!exec_known)
		return;
	code = lang_executable(&at, &key);
	if (!key.inode)
		return;
	exe.library = code != im->text + bias;
	if (!exe.library)
		bpf_map_update_elem(&lang_files, &key, &exe, BPF_ANY);
	else if (auxv_at && im->dynamic)
		bpf_map_update_elem(&lang_files, &key, &exe, BPF_NOEXIST);
}

enum {
	LANG_AUXV = 256,     /* bytes of the auxiliary vector that are read; AT_PHDR is the fifth or sixth pair */
	LANG_AT_PHDR = 3,    /* <elf.h> */
	LANG_HEADER = 56,    /* struct Elf64_Phdr */
	LANG_HEADERS = 16,
	LANG_DYNAMICS = 48,  /* entries of a dynamic section: of 16 bytes */
	LANG_DT_DEBUG = 21,
	LANG_LINKS = 32,     /* libraries that are looked at, in the order of loading */
};

static __always_inline __u64 lang_bytes64(const struct lang_walk *l, __u32 at)
{
	return *(const __u64 *)(l->out.lines + (at & (LANG_TABLE - 8)));
}

/* Returns the address of the current process's program headers, from its auxiliary vector; 0: unknown. */
static __always_inline __u64 lang_program_headers(struct lang_walk *l)
{
	__u64 mm = kernel64(bpf_get_current_task() + mm_at);

	if (!mm || bpf_probe_read_kernel(l->object, LANG_AUXV, (const void *)(mm + auxv_at)))
		return 0;
	for (int i = 0; i < LANG_AUXV; i += 16) {
		if (lang_object(l, i) == LANG_AT_PHDR)
			return lang_object(l, i + 8);
	}
	return 0;
}

/* Returns the address of the executable's dynamic section; 0: it has none. */
static __always_inline __u64 lang_dynamic_section(struct lang_walk *l)
{
	__u64 headers = lang_program_headers(l), bias = 0, dynamic = 0;

	if (!headers ||
	    bpf_probe_read_user(l->out.lines, LANG_HEADERS * LANG_HEADER, (const void *)headers))
		return 0;
	for (int i = 0; i < LANG_HEADERS * LANG_HEADER; i += LANG_HEADER) {
		__u32 type = lang_bytes64(l, i);

		if (type == 6) /* PT_PHDR */
			bias = headers - lang_bytes64(l, i + 16);
		if (type == 2) { /* PT_DYNAMIC */
			dynamic = lang_bytes64(l, i + 16);
			break;
		}
	}
	return dynamic ? bias + dynamic : 0;
}

/* Returns the address of the dynamic linker's struct r_debug; 0: it does not exist yet. */
static __always_inline __u64 lang_linker(struct lang_walk *l)
{
	__u64 dynamic = lang_dynamic_section(l);

	if (!dynamic || bpf_probe_read_user(l->out.lines, LANG_DYNAMICS * 16, (const void *)dynamic))
		return 0;
	for (int i = 0; i < LANG_DYNAMICS * 16; i += 16) {
		if (lang_bytes64(l, i) == LANG_DT_DEBUG)
			return lang_bytes64(l, i + 8);
	}
	return 0;
}

/*
 * Searches the image's library among those that the process has loaded, by the dynamic linker's list. User
 * space knows it from the mapping, but up to a quarter of a second later. Returns false if it is not there.
 */
WALK_FN int lang_find_library(__u32 unused)
{
	struct lang_walk *l = lang_walk_state();
	const struct lang_image *im;
	__u64 debug, link, at[4] = { 0 }; /* struct link_map: l_addr, l_name, l_ld, l_next */

	if (!l || unused)
		return 0;
	im = lang_image_of(l);
	debug = im ? lang_linker(l) : 0;
	link = debug ? lang_read64(debug + 8) : 0;
	for (int i = 0; i < LANG_LINKS && link; i++) {
		if (bpf_probe_read_user(at, sizeof(at), (const void *)link))
			return 0;
		if (at[2] - at[0] == im->dynamic) {
			l->bias = at[0];
			return 1;
		}
		link = at[3];
	}
	return 0;
}

static __always_inline int lang_search_library(const struct lang_walk *l, struct lang_proc *p, __u32 pid)
{
	if (lang_find_library(0)) {
		p->bias = l->bias;
		p->searches = 0;
		return 1;
	}
	if (--p->searches == 0)
		bpf_map_delete_elem(&lang_procs, &pid);
	return 0;
}

/* Prepares the walk of this process. Returns false if it runs no interpreter that is known. */
static __always_inline int lang_begin(struct lang_walk *l, __u32 pid, __u32 *language)
{
	struct lang_proc *p = bpf_map_lookup_elem(&lang_procs, &pid);
	const struct lang_image *im;

	if (!p)
		return 0;
	l->image = p->image;
	if (p->searches && !lang_search_library(l, p, pid))
		return 0;
	l->bias = p->bias;
	l->pid = pid;
	l->n = l->fresh = l->base = 0;
	l->window = 0;
	im = lang_image_of(l);
	if (!im || !im->usable)
		return 0;
	l->generation = p->generation;
	recents_begin(&l->recents, im->epoch, p->generation);
	if (__builtin_expect(p->learn, 0)) {
		p->learn = 0;
		lang_learn(im, p->image, p->bias);
	}
	*language = im->language;
	return 1;
}

/*
 * Defines LANGUAGE_steps, which goes up to `most` frames on. A call and its return cost about as much as the
 * rest of a step.
 */
#define LANG_STEPS(language, most)                                             \
	WALK_FN int language##_steps(__u32 unused)                             \
	{                                                                      \
		struct lang_walk *l = lang_walk_state();                       \
		const struct lang_image *im;                                   \
		int is = LANG_STEP_ON;                                         \
                                                                               \
		if (!l || unused)                                              \
			return LANG_STEP_END;                                  \
		im = lang_image_of(l);                                         \
		_Pragma("clang loop unroll(disable)")                          \
		for (int i = 0; im && i < (most) && is == LANG_STEP_ON; i++)   \
			is = language##_step(l, im);                           \
		return im ? is : LANG_STEP_END;                                \
	}

#endif
