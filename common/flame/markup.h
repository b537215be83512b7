/* Text in HTML and XML. */
#ifndef CPROF_FLAME_MARKUP_H
#define CPROF_FLAME_MARKUP_H

#include "common/base/buf.h"

/* Appends text with `&`, `<`, `>` and quotes as entities, fit for an attribute, too. The text is valid UTF-8. */
void markup_escape(struct buf *out, struct slice text);

#endif
