#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# installed.sh - programs over the library as it is installed, inside the virtual
# machine: by rdmacmx-run, and linked as pkg-config says.  Output: KTAP.
set -uo pipefail
# shellcheck source=selftests/programs_lib.sh
. "$(dirname "$0")/programs_lib.sh"
top=$(cd "$(dirname "$0")/.." && pwd)
run=$work/usr/bin/rdmacmx-run
# Whatever is used here is what is installed.
unset LD_LIBRARY_PATH
server_over='' client_over=''

tests=(installs rping_by_rdmacmx_run ucmatose_by_rdmacmx_run
	rping_server_alone rping_client_alone program_of_pkg_config
	setuid_program_is_refused program_with_capabilities_is_refused
	rsockets_are_refused)

# The library is built already: here nothing is to be written beside it.
installs() { make -s -C "$top/user" O="$top/build/user" PREFIX="$work/usr" install > "$work/out"; }

ping="ping data: rdma-ping-4: "

rping_by_rdmacmx_run() {
	pair 7174 "$ping" "$run" rping -s -a 192.0.2.1 -C 5 -- \
		"$run" rping -c -a 192.0.2.1 -C 5 -v
}
ucmatose_by_rdmacmx_run() {
	pair 7471 "return status 0" "$run" ucmatose -c 5 -m -- \
		"$run" ucmatose -c 5 -m -s 192.0.2.1
}

# The other end is over the system's library.
rping_server_alone() {
	pair 7174 "$ping" "$run" rping -s -a 192.0.2.1 -C 5 -- \
		rping -c -a 192.0.2.1 -C 5 -v
}
rping_client_alone() {
	pair 7174 "$ping" rping -s -a 192.0.2.1 -C 5 -- \
		"$run" rping -c -a 192.0.2.1 -C 5 -v
}

program_of_pkg_config() {
	local said

	export PKG_CONFIG_PATH=$work/usr/lib/pkgconfig
	# shellcheck disable=SC2046 # a list of flags
	gcc -Wall -Wextra -Werror $(pkg-config --cflags librdmacmx) \
		-o "$work/program" "$top/selftests/installed.c" \
		$(pkg-config --libs librdmacmx) || return
	said=$(LD_LIBRARY_PATH=$work/usr/lib "$work/program" 2>&1)
	say "$said"
	[ "$said" = "RDMA_CM_EVENT_USER with 42" ]
}

# refused TEXT: of a program that another user runs.
refused() {
	local status=0

	chmod 755 "$work"
	setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$run" "$work/rping" > "$work/client" 2>&1 || status=$?
	show client
	[ $status -eq 126 ] && grep -q "$1" "$work/client"
}

setuid_program_is_refused() {
	install -m 4755 "$(command -v rping)" "$work/rping" &&
	refused "rping is setuid: no other library can be put under it"
}

program_with_capabilities_is_refused() {
	install -m 755 "$(command -v rping)" "$work/rping" &&
	setcap cap_net_raw+ep "$work/rping" &&
	refused "rping has capabilities: no other library can be put under it"
}

rsockets_are_refused() {
	"$run" rstream -s 192.0.2.1 > "$work/client" 2>&1
	[ $? -eq 126 ] && grep -q "needs rsockets" "$work/client"
}

run_all installed "${tests[@]}"
