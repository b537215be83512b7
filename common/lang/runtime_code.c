#include "common/lang/runtime_code.h"

#include <string.h>

#include "common/base/le.h"

bool code_skip(struct cursor *c, const char *bytes, size_t n)
{
	if (cursor_left(c) < n || memcmp(c->p, bytes, n) != 0)
		return false;
	c->p += n;
	return true;
}

void code_start(struct cursor *c)
{
	code_skip(c, "\xf3\x0f\x1e\xfa", 4);		 /* endbr64 */
	if (code_skip(c, "\x55\x48\x89\xe5", 4))	 /* push %rbp; mov %rsp,%rbp */
		return;
	code_skip(c, "\x48\x83\xec\x08", 4); /* sub $8,%rsp */
}

bool code_disp(struct cursor *c, int32_t *disp)
{
	if (cursor_left(c) < 4)
		return false;
	*disp = (int32_t)le32_load(c->p);
	c->p += 4;
	return true;
}
