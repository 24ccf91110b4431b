# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# What the host-side scripts of the VM share: where things are cached, how
# they speak, how a Debian package gets onto the machine, and how a kernel is
# described.  Sourced, never run.

vm_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$vm_dir/../.." && pwd)
cache=${UCMX_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/rdma_ucmx}

# Scripts print results on standard output; everything said to a person goes
# to standard error.
say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() { say "$*"; exit 98; }

# need_packages PACKAGE...: install what is missing, or say how.
need_packages() {
	local package missing=()

	for package in "$@"; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
			missing+=("$package")
	done
	[ ${#missing[@]} -eq 0 ] && return 0
	[ "$(id -u)" -eq 0 ] ||
		die "missing packages; as root: apt-get install --no-install-recommends ${missing[*]}"
	say "installing ${missing[*]}"
	apt_locked update || say "apt-get update failed; trying with the lists that are there"
	apt_locked install -y --no-install-recommends "${missing[@]}" ||
		die "could not install ${missing[*]}; try: apt-get update && apt-get install --no-install-recommends ${missing[*]}"
}

apt_locked() {
	DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@" >&2 </dev/null
}

# load_kernel NAME: read kernels/NAME.kernel into the variables kind, source
# or package, fragments, ram, append, leak_detector.
load_kernel() {
	[ -r "$vm_dir/kernels/$1.kernel" ] ||
		die "no kernel '$1'; there are: $(kernel_names)"
	# shellcheck disable=SC1090
	. "$vm_dir/kernels/$1.kernel"
}

kernel_names() {
	local file names=()

	for file in "$vm_dir"/kernels/*.kernel; do
		file=${file##*/}
		names+=("${file%.kernel}")
	done
	echo "${names[*]}"
}
