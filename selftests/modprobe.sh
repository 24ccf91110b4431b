#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# modprobe.sh - the module as it is installed, and as modprobe and udev treat it,
# inside the virtual machine.  Output: KTAP.
#
# The kernel's folder of modules cannot be written to, and depmod would take long:
# one with those modules that are loaded takes its place meanwhile.
set -uo pipefail
# shellcheck source=selftests/programs_lib.sh
. "$(dirname "$0")/programs_lib.sh"
top=$(cd "$(dirname "$0")/.." && pwd)
node=/dev/infiniband/rdma_ucmx
release=$(uname -r)
modules=/lib/modules/$release
place=/run/modprobe.sh
fabric_module=$UCMX_FABRIC
[ "$UCMX_FABRIC" != rxe ] || fabric_module=rdma_rxe

tests=(modules_install modprobe_finds_it library_has_it_loaded verbs_come_before_rdma_cm
	anybody_may_open_it udev_leaves_the_node_as_it_is rmmod_is_refused_while_in_use modules_uninstall)

main() {
	local status=0

	if ! hide_installed || ! take_place; then
		say "cannot put folders over $modules and the like"
		exit 98
	fi
	run_all modprobe "${tests[@]}" || status=$?
	umount "$modules" "${hidden[@]}" && rm -r $place
	# Whoever comes next finds things as they were.
	[ -e $node ] || insmod "$UCMX_MODULE" || status=$?
	return $status
}

# What is installed where this runs, by DKMS or for other kernels, is none of ours.
hide_installed() {
	local folder

	hidden=()
	for folder in /usr/src/rdma-ucmx-* /lib/modules/*/updates; do
		[ -d "$folder" ] || continue
		mount -t tmpfs none "$folder" || return
		hidden+=("$folder")
	done
}

take_place() {
	local name files

	mkdir $place &&
	cp -d "$modules"/{build,modules.order,modules.builtin,modules.builtin.modinfo} $place &&
	lsmod | awk 'NR > 1 && $1 != "rdma_ucmx" { print $1 }' > "$work/names" || return
	while read -r name; do
		files=$(modinfo -n "$name") || return
		(cd "$modules" && cp --parents "${files#"$modules"/}" $place) || return
	done < "$work/names"
	mount --bind $place "$modules"
}

# The module that this machine was booted with, by the rules of the Makefile.
in_checkout() {
	make --no-print-directory -C "$top" KDIR="$modules/build" module="${UCMX_MODULE%/*}" \
		modprobedir=/run/modprobe.d "$@"
}

loaded() { [ -e "/sys/module/$1" ]; }

# What comes out is shown only if the test fails.
quietly() {
	"$@" > "$work/said" 2>&1 && return
	show said
	return 1
}

modules_install() {
	quietly in_checkout install-module && [ -e /run/modprobe.d/rdma_ucmx.conf ] &&
	grep -q '^updates/rdma_ucmx.ko' "$modules/modules.dep"
}

modprobe_finds_it() {
	rmmod rdma_ucmx && [ ! -e $node ] && modprobe rdma_ucmx && [ -c $node ] || return
	rmmod rdma_ucmx && modprobe rdma-client-rdma_ucmx && [ -c $node ]
}

# program: somebody who is nobody runs one that needs the module.
program() {
	[ -e "$work/program" ] ||
		quietly gcc -I"$top/user/include" -I"$top/include/uapi" -o "$work/program" \
			"$top/selftests/installed.c" -L"$top/build/user" -lrdmacmx || return
	chmod 755 "$work"
	LD_LIBRARY_PATH=$top/build/user setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$work/program" > "$work/said" 2>&1
}

library_has_it_loaded() {
	rmmod rdma_ucmx || return
	if program && loaded rdma_ucmx && grep -q '^RDMA_CM_EVENT_USER with 42$' "$work/said"; then
		return 0
	fi
	show said
	return 1
}

# From nothing: in the other order the removal of a device that a program has open
# raises no event.  The list of modules begins with the latest.
verbs_come_before_rdma_cm() {
	local device=${UCMX_FABRIC}0 order stock=''

	! loaded rdma_ucm || stock=rdma_ucm
	quietly rdma link del "$device" &&
	quietly modprobe -r rdma_ucmx $stock "$fabric_module" rdma_cm ib_uverbs || return
	! loaded ib_uverbs && ! loaded rdma_cm && modprobe rdma_ucmx || return
	order=$(awk '$1 == "rdma_cm" || $1 == "ib_uverbs" { print $1 }' /proc/modules)
	say "the latest first: ${order//$'\n'/, }"
	[ "$order" = rdma_cm$'\n'ib_uverbs ] &&
	modprobe -a "$fabric_module" $stock &&
	quietly rdma link add "$device" type "$UCMX_FABRIC" netdev d0
}

# node_is_open: for reading and writing, to somebody who is nobody.
node_is_open() {
	say "$(stat -c '%A %U %G' $node)"
	[ "$(stat -c '%A %U %G' $node)" = "crw-rw-rw- root root" ] &&
	setpriv --reuid=65534 --regid=65534 --clear-groups bash -c "exec 9<> $node"
}

anybody_may_open_it() { node_is_open; }

# Name and mode of the node are the module's: udev has no rule for it, and needs none.
udev_leaves_the_node_as_it_is() {
	local udevd status=0 number end=$((SECONDS + seconds))

	/lib/systemd/systemd-udevd > "$work/said" 2>&1 &
	udevd=$!
	while [ ! -S /run/udev/control ] && [ $SECONDS -lt $end ]; do
		sleep 0.1
	done
	udevadm control --timeout=60 --ping && rmmod rdma_ucmx && modprobe rdma_ucmx &&
	udevadm settle --timeout=60 &&
	number=$(stat -c '%Hr:%Lr' $node) && [ -e "/run/udev/data/c$number" ] &&
	node_is_open || status=1
	say "udev knows of character device ${number:-?}"
	kill $udevd
	wait $udevd
	[ $status -eq 0 ] || show said
	return $status
}

rmmod_is_refused_while_in_use() {
	exec 9<> $node
	rmmod rdma_ucmx 2> "$work/said" && return 1
	modprobe -r rdma_ucmx 2>> "$work/said" && return 1
	show said
	[ "$(grep -c 'rdma_ucmx is in use' "$work/said")" -eq 2 ] && loaded rdma_ucmx || return
	exec 9>&-
	rmmod rdma_ucmx && [ ! -e $node ]
}

modules_uninstall() {
	quietly in_checkout modules_uninstall && [ ! -e /run/modprobe.d/rdma_ucmx.conf ] &&
	[ -z "$(find "$modules/" -name '*ucmx*')" ] && ! modprobe rdma_ucmx 2> "$work/said" || return
	! program && show said && grep -q 'No such device' "$work/said"
}

main
