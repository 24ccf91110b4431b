#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# debug.sh - what RDMACMX_DEBUG has logged, and that nothing is printed without
# it, inside the virtual machine, over our library.  Output: KTAP.
set -uo pipefail
# shellcheck source=selftests/programs_lib.sh
. "$(dirname "$0")/programs_lib.sh"
top=$(cd "$(dirname "$0")/.." && pwd)
log=$work/log

tests=(silent_without silent_with_zero each_call_event_and_migration_once
	failures_name_their_errno lines_have_one_form
	ids_and_channels_are_the_programs
	both_ends_of_a_connection synchronous_calls each_event_once_in_many
	silent_setuid_program)

gcc -Wall -Wextra -Werror -I"$top/user/include" -o "$work/debugged" \
	"$top/selftests/debugged.c" -L"$top/build/user" -lrdmacmx ||
	exit 98
export LD_LIBRARY_PATH=$top/build/user:$LD_LIBRARY_PATH

# program [NAME=VALUE...]: what it says in "said", and what the library does in
# "log".
program() { env "$@" "$work/debugged" > "$work/said" 2> "$log"; }

silent_without() { program && [ -s "$work/said" ] && empty; }
silent_with_zero() { program RDMACMX_DEBUG=0 && empty && program RDMACMX_DEBUG= && empty; }
empty() { sed 's/^/# /' "$log"; [ ! -s "$log" ]; }

# In the order of the kinds: an event is logged before the call that got it.
each_call_event_and_migration_once() {
	local kind

	program RDMACMX_DEBUG=1 || return
	for kind in call event migration; do
		kinds "$work/said" | grep "^$kind" > "$work/wanted"
		kinds "$log" | grep "^$kind" > "$work/got"
		diff "$work/wanted" "$work/got" || return
	done
	[ "$(wc -l < "$work/said")" -eq "$(wc -l < "$log")" ] &&
	[ "$(grep -c ' migration ' "$log")" -eq 4 ]
}

# kinds FILE: each line's kind and, but for a migration, its first word.
kinds() { sed -E 's/^librdmacmx [^ ]+ [^ ]+ //; s/^(call [a-z_]+|event [A-Z_]+|migration).*/\1/' "$1"; }

failures_name_their_errno() {
	[ "$(grep -c ' = -1 ENOSYS, [0-9]* us$' "$log")" -eq 1 ] &&
	[ "$(grep -c ' = -1 ETIMEDOUT, [0-9]* us$' "$log")" -eq 1 ] &&
	[ "$(grep -c ' = -1 EINVAL, [0-9]* us$' "$log")" -eq 1 ] &&
	[ "$(grep -c 'migration .*: ETIMEDOUT$' "$log")" -eq 1 ] &&
	[ "$(grep -c ' = -1 ' "$log")" -eq 3 ]
}

lines_have_one_form() {
	local odd

	odd=$(grep -vE '^librdmacmx [0-9]+/[0-9]+ [0-9]+\.[0-9]{6} (call [a-z_]+\(.*\)( = .*)?, [0-9]+ us|event [A-Z_]+ on channel .*|migration of id .*)$' "$log")
	say "$odd"
	[ -s "$log" ] && [ -z "$odd" ]
}

# The same address and descriptor in the lines of all calls.
ids_and_channels_are_the_programs() {
	local id channel
	id=$(sed -n 's/.* call rdma_create_id(.*) = 0, \(0x[0-9a-f]*\),.*/\1/p' "$log")
	channel=$(sed -n 's/.* call rdma_create_id(channel \([0-9]*\),.*/\1/p' "$log")
	[ -n "$id" ] && [ -n "$channel" ] &&
	grep -q " call rdma_bind_addr(id $id, 192.0.2.1:0) = 0," "$log" &&
	grep -q " call rdma_get_cm_event(channel $channel) = 0, 0x[0-9a-f]*," "$log" &&
	grep -q " event RDMA_CM_EVENT_USER on channel $channel, id $id #[0-9]*, number 1, status 0$" "$log" &&
	grep -q " migration of id $id #[0-9]* from channel $channel to [0-9]*$" "$log"
}

# logged SIDE PATTERN: once.
logged() {
	local count
	count=$(grep -cE "^librdmacmx .* $2" "$work/$1")
	[ "$count" -eq 1 ] || { say "$1: $count times $2"; return 1; }
}

both_ends_of_a_connection() {
	local type
	RDMACMX_DEBUG=1 pair 7174 "ping data: rdma-ping-4: " \
		rping -s -a 192.0.2.1 -C 5 -- rping -c -a 192.0.2.1 -C 5 -v || return
	for type in ADDR_RESOLVED ROUTE_RESOLVED ESTABLISHED DISCONNECTED; do
		logged client "event RDMA_CM_EVENT_$type on channel" || return
	done
	for type in CONNECT_REQUEST ESTABLISHED DISCONNECTED; do
		logged server "event RDMA_CM_EVENT_$type on channel" || return
	done
	logged client "call rdma_connect\(id" && logged server "call rdma_accept\(id" &&
	logged server "event RDMA_CM_EVENT_CONNECT_REQUEST .* of listener #"
}

synchronous_calls() {
	RDMACMX_DEBUG=1 pair 7471 "rdma_client: end 0" rdma_server -- rdma_client -s 192.0.2.1 || return
	logged client "event RDMA_CM_EVENT_ESTABLISHED on channel" &&
	logged client "call rdma_create_ep\(" && logged server "call rdma_get_request\(" &&
	logged server "migration of id 0x"
}

# Fifty connections, and the migration of all ids: nothing appears twice.
each_event_once_in_many() {
	local side twice connections=$((50 / ${UCMX_SCALE:-1}))
	RDMACMX_DEBUG=1 pair 7471 "return status 0" \
		ucmatose -m -c $connections -- ucmatose -m -c $connections -s 192.0.2.1 || return
	for side in client server; do
		twice=$(sed -n 's/^librdmacmx .* event .*#\([0-9]*\)\( of listener #[0-9]*\)*, number \([0-9]*\),.*/\1\2 \3/p' "$work/$side" |
			sort | uniq -d)
		say "$twice"
		[ -z "$twice" ] &&
		[ "$(grep -c ' event RDMA_CM_EVENT_ESTABLISHED ' "$work/$side")" -eq $connections ] &&
		[ "$(grep -c ' migration of id ' "$work/$side")" -ge $connections ] || return
	done
}

# Who may do more than his user writes nothing for him.
silent_setuid_program() {
	gcc -I"$top/user/include" -o "$work/debugged" "$top/selftests/debugged.c" \
		-L"$top/build/user" -lrdmacmx -Wl,-rpath,"$top/build/user" &&
	chmod 4755 "$work/debugged" && chmod 755 "$work" || return
	RDMACMX_DEBUG=1 setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$work/debugged" > "$work/said" 2> "$log" && [ -s "$work/said" ] && empty
}

run_all debug "${tests[@]}"
