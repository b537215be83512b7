#include "cmd/shared/folded_print.h"

#include <stdio.h>

#include "cmd/shared/cli.h"
#include "common/folded/folded.h"

void folded_print(const struct profile *p, unsigned int columns)
{
	struct folded_writer w;
	struct slice line;

	if (!folded_writer_init(&w, p, columns))
		cli_no_memory();
	while (folded_writer_next(&w, &line)) {
		if (fwrite(line.p, 1, line.n, stdout) != line.n)
			break;
	}
	if (w.line.failed)
		cli_no_memory();
	folded_writer_release(&w);
}
