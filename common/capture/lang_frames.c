#include "common/capture/lang_frames.h"

#include "common/capture/capture_internal.h"

static uint32_t clamp_line(uint64_t line)
{
	return line < UINT32_MAX ? (uint32_t)line : UINT32_MAX;
}

static bool is_language(uint64_t language)
{
	return language > LANGUAGE_NONE && language < LANGUAGES;
}

const char *script_apply(struct capture *c, const struct record_script *r)
{
	struct capture_script s = { .defined = true, .language = (uint8_t)r->language,
				    .process = (uint32_t)r->process };
	const char *wrong;

	if (!is_language(r->language))
		return "a script of an unknown language";
	if (r->process && !DEFINED(c, processes, r->process))
		return "a script of an undefined process";
	wrong = MAKE_ROOM(c, scripts, r->id);
	if (wrong)
		return wrong;
	if (c->scripts[r->id].defined)
		return "a script defined twice";
	if (!text_add(c, r->path, &s.path))
		return capture_no_memory;
	c->scripts[r->id] = s;
	c->defined_scripts++;
	return NULL;
}

const char *function_apply(struct capture *c, const struct record_function *r)
{
	struct capture_function f = { .defined = true, .script = (uint32_t)r->script,
				      .line = clamp_line(r->line), .start = clamp_line(r->start),
				      .flags = (uint32_t)r->flags };
	const char *wrong;

	if (!DEFINED(c, scripts, r->script))
		return "a function of an undefined script";
	wrong = MAKE_ROOM(c, functions, r->id);
	if (wrong)
		return wrong;
	if (c->functions[r->id].defined)
		return "a function defined twice";
	if (!text_add(c, r->name, &f.name))
		return capture_no_memory;
	c->functions[r->id] = f;
	c->defined_functions++;
	return NULL;
}

/* A frame has a function if its state is LANG_OK, and only then. */
static const char *check_function(const struct capture *c, const struct record_lang_frame *r)
{
	if (r->state >= LANG_STATES)
		return "a language frame in an unknown state";
	if (r->state != LANG_OK)
		return r->function ? "a language frame whose function is known and not known" : NULL;
	if (!r->function)
		return "a language frame without a function and without a reason";
	if (!DEFINED(c, functions, r->function))
		return "a language frame of an undefined function";
	if (c->scripts[c->functions[r->function].script].language != r->language)
		return "a language frame of a function of another language";
	return NULL;
}

const char *lang_frame_apply(struct capture *c, const struct record_lang_frame *r)
{
	const char *wrong;

	if (!DEFINED(c, processes, r->process))
		return "a language frame of an undefined process";
	if (!is_language(r->language))
		return "a language frame of an unknown language";
	wrong = check_function(c, r);
	if (wrong)
		return wrong;
	wrong = MAKE_ROOM(c, frames, r->id);
	if (wrong)
		return wrong;
	if (c->frames[r->id].defined)
		return "a frame defined twice";
	c->frames[r->id] = (struct capture_frame){ .function = (uint32_t)r->function,
						   .line = clamp_line(r->line),
						   .process = (uint32_t)r->process,
						   .defined = true,
						   .language = (uint8_t)r->language,
						   .state = (uint8_t)r->state };
	c->defined_frames++;
	c->lang_frames++;
	return NULL;
}

const char *lang_line_apply(struct capture *c, const struct record_lang_line *r)
{
	if (!r->line || !r->frame == !r->function)
		return "a line that is neither a frame's nor a function's";
	if (r->function) {
		if (!DEFINED(c, functions, r->function))
			return "a line of an undefined function";
		c->functions[r->function].line = clamp_line(r->line);
		return NULL;
	}
	if (!DEFINED(c, frames, r->frame) || !capture_is_lang(&c->frames[r->frame]))
		return "a line of an undefined language frame";
	c->frames[r->frame].line = clamp_line(r->line);
	return NULL;
}
