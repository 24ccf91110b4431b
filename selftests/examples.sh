#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# examples.sh - the examples of the extension, inside the virtual machine.
# Arguments: the tests to run, if not all.  Output: KTAP.
set -uo pipefail
# shellcheck source=selftests/programs_lib.sh
. "$(dirname "$0")/programs_lib.sh"

tests=(in_hand waiting handover prefork_serves_all prefork_loses_none_that_was_not_adopted)
examples=$(dirname "$0")/../build/examples
address=192.0.2.1
seconds=600

# example NAME: one that needs no other.
example() {
	timeout --kill-after=5 $seconds "$examples/$1" $address > "$work/client" 2>&1 && return
	show client
	return 1
}

# says COUNT LINE: so often.
says() {
	[ "$(grep -cx "$2" "$work/client")" -eq "$1" ] && return
	say "not $1 times: $2"
	show client
	return 1
}

in_hand() {
	example in_hand &&
		says 3 "acceptor: gave away the id of the event in its hand" &&
		says 3 "worker: destroyed the id of the event in its hand" &&
		says 3 "client: type of service 32" &&
		says 1 "worker: turned away from its channel"
}

waiting() {
	example waiting &&
		says 1 "destroying it takes longer than half a second" &&
		says 1 "it is dying: 1 event read by process [1-9][0-9]*, [0-9.]* s ago, is not acknowledged" &&
		says 1 "its channel has 1 id, 0 events to read, 1 in somebody's hands" &&
		says 1 "it is destroyed" &&
		says 1 "leaving the group would have to wait" && says 1 "it is left"
}

# Three processes, a line of each.
handover() {
	local worker

	example handover && says 1 "acceptor [0-9]*: handed a request over" || return
	worker=$(sed -n 's/^worker \([0-9]*\): adopted.*/\1/p' "$work/client")
	says 1 "client [0-9]*: got a greeting from $worker"
}

# number WORD FILE: what follows the word in the last line.
number() { tail -n 1 "$work/$2" | sed -n "s/.*$1 \([0-9]*\).*/\1/p"; }

# prefork COUNT [OPTION]: sets greeted, failed; served, lost, regiven.
prefork() {
	pair_when ready "^greeted" "$examples/prefork_server" ${2:+"$2"} $address "$1" -- \
		"$examples/prefork_client" $address "$1" || return
	greeted=$(number greeted client) failed=$(number failed client)
	served=$(number served server) lost=$(number lost server)
	regiven=$(number again server)
	say "greeted $greeted, failed $failed; served $served, lost $lost, given again $regiven"
}

# "is_so TEST...": as test, but says what is not so.
is_so() {
	[ "$@" ] && return
	say "not so: $*"
	show server
	return 1
}

# Each worker its share.
all_workers_served() { is_so "$(grep -c '^worker [0-9]* served [1-9]' "$work/server")" -eq 4; }

prefork_serves_all() {
	local count=$((2 * many))

	prefork $count &&
		is_so "$greeted" -eq $count && is_so "$served" -eq $count &&
		is_so "$lost" -eq 0 && all_workers_served
}

# A worker is killed with requests handed to it, some of which it may have adopted.
# Those are lost, and the server knows of each; no other is.  A thousand connections,
# far fewer where everything is slow.
prefork_loses_none_that_was_not_adopted() {
	local count=$((many * many / 10))

	prefork $count --kill &&
		is_so $((greeted + failed)) -eq $count &&
		is_so $((served + lost)) -eq $count &&
		is_so "$failed" -le "$lost" &&
		is_so "$regiven" -ge 5 && all_workers_served
}

[ $# -eq 0 ] || tests=("$@")
run_all examples "${tests[@]}"
