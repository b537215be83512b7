#include "cmd/shared/version.h"

#ifndef CPROF_VERSION
#define CPROF_VERSION "unknown"
#endif

const char cprof_version[] = CPROF_VERSION;
