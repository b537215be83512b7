/*
 * Checks that a page without one of its parts, or an empty one, is an error.
 */
#include "common/page/page.h"

#include "tests/lib/check.h"

static bool filled(const struct picture *pic, const char *text)
{
	struct buf out = { 0 };
	bool whole = page_fill(&out, pic, slice_of(text));

	check(!out.failed, "there is memory");
	buf_release(&out);
	return whole;
}

int main(void)
{
	struct picture pic = { .title = "", .unit = "samples", .sides = 1, .look = LOOK_DEFAULT };
	struct flame_tree tree;
	struct profile p;

	if (!profile_init(&p) || !flame_tree_init(&tree, &p, false, false))
		return 1;
	pic.tree = &tree;
	check(filled(&pic, "<!--TITLE--><!--STYLE--><!--SCRIPT--><!--DATA-->"), "all four parts are a page, without a title, too");
	check(filled(&pic, "<!-- x --><!--TITLE-->a<!--STYLE-->b<!--SCRIPT-->c<!--DATA--><!--"), "with what stands between them");
	check(!filled(&pic, ""), "nothing is none");
	check(!filled(&pic, "<html></html>"), "nor is a page of no part");
	check(!filled(&pic, "<!--STYLE--><!--SCRIPT--><!--DATA-->"), "nor is one without a title");
	check(!filled(&pic, "<!--TITLE--><!--SCRIPT--><!--DATA-->"), "nor without a style");
	check(!filled(&pic, "<!--TITLE--><!--STYLE--><!--DATA-->"), "nor without a script");
	check(!filled(&pic, "<!--TITLE--><!--STYLE--><!--SCRIPT-->"), "nor without data");
	flame_tree_release(&tree);
	profile_release(&p);
	return checks_done();
}
