#include "cmd/cprof-record/host/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"

enum { STATUS_SECONDS = 10, MICROSECOND = 1000 };

/* Accepts a path, or "@name" for the abstract namespace, whose addresses begin with NUL instead of "@". */
static bool set_address(struct notify *n, const char *name)
{
	size_t length = strlen(name);

	if ((name[0] != '/' && name[0] != '@') || length < 2 || length >= sizeof(n->to.sun_path))
		return false;
	n->to.sun_family = AF_UNIX;
	memcpy(n->to.sun_path, name, length);
	if (name[0] == '@')
		n->to.sun_path[0] = 0;
	n->to_n = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
	return true;
}

/* Returns half of the watchdog's time in ns, as sd_watchdog_enabled(3) advises; 0: no watchdog. */
static uint64_t watchdog_interval(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");

	if (!usec || (pid && strtol(pid, NULL, 10) != getpid()))
		return 0;
	return strtoull(usec, NULL, 10) / 2 * MICROSECOND;
}

void notify_open(struct notify *n)
{
	const char *name = getenv("NOTIFY_SOCKET");
	uint64_t interval = watchdog_interval();

	*n = (struct notify){ .fd = -1, .interval = STATUS_SECONDS * 1000000000ull };
	if (interval && interval < n->interval)
		n->interval = interval;
	if (name && set_address(n, name))
		n->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
}

static void send_state(const struct notify *n, const char *text)
{
	/* Do not wait: a manager that does not read must not delay the recorder. */
	if (n->fd >= 0)
		sendto(n->fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT, (const struct sockaddr *)&n->to, n->to_n);
}

void notify_ready(struct notify *n)
{
	send_state(n, "READY=1");
}

bool notify_due(const struct notify *n, uint64_t now)
{
	return n->fd >= 0 && now - n->sent >= n->interval;
}

void notify_alive(struct notify *n, uint64_t now, const char *status)
{
	struct buf text = { 0 };

	n->sent = now;
	buf_printf(&text, "WATCHDOG=1\nSTATUS=%s", status);
	send_state(n, buf_cstr(&text));
	buf_release(&text);
}

void notify_stopping(struct notify *n)
{
	send_state(n, "STOPPING=1");
}

void notify_close(struct notify *n)
{
	if (n->fd >= 0)
		close(n->fd);
	n->fd = -1;
}
