#include "common/elf/probe_arg.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ARM64_REGISTERS = 31, ARM64_SP = 248 };

/* The names of a register by the size of its part, and its offset in struct pt_regs. */
static const struct {
	const char *names[4];
	uint16_t at;
} x86[] = {
	{ { "r15", "r15d", "r15w", "r15b" }, 0 }, { { "r14", "r14d", "r14w", "r14b" }, 8 },
	{ { "r13", "r13d", "r13w", "r13b" }, 16 }, { { "r12", "r12d", "r12w", "r12b" }, 24 },
	{ { "rbp", "ebp", "bp", "bpl" }, 32 }, { { "rbx", "ebx", "bx", "bl" }, 40 },
	{ { "r11", "r11d", "r11w", "r11b" }, 48 }, { { "r10", "r10d", "r10w", "r10b" }, 56 },
	{ { "r9", "r9d", "r9w", "r9b" }, 64 }, { { "r8", "r8d", "r8w", "r8b" }, 72 },
	{ { "rax", "eax", "ax", "al" }, 80 }, { { "rcx", "ecx", "cx", "cl" }, 88 },
	{ { "rdx", "edx", "dx", "dl" }, 96 }, { { "rsi", "esi", "si", "sil" }, 104 },
	{ { "rdi", "edi", "di", "dil" }, 112 }, { { "rip", "eip", "ip", "ip" }, 128 },
	{ { "rsp", "esp", "sp", "spl" }, 152 },
};

static bool is_part(const char *text, size_t n, const char *name)
{
	return strlen(name) == n && memcmp(text, name, n) == 0;
}

static bool find_x86(const char *text, size_t n, uint16_t *at)
{
	for (size_t i = 0; i < sizeof(x86) / sizeof(x86[0]); i++) {
		for (size_t k = 0; k < 4; k++) {
			if (is_part(text, n, x86[i].names[k])) {
				*at = x86[i].at;
				return true;
			}
		}
	}
	return false;
}

/* "x0" to "x30", "w0" to "w30", "sp" */
static bool find_arm64(const char *text, size_t n, uint16_t *at)
{
	unsigned int number = 0;

	*at = ARM64_SP;
	if (is_part(text, n, "sp"))
		return true;
	if (n < 2 || n > 3 || (text[0] != 'x' && text[0] != 'w'))
		return false;
	for (size_t i = 1; i < n; i++) {
		if (!isdigit((unsigned char)text[i]))
			return false;
		number = number * 10 + (unsigned int)(text[i] - '0');
	}
	*at = (uint16_t)(8 * number);
	return number < ARM64_REGISTERS;
}

/* Takes a register's name. */
static bool take_register(unsigned int machine, const char **p, uint16_t *at)
{
	size_t n;

	if (machine == EM_X86_64 && *(*p)++ != '%')
		return false;
	n = strspn(*p, "abcdefghijklmnopqrstuvwxyz0123456789");
	if (machine == EM_X86_64 ? !find_x86(*p, n, at) : !find_arm64(*p, n, at))
		return false;
	*p += n;
	return true;
}

static bool take_number(const char **p, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = isdigit((unsigned char)**p) || **p == '-' ? (uint64_t)strtoll(*p, &end, 0) : 0;
	if ((!isdigit((unsigned char)**p) && **p != '-') || end == *p || errno)
		return false;
	*p = end;
	return true;
}

static bool take_char(const char **p, char c)
{
	if (**p != c)
		return false;
	(*p)++;
	return true;
}

/* "$5", "%rax", "8(%rbp)", "(%rax,%rbx,4)" */
static bool take_x86(const char **p, struct probe_arg *to)
{
	uint64_t scale = 1;

	if (take_char(p, '$'))
		return take_number(p, &to->value);
	if (**p == '%')
		return take_register(EM_X86_64, p, &to->reg);
	to->memory = 1;
	if (**p != '(' && !take_number(p, &to->value))
		return false;
	if (!take_char(p, '(') || (**p != ',' && !take_register(EM_X86_64, p, &to->reg)))
		return false;
	if (take_char(p, ',') && !take_register(EM_X86_64, p, &to->index))
		return false;
	if (take_char(p, ',') && !take_number(p, &scale))
		return false;
	while (scale > 1 && to->shift < 3) {
		scale /= 2;
		to->shift++;
	}
	return scale == 1 && take_char(p, ')');
}

/* "5", "x0", "[sp]", "[sp, 16]" */
static bool take_arm64(const char **p, struct probe_arg *to)
{
	if (!take_char(p, '['))
		return take_number(p, &to->value) || take_register(EM_AARCH64, p, &to->reg);
	to->memory = 1;
	if (!take_register(EM_AARCH64, p, &to->reg))
		return false;
	if (take_char(p, ',')) {
		take_char(p, ' ');
		if (!take_number(p, &to->value))
			return false;
	}
	return take_char(p, ']');
}

/* "-4@", of which the sign says that the argument has one. */
static bool take_size(const char **p, struct probe_arg *to)
{
	uint64_t size;

	to->is_signed = **p == '-';
	if (!take_number(p, &size))
		return false;
	to->size = (uint8_t)(to->is_signed ? -size : size);
	return (to->size == 1 || to->size == 2 || to->size == 4 || to->size == 8) && take_char(p, '@');
}

static const struct probe_arg none = { .reg = PROBE_NO_REG, .index = PROBE_NO_REG, .size = 8 };

/* Skips an argument of any form. On arm64 brackets hold a space. */
static const char *skip_arg(const char *p)
{
	bool inside = false;

	for (; *p && (inside || *p != ' '); p++)
		inside = *p == '[' || (inside && *p != ']');
	return p + strspn(p, " ");
}

bool probe_arg_parse(unsigned int machine, const char *args, unsigned int n, struct probe_arg *to)
{
	const char *p = args + strspn(args, " ");

	*to = none;
	for (unsigned int i = 1; i < n && *p; i++)
		p = skip_arg(p);
	if (n == 0 || !*p || !take_size(&p, to))
		return false;
	if (machine == EM_X86_64 ? !take_x86(&p, to) : machine != EM_AARCH64 || !take_arm64(&p, to))
		return false;
	return *p == '\0' || *p == ' ';
}

bool probe_arg_of_function(unsigned int machine, unsigned int n, struct probe_arg *to)
{
	static const char *const registers[] = { "rdi", "rsi", "rdx", "rcx", "r8", "r9" };

	*to = none;
	to->is_signed = 1;
	if (machine == EM_X86_64)
		return n > 0 && n <= 6 && find_x86(registers[n - 1], strlen(registers[n - 1]), &to->reg);
	to->reg = (uint16_t)(8 * (n - 1));
	return machine == EM_AARCH64 && n > 0 && n <= 8;
}
