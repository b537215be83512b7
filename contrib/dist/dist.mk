# Installation and releases; included by the Makefile. The scripts are beside this file.

PROGRAMS = $(TOOLS) $(if $(RECORD),cprof-record)
UNIT = lib/systemd/system/cprof.service
COMPLETIONS = share/bash-completion/completions
ZSH = share/zsh/site-functions
FISH = share/fish/vendor_completions.d
# All files that `make install` puts below PREFIX and `make uninstall` removes
INSTALLED = $(PROGRAMS:%=bin/%) $(foreach p,$(PAGES),share/man/man$(subst .,,$(suffix $(p)))/$(notdir $(p))) \
	$(UNIT) $(PROGRAMS:%=$(COMPLETIONS)/%) $(ZSH)/_cprof $(PROGRAMS:%=$(FISH)/%.fish)
STRIP = $(CROSS)strip

# The unit runs the program installed with it.
install: all
	for d in $(sort $(dir $(INSTALLED))); do install -d $(DESTDIR)$(PREFIX)/$$d || exit 1; done
	install -m 755 $(PROGRAMS:%=$(BIN)/%) $(DESTDIR)$(PREFIX)/bin
	for p in $(PAGES); do install -m 644 $$p $(DESTDIR)$(PREFIX)/share/man/man$${p##*.} || exit 1; done
	for p in $(PROGRAMS); do install -m 644 contrib/completions/cprof $(DESTDIR)$(PREFIX)/$(COMPLETIONS)/$$p || exit 1; done
	for p in $(PROGRAMS:%=$(FISH)/%.fish); do \
		install -m 644 contrib/completions/cprof.fish $(DESTDIR)$(PREFIX)/$$p || exit 1; \
	done
	install -m 644 contrib/completions/_cprof $(DESTDIR)$(PREFIX)/$(ZSH)
	sed 's,^ExecStart=/usr/local/bin/,ExecStart=$(PREFIX)/bin/,' contrib/systemd/cprof.service >$(DESTDIR)$(PREFIX)/$(UNIT)
	chmod 644 $(DESTDIR)$(PREFIX)/$(UNIT)

install-strip: install
	$(STRIP) $(PROGRAMS:%=$(DESTDIR)$(PREFIX)/bin/%)

# Directories stay, because they are shared.
uninstall:
	rm -f $(INSTALLED:%=$(DESTDIR)$(PREFIX)/%)

.PHONY: install install-strip uninstall

# Builds the commands without shared libraries, into build/static/bin.
static:
	$(if $(CROSS),,CC="$(CC)" contrib/dist/elfutils $(BUILD)/static/elfutils)
	$(MAKE) STATIC=1 BUILD=$(BUILD)/static COMMIT=$(COMMIT) all

# Packs a release: the source, with the BPF programs built so that it requires neither clang nor bpftool; and
# the static commands with their pages, unit and completions. The same commit gives the same bytes.
DIST = $(BUILD)/dist
SOURCE = cprof-$(FULL_VERSION)
BINARY = $(SOURCE)-linux-$(PROCESSOR)
EPOCH = $(shell contrib/dist/commit date)

dist-source: $(SKELS)
	contrib/dist/source $(DIST)/$(SOURCE) $(or $(PREBUILT),$(BUILD)/bpf) $(ARCH)
	contrib/dist/pack $(DIST)/$(SOURCE) $(EPOCH)

dist: dist-source static
	rm -rf $(DIST)/root $(DIST)/$(BINARY)
	$(MAKE) STATIC=1 BUILD=$(BUILD)/static COMMIT=$(COMMIT) PREFIX=/usr/local DESTDIR=$(abspath $(DIST)/root) install-strip
	mv $(DIST)/root/usr/local $(DIST)/$(BINARY) && rm -r $(DIST)/root
	cp LICENSE README.md $(DIST)/$(BINARY)/
	CC="$(CC)" PKG_CONFIG="env $(PKG_CONFIG)" contrib/dist/libraries >$(DIST)/$(BINARY)/LIBRARIES
	cd $(DIST)/$(BINARY) && find * -type f | LC_ALL=C sort | xargs sha256sum >../SHA256SUMS && mv ../SHA256SUMS .
	contrib/dist/pack $(DIST)/$(BINARY) $(EPOCH)
	cd $(DIST) && sha256sum $(SOURCE).tar.xz $(BINARY).tar.xz >SHA256SUMS && cat SHA256SUMS

# The package for Debian and Ubuntu, linked with the libraries of this machine's release, and its debug
# symbols apart
deb: dist-source
	contrib/dist/deb $(DIST)/$(SOURCE) $(BUILD)/deb $(VERSION)

# The package for Fedora, RHEL and openSUSE: the commands that `make dist` packs
rpm: dist
	contrib/dist/rpm $(DIST)/$(SOURCE) $(DIST)/$(BINARY) $(BUILD)/rpm $(VERSION) $(PROCESSOR)

# All files that contrib/container/Containerfile puts into an image
container: static
	rm -rf $(BUILD)/container
	mkdir -p $(BUILD)/container/bin
	cp contrib/container/Containerfile $(BUILD)/container/
	cp $(PROGRAMS:%=$(BUILD)/static/bin/%) $(BUILD)/container/bin/
	$(CC) -std=gnu11 $(WARN) -O2 $(ROOTFLAGS) -static-pie -fPIE -o $(BUILD)/container/bin/fresh contrib/container/fresh.c
	$(STRIP) $(BUILD)/container/bin/*

# Tests the packages as users get them; too long for `make check`. A host without a domain has no address for
# the package.
check-dist: export DEBEMAIL ?= cprof@example.org
check-dist: all dist container deb rpm $(BUILD)/tests/burn
	$(PROVE) tests/dist/

.PHONY: static dist-source dist deb rpm container check-dist
