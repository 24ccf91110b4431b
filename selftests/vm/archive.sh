# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Packages of another suite of Debian than the machine's, from the archive that the
# machine uses.  Lists, sources and packages are kept apart, in a folder that is
# given: neither apt's configuration nor what is installed changes.  Sourced after
# lib.sh, never run.

# Where the machine gets Debian itself from: not its security updates, nor
# anybody else's packages.
archive() {
	local site codename

	# shellcheck disable=SC1091
	codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
	# shellcheck disable=SC2016 # apt's own substitution
	site=$(apt-get indextargets --format '$(SITE)' 'Identifier: Packages' \
		'Label: Debian' "Codename: $codename")
	[ -n "$site" ] || die "apt knows no archive with Debian's $codename; try: apt-get update"
	echo "${site%%$'\n'*}"
}

# open_archive FOLDER SUITE: the folder is for apt_apart from then on.
open_archive() {
	local site

	need_packages debian-archive-keyring
	site=$(archive)
	mkdir -p "$1/lists/partial" "$1/cache/archives/partial"
	cat > "$1/apart.sources" <<-SOURCE
		Types: deb
		URIs: $site
		Suites: $2
		Components: main
		Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
	SOURCE
	apt_apart "$1" update >&2 || die "cannot read the lists of $2"
}

# apt_apart FOLDER ARGUMENT...: apt-get, with all that it keeps in the folder.
apt_apart() {
	local work=$1
	shift
	apt-get -q -o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache" \
		-o Dir::Etc::sourcelist="$work/apart.sources" -o Dir::Etc::sourceparts=/dev/null \
		-o APT::Sandbox::User=root -o Acquire::Languages=none -o Acquire::Retries=3 "$@"
}
