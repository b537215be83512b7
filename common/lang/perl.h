/*
 * Offsets in perl's structures, 5.32 to 5.44: indexes of lang_image.at. bpf/lang/perl.bpf.h has
 * those that all of these versions share.
 *
 * All are from perl's sources: intrpvar.h, cop.h, hv.h, opnames.h.
 */
#ifndef CPROF_LANG_PERL_H
#define CPROF_LANG_PERL_H

enum perl_at {
	PERL_KEYED,     /* 1: each thread has an interpreter, by the key PL_thr_key; 0: the process has one */
	PERL_CURCOP,    /* PL_curcop, in the interpreter; without threads: from lang_image.state on */
	PERL_STACKINFO, /* PL_curstackinfo, in the same way */
	PERL_NAMED_AUX, /* 1: a hash has its name in its body, from 5.36 on; 0: after the array of buckets */
	PERL_NEXTSTATE, /* number of the operator OP_NEXTSTATE, which begins a statement; OP_DBSTATE is the next one */
};

#endif
