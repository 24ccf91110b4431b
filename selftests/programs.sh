#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# programs.sh - Debian's own programs, unmodified, over whichever library the
# environment gives them, inside the virtual machine.  Output: KTAP.
#
# Each pair of server and client must end by itself with status 0, in time, and
# the client say that it did what it was to do.
set -uo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0 failures=0
seconds=240
# Where everything is slow, one test with a hundred is enough.
many=$((100 / ${UCMX_SCALE:-1}))

tests=(the_library_is_the_intended_one
	rping_ipv4 rping_ipv6 rping_wildcard_server rping_source_address rping_external_qp
	ucmatose_many ucmatose_options ucmatose_ipv6 ucmatose_migrate_100)

main() {
	local name start

	printf 'TAP version 13\n1..%d\n' ${#tests[@]}
	for name in "${tests[@]}"; do
		n=$((n + 1))
		start=$SECONDS
		if "$name"; then
			echo "ok $n programs.$name"
		else
			failures=$((failures + 1))
			echo "not ok $n programs.$name"
		fi
		say "$((SECONDS - start)) s"
	done
	[ $failures -eq 0 ]
}

say() { echo "# $*"; }

# Over ours, ours; over the system's, the system's.
the_library_is_the_intended_one() {
	local loaded

	loaded=$(ldd "$(command -v rping)" | awk '$1 == "librdmacm.so.1" { print $3 }')
	say "librdmacm.so.1 is $loaded"
	[ "${loaded%/*}" = "${LD_LIBRARY_PATH:-/lib/x86_64-linux-gnu}" ]
}

# pair PORT SAYS SERVER... -- CLIENT...: run both.
pair() {
	local port=$1 says=$2 server=() client server_pid status
	shift 2

	while [ "$1" != -- ]; do
		server+=("$1")
		shift
	done
	shift
	client=("$@")
	timeout --kill-after=5 $seconds "${server[@]}" > "$work/server" 2>&1 &
	server_pid=$!
	if ! listens "$port" $server_pid; then
		say "${server[*]}: does not listen"
		kill -KILL $server_pid
		wait $server_pid
		show server
		return 1
	fi
	timeout --kill-after=5 $seconds "${client[@]}" > "$work/client" 2>&1
	status=$?
	wait $server_pid
	server_status=$?
	if [ $status -eq 0 ] && [ $server_status -eq 0 ] && grep -q "$says" "$work/client"; then
		return 0
	fi
	say "${client[*]}: status $status; ${server[*]}: status $server_status"
	show client
	show server
	return 1
}

show() { sed "s/^/# $1: /" "$work/$1"; }

# As the kernel says; gives up if the server is gone, or when time is over.
listens() {
	local end=$((SECONDS + seconds))

	while [ $SECONDS -lt $end ] && [ -e "/proc/$2" ]; do
		! rdma resource show cm_id | grep -q "state LISTEN.*:$1 " || return 0
		sleep 0.1
	done
	return 1
}

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

done="return status 0"

ucmatose_many() { pair 7471 "$done" ucmatose -c $many -- ucmatose -c $many -s 192.0.2.1; }
ucmatose_options() {
	pair 7471 "$done" ucmatose -c 5 -t 32 -a 10 -- ucmatose -c 5 -t 32 -a 10 -s 192.0.2.1
}
ucmatose_ipv6() {
	pair 7471 "$done" ucmatose -c 5 -f ip6 -b 2001:db8::1 -- ucmatose -c 5 -f ip6 -s 2001:db8::1
}
ucmatose_migrate_100() {
	pair 7471 "$done" ucmatose -c 100 -m -- ucmatose -c 100 -m -s 192.0.2.1
}

main
