/* Indices of interpreters' images: the same image has one, and those of no process are used again. */
#include <string.h>

#include "cmd/cprof-record/lang/runtimes.h"
#include "tests/lib/check.h"

#define SECOND UINT64_C(1000000000)

enum { FILES = LANG_IMAGES + 40 };

static struct exe exes[FILES];
static struct proc p, replaced;
static struct proc *items[] = { &p }, *replaced_items[] = { &replaced };
static struct procs procs = { .items = items, .n = 1, .replaced = replaced_items, .n_replaced = 1,
			      .exes = exes, .n_exes = FILES };
static struct runtimes r = { .procs = &procs };
static bool kept[LANG_IMAGES];
static uint32_t again;

/* The programs' part, and the tables'. */
void bpf_lang_keep(struct bpf_lang *l, const bool *images)
{
	(void)l;
	memcpy(kept, images, sizeof(kept));
}

void table_cache_again(struct table_cache *t, uint32_t number, uint64_t now)
{
	(void)t, (void)now;
	again = number;
}

static struct runtimes shared = { .procs = &procs };

/* Anyone can have files that look like interpreters. */
static void check_owners(void)
{
	struct lang_image image = { .language = LANG_PYTHON };
	bool all = true;

	for (image.version = 0; image.version < RUNTIMES_OF_ONE; image.version++)
		all = all && runtimes_add_image(&shared, &image, 1000) == image.version;
	check(all && runtimes_add_image(&shared, &image, 1000) == LANG_IMAGES,
	      "a user's files have a quarter of all indices");
	check(runtimes_add_image(&shared, &image, 1001) == image.version, "... and another user's have others");
	for (image.version++; image.version < LANG_IMAGES; image.version++)
		all = all && runtimes_add_image(&shared, &image, 0) == image.version;
	check(all, "... and root's have the rest");
}

static uint32_t add(uint32_t version)
{
	return runtimes_add_image(&r, &(struct lang_image){ .language = LANG_PYTHON, .version = version }, 0);
}

static uint64_t seconds;

static bool sweep(void)
{
	runtimes_sweep(&r, 1000 * SECOND + seconds++ * SECOND);
	return r.crowded;
}

int main(void)
{
	bool all = true, reused = true;

	check(add(1000) == 0 && add(1001) == 1 && add(1000) == 0, "images have indices, equal ones the same");
	check(!sweep() && !procs.clear_images, "few images are no reason to look for unused ones");
	for (uint32_t i = 0; i < LANG_IMAGES; i++) {
		all = all && add(1000 + i) == i;
		exes[i].image = i + 1;
	}
	check(all && add(2000) == LANG_IMAGES, "there is an index for each, and then none");
	check(!sweep() && procs.clear_images, "then files that no process maps are searched for");
	procs.clear_images = false;
	check(!sweep() && !procs.clear_images, "... and not again at once");
	runtimes_free_images(&r, 0);
	check(add(2000) == LANG_IMAGES && add(1000) == 0, "images of mapped files stay");

	/* The files of all images but one are gone, and some of their processes have pending samples. */
	for (uint32_t i = 0; i < LANG_IMAGES; i++)
		exes[i].image = i == 5 ? 6 : 0;
	p.lang.image = 8;
	replaced.lang.image = 10;
	exes[FILES - 1] = (struct exe){ .table = 77, .late = true };
	check(add(2000) == LANG_IMAGES, "no index is free before the functions are forgotten");
	check(sweep(), "... which is wanted then");
	runtimes_free_images(&r, 0);
	check(!r.crowded && kept[5] && kept[7] && kept[9] && !kept[6] && !kept[0],
	      "the programs keep those in use");
	check(again == 77 && !exes[FILES - 1].late, "a file that found no index is read again");
	check(add(1005) == 5 && add(1007) == 7 && add(1009) == 9, "images in use keep their indices");
	for (uint32_t i = 0; i < LANG_IMAGES - 3; i++) {
		uint32_t at = add(3000 + i);

		reused = reused && at < LANG_IMAGES && at != 5 && at != 7 && at != 9;
	}
	check(reused && add(2000) == LANG_IMAGES, "all others are used again");
	check_owners();
	return checks_done();
}
