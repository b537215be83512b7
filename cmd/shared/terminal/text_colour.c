#include "cmd/shared/terminal/text_colour.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HOT_PART = 2, WARM_PART = 10 };

static enum { AUTO, ALWAYS, NEVER } when;

void colour_option(const char *text)
{
	static const char *const words[] = { [AUTO] = "auto", [ALWAYS] = "always", [NEVER] = "never" };

	for (unsigned int i = AUTO; i <= NEVER; i++) {
		if (strcmp(text, words[i]) == 0) {
			when = i;
			return;
		}
	}
	cli_invalid("--color", text);
}

bool colour_on(void)
{
	const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");

	if (when != AUTO)
		return when == ALWAYS;
	return isatty(STDOUT_FILENO) && !(none && *none) && !(terminal && strcmp(terminal, "dumb") == 0);
}

const char *colour_of(uint64_t weight, uint64_t heaviest)
{
	if (!weight)
		return "";
	return weight >= heaviest - heaviest / HOT_PART ? COLOUR_HOT
	       : weight >= heaviest / WARM_PART		? COLOUR_WARM
							: "";
}
