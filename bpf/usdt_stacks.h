/*
 * Stacks of calls by call probes (usdt_stacks.bpf.c): the parts that user space shares.
 *
 * A call probe is a static probe at the entry or the return of each function of an interpreted language. Its
 * arguments name the function.
 */
#ifndef CPROF_BPF_USDT_STACKS_H
#define CPROF_BPF_USDT_STACKS_H

#include "bpf/event.h"
#include "common/lang/lang.h"

enum usdt_text { USDT_CLASS, USDT_NAME, USDT_PATH, USDT_TEXTS };

enum usdt_what { USDT_ENTRY, USDT_RETURN, USDT_RESET };

/* One place of a probe. The cookie of the program that is attached there is its index. */
struct usdt_site {
	struct event_arg texts[USDT_TEXTS], line;
	unsigned char has_text[USDT_TEXTS], has_line;
	unsigned char what;  /* enum usdt_what */
	unsigned char joint; /* as in struct lang_function */
	unsigned short flags;
	unsigned int language; /* enum lang_kind */
};

enum {
	USDT_SITES = 256,
	USDT_STACKS = 1024, /* stacks at once: threads and fibers */
	USDT_THREADS = 16384,
	USDT_FRAMES = LANG_FRAMES -
		      2, /* frames that are kept, the outermost ones; one says that some are missing */
	USDT_BOTTOM = LANG_SLOTS - 1, /* the slot of the outermost frame: stacks grow down */
	USDT_SEARCH = 32,	      /* frames among which a return looks for its entry */
};

enum usdt_count {
	USDT_HITS, /* runs of the program */
	USDT_FILTERED,
	USDT_ENTRIES,
	USDT_RETURNS,
	USDT_STRAYS,  /* returns without an entry */
	USDT_DEEP,    /* entries beyond USDT_FRAMES */
	USDT_MARKED,  /* stacks that began with a mark, as not all outer calls are known */
	USDT_UNNAMED, /* entries whose function could not be read or sent */
	USDT_NO_STACK, /* hits of threads that found no memory, or not the stack they run on */
	USDT_RUN_NS,
	USDT_COUNTS,
};

struct usdt_counts {
	unsigned long long n[USDT_COUNTS];
};

/* A thread, from its start or its first probe on. */
struct usdt_thread {
	unsigned long long serial; /* differs for each thread, and after exec */
	unsigned long long fiber;  /* the machine stack it runs on: the end of its mapping; 0: unknown */
	unsigned long long low;	   /* and its start when it was looked up */
	unsigned long long missed; /* stack pointer of hits on a machine stack that was not found; 0: none */
	unsigned int whole;	   /* the probes were there before the thread */
	unsigned int pad;
};

struct usdt_key {
	unsigned int tid, pad;
	unsigned long long fiber;
};

struct usdt_stack {
	unsigned long long serial; /* the thread's */
	unsigned int depth;	   /* frames, also those that are not kept */
	unsigned int pad;
	unsigned int names[LANG_SLOTS];	       /* for each frame, the address of its name in short */
	unsigned long long frames[LANG_SLOTS]; /* as in a sample */
	/* Texts of the last entry, then zeros up to a multiple of 8 bytes. */
	unsigned char class[LANG_NAME + 8], name[LANG_NAME + 8], path[LANG_PATH + 8];
};

/* A frame of a sample that has a state instead of a function. */
#define USDT_STATE(state, language) \
	(LANG_BY_PROBE | (unsigned long long)((state) | (language) << LANG_STATE_BITS) << LANG_POSITION_SHIFT)

#endif
