# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Sourced by guest/init: loads the modules and sets up the interface and the
# RDMA device that the command finds.  Whatever does not come up is a failure
# of the harness, said in words.

setup() {
	exec > /dev/console 2>&1 < /dev/null
	mount -t debugfs debugfs /sys/kernel/debug || give_up "no debugfs"
	hostname vm
	ulimit -l unlimited
	sysctl -q kernel.hung_task_timeout_secs=30 kernel.hung_task_check_interval_secs=10 \
		kernel.panic_on_oops="$panic_on_oops" || give_up "cannot set kernel parameters"
	forbid_modules
	ip link set lo up || give_up "no loopback interface"
	setup_interface
	load ib_uverbs	# before rdma_cm, or the removal of a device raises no event
	load rdma_cm
	[ "$without" = rdma_ucm ] || load rdma_ucm
	"fabric_$fabric"
	wait_for_addresses
	load_product
}

load() { modprobe "$@" || give_up "cannot load module $1"; }

# A client of the stock library makes the kernel ask for rdma_ucm.
forbid_modules() {
	[ -n "$without" ] || return 0
	mkdir -p /run/modprobe.d
	echo "install $without /bin/false" > /run/modprobe.d/without.conf
}

setup_interface() {
	ip link add d0 type dummy &&
	ip address add 192.0.2.1/24 dev d0 &&
	ip address add 192.0.2.2/24 dev d0 &&
	ip address add 2001:db8::1/64 dev d0 nodad &&
	ip link set d0 up || give_up "cannot set up interface d0"
}

# One function per fabric: makes an RDMA device on d0, sets rdma_device.
fabric_rxe() {
	load crc32_generic
	load rdma_rxe
	rdma_device=rxe0
	rdma link add rxe0 type rxe netdev d0 || give_up "cannot make device rxe0"
}

# The device learns the interface's addresses in the background.  Its table
# is long and slow to read; they are among the first.
wait_for_addresses() {
	local i gids=/sys/class/infiniband/$rdma_device/ports/1/gids

	for ((i = 0; i < 300; i++)); do
		# 192.0.2.1, 192.0.2.2 and 2001:db8::1 as the table shows them
		[ "$(sort -u "$gids"/[0-7] | grep -cE '(0:ffff:c000:020[12]|^2001:0db8:.*:0001)$')" -eq 3 ] &&
			return
		sleep 0.1
	done
	give_up "device $rdma_device has not learnt the addresses of d0"
}

load_product() {
	[ -n "$module_path" ] || return 0
	# shellcheck disable=SC2086 # a list of parameters
	insmod "$module_path" $module_args || give_up "cannot load $module_path"
	[ -c /dev/infiniband/rdma_ucmx ] || give_up "$module_path made no /dev/infiniband/rdma_ucmx"
}
