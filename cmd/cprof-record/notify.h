/*
 * What a service manager is told (sd_notify(3)): that samples are being taken, that the recorder is alive, how it goes and
 * that it ends. By datagrams to the socket that NOTIFY_SOCKET names, which is all of the protocol; libsystemd is not
 * needed for it, and would bring its libraries into a program with capabilities.
 *
 *	struct notify n;
 *
 *	notify_open(&n);		// before the first process of ours is begun
 *	notify_ready(&n);
 *	...each second: if (notify_due(&n, now))
 *		notify_alive(&n, now, "99 Hz, 12345 samples, nothing lost");
 *	notify_stopping(&n);
 *
 * Without such a variable nothing is done. A socket that does not answer is no reason to end: who does not hear of us will act.
 */
#ifndef CPROF_RECORD_NOTIFY_H
#define CPROF_RECORD_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct notify {
	int fd; /* -1: nobody is to be told */
	struct sockaddr_un to;
	socklen_t to_n;
	uint64_t interval; /* ns between two signs of life */
	uint64_t told;     /* when the last one was given; CLOCK_MONOTONIC */
};

/* Takes the variables out of the environment, so that commands of --on-rotate cannot speak for us. */
void notify_open(struct notify *n);
void notify_ready(struct notify *n);
/* Is it time for a sign of life? */
bool notify_due(const struct notify *n, uint64_t now);
/* status: one line, for systemctl status */
void notify_alive(struct notify *n, uint64_t now, const char *status);
/* Samples are no longer taken; what is still to be done may take a while. */
void notify_stopping(struct notify *n);
void notify_close(struct notify *n);

#endif
