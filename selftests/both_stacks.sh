#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# both_stacks.sh - Debian's programs, unmodified, the server over our library and
# the client over the system's, and the other way round, in one virtual machine.
# Output: KTAP.
set -uo pipefail
# shellcheck source=selftests/programs_lib.sh
. "$(dirname "$0")/programs_lib.sh"

programs=(rping ucmatose udaddy rdma_server mckey)
tests=(the_library_is_the_intended_one)
for program in "${programs[@]}"; do
	tests+=("stock_client_of_our_$program" "our_client_of_a_stock_$program")
	eval "stock_client_of_our_$program() { client_over='' run_$program; }"
	eval "our_client_of_a_stock_$program() { server_over='' run_$program; }"
done

run_rping() {
	pair 7174 "ping data: rdma-ping-4: " rping -s -a 192.0.2.1 -C 5 -- rping -c -a 192.0.2.1 -C 5 -v
}
run_ucmatose() { pair 7471 "return status 0" ucmatose -c 5 -m -- ucmatose -c 5 -m -s 192.0.2.1; }
run_udaddy() { pair 7174 "return status 0" udaddy -c 5 -- udaddy -c 5 -s 192.0.2.1; }
run_rdma_server() { pair 7471 "rdma_client: end 0" rdma_server -- rdma_client -s 192.0.2.1; }
run_mckey() {
	pair_when "joined dgid" "return status 0" \
		mckey -m 239.1.1.1 -b 192.0.2.1 -- mckey -m 239.1.1.1 -b 192.0.2.2 -s
}

modprobe rdma_ucm || exit 1
[ $# -eq 0 ] || tests=("$@")
run_all both_stacks "${tests[@]}"
