/*
 * Offsets in Ruby's structures, 2.7 to 4.0: indexes of lang_image.at.
 *
 * All are from sources of Ruby: vm_core.h, iseq.h, method.h, internal/class.h, internal/imemo.h,
 * include/ruby/internal/core/rstring.h. Those that are equal in all these versions are in
 * bpf/lang/ruby.bpf.h.
 */
#ifndef CPROF_LANG_RUBY_H
#define CPROF_LANG_RUBY_H

enum ruby_at {
	RB_EC,	      /* enum ruby_ec */
	RB_TLS_FIRST, /* bytes from the block (RB_EC_BELOW: down from the thread pointer) to the first word */
	RB_TLS_WORDS, /* words that may hold the execution context */
	RB_THREAD_EC, /* in rb_thread_t: ec */
	RB_CFP_BYTES, /* size of a control frame */
	RB_LINE_FIXNUM, /* 1: location.first_lineno is a fixnum, not an int */
	RB_INSNS_BODY,
	RB_INSNS_SIZE,
	RB_INSNS_TABLE,	   /* in the iseq's body: insns_info */
	RB_INSNS_ENTRY,	   /* bytes of an entry of insns_info.body; begins with the line */
	RB_STR_EMBEDDED,   /* in RString: embedded bytes. At 16, their number is in the flags */
	RB_CLASS,	   /* enum ruby_class */
	RB_CLASS_EXT,	   /* in RClass: the extension, or its address */
	RB_CLASS_PATH,	   /* in the extension: the path, or the table of variables */
	RB_CLASS_ATTACHED, /* in the extension: the object of a singleton class */
	RB_SINGLETON,	   /* the flag of singleton classes */
	RB_AT
};

/* Where the execution context of a thread is: */
enum ruby_ec {
	RB_EC_GLOBAL, /* up to 2.7: in the variable at image.state, for all threads */
	RB_EC_MODULE, /* in the thread's block of the module whose number is in the word at image.state */
	RB_EC_OFFSET, /* in the block at the thread pointer plus the word at image.state */
	RB_EC_BELOW,  /* in an executable: below the thread pointer */
};

/* Where the path of a class is: */
enum ruby_class {
	RB_CLASS_NONE,	/* unknown */
	RB_CLASS_FIELD, /* from 3.3 on: in a member */
	RB_CLASS_TABLE, /* up to 3.1: in the table of the class's variables, with an ID of local scope */
};

enum {
	RB_TLS_WORDS_MOST = 8,
	/* struct succ_index_table, iseq.c: ranks of the first positions, and blocks of 512 positions. */
	RB_INDEX_FIRST = 54,
	RB_INDEX_HEAD = 48,
	RB_INDEX_BLOCK = 80,
	RB_INDEX_POSITIONS = 512,
	RB_INDEX_MOST = 4096, /* bytes of the index that are read, at most */
	RB_TABLE_HEAD = 8,    /* bytes of our own before the index: number of entries, number of positions */
	RB_NO_POSITION = (1 << 28) - 1, /* the position of a frame whose counter is stale */
};

/* Bytes of the index of n positions. */
static inline unsigned int ruby_index_bytes(unsigned int n)
{
	unsigned int blocks =
		n < RB_INDEX_FIRST ? 0 : (n - RB_INDEX_FIRST + RB_INDEX_POSITIONS - 1) / RB_INDEX_POSITIONS;

	return (n < RB_INDEX_FIRST ? (n + 8) / 9 * 8 : RB_INDEX_HEAD) + blocks * RB_INDEX_BLOCK;
}

#endif
