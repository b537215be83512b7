#include "common/elf/parts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/elf/elffile.h"

Elf_Scn *elf_find_section(Elf *elf, const char *name, GElf_Shdr *sh)
{
	Elf_Scn *scn = NULL, *empty = NULL;
	GElf_Shdr of_empty;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return NULL;
	for (size_t seen = 0; seen < ELF_SECTIONS_MAX && (scn = elf_nextscn(elf, scn)); seen++) {
		const char *s = gelf_getshdr(scn, sh) ? elf_strptr(elf, names, sh->sh_name) : NULL;

		if (!s || strcmp(s, name) != 0)
			continue;
		if (sh->sh_type != SHT_NOBITS)
			return scn;
		if (!empty) {
			empty = scn;
			of_empty = *sh;
		}
	}
	if (empty)
		*sh = of_empty;
	return empty;
}

Elf_Data *elf_part(Elf_Scn *scn)
{
	GElf_Shdr sh;
	Elf_Data *data;

	if (!gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS || sh.sh_size > ELF_PART_MAX)
		return NULL;
	data = elf_getdata(scn, NULL);
	return data && data->d_buf ? data : NULL;
}

char *elf_read_part(int fd, Elf_Scn *scn, size_t *n)
{
	GElf_Shdr sh;
	struct stat st;
	char *bytes;
	size_t at = 0;

	if (!gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS || sh.sh_size > ELF_PART_MAX || fstat(fd, &st) != 0 ||
	    sh.sh_offset > (uint64_t)st.st_size || sh.sh_size > (uint64_t)st.st_size - sh.sh_offset)
		return NULL;
	*n = sh.sh_size;
	bytes = malloc(*n + 1);
	while (bytes && at < *n) {
		ssize_t got = pread(fd, bytes + at, *n - at, (off_t)(sh.sh_offset + at));

		if (got <= 0) {
			free(bytes);
			return NULL;
		}
		at += (size_t)got;
	}
	if (bytes)
		bytes[*n] = '\0';
	return bytes;
}
