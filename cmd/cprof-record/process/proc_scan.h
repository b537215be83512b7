/*
 * Processes as /proc shows them: their status, threads and executable mappings.
 *
 *	struct proc_scan s = { .opener = opener };	// and maps_reader_init(&s.maps)
 *	struct proc_scan_status status;
 *
 *	if (proc_scan_status(pid, &status))
 *		proc_scan_maps(&s, pid, false, found, arg);	// found(arg, &change) for each mapping
 *
 * A mapping is given as the change that the side-band would report for it, without a time. Nothing is
 * remembered here, but for the build IDs of one scan of all processes (maps.all).
 */
#ifndef CPROF_RECORD_PROCESS_PROC_SCAN_H
#define CPROF_RECORD_PROCESS_PROC_SCAN_H

#include "cmd/cprof-record/helper/maps_reader.h"
#include "cmd/cprof-record/helper/opener.h"
#include "cmd/cprof-record/rings/sideband.h"

struct proc_scan {
	struct opener *opener; /* lent; NULL: no file is opened */
	struct maps_reader maps;
	/* Remaining file systems that may time out before proc_scan_maps stops asking for build IDs. */
	unsigned int patient;
	struct proc_scan_pending {
		uint32_t pid;
		bool bare, again;
		size_t found;
	} pending; /* for proc_scan_take_maps */
};

struct proc_scan_status {
	struct slice comm; /* in text */
	char state;        /* as in /proc/PID/stat: 'Z' and 'X' have exited */
	int threads;
	bool kernel;       /* a kernel thread */
	uint64_t start;    /* ns since boot */
	char text[1024];
};

/* The slices of a change and of a name are good during the call. */
typedef void proc_scan_mapping(void *arg, const struct change *c);
typedef void proc_scan_task(void *arg, uint32_t tid, struct slice comm);

/* Returns false if the process is gone. */
bool proc_scan_status(uint32_t pid, struct proc_scan_status *out);
/* The executable mappings. bare: addresses alone, without names and build IDs: 1 us a mapping instead of 40. */
void proc_scan_maps(struct proc_scan *s, uint32_t pid, bool bare, proc_scan_mapping *found, void *arg);
/* The same without waiting; as maps_reader_ask and maps_reader_take. */
bool proc_scan_ask_maps(struct proc_scan *s, uint32_t pid, bool bare);
enum maps_reader_said proc_scan_take_maps(struct proc_scan *s, uint64_t now, proc_scan_mapping *found,
					  void *arg, uint64_t *until);
/* The threads, without the main one. */
void proc_scan_tasks(uint32_t pid, proc_scan_task *found, void *arg);
/* All processes. */
void proc_scan_pids(void (*found)(void *arg, uint32_t pid), void *arg);

/* Returns true if the mapping has a file that the opener could open. */
bool proc_scan_is_file(const struct change *c);
/*
 * proc_scan_ask_identity asks the opener for the build ID of a mapped file, if the kernel does not report it.
 * proc_scan_ask_file asks for the file itself, which has the device and inode of the mapping, or its build
 * ID. id and place come back with the answer. Both return false if there is no file to ask for, or no
 * room for the question.
 */
bool proc_scan_ask_identity(struct opener *o, uint32_t pid, const struct change *c, uint32_t id,
			    uint64_t place);
bool proc_scan_ask_file(struct opener *o, uint32_t pid, const struct change *c, uint32_t id, uint64_t place);

#endif
