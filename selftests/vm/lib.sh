# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034 # what it sets is used where it is sourced
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
	[ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"
}

install_packages() {
	[ "$(id -u)" -eq 0 ] ||
		die "missing packages; as root: apt-get install --no-install-recommends $*"
	say "installing $*"
	apt_locked update || say "apt-get update failed; trying with the lists that are there"
	apt_locked install -y --no-install-recommends "$@" ||
		die "could not install $*; try: apt-get update && apt-get install --no-install-recommends $*"
}

apt_locked() {
	DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@" >&2 </dev/null
}

# load_kernel NAME: read kernels/NAME.kernel into the variables kind, source,
# suite (of Debian, if not the machine's), fragments and debug (the name of its
# debug configuration, if it has one) for a kernel that is built, or package,
# headers and pattern for a packaged one; ram, append, leak_detector.
load_kernel() {
	[ -r "$vm_dir/kernels/$1.kernel" ] ||
		die "no kernel '$1'; there are: $(kernel_names)"
	suite='' debug=''
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

# debug_kernel NAME: the name of its debug configuration.
debug_kernel() {
	load_kernel "$1"
	[ -n "$debug" ] || die "kernel '$1' has no debug configuration"
	echo "$debug"
}

list_kernels() {
	local name

	for name in $(kernel_names); do
		load_kernel "$name"
		case ${kind:?} in
		built) printf '%-12s %s\n' "$name" "$("$vm_dir/build-kernel" --state "$name")" ;;
		packaged)
			if locate_packaged; then
				printf '%-12s installed: %s\n' "$name" "$release"
			else
				printf '%-12s would be installed: %s\n' "$name" "$package"
			fi ;;
		esac
	done
}

# locate_kernel: where the kernel that load_kernel described is; builds or
# installs it first if need be.  Sets release, image, kdir (what modules are
# built against) and modules_dir (its /lib/modules, if that is not the host's).
locate_kernel() {
	case ${kind:?} in
	built) locate_built "$1" ;;
	packaged) locate_packaged || install_packaged ;;
	*) die "kernels/$1.kernel: unknown kind '$kind'" ;;
	esac
}

locate_built() {
	kdir=$("$vm_dir/build-kernel" "$1") || exit
	release=$(<"$kdir/include/config/kernel.release")
	image=$kdir/arch/x86/boot/bzImage
	modules_dir=$kdir/root/lib/modules
	# What the guest sees there instead is mounted on it.
	[ -d /lib/modules ] || mkdir /lib/modules || die "there is no folder /lib/modules"
}

# The newest one that has its headers too, so that a module built for it is
# loaded into that very kernel.
locate_packaged() {
	modules_dir=
	while read -r release; do
		image=/boot/vmlinuz-$release
		kdir=/lib/modules/$release/build
		[ ! -e "$kdir/Makefile" ] || [ ! -e "/lib/modules/$release/modules.dep" ] || return 0
	done < <(find /boot -name "vmlinuz-${pattern:?}" -printf '%f\n' | sed 's/^vmlinuz-//' | sort -rV)
	return 1
}

# Both packages by name, so that an older pair is brought up to date.
install_packaged() {
	install_packages "${package:?}" "${headers:?}"
	locate_packaged || die "no kernel $pattern with its headers, though $package and $headers are installed"
}
