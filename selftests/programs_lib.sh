# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034 # what it sets is used where it is sourced
#
# What the tests of unmodified programs share: each pair of server and client
# must end by itself with status 0, in time, and the client say that it did
# what it was to do.  Sourced, never run; inside the virtual machine.

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0 failures=0
seconds=240
# Where everything is slow, one test with a hundred is enough.
many=$((100 / ${UCMX_SCALE:-1}))
# What server and client run over; see over_ours and over_stock.
server_over=${LD_LIBRARY_PATH:-} client_over=${LD_LIBRARY_PATH:-}
# How a server that does not end by itself is to end, and what it says then.
ends_by='' server_says=''

# run_all SUITE TEST...: KTAP.
run_all() {
	local suite=$1 name start
	shift

	printf 'TAP version 13\n1..%d\n' $#
	for name in "$@"; do
		n=$((n + 1))
		start=$SECONDS
		if "$name"; then
			echo "ok $n $suite.$name"
		else
			failures=$((failures + 1))
			echo "not ok $n $suite.$name"
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

# split ARGUMENT... -- ARGUMENT...: into the arrays "server" and "client".
split() {
	server=()
	while [ "$1" != -- ]; do
		server+=("$1")
		shift
	done
	shift
	client=("$@")
}

start_server() {
	LD_LIBRARY_PATH=$server_over timeout --kill-after=5 $seconds \
		stdbuf -oL "${server[@]}" > "$work/server" 2>&1 &
	server_pid=$!
}

# pair PORT SAYS SERVER... -- CLIENT...: run both, the client when the server
# listens.
pair() { pair_as_soon_as listens "$@"; }

# pair_tcp PORT SAYS SERVER... -- CLIENT...: run both, the client when the server
# listens on a TCP port, by which it makes an appointment with its client.
pair_tcp() { pair_as_soon_as listens_tcp "$@"; }

# pair_when READY SAYS SERVER... -- CLIENT...: run both, the client when the
# server says that it is ready.
pair_when() { pair_as_soon_as is_ready "$@"; }

# pair_as_soon_as CONDITION OF SAYS SERVER... -- CLIENT...
pair_as_soon_as() {
	local condition=$1 of=$2 says=$3
	shift 3

	split "$@"
	until_gone "$condition" "$of"
	start_server
	if becomes_true "$condition" "$of"; then
		run_client "$says"
	else
		no_server "$condition $of: never true"
	fi
}

no_server() {
	say "${server[*]}: $*"
	# It tells the server, and kills it if need be.
	kill -TERM "$server_pid"
	wait "$server_pid"
	show server
	return 1
}

run_client() {
	local says=$1 status server_status wanted=0

	LD_LIBRARY_PATH=$client_over timeout --kill-after=5 $seconds \
		"${client[@]}" > "$work/client" 2>&1
	status=$?
	if [ -n "$ends_by" ]; then
		kill "-$ends_by" "$server_pid"
		wanted=$((128 + $(kill -l "$ends_by")))
	fi
	wait "$server_pid"
	server_status=$?
	if [ $status -eq 0 ] && [ $server_status -eq $wanted ] &&
	   grep -q "$says" "$work/client" &&
	   { [ -z "$server_says" ] || grep -q "$server_says" "$work/server"; }; then
		return 0
	fi
	say "${client[*]}: status $status; ${server[*]}: status $server_status"
	show client
	show server
	return 1
}

show() { sed "s/^/# $1: /" "$work/$1"; }

# Gives up if the server is gone, or when time is over.
becomes_true() {
	local end=$((SECONDS + seconds))

	while [ $SECONDS -lt $end ] && [ -e "/proc/$server_pid" ]; do
		! "$@" || return 0
		sleep 0.1
	done
	return 1
}

# A listener may be there for a moment longer than the program whose it was; the
# next client must not take it for the one that it waits for.
until_gone() {
	local end=$((SECONDS + 10))

	: > "$work/server"
	while "$@" && [ $SECONDS -lt $end ]; do
		sleep 0.1
	done
}

# As the kernel says.
listens() { rdma resource show cm_id | grep "state LISTEN.*:$1 " > /dev/null; }
listens_tcp() { [ -n "$(ss -Hltn "sport = :$1")" ]; }
is_ready() { grep -q "$1" "$work/server"; }
