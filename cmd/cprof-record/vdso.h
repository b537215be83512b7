/*
 * The vDSO: code that the kernel puts into every process and that no file holds.
 *
 * It is copied out of our own memory, which has the same one as every 64-bit process of this boot, so
 * that another machine can name its functions. (32-bit processes on a 64-bit kernel have another; its
 * build ID then differs and the image is not taken for theirs.)
 */
#ifndef CPROF_RECORD_VDSO_H
#define CPROF_RECORD_VDSO_H

#include "common/base/buf.h"

/*
 * Appends the whole image, pages as they are mapped, and its build ID (none: nothing is appended
 * to it). False where this kernel gives no vDSO, or without memory.
 */
bool vdso_image(struct buf *image, struct buf *build_id);

#endif
