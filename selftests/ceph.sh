#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# ceph.sh - a monitor of Ceph's and its clients, whose messages go over connections of
# librdmacm, over whichever library the environment gives them, inside the virtual
# machine.  Whoever accepts one migrates its id to a channel of its own.  Arguments: the
# tests to run, if not all.  Output: KTAP.
set -uo pipefail
# shellcheck source=selftests/programs_lib.sh
. "$(dirname "$0")/programs_lib.sh"

tests=(the_library_is_the_intended_one ceph_monitor)

# It keeps what one client gives it until the next one asks for that.
ceph_monitor() {
	local ends_by=TERM fsid=b4c2ee2c-3c0e-4c1b-9f0e-7a4f3f9b8a11
	local -x CEPH_CONF=$work/ceph.conf

	configuration > "$CEPH_CONF"
	head -c 24K /dev/urandom | base64 > "$work/value"
	make_monitor > "$work/made" 2>&1 || { show made; return 1; }
	pair 6789 "all of it" ceph-mon -f -i a -- bash -ec "
		rados lspools
		ceph config-key set some/key -i '$work/value'
		ceph config-key get some/key -o '$work/got'
		cmp '$work/value' '$work/got'
		echo all of it"
}

# "iwarp" is how Ceph calls connections of librdmacm; they can be any device's.  Its
# buffers have to fit in the machine.
configuration() {
	cat <<-CONF
		[global]
		fsid = $fsid
		mon initial members = a
		mon host = v1:192.0.2.1:6789
		mon data = $work/mon
		mon data avail crit = 0
		run dir = $work
		admin socket =
		log file = $work/log
		mon cluster log file = $work/cluster-log
		auth cluster required = none
		auth service required = none
		auth client required = none
		ms bind msgr2 = false
		ms type = async+rdma
		ms async rdma type = iwarp
		ms async rdma cm = true
		ms async rdma device name = rxe0
		ms async rdma receive buffers = 1024
		ms async rdma receive queue len = 256
		ms async rdma send buffers = 128
	CONF
}

make_monitor() {
	monmaptool --create --addv a '[v1:192.0.2.1:6789]' --fsid "$fsid" "$work/map" &&
	ceph-mon --mkfs -i a --monmap "$work/map"
}

ulimit -l unlimited
[ $# -eq 0 ] || tests=("$@")
run_all ceph "${tests[@]}"
