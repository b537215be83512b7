/* The tree of stacks: equal stacks have one number, until other code of the kernel is at their addresses. */
#include "cmd/cprof-record/encode/calltree.h"
#include "common/stream/record.h"
#include "tests/lib/check.h"

static struct calltree tree;

/* Returns the node of an outer and an inner frame. */
static uint32_t node_of(uint64_t process, uint64_t outer, uint64_t inner)
{
	struct calltree_frame f = { outer, process, FRAME_RETURN };
	uint32_t node = calltree_child(&tree, 0, &f);

	f = (struct calltree_frame){ inner, process, FRAME_EXACT };
	return calltree_child(&tree, node, &f);
}

int main(void)
{
	uint32_t code, near, user;
	bool same = true;

	check(calltree_init(&tree), "a tree");
	code = node_of(0, 0x9000, 0x9100);
	near = node_of(0, 0x8fff, 0x9201);
	user = node_of(7, 0x9000, 0x9100);
	check(code != user && code != near, "other stacks have other numbers");
	check(node_of(0, 0x9000, 0x9100) == code, "  and equal ones the same");
	check(!calltree_forget_kernel(&tree, 0xa000, 0x1000), "code where no frame is");
	check(node_of(0, 0x9000, 0x9100) == code, "  changes nothing");
	check(calltree_forget_kernel(&tree, 0x9000, 0x200), "code where frames are");
	check(node_of(0, 0x9000, 0x9100) != code, "  has frames of its own");
	check(node_of(0, 0x8fff, 0x9201) == near, "  those beside it stay");
	check(node_of(7, 0x9000, 0x9100) == user, "  and so do those of processes");
	code = node_of(0, 0x9000, 0x9100);
	for (uint64_t i = 1; i < 20000; i++)
		node_of(0, 0x100000 + i, 0x200000 + i);
	check(node_of(0, 0x9000, 0x9100) == code, "a table that has grown finds them");
	for (uint64_t i = 1; i < 20000; i++)
		same = same && tree.nodes[node_of(0, 0x100000 + i, 0x200000 + i)].frame;
	check(same && tree.n_frames < 40010, "  and makes none again");
	calltree_release(&tree);
	return checks_done();
}
