/* The functions that a CPU has met lately are found again by all that makes them the same, and by no less. */
#include "tests/lib/check.h"

#include "bpf/lang/recent.bpf.h"

enum { PID = 4194303, KIND = 0x306, GENERATION = 0xfffff, ID = 7 };
#define OBJECT 0x7f0000001230ull
#define SIGN 99ull

static struct lang_recents recents;

static void begin(__u32 epoch, __u32 generation)
{
	recents_begin(&recents, epoch, generation);
}

static int finds(__u64 object, __u32 pid, __u32 kind)
{
	return recent_is(recent_slot(&recents, object), object, recent_owner(&recents, pid, kind));
}

int main(void)
{
	const struct lang_recent *met;
	__u32 walk;

	begin(0, GENERATION);
	check(!finds(OBJECT, PID, KIND), "nothing was met before");
	recent_note(&recents, OBJECT, SIGN, recent_owner(&recents, PID, KIND), ID);
	met = recent_slot(&recents, OBJECT);
	check(finds(OBJECT, PID, KIND) && met->id == ID, "a function is found again");
	check(met->sign == SIGN && met->walk == recents.walk, "... with its sign, compared in this walk");
	check(!finds(OBJECT + 16, PID, KIND), "another address is not");
	check(!finds(OBJECT, PID - 1, KIND), "nor the address in another process");
	check(!finds(OBJECT, PID, KIND ^ 0x100), "nor one of another kind");
	walk = recents.walk;
	begin(0, GENERATION);
	check(finds(OBJECT, PID, KIND), "the next walk finds it");
	check(recents.walk != walk, "... and counts as another one");
	begin(0, GENERATION - 1);
	check(!finds(OBJECT, PID, KIND), "the next program of the process does not");
	begin(1, GENERATION);
	check(!finds(OBJECT, PID, KIND), "nor does a walk after ids were forgotten");
	begin(0, GENERATION);
	check(finds(OBJECT, PID, KIND), "numbers do not run into each other");
	recents.walk = ~0u;
	begin(0, GENERATION);
	check_is(recents.walk, 1, "the count of walks goes on at 1");
	return checks_done();
}
