/*
 * Runs the queue and a ring of perf events by hand; tests/unit/record-queue.t checks the output.
 *
 *	record-queue items		pushes and drops by commands on standard input
 *	record-queue lost		items that no memory is large enough for
 *	record-queue ring SIZE...	a ring with records of these sizes
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cprof-record/rings/perf_ring.h"
#include "cmd/cprof-record/rings/queue.h"

/* Reads lines: "TIME KIND" is pushed, with its line as its bytes; "until TIME" prints the items ripe then. */
static int run_queue(void)
{
	struct queue q = { 0 };
	uint64_t time, n;
	unsigned int kind;
	char line[128];

	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "%" SCNu64 " %u", &time, &kind) == 2) {
			queue_push(&q, kind, time, line, strlen(line));
		} else if (sscanf(line, "until %" SCNu64, &time) == 1) {
			n = queue_ripe(&q, time);
			for (size_t i = 0; i < n; i++)
				fwrite(queue_bytes(&q, &q.items[i]), 1, q.items[i].n, stdout);
			queue_drop(&q, n);
			printf("until %" PRIu64 ": %zu left\n", time, q.n);
		}
	}
	queue_release(&q);
	return 0;
}

/* Pushes one item of each kind that no memory is large enough for. Prints how many were lost, by kind. */
static int run_lost(void)
{
	struct queue q = { 0 };

	for (int kind = 0; kind < ITEM_KINDS; kind++)
		for (int i = 0; i <= kind; i++)
			queue_push(&q, kind, 1, "", SIZE_MAX / 4);
	queue_push(&q, ITEM_SAMPLE, 1, "a", 1);
	for (int kind = 0; kind < ITEM_KINDS; kind++)
		printf("%" PRIu64 "%s", q.lost[kind], kind + 1 < ITEM_KINDS ? " " : "");
	printf(", %zu left\n", q.n);
	queue_release(&q);
	return 0;
}

static void print_record(void *arg, unsigned int cpu, const struct perf_event_header *h)
{
	(void)arg;
	printf("record of %u on %u\n", h->size, cpu);
}

/* A ring with records of these sizes, of no type. Prints those delivered, and the rest of the ring. */
static int run_ring(char **args)
{
	static struct perf_event_mmap_page page;
	static uint8_t data[4096];
	struct perf_ring r = { .fd = -1, .cpu = 3, .page = &page, .data = data, .size = sizeof(data) };
	bool whole;

	for (; *args; args++) {
		struct perf_event_header h = { .size = (uint16_t)atoi(*args) };

		memcpy(data + page.data_head, &h, sizeof(h));
		page.data_head += h.size ? h.size : sizeof(h);
	}
	whole = perf_ring_drain(&r, print_record, NULL);
	printf("%s, %llu left\n", whole ? "whole" : "damaged", page.data_head - page.data_tail);
	return 0;
}

int main(int argc, char **argv)
{
	const char *command = argc > 1 ? argv[1] : "";

	if (strcmp(command, "items") == 0)
		return run_queue();
	if (strcmp(command, "lost") == 0)
		return run_lost();
	if (strcmp(command, "ring") == 0)
		return run_ring(argv + 2);
	return 2;
}
