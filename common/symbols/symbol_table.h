/*
 * Reads a symbol table of an ELF file.
 *
 *	if (!symbol_table_add(&candidates, f, SHT_SYMTAB, ORIGIN_SYMTAB, &strings, &damaged))
 *		...out of memory...
 */
#ifndef CPROF_SYMBOLS_SYMBOL_TABLE_H
#define CPROF_SYMBOLS_SYMBOL_TABLE_H

#include "common/symbols/candidate.h"

enum { SYMBOL_TABLE_NONE = STRING_TABLES_MAX };

/*
 * Adds the symbols of code in the first table of this type. *strings: the index of its string table, or
 * SYMBOL_TABLE_NONE if the file has no such table. Sets *damaged if the file shrank. False: out of memory.
 */
bool symbol_table_add(struct candidates *to, const struct elf_file *f, uint32_t type, uint8_t origin,
		      uint8_t *strings, bool *damaged);

#endif
