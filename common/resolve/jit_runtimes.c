#include "common/resolve/jit_runtimes.h"

enum runtime { NONE, JAVA, NODE, DOTNET, ERLANG, MONO, LUAJIT, JSC, DENO, BUN, JULIA, WASMTIME };

static const char *const names[] = {
	[NONE] = NULL, [JAVA] = "Java", [NODE] = "Node.js", [DOTNET] = ".NET", [ERLANG] = "Erlang",
	[MONO] = "Mono", [LUAJIT] = "LuaJIT", [JSC] = "JavaScriptCore", [DENO] = "Deno", [BUN] = "Bun",
	[JULIA] = "Julia", [WASMTIME] = "Wasmtime",
};

/* Base names; the name may go on if it ends with "*". */
static const struct {
	const char *file;
	enum runtime runtime;
} files[] = {
	{ "libjvm.so", JAVA }, { "libj9vm*", JAVA }, { "node", NODE }, { "nodejs", NODE },
	{ "libnode.so*", NODE }, { "libcoreclr.so", DOTNET }, { "memfd:doublemapper*", DOTNET },
	{ "beam.smp", ERLANG }, { "beam.debug.smp", ERLANG }, { "mono", MONO }, { "mono-sgen*", MONO },
	{ "libmonosgen-*", MONO }, { "libmono-*", MONO }, { "libcoreclr_mono*", MONO }, { "luajit*", LUAJIT },
	{ "libluajit-*", LUAJIT }, { "libjavascriptcoregtk-*", JSC }, { "jsc", JSC }, { "deno", DENO },
	{ "bun", BUN }, { "libjulia*", JULIA }, { "libwasmtime.so*", WASMTIME }, { "wasmtime", WASMTIME },
};

_Static_assert(sizeof(names) / sizeof(*names) <= (size_t)JIT_RUNTIMES, "each runtime has a count");

static bool fits(struct slice name, const char *file)
{
	size_t n = strlen(file);

	if (n && file[n - 1] == '*')
		return name.n >= n - 1 && memcmp(name.p, file, n - 1) == 0;
	return slice_is(name, file);
}

unsigned int jit_runtimes_file(struct slice path)
{
	struct slice name = slice_base(path);

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (fits(name, files[i].file))
			return files[i].runtime;
	return NONE;
}

void jit_runtimes_add(struct jit_runtimes *t, const struct jit_runtime_count *processes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct jit_runtime_count *c = &t->counts[processes[i].runtime % JIT_RUNTIMES];

		c->named += processes[i].named;
		c->unnamed += processes[i].unnamed;
	}
}

bool jit_runtimes_lacks(const struct jit_runtimes *t, unsigned int runtime)
{
	const struct jit_runtime_count *c = &t->counts[runtime % JIT_RUNTIMES];

	return jit_runtimes_name(runtime) && c->unnamed && c->unnamed >= c->named;
}

const char *jit_runtimes_name(unsigned int runtime)
{
	return runtime < sizeof(names) / sizeof(*names) ? names[runtime] : NULL;
}
