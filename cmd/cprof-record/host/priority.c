#include "cmd/cprof-record/host/priority.h"

#include <errno.h>
#include <sys/resource.h>

enum {
	RAISED = -10,  /* beside twenty processes at 0, the recorder can get half of a CPU */
	HIGHEST = -20, /* likewise nine tenths */
};

static bool raised;

void priority_raise(void)
{
	errno = 0;
	raised = getpriority(PRIO_PROCESS, 0) == 0 && !errno && setpriority(PRIO_PROCESS, 0, RAISED) == 0;
}

void priority_highest(bool highest)
{
	if (raised)
		setpriority(PRIO_PROCESS, 0, highest ? HIGHEST : RAISED);
}

void priority_reset(void)
{
	if (raised)
		setpriority(PRIO_PROCESS, 0, 0);
}
