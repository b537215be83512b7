# What is installed and given away; included by the Makefile. Scripts are beside this file.

PROGRAMS = $(TOOLS) $(if $(RECORD),cprof-record)
UNIT = lib/systemd/system/cprof.service
COMPLETIONS = share/bash-completion/completions
# All that `make install` puts below PREFIX, and `make uninstall` takes away.
INSTALLED = $(PROGRAMS:%=bin/%) $(foreach p,$(PAGES),share/man/man$(subst .,,$(suffix $(p)))/$(notdir $(p))) \
	$(UNIT) $(PROGRAMS:%=$(COMPLETIONS)/%)
STRIP = $(CROSS)strip

# The unit runs what is installed with it.
install: all
	for d in $(sort $(dir $(INSTALLED))); do install -d $(DESTDIR)$(PREFIX)/$$d || exit 1; done
	install -m 755 $(PROGRAMS:%=$(BIN)/%) $(DESTDIR)$(PREFIX)/bin
	for p in $(PAGES); do install -m 644 $$p $(DESTDIR)$(PREFIX)/share/man/man$${p##*.} || exit 1; done
	for p in $(PROGRAMS); do install -m 644 contrib/completions/cprof $(DESTDIR)$(PREFIX)/$(COMPLETIONS)/$$p || exit 1; done
	sed 's,^ExecStart=/usr/local/bin/,ExecStart=$(PREFIX)/bin/,' contrib/systemd/cprof.service >$(DESTDIR)$(PREFIX)/$(UNIT)
	chmod 644 $(DESTDIR)$(PREFIX)/$(UNIT)

install-strip: install
	$(STRIP) $(PROGRAMS:%=$(DESTDIR)$(PREFIX)/bin/%)

# Directories stay: they are shared.
uninstall:
	rm -f $(INSTALLED:%=$(DESTDIR)$(PREFIX)/%)

.PHONY: install install-strip uninstall

# The commands without a shared library, into build/static/bin.
static:
	$(MAKE) STATIC=1 BUILD=$(BUILD)/static all

# What is given away, as its users have it; too long for `make check`.
check-dist: all static $(BUILD)/tests/burn
	$(PROVE) tests/dist/

.PHONY: static check-dist
