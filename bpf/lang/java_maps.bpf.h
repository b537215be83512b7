/* The maps of Java's programs, and the state of a CPU: see java.bpf.h. */
#ifndef CPROF_BPF_LANG_JAVA_MAPS_H
#define CPROF_BPF_LANG_JAVA_MAPS_H

#include "bpf/lang/resume.bpf.h"
#include "common/walk/java_walk.h"

enum {
	JAVA_KNOWN_BITS = 9,
	JAVA_METHODS_BITS = 7,
	JAVA_HALVINGS = 18,		   /* a method's code has fewer than 2^18 places */
	JAVA_TABLE = 4 << 10,		   /* bytes of a line table with the tables after it, at most */
	JAVA_PC_DESC = 16,		   /* bytes: pc, scope, objects, flags */
	JAVA_NUMBERS = 16,		   /* bytes that hold the three numbers of a scope */
	JAVA_TIER_BASELINE = 2,		   /* enum lang_tier of common/stream/record_values.h */
	JAVA_TIER_OPTIMIZED = 3,
	JAVA_TIER_NATIVE = 5,
	JAVA_TIER_STUB = 6,
	JAVA_C2 = 4, /* level of compilation */
};

/* Kinds of keys. */
enum {
	JAVA_KEY_METHOD = LANG_JAVA,
	JAVA_KEY_CODE = LANG_JAVA | 1 << 8,
	JAVA_KEY_STUB = LANG_JAVA | 2 << 8,
	JAVA_KEY_STUB_NAME = LANG_JAVA | 3 << 8,
};

/* Stands for the frames of a virtual thread that are not on the stack. */
#define JAVA_FROZEN_NAME "[frames in the heap]"

/* A return address in compiled code. */
struct java_known {
	__u64 pc, blob;
	__u32 generation; /* 0: nothing */
	__u32 compile_id, function, code;
	__u32 size, pad; /* size: bytes of the frame */
};

/* An interpreted method of this sample. In the next sample, another method may have the address. */
struct java_known_method {
	__u64 method, method_const, read; /* read: time of the sample */
	__u32 generation;		  /* 0: nothing */
	__u32 function, code_bytes, pad;
};

/* A record with room for one place's functions: the beginning of struct lang_code. */
struct java_record {
	__u32 language, pid, id, tier, n, parts[7];
	struct lang_place places[JAVA_LEVELS];
};

struct java_cpu {
	struct java_walk j;
	__u64 scopes, metadata;
	__u64 settled;	      /* return address of the current frame that may be remembered, or 0 */
	__u32 scope;	      /* offset of the next scope; 0: none */
	__u32 function, code; /* ids: what the current frame is, its outermost method */
	__u32 levels;	      /* methods in the record */
	__u32 state;	      /* enum lang_state of a level that could not be read, or 0 */
	__u32 broken;	      /* the chain of scopes has no beginning, or no end */
	__u32 inner;	      /* 1 + index of the frame that was walked last if it runs a method */
	__u32 pad;
	unsigned char numbers[JAVA_NUMBERS + 8];
	struct java_record record;
	__u32 method; /* id of the method that java_recall_method has found, or 0 */
	struct java_known known[1 << JAVA_KNOWN_BITS];
	struct java_known_method methods[1 << JAVA_METHODS_BITS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct java_cpu);
} java_cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, JAVA_PROCS);
	__type(key, __u32);
	__type(value, struct java_process);
} java_procs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, JAVA_LAYOUTS);
	__type(key, __u32);
	__type(value, struct java_layout);
} java_layouts SEC(".maps");

static __always_inline struct java_cpu *java_cpu(void)
{
	return only_value(&java_cpus);
}

static __always_inline struct java_walk *java_state(WALK_ENV env)
{
	struct java_cpu *c = java_cpu();

	use_env(env);
	return c ? &c->j : NULL;
}

static __always_inline const struct java_layout *java_layout_of(const struct java_walk *j)
{
	__u32 at = j->p.layout;

	return bpf_map_lookup_elem(&java_layouts, &at);
}

static __always_inline const struct java_layout *java_layout(WALK_ENV env)
{
	struct java_walk *j = java_state(env);

	return j ? java_layout_of(j) : NULL;
}

static __always_inline int java_copy(WALK_ENV env, void *to, __u32 n, __u32 most, __u64 from)
{
	use_env(env);
	if (__builtin_constant_p(n))
		return (int)bpf_probe_read_user(to, n, (const void *)from);
	asm volatile("" : "+r"(n)); /* both, as in lang_copy */
	if (n > most)
		return -1;
	asm volatile("" : "+r"(n));
	if (n == 0)
		return -1;
	return (int)bpf_probe_read_user(to, n, (const void *)from);
}

#endif
