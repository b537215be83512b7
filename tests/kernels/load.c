/*
 * Checks whether this kernel accepts these BPF objects. Each program of each object is loaded by itself, so
 * that one that is refused does not hide another.
 *
 *	load [-s VARIABLE=VALUE]... [-m MAP=ENTRIES]... [-f MAP=FLAGS]... [-l MAP=BYTES]... OBJECT...
 *
 * -s sets a variable of .rodata before loading, or all 32-bit elements of an array, -m a map's max_entries, -f
 * its flags, if an object has them. -l reduces the size of a map's value, or that of its inner maps, by BYTES.
 * Prints one line for each program, with the verifier's counts; for a refused one, libbpf's message and the
 * end of the verifier's log. Exits with 1 if anything was refused.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOG_BYTES = 64 << 20, LOG_LINES = 60, LOG_STATS = 4, SETTINGS = 64 };

struct setting {
	char kind; /* s, m, f or l */
	const char *name;
	unsigned long long value;
};

static struct setting settings[SETTINGS];
static int n_settings;
static char *log_text, said[65536];

/* Keeps libbpf's messages, which are printed only for a refused program. */
static int keep(enum libbpf_print_level level, const char *format, va_list args)
{
	size_t n = strlen(said);

	return level == LIBBPF_DEBUG ? 0 : vsnprintf(said + n, sizeof(said) - n, format, args);
}

static struct bpf_map *map_ending(struct bpf_object *o, const char *end)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, o) {
		const char *name = bpf_map__name(map);

		if (strlen(name) >= strlen(end) && strcmp(name + strlen(name) - strlen(end), end) == 0)
			return map;
	}
	return NULL;
}

static void set_variable(struct bpf_object *o, const struct setting *s)
{
	const struct btf *btf = bpf_object__btf(o);
	int id = btf ? btf__find_by_name_kind(btf, ".rodata", BTF_KIND_DATASEC) : -1;
	struct bpf_map *map = map_ending(o, ".rodata"); /* its name begins with the object's */
	const struct btf_type *section = id > 0 ? btf__type_by_id(btf, (unsigned int)id) : NULL;
	size_t size = 0;
	const void *initial = map ? bpf_map__initial_value(map, &size) : NULL;
	char *bytes = initial ? malloc(size) : NULL;

	if (bytes)
		memcpy(bytes, initial, size);

	for (int i = 0; section && bytes && i < btf_vlen(section); i++) {
		const struct btf_var_secinfo *v = btf_var_secinfos(section) + i;
		const struct btf_type *t = btf__type_by_id(btf, v->type);

		if (strcmp(btf__name_by_offset(btf, t->name_off), s->name) != 0 || v->offset + v->size > size)
			continue;
		if (v->size <= 8)
			memcpy(bytes + v->offset, &s->value, v->size); /* little endian */
		for (size_t at = 0; v->size > 8 && at + 4 <= v->size; at += 4)
			memcpy(bytes + v->offset + at, &s->value, 4);
	}
	if (bytes)
		bpf_map__set_initial_value(map, bytes, size);
	free(bytes);
}

/* The inner map is created here: libbpf 1.5 follows a NULL pointer when asked to change its value. */
static void shrink_value(struct bpf_map *map, unsigned int bytes)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	struct bpf_map *inner = bpf_map__inner_map(map);
	int fd;

	if (!inner) {
		bpf_map__set_value_size(map, bpf_map__value_size(map) - bytes);
		return;
	}
	opts.map_flags = bpf_map__map_flags(inner);
	fd = bpf_map_create(bpf_map__type(inner), "inner", bpf_map__key_size(inner), bpf_map__value_size(inner) - bytes,
			    bpf_map__max_entries(inner), &opts);
	if (fd >= 0)
		bpf_map__set_inner_map_fd(map, fd); /* needed until the load; stays open until exit */
}

static struct bpf_object *open_object(const char *path)
{
	struct bpf_object *o = bpf_object__open_file(path, NULL);

	for (int i = 0; o && i < n_settings; i++) {
		if (settings[i].kind == 's') {
			set_variable(o, &settings[i]);
		} else {
			struct bpf_map *map = bpf_object__find_map_by_name(o, settings[i].name);

			if (map && settings[i].kind == 'm')
				bpf_map__set_max_entries(map, (unsigned int)settings[i].value);
			else if (map && settings[i].kind == 'f')
				bpf_map__set_map_flags(map, (unsigned int)settings[i].value);
			else if (map)
				shrink_value(map, (unsigned int)settings[i].value);
		}
	}
	return o;
}

static void print_tail(const char *text, int lines)
{
	const char *p = text + strlen(text);

	while (p > text && lines > 0)
		lines -= *--p == '\n';
	printf("%s", p > text ? p + 1 : p);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Returns 0, or the negative errno of the load. */
static int load_one(const char *path, const char *name, unsigned int log_level, double *seconds)
{
	struct bpf_object *o = open_object(path);
	struct bpf_program *p;
	double start;
	int got;

	if (!o)
		return -errno;
	bpf_object__for_each_program(p, o) {
		bpf_program__set_autoload(p, strcmp(bpf_program__name(p), name) == 0);
		bpf_program__set_log_level(p, log_level);
		bpf_program__set_log_buf(p, log_text, LOG_BYTES);
	}
	log_text[0] = said[0] = '\0';
	start = now();
	got = bpf_object__load(o);
	*seconds = now() - start;
	bpf_object__close(o);
	return got;
}

static int try(const char *path, const char *name)
{
	const char *file = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	double seconds = 0;
	char *stats;
	int got = load_one(path, name, LOG_STATS, &seconds);

	if (got == 0) {
		stats = strstr(log_text, "processed ");
		printf("%s %s: loaded in %.2f s; %s", file, name, seconds, stats ? stats : "(no figures)\n");
		return 0;
	}
	load_one(path, name, LOG_STATS | 1, &seconds);
	printf("%s %s: refused%s: %s\n%s", file, name, log_text[0] ? "" : " without a log", strerror(-got), said);
	print_tail(log_text, LOG_LINES);
	return 1;
}

static int try_all(const char *path)
{
	struct bpf_object *o = open_object(path);
	struct bpf_program *p;
	int status = 0;

	if (!o) {
		printf("%s: cannot be opened: %s\n%s", path, strerror(errno), said);
		return 1;
	}
	bpf_object__for_each_program(p, o)
		status |= try(path, bpf_program__name(p));
	bpf_object__close(o);
	return status;
}

int main(int argc, char **argv)
{
	int i, status = 0;

	log_text = calloc(1, LOG_BYTES);
	libbpf_set_print(keep);
	for (i = 1; i + 1 < argc && argv[i][0] == '-' && n_settings < SETTINGS; i += 2) {
		char *value = strchr(argv[i + 1], '=');

		if (!argv[i][1] || !strchr("smfl", argv[i][1]) || !value)
			break;
		*value = '\0';
		settings[n_settings++] = (struct setting){ argv[i][1], argv[i + 1], strtoull(value + 1, NULL, 0) };
	}
	if (!log_text || i >= argc || argv[i][0] == '-') {
		fprintf(stderr, "usage: load [-s VARIABLE=VALUE]... [-m MAP=ENTRIES]... [-f MAP=FLAGS]... [-l MAP=BYTES]... OBJECT...\n");
		return 2;
	}
	for (; i < argc; i++)
		status |= try_all(argv[i]);
	return status;
}
