#include "common/gather/gather_native.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/gather/glue.h"

/*
 * A walk goes from the innermost frame outwards. Whether a machine frame is shown depends on the frames
 * inside it: on one of a language that it ran, and after that, on the file of the loop.
 */
enum native_mode {
	MODE_PLAIN, /* no loop has been met since the last frame of a language, or at all */
	MODE_LOOP,  /* the frame before is one of a language, so a machine frame is its loop */
	MODE_BELOW, /* machine frames below a loop */
	MODES
};

struct native_step {
	uint32_t node, file; /* file: of the loop, in MODE_BELOW */
	uint8_t mode;
	bool shown;
};

/*
 * The last result for a node, so that the outer frames that stacks share are walked once. Valid for one
 * epoch, one file and one set of languages in the whole stack.
 */
struct native_memo {
	struct {
		uint32_t at; /* shown node + 1; 0: none */
		uint32_t epoch, file;
		uint8_t languages;
	} of[MODES];
};

static const struct capture_frame *frame_of(const struct gather_native *n, uint32_t node)
{
	return &n->names->c->frames[n->names->c->nodes[node].frame];
}

/* Parents come before their children. */
static void find_languages(struct gather_native *n)
{
	const struct capture *c = n->names->c;

	for (uint32_t i = NODE_FIRST; i < c->n_nodes; i++) {
		uint32_t parent = c->nodes[i].parent;

		n->languages[i] = parent >= NODE_FIRST ? n->languages[parent] : 0;
		if (c->nodes[i].frame && capture_is_lang(frame_of(n, i)))
			n->languages[i] |= glue_bit(frame_of(n, i)->language);
	}
}

bool gather_native_init(struct gather_native *n, const struct gather_names *names, enum view_native native)
{
	const struct capture *c = names->c;

	*n = (struct gather_native){ .names = names, .native = native, .nodes = c->nodes };
	idmap_init(&n->edges);
	if (!c->lang_frames || !c->n_nodes)
		return true;
	n->languages = calloc(c->n_nodes, 1);
	if (!n->languages)
		return false;
	find_languages(n);
	if (native == NATIVE_ALL)
		return true;
	n->n = n->cap = c->n_nodes;
	n->own = malloc(n->n * sizeof(*n->own));
	n->memo = calloc(n->n, sizeof(*n->memo));
	n->glue = calloc(c->texts.n, 1);
	if (!n->own || !n->memo || !n->glue)
		return false;
	memcpy(n->own, c->nodes, n->n * sizeof(*n->own));
	n->nodes = n->own;
	return true;
}

void gather_native_release(struct gather_native *n)
{
	free(n->languages);
	free(n->own);
	free(n->memo);
	free(n->glue);
	free(n->path);
	idmap_release(&n->edges);
	*n = (struct gather_native){ 0 };
}

static uint32_t file_of(const struct gather_native *n, uint32_t node, uint64_t epoch)
{
	uint32_t frame = n->names->c->nodes[node].frame;
	const struct capture_place *place = gather_names_place(n->names, frame, epoch);

	return place && place->map_end ? place->file : 0;
}

static bool is_glue(struct gather_native *n, const struct capture_symbol *s, uint8_t languages)
{
	uint8_t *glue = &n->glue[s->name];

	if (!*glue)
		*glue = (uint8_t)(glue_languages(capture_text(n->names->c, s->name)) + 1);
	return (*glue - 1) & languages;
}

/* Returns true if the frame's code is in memory, not in a file. */
static bool is_in_memory(const struct gather_native *n, uint32_t node, uint64_t epoch)
{
	const struct capture *c = n->names->c;
	const struct capture_place *place = gather_names_place(n->names, c->nodes[node].frame, epoch);

	return place && place->map_end && (!place->file || !capture_path_is_file(c->files[place->file].path));
}

/*
 * Returns true for code that the interpreter generated itself, for the function of the language outside it:
 * all code in memory in PHP and Ruby; in Python, where libraries generate code, too, the trampolines of -X
 * perf.
 */
static bool is_generated(const struct gather_native *n, uint32_t node, const struct capture_symbol *s, uint64_t epoch,
			 uint8_t languages)
{
	bool named = s && (s->source == NAME_PERFMAP || s->source == NAME_JITDUMP);

	if (named && (languages & glue_bit(LANGUAGE_PYTHON)) && slice_begins(capture_text(n->names->c, s->name), "py::"))
		return true;
	return (!s || named) && (languages & (glue_bit(LANGUAGE_PHP) | glue_bit(LANGUAGE_RUBY))) && is_in_memory(n, node, epoch);
}

/* Returns true if V8's own map names the code of a frame that is only "(wasm)" or "(regexp)". */
static bool is_special(const struct capture_symbol *s, uint8_t languages)
{
	return s && (s->source == NAME_PERFMAP || s->source == NAME_JITDUMP) &&
	       (languages & glue_bit(LANGUAGE_JAVASCRIPT));
}

/* Decides about a frame, and sets the mode for the next one outwards. */
static bool is_shown(struct gather_native *n, const struct native_step *at, uint64_t epoch, uint8_t languages,
		     struct native_step *next)
{
	const struct capture_node *node = &n->names->c->nodes[at->node];
	const struct capture_symbol *s;

	*next = (struct native_step){ .node = node->parent, .file = at->file, .mode = at->mode };
	if (capture_is_lang(frame_of(n, at->node))) {
		*next = (struct native_step){ .node = node->parent, .mode = MODE_LOOP };
		return true;
	}
	if (n->native == NATIVE_NONE)
		return false;
	s = gather_names_symbol(n->names, node->frame, epoch);
	if (at->mode == MODE_LOOP) {
		next->mode = MODE_BELOW;
		next->file = file_of(n, at->node, epoch);
		return is_special(s, languages);
	}
	if (is_generated(n, at->node, s, epoch, languages))
		return false;
	if (s && s->source != NAME_BOUNDS)
		return !is_glue(n, s, languages);
	return !(at->mode == MODE_BELOW && at->file && n->languages[at->node] &&
		 file_of(n, at->node, epoch) == at->file);
}

static bool add_child(struct gather_native *n, uint32_t parent, uint32_t frame, uint32_t *node)
{
	uint64_t edge = (uint64_t)parent << 32 | frame;

	if (idmap_find(&n->edges, edge, node))
		return true;
	if (n->n >= UINT32_MAX - 1 || !grow_array(&n->own, &n->cap, n->n, sizeof(*n->own)))
		return false;
	n->nodes = n->own;
	*node = (uint32_t)n->n;
	n->own[n->n++] = (struct capture_node){ .parent = parent, .frame = frame };
	return idmap_set(&n->edges, edge, *node);
}

/* Adds the steps from the outermost one inwards below *shown, and remembers the results. */
static bool take_steps(struct gather_native *n, size_t steps, uint32_t number, uint8_t languages,
		       uint32_t *shown)
{
	while (steps) {
		const struct native_step *at = &n->path[--steps];
		const struct capture_node *node = &n->names->c->nodes[at->node];

		if (at->shown && *shown == node->parent)
			*shown = at->node;
		else if (at->shown && !add_child(n, *shown, node->frame, shown))
			return false;
		n->memo[at->node].of[at->mode].at = *shown + 1;
		n->memo[at->node].of[at->mode].epoch = number;
		n->memo[at->node].of[at->mode].file = at->file;
		n->memo[at->node].of[at->mode].languages = languages;
	}
	return true;
}

bool gather_native_cut(struct gather_native *n, uint32_t node, uint64_t epoch, uint32_t number,
		       uint32_t *shown)
{
	struct native_step at = { .node = node, .mode = MODE_PLAIN };
	uint8_t languages = n->languages[node];
	size_t steps = 0;

	while (at.node >= NODE_FIRST) {
		const struct native_memo *m = &n->memo[at.node];
		struct native_step next;

		if (m->of[at.mode].at && m->of[at.mode].epoch == number && m->of[at.mode].file == at.file &&
		    m->of[at.mode].languages == languages) {
			*shown = m->of[at.mode].at - 1;
			return take_steps(n, steps, number, languages, shown);
		}
		if (!grow_array(&n->path, &n->cap_path, steps, sizeof(*n->path)))
			return false;
		at.shown = is_shown(n, &at, epoch, languages, &next);
		n->path[steps++] = at;
		at = next;
	}
	*shown = at.node;
	return take_steps(n, steps, number, languages, shown);
}
