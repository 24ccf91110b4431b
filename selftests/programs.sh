#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# programs.sh [TEST...] - Debian's own programs, unmodified, over whichever library
# the environment gives them, inside the virtual machine: those tests, or all that
# make sense over RoCE.  Output: KTAP.
set -uo pipefail
# shellcheck source=selftests/programs_lib.sh
. "$(dirname "$0")/programs_lib.sh"

tests=(the_library_is_the_intended_one
	rping_ipv4 rping_ipv6 rping_wildcard_server rping_source_address rping_external_qp
	rping_persistent_server
	ucmatose_many ucmatose_options ucmatose_ipv6 ucmatose_bound ucmatose_migrate_100
	udaddy_many udaddy_ipv6 rdma_server_and_client rdma_xserver_and_xclient
	mckey_receives mckey_send_only cmtime_many)

# The last of five pings.
ping="ping data: rdma-ping-4: "

rping_ipv4() { pair 7174 "$ping" rping -s -a 192.0.2.1 -C 5 -- rping -c -a 192.0.2.1 -C 5 -v; }
rping_ipv6() { pair 7174 "$ping" rping -s -a 2001:db8::1 -C 5 -- rping -c -a 2001:db8::1 -C 5 -v; }
rping_wildcard_server() { pair 7174 "$ping" rping -s -C 5 -- rping -c -a 192.0.2.2 -C 5 -v; }
rping_source_address() {
	pair 7174 "$ping" rping -s -a 192.0.2.1 -C 5 -- rping -c -a 192.0.2.1 -I 192.0.2.2 -C 5 -v
}
rping_external_qp() {
	pair 7174 "$ping" rping -s -a 192.0.2.1 -C 5 -q -- rping -c -a 192.0.2.1 -C 5 -v -q
}

# Five clients of a server that goes on and on.
rping_persistent_server() {
	local ends_by=TERM

	pair 7174 all-five rping -s -a 192.0.2.1 -P -- bash -c "
		for _ in 1 2 3 4 5; do
			rping -c -a 192.0.2.1 -C 5 -v | grep '$ping' > /dev/null || exit 1
		done
		echo all-five"
}

done="return status 0"

ucmatose_many() { pair 7471 "$done" ucmatose -c $many -- ucmatose -c $many -s 192.0.2.1; }
ucmatose_options() {
	pair 7471 "$done" ucmatose -c 5 -t 32 -a 10 -- ucmatose -c 5 -t 32 -a 10 -s 192.0.2.1
}
ucmatose_ipv6() {
	pair 7471 "$done" ucmatose -c 5 -f ip6 -b 2001:db8::1 -- ucmatose -c 5 -f ip6 -s 2001:db8::1
}
ucmatose_bound() {
	pair 7555 "$done" ucmatose -c 5 -b 192.0.2.1 -p 7555 -- \
		ucmatose -c 5 -b 192.0.2.2 -p 7555 -s 192.0.2.1
}
ucmatose_migrate_100() {
	pair 7471 "$done" ucmatose -c 100 -m -- ucmatose -c 100 -m -s 192.0.2.1
}
# Where a hundred at once are too many.
ucmatose_migrate_5() { pair 7471 "$done" ucmatose -c 5 -m -- ucmatose -c 5 -m -s 192.0.2.1; }

udaddy_many() { pair 7174 "$done" udaddy -c $((many / 2)) -- udaddy -c $((many / 2)) -s 192.0.2.1; }
udaddy_ipv6() {
	pair 7174 "$done" udaddy -c 5 -b 2001:db8::1 -- udaddy -c 5 -b 2001:db8::1 -s 2001:db8::1
}

# Synchronous ids and endpoints.
rdma_server_and_client() {
	local server_says="rdma_server: end 0"

	pair 7471 "rdma_client: end 0" rdma_server -- rdma_client -s 192.0.2.1
}
# A shared receive queue; the other kind is beyond soft-RoCE.
rdma_xserver_and_xclient() {
	local server_says="rdma_xserver: end 0"

	pair 7471 "rdma_xclient: end 0" rdma_xserver -c r -- rdma_xclient -s 192.0.2.1 -c r
}

# The receiver ends when it has all that was sent.
mckey_receives() { multicast; }
mckey_send_only() { multicast -o; }
multicast() {
	pair_when "joined dgid" "return status 0" \
		mckey -m 239.1.1.1 -b 192.0.2.1 -- mckey -m 239.1.1.1 -b 192.0.2.2 -s "$@"
}

# Its server does not end by itself.
cmtime_many() {
	local ends_by=TERM

	pair 7471 "^destroy  *:" cmtime -c $many -- cmtime -c $many -s 192.0.2.1
}

[ $# -eq 0 ] || tests=("$@")
run_all programs "${tests[@]}"
