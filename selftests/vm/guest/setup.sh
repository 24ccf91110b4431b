# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # the configuration comes from the host
#
# Sourced by guest/init: loads the modules and sets up the interface and the
# RDMA device that the command finds.  Whatever does not come up is a failure
# of the harness, said in words.

setup() {
	exec > /dev/console 2>&1 < /dev/null
	mkfifo /run/out /run/err /run/pause
	exec {pause}<> /run/pause
	mount -t debugfs debugfs /sys/kernel/debug || give_up "no debugfs"
	ulimit -l unlimited
	set_parameters
	choose_fabric
	setup_interface
	load_modules
	rdma link add "$rdma_device" type "$fabric" netdev d0 || give_up "cannot make device $rdma_device"
	wait_for_addresses
	load_product
}

# Starting a program takes half a second on a debug kernel: hence builtins
# and batches here, and this for a short sleep.
pause() { read -rt 0.1 -u "$pause"; }

set_parameters() {
	set_parameter hostname vm
	set_parameter hung_task_timeout_secs "$hung_task_secs"
	set_parameter hung_task_check_interval_secs 10
	set_parameter panic_on_oops "$panic_on_oops"
}

set_parameter() { echo "$2" > "/proc/sys/kernel/$1" || give_up "cannot set kernel.$1"; }

# What differs from fabric to fabric: one line each.
choose_fabric() {
	rdma_device=${fabric}0
	case $fabric in
	rxe) fabric_modules=(rdma_rxe) ;;
	siw) fabric_modules=(siw) ;;
	*) give_up "no fabric '$fabric'" ;;
	esac
	# Where the kernel has CRC-32 only as a module, rxe does not ask for it.
	! modprobe -qn crc32_generic || fabric_modules+=(crc32_generic)
}

setup_interface() {
	ip -batch - <<-COMMANDS || give_up "cannot set up interface d0"
		link set lo up
		link add d0 type dummy
		address add 192.0.2.1/24 dev d0
		address add 192.0.2.2/24 dev d0
		address add 2001:db8::1/64 dev d0 nodad
		link set d0 up
	COMMANDS
}

# ib_uverbs comes before rdma_cm, or the removal of a device raises no event.
load_modules() {
	local modules=(ib_uverbs rdma_cm)

	if [ -n "$without" ]; then
		# Or a client of the stock library makes the kernel load it.
		mkdir -p /run/modprobe.d
		echo "install $without /bin/false" > /run/modprobe.d/without.conf
	else
		modules+=(rdma_ucm)
	fi
	modprobe -a "${modules[@]}" "${fabric_modules[@]}" || give_up "cannot load modules ${modules[*]} ${fabric_modules[*]}"
}

# The device learns the interface's addresses in the background.  Its table
# is long and slow to read; they are among the first.
wait_for_addresses() {
	local i file gid found

	# With iWARP a GID is the interface's, and addresses are looked up there.
	[ "$fabric" != siw ] || return 0
	for ((i = 0; i < 300; i++)); do
		found=0
		for file in "/sys/class/infiniband/$rdma_device/ports/1/gids"/[0-7]; do
			read -r gid < "$file" || continue
			case $gid in
			# 192.0.2.1, 192.0.2.2, 2001:db8::1
			*:ffff:c000:0201|*:ffff:c000:0202|2001:0db8:*:0001) found=$((found + 1)) ;;
			esac
		done
		[ $found -lt 3 ] || return 0
		pause
	done
	give_up "device $rdma_device has not learnt the addresses of d0"
}

load_product() {
	[ -n "$module_path" ] || return 0
	# shellcheck disable=SC2086 # a list of parameters
	insmod "$module_path" $module_args || give_up "cannot load $module_path"
	[ -c /dev/infiniband/rdma_ucmx ] || give_up "$module_path made no /dev/infiniband/rdma_ucmx"
}
