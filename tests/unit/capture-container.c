/*
 * Reads cgroup paths, a line each; prints runtime, id, pod and label, or none. For tests/unit/capture-container.t.
 */
#include <stdio.h>
#include <string.h>

#include "common/capture/container.h"

int main(void)
{
	char line[4096];

	while (fgets(line, sizeof(line), stdin)) {
		struct slice path = { (const uint8_t *)line, strcspn(line, "\n") };
		struct buf pod = { 0 }, label = { 0 };
		struct container c;
		bool is = container_of(path, &c);

		container_pod(&pod, &c);
		container_label(&label, path);
		printf("%s %.*s pod=%s label=%s\n", is ? container_runtime_name(c.runtime) : "none", (int)c.id.n,
		       is ? (const char *)c.id.p : "", buf_cstr(&pod), buf_cstr(&label));
		buf_release(&pod);
		buf_release(&label);
	}
	return 0;
}
