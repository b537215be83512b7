# shellcheck shell=sh
# Packages of Debian's releases, and of other architectures, from the archive that this machine's apt uses:
# by an apt with private lists in $dir/apt. Nothing is installed; the machine's configuration stays as it
# is. Sourced with
#	dir=	a directory, absolute
#	arch=	as arm64; this machine's by default
#	releases=	as "bullseye bookworm"; by default those that cover all requests so far
: "${arch:=$(dpkg --print-architecture)}" "${releases:=bullseye bookworm trixie trixie-backports sid}"
keys=/usr/share/keyrings/debian-archive-keyring.gpg

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

# The private apt uses the machine's own proxies and other settings.
own() {
	command=$1
	shift
	"$command" -qq -o APT::Architecture="$arch" -o APT::Architectures="$arch" \
		-o Dir::Etc::SourceList="$dir/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State="$dir/apt" -o Dir::State::Lists="$dir/apt/lists" -o Dir::State::Status="$dir/apt/status" \
		-o Dir::Cache="$dir/apt/cache" -o Dir::Cache::pkgcache=pkgcache.bin -o Dir::Cache::srcpkgcache= -o Acquire::Languages=none -o APT::Sandbox::User=root "$@"
}

# mirror LABEL: prints the archive from which this machine gets Debian, or its security updates
mirror() {
	apt-get indextargets --format '$(REPO_URI) $(ORIGIN)/$(LABEL)' "Identifier: Packages" |
		sed -n "s,^\(.*\) Debian/$1\$,\1,p" | head -n 1
}

sources() {
	main=$(mirror Debian) security=$(mirror Debian-Security) signed=
	[ -n "$main" ] || return 1
	[ ! -e $keys ] || signed=" signed-by=$keys"
	for r in $releases; do
		echo "deb [arch=$arch$signed] $main $r main"
		case $security:$r in
		:* | *-backports | *:sid | *:experimental) ;;
		*) echo "deb [arch=$arch$signed] $security $r-security main" ;;
		esac
	done
}

# Lists up to a day old are new enough.
update() {
	mkdir -p "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial"
	[ -z "$(find "$dir/apt/updated" -mtime -1 2>/dev/null)" ] || return 0
	: >"$dir/apt/status"
	sources >"$dir/apt/sources.list" || {
		say "no Debian archive in this machine's apt sources (apt-get indextargets); going on with what is there"
		return 0
	}
	if own apt-get update >&2; then touch "$dir/apt/updated"; else say "apt-get update failed; going on with what is there"; fi
}
