/*
 * Makes ELF files with as many functions as a test needs, of MADE_STEP bytes each. The first is at MADE_TEXT,
 * both in the file and as linked. Function i of file f is called "fF_I_" and letters. The rest is a hole.
 */
#ifndef CPROF_TESTS_MADE_ELF_H
#define CPROF_TESTS_MADE_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MADE_TEXT = 0x1000, MADE_STEP = 64, MADE_BUILD_ID = 20 };

struct made_elf {
	unsigned int number;  /* F */
	uint32_t functions;
	uint32_t name_length; /* with its NUL, at least 24 */
	uint64_t size;        /* of the file, at least */
};

static inline uint64_t made_text_size(const struct made_elf *m)
{
	return (uint64_t)m->functions * MADE_STEP;
}

/* Returns the offset of the string table: after the hole, so that it ends near the end of the file. */
static inline uint64_t made_strings_at(const struct made_elf *m)
{
	uint64_t tables = (uint64_t)m->functions * (sizeof(Elf64_Sym) + m->name_length);
	uint64_t least = MADE_TEXT + made_text_size(m) + tables + 4096;

	return ((m->size > least ? m->size : least) - (uint64_t)m->functions * m->name_length - 4096) / 4096 * 4096;
}

static inline uint64_t made_symbols_at(const struct made_elf *m)
{
	return (made_strings_at(m) - (uint64_t)(m->functions + 1) * sizeof(Elf64_Sym)) / 4096 * 4096;
}

static inline void made_name(const struct made_elf *m, uint32_t i, char *name)
{
	int n = snprintf(name, m->name_length, "f%u_%u_", m->number, i);

	memset(name + n, 'a' + (int)(i % 26), m->name_length - (size_t)n - 1);
	name[m->name_length - 1] = '\0';
}

/* Fills the build ID with the file's number + 1. */
static inline void made_build_id(const struct made_elf *m, uint8_t id[MADE_BUILD_ID])
{
	memset(id, (int)m->number + 1, MADE_BUILD_ID);
}

static inline void made_headers(const struct made_elf *m, FILE *out)
{
	static const char names[] = "\0.text\0.symtab\0.strtab\0.note\0";
	uint64_t strings = made_strings_at(m), symbols = made_symbols_at(m);
	struct {
		Elf64_Ehdr e;
		Elf64_Phdr p;
		Elf64_Shdr s[6];
		Elf64_Nhdr n;
		char name[4];
		uint8_t id[MADE_BUILD_ID];
		char names[sizeof(names)];
	} h = { .e = { .e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT, .e_phoff = sizeof(h.e),
		       .e_shoff = sizeof(h.e) + sizeof(h.p), .e_ehsize = sizeof(h.e), .e_phentsize = sizeof(h.p), .e_phnum = 1,
		       .e_shentsize = sizeof(h.s[0]), .e_shnum = 6, .e_shstrndx = 5 },
		.p = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = MADE_TEXT, .p_vaddr = MADE_TEXT,
		       .p_filesz = made_text_size(m), .p_memsz = made_text_size(m), .p_align = 4096 },
		.n = { 4, MADE_BUILD_ID, NT_GNU_BUILD_ID }, .name = "GNU" };
	size_t note = (size_t)((char *)&h.n - (char *)&h), names_at = (size_t)(h.names - (char *)&h);

	memcpy(h.e.e_ident, ELFMAG, SELFMAG);
	h.e.e_ident[EI_CLASS] = ELFCLASS64;
	h.e.e_ident[EI_DATA] = ELFDATA2LSB;
	h.e.e_ident[EI_VERSION] = EV_CURRENT;
	memcpy(h.names, names, sizeof(names));
	made_build_id(m, h.id);
	h.s[1] = (Elf64_Shdr){ .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			       .sh_addr = MADE_TEXT, .sh_offset = MADE_TEXT, .sh_size = made_text_size(m) };
	h.s[2] = (Elf64_Shdr){ .sh_name = 7, .sh_type = SHT_SYMTAB, .sh_offset = symbols, .sh_link = 3, .sh_info = 1,
			       .sh_size = (uint64_t)(m->functions + 1) * sizeof(Elf64_Sym), .sh_entsize = sizeof(Elf64_Sym) };
	h.s[3] = (Elf64_Shdr){ .sh_name = 15, .sh_type = SHT_STRTAB, .sh_offset = strings,
			       .sh_size = (uint64_t)m->functions * m->name_length + 1 };
	h.s[4] = (Elf64_Shdr){ .sh_name = 23, .sh_type = SHT_NOTE, .sh_offset = note,
			       .sh_size = sizeof(h.n) + sizeof(h.name) + sizeof(h.id) };
	h.s[5] = (Elf64_Shdr){ .sh_name = 15, .sh_type = SHT_STRTAB, .sh_offset = names_at, .sh_size = sizeof(names) };
	fwrite(&h, sizeof(h), 1, out);
}

/* Returns false if the file cannot be written. */
static inline bool made_write(const struct made_elf *m, const char *path)
{
	FILE *out = fopen(path, "we");
	char *name = malloc(m->name_length);

	if (!out || !name)
		return false;
	made_headers(m, out);
	fseek(out, (long)(made_symbols_at(m) + sizeof(Elf64_Sym)), SEEK_SET);
	for (uint32_t i = 0; i < m->functions; i++) {
		Elf64_Sym s = { .st_name = 1 + i * m->name_length, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				.st_shndx = 1, .st_value = MADE_TEXT + (uint64_t)i * MADE_STEP, .st_size = MADE_STEP };

		fwrite(&s, sizeof(s), 1, out);
	}
	fseek(out, (long)made_strings_at(m), SEEK_SET);
	fputc(0, out);
	for (uint32_t i = 0; i < m->functions; i++) {
		made_name(m, i, name);
		fwrite(name, m->name_length, 1, out);
	}
	free(name);
	return fclose(out) == 0;
}

#endif
