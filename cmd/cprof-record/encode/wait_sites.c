#include "cmd/cprof-record/encode/wait_sites.h"

#include <stdlib.h>

#include "common/base/array.h"
#include "common/base/idmap.h"

struct wait_sites {
	struct wait_site *items;
	size_t n, cap;
	uint32_t *free; /* indices in items */
	size_t n_free, cap_free;
	struct idmap by_key; /* key to index in items */
	size_t bytes;
};

struct wait_sites *wait_sites_new(void)
{
	struct wait_sites *ps = calloc(1, sizeof(*ps));

	if (ps)
		idmap_init(&ps->by_key);
	return ps;
}

static size_t size_of(const struct wait_site *p)
{
	return sizeof(*p) + (size_t)(p->stack.user.n + p->stack.kernel_n) * sizeof(*p->addresses);
}

static void forget_all(struct wait_sites *ps)
{
	for (size_t i = 0; i < ps->n; i++)
		free(ps->items[i].addresses);
	ps->n = ps->n_free = ps->bytes = 0;
	idmap_clear(&ps->by_key);
}

void wait_sites_free(struct wait_sites *ps)
{
	if (!ps)
		return;
	forget_all(ps);
	free(ps->items);
	free(ps->free);
	idmap_release(&ps->by_key);
	free(ps);
}

struct wait_site *wait_sites_find(struct wait_sites *ps, uint64_t key)
{
	uint32_t at;

	return idmap_find(&ps->by_key, key, &at) ? &ps->items[at] : NULL;
}

void wait_sites_remove(struct wait_sites *ps, uint64_t key)
{
	struct wait_site *p = wait_sites_find(ps, key);

	if (!p || !grow_array(&ps->free, &ps->cap_free, ps->n_free, sizeof(*ps->free)))
		return;
	ps->free[ps->n_free++] = (uint32_t)(p - ps->items);
	ps->bytes -= size_of(p);
	free(p->addresses);
	idmap_remove(&ps->by_key, key);
	*p = (struct wait_site){ 0 };
}

static struct wait_site *add_site(struct wait_sites *ps, uint64_t key)
{
	uint32_t at;

	if (ps->n_free == 0 && (ps->n >= UINT32_MAX || !grow_array(&ps->items, &ps->cap, ps->n, sizeof(*ps->items))))
		return NULL;
	at = ps->n_free ? ps->free[ps->n_free - 1] : (uint32_t)ps->n;
	if (!idmap_set(&ps->by_key, key, at))
		return NULL;
	if (ps->n_free)
		ps->n_free--;
	else
		ps->n++;
	ps->items[at] = (struct wait_site){ .key = key };
	ps->bytes += sizeof(struct wait_site);
	return &ps->items[at];
}

/* Stores a copy of the stack. */
static bool keep_stack(struct wait_sites *ps, const struct sample_head *s, const struct proc *p, const struct stack *stack)
{
	size_t user = (size_t)stack->user.n, kernel = (size_t)stack->kernel_n;
	uint64_t *own = malloc((user + kernel + 1) * sizeof(*own));
	struct wait_site *site = wait_sites_find(ps, s->weight);

	if (!own || (!site && !(site = add_site(ps, s->weight)))) {
		free(own);
		return false;
	}
	ps->bytes -= size_of(site);
	free(site->addresses);
	if (user)
		memcpy(own, stack->user.addresses, user * sizeof(*own));
	if (kernel)
		memcpy(own + user, stack->kernel, kernel * sizeof(*own));
	*site = (struct wait_site){ .key = s->weight, .serial = p->serial, .cgroup = s->cgroup,
				    .owner = s->owner, .addresses = own, .stack = *stack };
	site->stack.user.addresses = own;
	site->stack.kernel = own + user;
	ps->bytes += size_of(site);
	return true;
}

bool wait_sites_put(struct wait_sites *ps, const struct sample_head *s, const struct proc *p, const struct stack *stack)
{
	bool kept = keep_stack(ps, s, p, stack);

	if (kept && ps->bytes <= WAIT_SITES_BYTES)
		return true;
	forget_all(ps);
	keep_stack(ps, s, p, stack);
	return false;
}

bool wait_sites_nodes(struct stacks *st, uint32_t segment, struct wait_site *site, const struct proc *p, uint64_t *user, uint64_t *kernel)
{
	struct stack stack = site->stack;

	if (site->serial != p->serial) { /* the user stack belongs to an image that is gone */
		stack.user.n = 0;
		stack.user.end = ROOT_NO_REGS;
		return stacks_nodes(st, p, &stack, user, kernel);
	}
	if (site->segment != segment) {
		if (!stacks_nodes(st, p, &stack, &site->user, &site->kernel))
			return false;
		site->segment = segment;
	}
	*user = site->user;
	*kernel = site->kernel;
	return true;
}
