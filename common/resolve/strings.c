#include "common/resolve/strings.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/idmap.h"
#include "common/base/intern.h"

enum { ID_STEP = 1 << 20, ID_MAX = INT32_MAX };

void strings_clear(struct strings *s)
{
	for (size_t i = 0; s->texts.n && i <= s->texts.mask; i++) { /* most texts have no id */
		if (s->texts.values[i])
			s->ids[s->texts.values[i] - 1] = 0;
	}
	idmap_clear(&s->texts);
	s->highest = s->next = s->taken = 0;
}

void strings_release(struct strings *s)
{
	free(s->ids);
	idmap_release(&s->texts);
	*s = (struct strings){ 0 };
}

bool strings_see(struct strings *s, uint64_t id, uint32_t text)
{
	uint32_t other;

	if (id == 0 || id > ID_MAX)
		return true; /* passed on, but of no use here */
	if (!grow_array(&s->ids, &s->cap, text, sizeof(*s->ids)))
		return false;
	if (idmap_find(&s->texts, id, &other) && other != text && s->ids[other] == id)
		s->ids[other] = 0; /* from here on the id means something else */
	if (id >= s->next || idmap_find(&s->texts, id, &other))
		s->next = 0;
	if (id > s->highest)
		s->highest = id;
	if (!s->ids[text])
		s->ids[text] = (uint32_t)id;
	return idmap_set(&s->texts, id, text);
}

/*
 * Chooses the id of a new text: above those of the input, otherwise the next free one. If the input defines
 * it later, strings_see gives it the input's meaning.
 */
static uint64_t choose_id(struct strings *s)
{
	uint32_t other;

	if (!s->next)
		s->next = s->highest ? (s->highest | (ID_STEP - 1)) + 1 : 1;
	if (s->next <= ID_MAX)
		return s->highest = s->next++;
	while (idmap_find(&s->texts, ++s->taken, &other))
		;
	return s->taken;
}

uint32_t strings_say(struct strings *s, const struct intern *texts, uint32_t text, struct writer *w)
{
	uint64_t id;

	if (!grow_array(&s->ids, &s->cap, text, sizeof(*s->ids)))
		return 0;
	id = choose_id(s);
	if (id > ID_MAX || !idmap_set(&s->texts, id, text))
		return 0;
	s->ids[text] = (uint32_t)id;
	writer_put(w, &(struct record){ .type = RECORD_STRING,
					.string = { s->ids[text], intern_get(texts, text) } });
	return s->ids[text];
}
