/*
 * Notifies a service manager (sd_notify(3)) that sampling has begun, that the recorder is alive, of its
 * status, and that it ends. The protocol is only datagrams to the socket in NOTIFY_SOCKET. libsystemd is not
 * needed for that, and would bring its libraries into a program with capabilities.
 *
 *	struct notify n;
 *
 *	notify_open(&n);		// before the recorder forks its first process
 *	notify_ready(&n);
 *	...each second: if (notify_due(&n, now))
 *		notify_alive(&n, now, "99 Hz, 12345 samples, nothing lost");
 *	notify_stopping(&n);
 *
 * Without NOTIFY_SOCKET, nothing is sent. A socket that accepts nothing does not end the recorder: the
 * manager acts when it hears nothing.
 */
#ifndef CPROF_RECORD_HOST_NOTIFY_H
#define CPROF_RECORD_HOST_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct notify {
	int fd; /* -1: there is no manager to notify */
	struct sockaddr_un to;
	socklen_t to_n;
	uint64_t interval; /* ns between two keep-alive messages */
	uint64_t sent;     /* time of the last one; CLOCK_MONOTONIC, ns */
};

/* Removes the variables from the environment, so that commands of --on-rotate cannot notify in our name. */
void notify_open(struct notify *n);
void notify_ready(struct notify *n);
/* Returns true if a keep-alive message is due. */
bool notify_due(const struct notify *n, uint64_t now);
/* status: one line, for systemctl status */
void notify_alive(struct notify *n, uint64_t now, const char *status);
/* Sampling has stopped; the remaining work may take a while. */
void notify_stopping(struct notify *n);
void notify_close(struct notify *n);

#endif
