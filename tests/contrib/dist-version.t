#!/bin/sh
# The version names the commit, in each program and each capture, and a new commit compiles one file.
. "$(dirname "$0")/../lib/lib.sh"
cd "$top" || exit 1

release=$(sed -n 's/^VERSION = //p' Makefile)
for p in "$BIN"/cprof*; do
	like "${p##*/} says its version" "$("$p" --version)" "^${p##*/} $release(\\+g[0-9a-f]{12}(-dirty)?)?\$"
done
like "its news are in contrib/NEWS.md" "$(cat contrib/NEWS.md)" "^## $(echo "$release" | sed 's/\./\\./g')\$"
version=$(cprof-dump --version | sed 's/^[^ ]* //')
is "it is that of the build" "$version" "$(cat "$BUILD/version")"
if [ -x "$BIN/cprof-record" ]; then
	status "a capture is made" 0 cprof-record -q -o "$tmp/v.bin" -- true
	like "its recorder is named with the same version" "$(cprof-dump "$tmp/v.bin")" "^meta key=\"recorder\" value=\"cprof-record $(echo "$version" | sed 's/[.+]/\\&/g')\"\$"
fi

# A minimal tree: only the files that determine the version
git() { command git -C "$tmp/tree" -c user.name=x -c user.email=x@example.org -c init.defaultBranch=main "$@" >"$tmp/git" 2>&1; }
of() { rm -f "$1/b/version"; env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS -u SAN make -s -C "$1" BUILD=b b/version >"$tmp/make" 2>&1; cat "$1/b/version" 2>/dev/null || cat "$tmp/make"; }
mkdir -p "$tmp/tree/contrib/dist"
cp Makefile "$tmp/tree/"
cp contrib/dist/commit contrib/dist/dist.mk "$tmp/tree/contrib/dist/"
is "without a checkout it is the release's" "$(of "$tmp/tree")" "$release"
if command -v git >/dev/null && rm -r "$tmp/tree/b" && git init && git add . && git commit -m x; then
	commit=$(command git -C "$tmp/tree" rev-parse HEAD | cut -c 1-12)
	is "in a checkout it names the commit" "$(of "$tmp/tree")" "$release+g$commit"
	mkdir "$tmp/tree/other"
	cp -r "$tmp/tree/Makefile" "$tmp/tree/contrib" "$tmp/tree/other/"
	is "a tree within another project's checkout is not of its commit" "$(of "$tmp/tree/other")" "$release"
	touch "$tmp/tree/Makefile"
	is "a file that was only touched is not a change" "$(of "$tmp/tree")" "$release+g$commit"
	echo "# changed" >>"$tmp/tree/Makefile"
	is "and is dirty if a file was changed" "$(of "$tmp/tree")" "$release+g$commit-dirty"
	mkdir "$tmp/tree/prebuilt"
	echo 0123456789ab >"$tmp/tree/prebuilt/commit"
	is "a release's tarball has its own" "$(of "$tmp/tree")" "$release+g0123456789ab"
else
	skip "in a checkout it names the commit" "there is no git"
fi

# make -n treats a rule as having changed its target, because it runs no command: only files that depend on
# the commit may be listed.
compiled() { env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -n BUILD="$BUILD" "$@" 2>&1 | grep -oE ' -c -o [^ ]+ [^ ]+' | sed 's/.* //' | sort -u | tr '\n' ' '; }
goals=offline
[ ! -x "$BIN/cprof-record" ] || goals=all
is "a new commit compiles one file" "$(compiled COMMIT=fedcba987654 $goals)" "cmd/shared/version.c "
done_testing
