#!/bin/sh
# contrib/dist/elfutils builds libelf if this machine's cannot be linked statically, and does nothing
# if it can.
. "$(dirname "$0")/../lib/lib.sh"
command -v gcc >/dev/null && command -v pkg-config >/dev/null || skip_all "there is no compiler"

script=$top/contrib/dist/elfutils
# A compiler that fails as Debian 13's does, unless it has the directory's own libelf.a
mkdir "$tmp/bin" "$tmp/made"
cat >"$tmp/bin/cc" <<'END'
#!/bin/sh
case " $* " in
*-print-file-name=*) exec gcc "$@" ;;
*" -L. "*) [ -e libelf.a ] && exit 0 ;;
esac
echo "undefined reference to eu_search_tree_init" >&2
exit 1
END
printf '#!/bin/sh\nexit 0\n' >"$tmp/bin/links"
chmod +x "$tmp/bin/cc" "$tmp/bin/links"
status "where libelf can be linked it ends well" 0 env CC="$tmp/bin/links" "$script" "$tmp/none"
is "  and makes nothing" "$(ls -d "$tmp/none" 2>/dev/null)" ""
touch "$tmp/made/libelf.a"
status "what was made before is taken" 0 env CC="$tmp/bin/cc" "$script" "$tmp/made"
is "  as it is" "$(ls "$tmp/made")" libelf.a

# The build tools are missing here.
for p in sh mkdir pkg-config sed cat env gcc grep head echo printf; do
	ln -s "$(command -v $p)" "$tmp/bin/" 2>/dev/null
done
status "else it wants Debian's tools" 1 env PATH="$tmp/bin" CC="$tmp/bin/cc" "$script" "$tmp/dir"
is "  and says which" "$(cat "$tmp/err")" "elfutils: cannot build libelf: apt-get is not available; this machine's libelf.a cannot be linked"
done_testing
