/*
 * The functions that a CPU has met lately, by their addresses: lang_functions without its cost. A look-up in
 * that map is a call of a helper, which costs more than the rest of a frame.
 *
 * A function is known by its address and its sign (lang_known.sign). In one walk the thread is interrupted,
 * and its frames keep their functions alive: a sign that was compared needs no second comparison (lang_met).
 */
#ifndef CPROF_BPF_LANG_RECENT_H
#define CPROF_BPF_LANG_RECENT_H

#include <linux/types.h>

enum { LANG_RECENT_BITS = 8, LANG_RECENT_KIND = 10 /* bits of a kind of key */ };

struct lang_recent {
	__u64 object, sign;
	__u64 owner; /* process and its generation, kind of key, and epoch of ids; 0: nothing */
	__u32 id;
	__u32 walk; /* in which the sign was compared last */
};

/* By CPU. */
struct lang_recents {
	__u32 walk;  /* counts walks, from 1 on */
	__u64 owner; /* the part that all processes and kinds of a walk share */
	struct lang_recent is[1 << LANG_RECENT_BITS];
};

/* The owner has 12 bits of the epoch count, 20 of the generation, and all 22 that a pid can have. */
static __always_inline void recents_begin(struct lang_recents *rs, __u32 epoch, __u32 generation)
{
	rs->walk = rs->walk == ~0u ? 1 : rs->walk + 1;
	rs->owner = (__u64)epoch << 52 | (__u64)(generation & 0xfffff) << 32;
}

static __always_inline __u64 recent_owner(const struct lang_recents *rs, __u32 pid, __u32 kind)
{
	return rs->owner | kind << 22 | pid;
}

static __always_inline struct lang_recent *recent_slot(struct lang_recents *rs, __u64 object)
{
	__u32 at = ((__u32)(object >> 4) ^ (__u32)(object >> 24)) * 0x9e3779b1u >> (32 - LANG_RECENT_BITS);

	asm volatile("" : "+r"(at)); /* 5.10 does not see what the shift leaves */
	return &rs->is[at & ((1 << LANG_RECENT_BITS) - 1)];
}

static __always_inline int recent_is(const struct lang_recent *r, __u64 object, __u64 owner)
{
	return r->object == object && r->owner == owner;
}

static __always_inline void recent_note(struct lang_recents *rs, __u64 object, __u64 sign, __u64 owner,
					__u32 id)
{
	struct lang_recent *r = recent_slot(rs, object);

	r->object = object;
	r->sign = sign;
	r->owner = owner;
	r->id = id;
	r->walk = rs->walk;
}

#endif
