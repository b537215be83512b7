/*
 * A small DWARF machine for tests: a frame whose registers and memory have arbitrary values, and the values
 * that libdw's rules for its caller compute from them.
 *
 *	struct value cfa = compute(&state, ops, n, false);
 *	struct value rbp = theirs(&state, frame, RBP);
 */
#ifndef CPROF_TESTS_UNWIND_MACHINE_H
#define CPROF_TESTS_UNWIND_MACHINE_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REGISTERS = 17, RAX = 0, RBX = 3, RBP = 6, RSP = 7, RIP = 16, STATES = 3 };

/* A frame with arbitrary contents. */
struct state {
	uint64_t reg[REGISTERS];
	uint64_t salt;
	uint64_t cfa;
};

static inline uint64_t memory(const struct state *s, uint64_t address)
{
	uint64_t x = address ^ s->salt;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

/* The result of an expression, or of a rule. */
struct value {
	enum { UNKNOWN, KNOWN, LOST } what;
	uint64_t v;
};

static inline struct value known(uint64_t v)
{
	return (struct value){ KNOWN, v };
}

/* Runs a DWARF machine. want_value: computes CFA; otherwise a save slot, whose contents are returned. */
static inline struct value compute(const struct state *s, const Dwarf_Op *ops, size_t n, bool want_value)
{
	uint64_t stack[64] = { 0 };
	size_t d = 0;
	bool is_value = want_value;

	for (size_t i = 0; i < n; i++) {
		const Dwarf_Op *o = &ops[i];

		if (d > 60)
			return (struct value){ UNKNOWN, 0 };
		if (o->atom >= DW_OP_lit0 && o->atom <= DW_OP_lit31) {
			stack[d++] = o->atom - DW_OP_lit0;
		} else if (o->atom >= DW_OP_breg0 && o->atom < DW_OP_breg0 + REGISTERS) {
			stack[d++] = s->reg[o->atom - DW_OP_breg0] + o->number;
		} else if (o->atom == DW_OP_bregx && o->number < REGISTERS) {
			stack[d++] = s->reg[o->number] + o->number2;
		} else if (o->atom >= DW_OP_reg0 && o->atom < DW_OP_reg0 + REGISTERS) {
			stack[d++] = s->reg[o->atom - DW_OP_reg0];
			is_value = true;
		} else if (o->atom == DW_OP_regx && o->number < REGISTERS) {
			stack[d++] = s->reg[o->number];
			is_value = true;
		} else if (o->atom == DW_OP_call_frame_cfa) {
			stack[d++] = s->cfa;
		} else if (o->atom == DW_OP_stack_value) {
			is_value = true;
		} else if (o->atom == DW_OP_const1u || o->atom == DW_OP_const2u || o->atom == DW_OP_const4u ||
			   o->atom == DW_OP_constu || o->atom == DW_OP_consts || o->atom == DW_OP_const1s) {
			stack[d++] = o->number;
		} else if (o->atom == DW_OP_plus_uconst && d >= 1) {
			stack[d - 1] += o->number;
		} else if (o->atom == DW_OP_deref && d >= 1) {
			stack[d - 1] = memory(s, stack[d - 1]);
		} else if (d >= 2) {
			uint64_t a = stack[d - 2], b = stack[d - 1];

			d--;
			switch (o->atom) {
			case DW_OP_plus: stack[d - 1] = a + b; break;
			case DW_OP_minus: stack[d - 1] = a - b; break;
			case DW_OP_and: stack[d - 1] = a & b; break;
			case DW_OP_shl: stack[d - 1] = b < 64 ? a << b : 0; break;
			case DW_OP_ge: stack[d - 1] = (int64_t)a >= (int64_t)b; break;
			default: return (struct value){ UNKNOWN, 0 };
			}
		} else {
			return (struct value){ UNKNOWN, 0 };
		}
	}
	if (d == 0) /* invalid: a register's location starts from CFA */
		return (struct value){ UNKNOWN, 0 };
	return known(is_value ? stack[d - 1] : memory(s, stack[d - 1]));
}

/* Returns libdw's value of a register of the caller. */
static inline struct value theirs(const struct state *s, Dwarf_Frame *frame, int reg)
{
	Dwarf_Op mem[3], *ops;
	size_t n;

	if (dwarf_frame_register(frame, reg, mem, &ops, &n) != 0)
		return (struct value){ UNKNOWN, 0 };
	if (n == 0)
		return ops == mem ? (struct value){ LOST, 0 } : known(s->reg[reg]);
	return compute(s, ops, n, false);
}

#endif
