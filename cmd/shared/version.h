/*
 * The version of this build, "0.1+g0a6dfd7c1b2e": the Makefile's VERSION, and the commit if known. Only one
 * object holds it, so that a new commit recompiles one file.
 */
#ifndef CPROF_CMD_VERSION_H
#define CPROF_CMD_VERSION_H

extern const char cprof_version[];

#endif
