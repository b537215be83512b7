/*
 * Finds the interpreter in an ELF file, if it has one, and how its state is laid out.
 *
 *	struct lang_image image;
 *
 *	if (runtime_identify(f, &image))	// f of elf_open()
 *		...image.usable, image.language, image.version...
 *
 * Files are untrusted. With a wrong image, the BPF programs read nothing or nonsense from processes of this
 * file. They check each read. runtime_valid checks an image that comes from another process.
 */
#ifndef CPROF_LANG_RUNTIME_H
#define CPROF_LANG_RUNTIME_H

#include "common/lang/runtime_file.h"

/* Returns false if the file holds no interpreter. An image that is not usable has its loops all the same. */
bool runtime_identify(const struct elf_file *f, struct lang_image *image);
/* Returns false if a member is out of its range. */
bool runtime_valid(const struct lang_image *image);

/*
 * X_identify fills the image; image->text is already set. It returns false if the file holds no X. X_valid
 * checks each offset of a usable image that the BPF programs rely on.
 */
bool python_identify(const struct elf_file *f, struct lang_image *image);
bool python_valid(const struct lang_image *image);
bool ruby_identify(const struct elf_file *f, struct lang_image *image);
bool ruby_valid(const struct lang_image *image);
bool php_identify(const struct elf_file *f, struct lang_image *image);
bool php_valid(const struct lang_image *image);
bool perl_identify(const struct elf_file *f, struct lang_image *image);
bool perl_valid(const struct lang_image *image);
bool javascript_identify(const struct elf_file *f, struct lang_image *image);
bool javascript_valid(const struct lang_image *image);
bool java_identify(const struct elf_file *f, struct lang_image *image);
bool java_valid(const struct lang_image *image);

#endif
