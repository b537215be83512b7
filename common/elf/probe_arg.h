/*
 * Where an argument of a probe is when the probe is hit.
 *
 *	struct probe_arg a;
 *
 *	if (probe_arg_parse(EM_X86_64, "-4@%eax 8@-16(%rbp)", 2, &a))	// as in the note of a static probe
 *		...the value is at a.value plus the register at a.reg, in memory...
 *
 * Registers are given by their offsets in the kernel's struct pt_regs. Floating-point registers, and
 * addresses by the name of a symbol, are not supported. Source: the description of sdt.h's operands in
 * libbpf's usdt.c.
 */
#ifndef CPROF_ELF_PROBE_ARG_H
#define CPROF_ELF_PROBE_ARG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROBE_NO_REG = 0xffff, PROBE_ARG_NUMBER = 12 };

struct probe_arg {
	uint64_t value;      /* added to the registers */
	uint16_t reg, index; /* offsets in struct pt_regs, or PROBE_NO_REG */
	uint8_t shift;       /* the index is shifted left by it */
	uint8_t memory;      /* the sum is an address, and the argument is in memory */
	uint8_t size;        /* bytes of the argument: 1, 2, 4 or 8 */
	uint8_t is_signed;
	uint32_t pad;
};

/* Finds argument n, from 1. Returns false if there is none, or if it is of an unknown form. */
bool probe_arg_parse(unsigned int machine, const char *args, unsigned int n, struct probe_arg *to);
/* Finds argument n of a function by the calling convention. Returns false if it is not in a register. */
bool probe_arg_of_function(unsigned int machine, unsigned int n, struct probe_arg *to);

#endif
