/*
 * The last step of options_parse: options that depend on each other, or on the kernel.
 *
 *	options_settle(o);	// all options are parsed
 */
#ifndef CPROF_RECORD_CONFIG_OPTIONS_SETTLE_H
#define CPROF_RECORD_CONFIG_OPTIONS_SETTLE_H

#include "cmd/cprof-record/config/options.h"

/* Ends the program if options exclude or require each other. Sets those that follow from others. */
void options_settle(struct options *o);

#endif
