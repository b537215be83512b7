/*
 * Checks the meaning of records, given as text: epochs, mappings, names, forks, and records that are refused.
 */
#include "common/capture/capture.h"
#include "common/stream/record_coding.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/lib/check.h"

static struct capture c;

/* Applies lines of text. Returns NULL, or the error for the first line that was refused. */
static const char *say(const char *lines)
{
	static struct buf scratch, error;
	const char *wrong = NULL;

	while (*lines && !wrong) {
		char line[512];
		size_t n = strcspn(lines, "\n");
		struct record r;

		snprintf(line, sizeof(line), "%.*s", (int)n, lines);
		lines += n + (lines[n] == '\n');
		if (!record_parse(&r, line, &scratch, &error)) {
			printf("# %s: %s\n", line, buf_cstr(&error));
			abort();
		}
		wrong = capture_apply(&c, &r);
	}
	return wrong;
}

static void begin(void)
{
	capture_release(&c);
	if (!capture_init(&c))
		abort();
	say("segment major=1 minor=0 least=1\n"
	    "event id=1 name=\"cpu-clock\" unit=\"ns\" period=10 millihertz=99000\n"
	    "process id=1 time=1 pid=42 nspid=0 parent=0 start=0 gen=0 via=snapshot\n"
	    "thread id=1 time=1 process=1 tid=42\n"
	    "file id=1 major=8 minor=1 inode=7 generation=0 build-id=01 path=\"/bin/x\"\n"
	    "file id=2 major=8 minor=1 inode=8 generation=0 build-id=02 path=\"/bin/y\"\n"
	    "frame id=1 process=1 kind=exact address=0x1010\n"
	    "node id=16 parent=1 frame=1\n");
}

static void refused(const char *line, const char *want)
{
	char what[256];
	const char *got = say(line);

	if (!got || strcmp(got, want) != 0)
		printf("# %s: got %s\n", line, got ? got : "nothing");
	snprintf(what, sizeof(what), "refused: %s", want);
	check(got && strcmp(got, want) == 0, what);
}

static bool place_is(uint32_t frame, uint64_t epoch, uint32_t file, uint64_t offset)
{
	const struct capture_place *p = capture_place(&c, frame, epoch);

	return p && p->map_end && p->file == file && p->offset == offset;
}

static bool name_is(uint32_t frame, uint64_t epoch, const char *want)
{
	const struct capture_symbol *s = capture_symbol(&c, frame, epoch);

	return s ? want && slice_is(capture_text(&c, s->name), want) : !want;
}

#define SAMPLE(time) "sample time=" #time " event=1 cpu=0 thread=1 user=16 kernel=0 weight=10\n"
#define MAP(time, process, file) \
	"mapping time=" #time " process=" #process " start=0x1000 length=0x1000 offset=0x500 prot=5 file=" #file "\n"

static void remapping(void)
{
	uint64_t before, after, again;

	begin();
	check(!capture_place(&c, 1, 0), "a frame that no sample needed has no place");
	say(MAP(1, 1, 1) SAMPLE(10));
	before = capture_epoch(&c, 1);
	check(before == 0 && place_is(1, before, 1, 0x510), "a first mapping makes no new epoch");
	say(MAP(20, 1, 1) SAMPLE(21));
	check(capture_epoch(&c, 1) == before && c.n_places == 2, "nor does the same one again");
	say(MAP(30, 1, 2) SAMPLE(31));
	after = capture_epoch(&c, 1);
	check(after == 30 && place_is(1, after, 2, 0x510), "another file there is a new epoch, named by its time");
	check(place_is(1, before, 1, 0x510), "what was sampled before still lies where it lay");
	say(MAP(30, 1, 1) SAMPLE(30));
	again = capture_epoch(&c, 1);
	check(again != after && place_is(1, again, 1, 0x510) && place_is(1, after, 2, 0x510),
	      "two changes in one instant with a sample between are two epochs");
	say("unmap time=40 process=1 start=0x1000 length=0x800\n" SAMPLE(41));
	check(capture_epoch(&c, 1) == 40 && capture_place(&c, 1, 40)->map_end == 0, "unmapped: there is nothing");
	say("unmap time=50 process=1 start=0x1000 length=0x800\n");
	check_is(capture_epoch(&c, 1), 40, "to unmap nothing is no change");
	say(MAP(60, 1, 1) SAMPLE(61));
	check(place_is(1, capture_epoch(&c, 1), 1, 0x510), "mapped where nothing was: in force at once");
}

static void forks_and_execs(void)
{
	begin();
	say(MAP(1, 1, 1)
	    "process id=2 time=5 pid=43 nspid=0 parent=1 start=5 gen=0 via=fork\n"
	    "process id=3 time=5 pid=43 nspid=0 parent=2 start=5 gen=1 via=exec\n"
	    "thread id=2 time=5 process=2 tid=43\n"
	    "frame id=2 process=2 kind=return address=0x1010\n"
	    "node id=17 parent=1 frame=2\n"
	    MAP(7, 1, 2)
	    "sample time=9 event=1 cpu=0 thread=2 user=17 kernel=0 weight=10\n" SAMPLE(9));
	check(place_is(2, 0, 1, 0x510), "a child keeps what its parent had when it forked");
	check(place_is(1, 7, 2, 0x510), "while the parent goes on");
	check(maps_count(&c.processes[3].maps) == 0 && c.processes[3].parent == 2, "an exec begins with nothing");
	say(MAP(10, 2, 2) "sample time=11 event=1 cpu=0 thread=2 user=17 kernel=0 weight=10\n");
	check(place_is(2, 10, 2, 0x510) && place_is(2, 9, 1, 0x510) && capture_epoch(&c, 1) == 7,
	      "the child's change is the child's alone");
	say("frame id=3 process=2 kind=return address=0x1000\n"
	    "frame id=4 process=2 kind=exact address=0x2000\n"
	    "node id=18 parent=17 frame=3\nnode id=19 parent=18 frame=4\n"
	    "sample time=12 event=1 cpu=0 thread=2 user=19 kernel=0 weight=10\n");
	check(capture_place(&c, 3, 10)->map_end == 0 && capture_place(&c, 4, 10)->map_end == 0,
	      "a return address at the first byte belongs to what ends there; the last byte is inside, the next is not");
}

#define JITMAP(time, generation, data) \
	"jitmap time=" #time " process=1 generation=" #generation " data=\"" data "\"\n"

static void jit(void)
{
	begin();
	say("mapping time=1 process=1 start=0x1000 length=0x1000 offset=0x0 prot=7 file=0\n" SAMPLE(2)
	    JITMAP(3, 0, "900 100 x\\n1000 100 a\\n") SAMPLE(4));
	check(capture_epoch(&c, 1) == 3 && c.n_places == 3, "a piece of a perf map gives code that it tells of a new place");
	say(JITMAP(5, 0, "1011 1000 b\\nnonsense\\n0x900 0x710 c\\nffffffffffffffff 2 d\\n1000\\n") SAMPLE(6));
	check(capture_epoch(&c, 1) == 5 && c.n_places == 3, "and other code none");
	say(JITMAP(6, 0, "0x900 0x711 c") SAMPLE(6));
	check(c.n_places == 4 && capture_place(&c, 1, 6)->from == 6, "though it be anonymous, and the line the last");
	say(JITMAP(7, 1, "") SAMPLE(7));
	check_is(c.n_places, 5, "in a new map nothing of the old one holds");
	say(JITMAP(8, 1, "") SAMPLE(8));
	check_is(c.n_places, 5, "which is so once");
	say(MAP(9, 1, 1) SAMPLE(10) JITMAP(11, 1, "1000 100 a\\n") SAMPLE(12));
	check(capture_epoch(&c, 1) == 11 && c.n_places == 6, "code from a file is no compiler's");
}

/* Checks the search by jumps in the list of places against a plain walk. */
static void many_places(void)
{
	enum { CHANGES = 3000 };
	bool good = true;
	char text[400];

	begin();
	for (unsigned int i = 1; i <= CHANGES; i++) {
		snprintf(text, sizeof(text),
			 "mapping time=%u process=1 start=0x1000 length=0x1000 offset=%u prot=5 file=1\n"
			 "sample time=%u event=1 cpu=0 thread=1 user=16 kernel=0 weight=10\n",
			 i * 2, i, i * 2);
		good &= !say(text);
	}
	good &= c.n_places == CHANGES + 1;
	for (uint64_t t = 0; t <= 2 * CHANGES + 9; t++) {
		uint64_t want = t < 4 ? 1 : t / 2 < CHANGES ? t / 2 : CHANGES;

		good &= place_is(1, t, 1, 0x10 + want);
	}
	check(good, "every epoch of a frame with thousands of places finds its own");
}

/* Few bytes make many places: a deep stack whose code moves before each sample. Others still get theirs. */
static void moving_places(void)
{
	enum { DEPTH = 4000, SAMPLES = 2000, MOST = 1 << 18 };
	unsigned int refused = 0;
	char text[400];

	begin();
	say("process id=2 time=1 pid=51 nspid=0 parent=0 start=1 gen=0 via=snapshot\nthread id=2 time=1 process=2 tid=51\n"
	    "frame id=2 process=2 kind=exact address=0x1010\nnode id=17 parent=0 frame=2\n");
	for (unsigned int i = 0; i < DEPTH; i++) {
		snprintf(text, sizeof(text), "frame id=%u process=1 kind=exact address=0x%x\nnode id=%u parent=%u frame=%u\n", i + 3,
			 0x1000 + i, i + 18, i ? i + 17 : 0, i + 3);
		say(text);
	}
	for (unsigned int i = 0; i < SAMPLES; i++) {
		snprintf(text, sizeof(text),
			 "mapping time=%u process=1 start=0x1000 length=0x1000 offset=%u prot=5 file=1\n"
			 "sample time=%u event=1 cpu=0 thread=1 user=%u kernel=0 weight=10\n",
			 10 + i, i, 10 + i, DEPTH + 17);
		refused += say(text) != 0;
	}
	check(c.n_places < MOST && refused > SAMPLES / 2, "a stack that moves at each sample has places as it has samples");
	refused = 0;
	for (unsigned int i = 0; i < SAMPLES; i++) {
		snprintf(text, sizeof(text),
			 "mapping time=%u process=2 start=0x1000 length=0x1000 offset=%u prot=5 file=1\n"
			 "sample time=%u event=1 cpu=0 thread=2 user=17 kernel=0 weight=10\n",
			 10 + i, i, 10 + i);
		refused += say(text) != 0;
	}
	check_is(refused, 0, "which other processes do not feel");
}

static void names(void)
{
	begin();
	say("string id=1 text=\"one\"\nstring id=2 text=\"two\"\nstring id=3 text=\"three\"\n"
	    "string id=4 text=\"inner\"\n" MAP(1, 1, 1) SAMPLE(2));
	check(name_is(1, 0, NULL), "no name");
	say("symbol frame=1 from=0 level=0 source=none name=0 offset=0 file=0 line=0\n");
	check(name_is(1, 0, NULL), "looked for and not found is no name");
	say("symbol frame=1 from=100 level=0 source=perfmap name=1 offset=0 file=0 line=0\n");
	check(name_is(1, 99, NULL) && name_is(1, 100, "one"), "it holds until a name comes");
	say("frame id=2 process=1 kind=exact address=0x1020\n"
	    "symbol frame=2 from=100 level=0 source=perfmap name=1 offset=0 file=0 line=0\n");
	check(name_is(2, 0, "one") && name_is(2, 100, "one"), "a first name serves earlier epochs too");
	say("symbol frame=1 from=200 level=0 source=perfmap name=2 offset=0 file=0 line=0\n"
	    "symbol frame=1 from=150 level=0 source=perfmap name=3 offset=0 file=0 line=0\n"
	    "symbol frame=1 from=150 level=1 source=perfmap name=4 offset=0 file=0 line=7\n");
	check(name_is(1, 149, "one") && name_is(1, 150, "three") && name_is(1, 199, "three") &&
	      name_is(1, 200, "two") && name_is(1, UINT64_MAX, "two"), "the newest that begins no later");
	check(slice_is(capture_text(&c, c.symbols[capture_symbol(&c, 1, 160)->inner].name), "inner"),
	      "with what was inlined into it");
	say("symbol frame=1 from=150 level=0 source=dynsym name=1 offset=0 file=0 line=0\n");
	check(name_is(1, 150, "three"), "a worse source does not replace it");
	say("symbol frame=1 from=150 level=0 source=none name=0 offset=0 file=0 line=0\n");
	check(name_is(1, 150, "three"), "nor does a search in vain");
	say("symbol frame=1 from=150 level=0 source=perfmap name=2 offset=0 file=0 line=0\n");
	check(name_is(1, 150, "two"), "an equal one does, as the newer");
	say("symbol frame=1 from=150 level=0 source=debug name=1 offset=0 file=0 line=0\n");
	check(name_is(1, 150, "one") && name_is(1, 149, "one") && name_is(1, 200, "two"), "and so does a better one");
	say("symbol frame=1 from=180 level=0 source=none name=0 offset=0 file=0 line=0\n");
	check(name_is(1, 179, "one") && name_is(1, 180, NULL) && name_is(1, 200, "two"),
	      "a search in vain ends the name before it");
	check(capture_symbol_from(&c, 1, 180)->source == NAME_NONE && capture_symbol_from(&c, 1, 150)->source == NAME_DEBUG &&
	      !capture_symbol_from(&c, 1, 151) && !capture_symbol_from(&c, 1, 1000),
	      "what was said from exactly one time on");
}

/* Checks capture_symbol against the rule in capture.h, over names in any order. */
static void random_names(void)
{
	enum { NAMES = 600 };
	static uint64_t from[NAMES], source[NAMES];
	bool good = true;

	begin();
	say("string id=1 text=\"one\"\n");
	for (int i = 0; i < NAMES && good; i++) {
		struct record r = { .type = RECORD_SYMBOL, .symbol = { .frame = 1, .name = 1 } };
		uint64_t epoch = random_below(120);
		const struct capture_symbol *got;
		int best = -1;

		r.symbol.from = from[i] = random_below(100);
		r.symbol.source = source[i] = random_below(4);
		r.symbol.offset = (uint64_t)i;
		good &= !capture_apply(&c, &r);
		for (int j = 0; j <= i; j++) {
			bool in_time = from[j] <= epoch;

			if (best < 0 || (in_time && from[best] > epoch) || (in_time && from[j] > from[best]) ||
			    (!in_time && from[best] > epoch && from[j] < from[best]) ||
			    (from[j] == from[best] && source[j] >= source[best]))
				best = j;
		}
		got = capture_symbol(&c, 1, epoch);
		good &= source[best] == NAME_NONE ? !got : got && got->offset == (uint64_t)best;
	}
	check(good, "random names of one frame: the choice is that of a plain search");
}

#define KFRAME(id, address) "frame id=" #id " process=0 kind=exact address=" #address "\n"
#define KSYM(address, size, name) KSYM_AT(1, address, size, name)
#define KSYM_AT(time, address, size, name) \
	"ksym time=" #time " address=" #address " size=" #size " name=\"" name "\" module=\"\"\n"

static const char *kernel_name(uint32_t frame)
{
	const struct capture_ksym *k = capture_ksym(&c, frame);
	struct slice name = k ? capture_text(&c, k->name) : slice_of("none");
	static char text[16];

	snprintf(text, sizeof(text), "%.*s", (int)name.n, (const char *)name.p);
	return text;
}

static void kernel_symbols(void)
{
	begin();
	say(KSYM(0x5000, 0x10, "b") KSYM(0x1000, 0x0, "a") KSYM(0x3000, 0x0, "aa")
	    KFRAME(11, 0xfff) KFRAME(12, 0x2fff) KFRAME(13, 0x500f) KFRAME(14, 0x5010) KFRAME(15, 0x4fff));
	check_text(kernel_name(11), "none", "below the first kernel symbol is none");
	check_text(kernel_name(12), "a", "one without a size reaches to the next");
	check_text(kernel_name(15), "aa", "  and so does the next one");
	check_text(kernel_name(13), "b", "one with a size");
	check_text(kernel_name(14), "none", "  ends there");
	/* The kernel replaces a module by one that begins later, and that one by the first again. */
	say(KSYM(0x9000, 0x200, "one") KFRAME(16, 0x9010) KSYM(0x9008, 0x80, "two") KFRAME(17, 0x9020)
	    KSYM(0x9000, 0x200, "one") KFRAME(18, 0x9030) KSYM_AT(2, 0x9000, 0x100, "three") KFRAME(19, 0x9040)
	    KFRAME(20, 0x9150));
	check_text(kernel_name(16), "one", "a module that was replaced names its frames");
	check_text(kernel_name(17), "two", "  its successor names later ones");
	check_text(kernel_name(18), "one", "  and so does the first one when it is back");
	check_text(kernel_name(19), "three", "a symbol that begins at the same address");
	check_text(kernel_name(20), "one", "  names nothing after its end");
	say(KFRAME(21, 0xa010) KSYM(0xa000, 0x20, "late") KSYM(0xa000, 0x20, "later"));
	check_text(kernel_name(21), "late", "a frame before all symbols has the first one");
	say(KSYM(0xb000, 0x20, "alias") KSYM(0xb000, 0x20, "other") KFRAME(22, 0xb010));
	check_text(kernel_name(22), "alias", "and of two that were looked up at once, it is the first one");
}

static void images(void)
{
	const struct capture_image *image;

	begin();
	say("image name=\"[vdso]\" build-id=01 data=aa\nimage name=\"[vdso]\" build-id=02 data=bb\n"
	    "image name=\"[vdso]\" build-id=02 data=cc\n"
	    "file id=3 major=0 minor=0 inode=0 generation=0 build-id= path=\"[vdso]\"\n"
	    "file id=4 major=0 minor=0 inode=0 generation=0 build-id=02 path=\"[vdso]\"\n"
	    "file id=5 major=0 minor=0 inode=0 generation=0 build-id=03 path=\"[vdso]\"\n");
	image = capture_image(&c, &c.files[3]);
	check(image && image->data.n == 1 && image->data.p[0] == 0xaa,
	      "a file without a build ID has the first image of its name");
	image = capture_image(&c, &c.files[4]);
	check(image && image->data.p[0] == 0xbb, "  and one with a build ID the first image with both");
	check(!capture_image(&c, &c.files[5]), "  if there is one");
}

static void totals(void)
{
	struct capture_totals t;

	begin();
	say(MAP(1, 1, 1) SAMPLE(0) SAMPLE(100)
	    "ledger time=5 cpu=0 outcome=emitted count=1\nledger time=6 cpu=0 outcome=emitted count=2\n"
	    "ledger time=6 cpu=3 outcome=emitted count=5\nledger time=6 cpu=3 outcome=77 count=5\n"
	    "cost time=6 what=user-ns count=4\ncost time=6 what=rss-bytes count=9\n"
	    "cost time=6 what=tables count=3\ncost time=6 what=table-bytes count=70\ncost time=6 what=77 count=1\n"
	    "end time=7 reason=closed samples=2\nsegment major=1 minor=0 least=1\n"
	    "ledger time=5 cpu=0 outcome=emitted count=10\n"
	    "cost time=6 what=user-ns count=4\ncost time=6 what=rss-bytes count=8\n"
	    "cost time=6 what=tables count=2\ncost time=6 what=table-bytes count=60\n");
	t = capture_totals(&c);
	check_is(t.outcomes[OUTCOME_EMITTED], 17,
		 "the ledger: the last count of each CPU, summed over segments");
	check(t.costs[COST_USER_NS] == 8 && t.costs[COST_RSS_BYTES] == 9, "costs add up, peak memory does not");
	check(t.costs[COST_TABLES] == 5 && t.costs[COST_TABLE_BYTES] == 70, "  and so it is with unwind tables");
	check(t.segments == 2 && t.ended == 1 && t.samples == 2, "segments, and which of them ended");
	check_is(t.seconds_ns, 100, "a sample at time zero begins the time like any other");
}

static void refusals(void)
{
	struct capture_totals t;

	begin();
	refused("sample time=1 event=1 cpu=0 thread=2 user=0 kernel=0 weight=10", "a sample of an undefined thread");
	refused("sample time=1 event=1 cpu=0 thread=1 user=17 kernel=0 weight=10", "a sample with an undefined node");
	refused("sample time=1 event=1 cpu=0 thread=1 user=0 kernel=4294967312 weight=10", "a sample with an undefined node");
	refused("sample time=1 event=0 cpu=0 thread=1 user=0 kernel=0 weight=10", "a sample of an impossible event");
	refused("sample time=1 event=64 cpu=0 thread=1 user=0 kernel=0 weight=10", "a sample of an impossible event");
	refused("sample time=1 event=2 cpu=0 thread=1 user=0 kernel=0 weight=0", "a sample of an undefined event");
	refused("sample time=1 event=1 cpu=0 thread=1 user=0 kernel=16 weight=10",
		"a sample whose kernel stack belongs to a process");
	say("process id=2 time=1 pid=43 nspid=0 parent=0 start=0 gen=0 via=snapshot\n"
	    "thread id=2 time=1 process=2 tid=43\nframe id=2 process=2 kind=exact address=0x1010\n");
	refused("sample time=1 event=1 cpu=0 thread=2 user=16 kernel=0 weight=10",
		"a sample whose user stack belongs to another process");
	t = capture_totals(&c);
	check(t.refused == 8 && t.refused_records == 0 && t.samples == 0, "refused samples are counted");
	refused("node id=17 parent=16 frame=2", "a node of another process than its parent");
	refused("node id=15 parent=1 frame=2", "a node with the id of a root");
	refused("node id=17 parent=1 frame=9", "a node of an undefined frame");
	refused("node id=20 parent=18 frame=1", "a node with an undefined parent");
	refused("node id=16 parent=1 frame=1", "a node defined twice");
	refused("node id=4294967312 parent=1 frame=1", "an id out of range");
	refused("frame id=0 process=1 kind=exact address=0x0", "an id out of range");
	refused("frame id=3 process=4294967297 kind=exact address=0x0", "a frame of an undefined process");
	refused("thread id=1 time=1 process=1 tid=1", "a thread defined twice");
	refused("thread id=3 time=1 process=9 tid=1", "a thread of an undefined process");
	refused("process id=1 time=1 pid=1 nspid=0 parent=0 start=0 gen=0 via=fork", "a process defined twice");
	refused("file id=1 major=8 minor=1 inode=7 generation=0 build-id= path=\"\"", "a file defined twice");
	refused("mapping time=1 process=1 start=0xfffffffffffff000 length=0x2000 offset=0x0 prot=5 file=1",
		"a mapping with an impossible range");
	refused("mapping time=1 process=1 start=0x0 length=0x0 offset=0x0 prot=5 file=1",
		"a mapping with an impossible range");
	refused("mapping time=1 process=1 start=0x0 length=0x1 offset=0x0 prot=5 file=3", "a mapping of an undefined file");
	refused("unmap time=1 process=1 start=0x1 length=0xffffffffffffffff", "an unmap with an impossible range");
	refused("event id=64 name=\"x\" unit=\"\" period=1 millihertz=0", "an event with an impossible id");
	refused("event id=1 name=\"x\" unit=\"\" period=1 millihertz=0", "an event with two periods");
	refused("member time=1 process=1 cgroup=5", "an undefined cgroup");
	refused("ledger time=1 cpu=65537 outcome=idle count=1", "the ledger of an impossible CPU");
	refused("symbol frame=9 from=0 level=0 source=none name=0 offset=0 file=0 line=0", "a name for an undefined frame");
	refused("symbol frame=1 from=0 level=0 source=symtab name=9 offset=0 file=0 line=0",
		"a name that is an undefined string");
	refused("symbol frame=1 from=0 level=1 source=symtab name=0 offset=0 file=0 line=0",
		"an inlined function without the one around it");
	refused("symbol frame=1 from=0 level=4294967296 source=symtab name=0 offset=0 file=0 line=0",
		"functions inlined too deeply");
	check(capture_totals(&c).refused_records > 20, "and so are refused records");
	check(!say(SAMPLE(5)), "what makes sense is taken in after all that");
}

#ifndef __SANITIZE_ADDRESS__
/* Checks the highest id that each array accepts. */
static void bounds(void)
{
	static const char *const far[] = {
		"process id=%llu time=1 pid=1 nspid=0 parent=0 start=0 gen=0 via=snapshot",
		"thread id=%llu time=1 process=1 tid=1",
		"file id=%llu major=0 minor=0 inode=0 generation=0 build-id= path=\"\"",
		"frame id=%llu process=1 kind=exact address=0x1",
		"node id=%llu parent=0 frame=1",
	};
	struct rusage before, after;
	char text[200];
	int accepted = 0;

	begin();
	getrusage(RUSAGE_SELF, &before);
	for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
		for (unsigned long long id = 2; id; id *= 2) {
			snprintf(text, sizeof(text), far[i], id + 64);
			accepted += !say(text);
		}
	}
	say("ledger time=1 cpu=65536 outcome=idle count=1");
	getrusage(RUSAGE_SELF, &after);
	check(accepted > 60 && accepted < 120, "ids may leave gaps, but not any");
	check(after.ru_maxrss - before.ru_maxrss < 256 << 10, "and a few bytes ask for no gigabyte");
}

/* A deep stack whose code moves all the time. */
static void deep_and_moving(void)
{
	enum { DEPTH = 60000 };
	uint64_t moves = 0;
	char text[200];

	begin();
	for (unsigned int i = 0; i < DEPTH; i++) {
		struct record r = { .type = RECORD_FRAME, .frame = { 2 + i, 1, FRAME_RETURN, 0x1010 + i % 0x800 } };

		capture_apply(&c, &r);
		r = (struct record){ .type = RECORD_NODE, .node = { 17 + i, 16 + i, 2 + i } };
		capture_apply(&c, &r);
	}
	do {
		moves++;
		snprintf(text, sizeof(text),
			 "mapping time=%u process=1 start=0x1000 length=0x1000 offset=%u prot=5 file=1\n"
			 "sample time=%u event=1 cpu=0 thread=1 user=%u kernel=0 weight=10\n",
			 (unsigned int)moves, (unsigned int)moves, (unsigned int)moves, DEPTH + 16);
	} while (!say(text) && moves < 1000);
	check(moves < 10 && capture_totals(&c).refused == 1,
	      "a deep stack whose code moves all the time is refused in the end");
	check(!say("sample time=1 event=1 cpu=0 thread=1 user=1 kernel=0 weight=10"), "and others are not");
}
#endif

/* The fields that only frames and scripts of some languages have. */
#define PLAIN " tier=none inlined=0 position=0"
#define NOWHERE " units=0 file=0 offset=0x0 width=0"

static void languages(void)
{
	const struct capture_frame *f;

	begin();
	refused("script id=1 language=none process=1 path=\"a.py\"" NOWHERE, "a script of an unknown language");
	refused("script id=1 language=77 process=1 path=\"a.py\"" NOWHERE, "a script of an unknown language");
	refused("script id=1 language=python process=9 path=\"a.py\"" NOWHERE, "a script of an undefined process");
	refused("script id=4294967297 language=python process=1 path=\"a.py\"" NOWHERE, "an id out of range");
	refused("function id=1 script=1 name=\"f\" line=1 flags=0 start=0", "a function of an undefined script");
	check(!say("script id=1 language=python process=0 path=\"a.py\"" NOWHERE "\n"
		   "script id=2 language=ruby process=1 path=\"a.rb\"" NOWHERE "\n"
		   "function id=1 script=1 name=\"C.f\" line=3 flags=0 start=0\n"), "scripts and a function");
	refused("script id=1 language=python process=1 path=\"a.py\"" NOWHERE, "a script defined twice");
	refused("function id=1 script=1 name=\"g\" line=1 flags=0 start=0", "a function defined twice");
	refused("function id=0 script=1 name=\"g\" line=1 flags=0 start=0", "an id out of range");
	refused("lang-frame id=2 process=0 language=python function=1 line=4 state=ok" PLAIN,
		"a language frame of an undefined process");
	refused("lang-frame id=2 process=1 language=none function=1 line=4 state=ok" PLAIN,
		"a language frame of an unknown language");
	refused("lang-frame id=2 process=1 language=python function=9 line=4 state=ok" PLAIN,
		"a language frame of an undefined function");
	refused("lang-frame id=2 process=1 language=python function=0 line=4 state=ok" PLAIN,
		"a language frame without a function and without a reason");
	refused("lang-frame id=2 process=1 language=python function=1 line=4 state=lost" PLAIN,
		"a language frame whose function is known and not known");
	refused("lang-frame id=2 process=1 language=python function=0 line=4 state=8" PLAIN,
		"a language frame in an unknown state");
	refused("lang-frame id=2 process=1 language=ruby function=1 line=4 state=ok" PLAIN,
		"a language frame of a function of another language");
	refused("lang-frame id=1 process=1 language=python function=1 line=4 state=ok" PLAIN,
		"a frame defined twice");
	refused("lang-frame id=2147483648 process=1 language=python function=1 line=4 state=ok" PLAIN,
		"an id out of range");
	check(!say("lang-frame id=2 process=1 language=python function=1 line=4 state=ok" PLAIN "\n"
		   "lang-frame id=3 process=1 language=python function=1 line=0 state=ok" PLAIN "\n"
		   "lang-frame id=4 process=1 language=ruby function=0 line=0 state=lost" PLAIN "\n"
		   "node id=17 parent=16 frame=2\nnode id=18 parent=17 frame=3\n" MAP(1, 1, 1)
		   "sample time=9 event=1 cpu=0 thread=1 user=18 kernel=0 weight=10\n"),
	      "a stack with frames of a language");
	refused("frame id=2 process=1 kind=exact address=0x10", "a frame defined twice");
	refused("symbol frame=2 from=0 level=0 source=symtab name=0 offset=0 file=0 line=0",
		"a name for a frame of a language, which has its own");
	check(capture_place(&c, 1, 0) && !capture_place(&c, 2, 0), "a frame of a language has no place");
	check(!capture_is_lang(&c.frames[1]) && capture_is_lang(&c.frames[4]) && c.lang_frames == 3,
	      "it is one");
	f = &c.frames[2];
	check(slice_is(capture_function_name(&c, capture_function(&c, f)), "C.f") &&
	      slice_is(capture_function_path(&c, capture_function(&c, f)), "a.py"),
	      "it has a function with a script");
	check(capture_lang_line(&c, f) == 4 && capture_lang_line(&c, &c.frames[3]) == 3 &&
	      !capture_function(&c, &c.frames[4]) && capture_lang_line(&c, &c.frames[4]) == 0,
	      "its line, otherwise the function's first, otherwise none");
}

/* Short segments whose ids are far from the defined ones. */
static void gaps_of_many_segments(void)
{
	struct capture_totals t;
	size_t accepted = 0;

	begin();
	for (unsigned int i = 0; i < 1000; i++) {
		say("segment major=1 minor=0 least=1");
		accepted += !say(
			"file id=100000 major=8 minor=1 inode=7 generation=0 build-id=01 path=\"/bin/x\"");
		accepted += !say("ledger time=1 cpu=65536 outcome=idle count=1");
	}
	t = capture_totals(&c);
	check(accepted > 10 && accepted < 60, "some segments may leave gaps, not all");
	check(t.refused_records + accepted == 2000, "  and refused records are counted");
	check(!say("process id=2 time=1 pid=42 nspid=0 parent=0 start=0 gen=0 via=snapshot"),
	      "dense ids are still accepted");
}

int main(void)
{
	languages();
	remapping();
	forks_and_execs();
	jit();
	many_places();
	moving_places();
	names();
	random_names();
	kernel_symbols();
	images();
	totals();
	refusals();
	gaps_of_many_segments();
#ifndef __SANITIZE_ADDRESS__ /* takes much longer, and uses memory itself */
	bounds();
	deep_and_moving();
#endif
	capture_release(&c);
	return checks_done();
}
