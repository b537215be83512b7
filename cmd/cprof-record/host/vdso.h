/*
 * The vDSO: code that the kernel puts into every process and that is in no file.
 *
 * It is copied from the recorder's own memory, which has the same image as every 64-bit process of this boot,
 * so that another machine can name its functions. (32-bit processes on a 64-bit kernel have another image;
 * its build ID differs, so this one is not taken for theirs.)
 */
#ifndef CPROF_RECORD_HOST_VDSO_H
#define CPROF_RECORD_HOST_VDSO_H

#include "common/base/buf.h"

/*
 * Appends the whole image, with pages as they are mapped, and its build ID (nothing if it has none). False:
 * this kernel gives no vDSO, or out of memory.
 */
bool vdso_image(struct buf *image, struct buf *build_id);

#endif
