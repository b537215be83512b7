#include "cmd/cprof-record/output/flight_buffer.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 20 };

static uint64_t bytes_of(const struct flight_buffer_part *part)
{
	struct stat st;

	return fstat(part->fd, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static void forget_first(struct flight_buffer *m)
{
	close(m->parts[0].fd);
	memmove(m->parts, m->parts + 1, --m->n * sizeof(*m->parts));
}

/* The first part can go if the later ones cover the time, or are too large together with it. */
static bool is_old(const struct flight_buffer *m, uint64_t now)
{
	uint64_t bytes = 0;

	if (m->n < 2)
		return false;
	for (size_t i = 0; i < m->n; i++)
		bytes += bytes_of(&m->parts[i]);
	return m->n == FLIGHT_BUFFER_PARTS + 2 || bytes > m->most_bytes || now - m->parts[1].began >= m->most_ns;
}

int flight_buffer_begin(struct flight_buffer *m, uint64_t now)
{
	int fd;

	while (is_old(m, now))
		forget_first(m);
	fd = memfd_create("cprof-flight", MFD_CLOEXEC);
	if (fd >= 0)
		m->parts[m->n++] = (struct flight_buffer_part){ fd, now };
	return fd;
}

bool flight_buffer_due(const struct flight_buffer *m, uint64_t now)
{
	const struct flight_buffer_part *last = &m->parts[m->n - 1];

	return m->n && (now - last->began >= m->most_ns / FLIGHT_BUFFER_PARTS || bytes_of(last) >= m->most_bytes / FLIGHT_BUFFER_PARTS);
}

static bool copy_part(const struct flight_buffer *m, const struct flight_buffer_part *part, int to,
		      uint64_t *bytes)
{
	uint64_t n = bytes_of(part);
	off_t at = 0;

	while ((uint64_t)at < n) {
		uint64_t left = n - (uint64_t)at;
		ssize_t done = sendfile(to, part->fd, &at, left < PIECE ? left : PIECE);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			errno = done < 0 ? errno : EIO;
			return false;
		}
		*bytes += (uint64_t)done;
		if (m->progress)
			m->progress(m->progress_arg);
	}
	return true;
}

size_t flight_buffer_first(const struct flight_buffer *m)
{
	uint64_t bytes = 0;
	size_t i = m->n;

	while (i > 0 && (bytes += bytes_of(&m->parts[i - 1])) <= m->most_bytes)
		i--;
	return i < m->n || i == 0 ? i : m->n - 1; /* always the last one */
}

bool flight_buffer_copy(const struct flight_buffer *m, int to, uint64_t *bytes)
{
	*bytes = 0;
	for (size_t i = flight_buffer_first(m); i < m->n; i++) {
		if (!copy_part(m, &m->parts[i], to, bytes))
			return false;
	}
	return true;
}

void flight_buffer_drop(struct flight_buffer *m, uint64_t until)
{
	while (m->n && m->parts[0].began <= until)
		forget_first(m);
}

void flight_buffer_release(struct flight_buffer *m)
{
	while (m->n)
		forget_first(m);
}
