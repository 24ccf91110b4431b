#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# run-in-vm.sh [--scale N] PROGRAM[:TEST][=SECONDS]... - run test programs one
# after the other, inside the virtual machine, and print one KTAP stream with
# that of each program as a subtest.
#
# PROGRAM is a file in build/selftests or here, TEST the only one of its tests to
# run, SECONDS its time-out.  With --scale counts are divided by N: for a kernel
# on which everything is slow.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
built=$here/../build/selftests

main() {
	local n=0 failed=0 program fields session

	if [ "${1:-}" = --scale ]; then
		export UCMX_SCALE=$2
		shift 2
	fi
	# It ends whatever else runs when a program has to be ended.
	[ -e /run/vm/config ] || { echo "$0: this is no virtual machine of ours" >&2; exit 2; }
	[ $# -gt 0 ] || { echo "usage: $0 [--scale N] PROGRAM[:TEST][=SECONDS]..." >&2; exit 2; }
	read_fields "/proc/$$/stat"
	session=${fields[3]}
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	pipe=$work/pipe
	mkfifo "$pipe"
	there=$(devices)
	printf 'KTAP version 1\n1..%d\n' $#
	for program in "$@"; do
		n=$((n + 1))
		run_program "$program"
	done
	[ $failed -eq 0 ]
}

# A program has failed if it says so, if it does not end, if anything that it
# started does not end with it, and if there are other devices afterwards.
run_program() {
	local name=${1%%=*} seconds=300 status reader start=$SECONDS path test why=''

	[[ $1 != *=* ]] || seconds=${1#*=}
	path=${name%%:*} test=${name#"$path"}
	if [ -e "$built/$path" ]; then
		path=$built/$path
	else
		path=$here/$path
	fi
	sed -u 's/^/    /' < "$pipe" &
	reader=$!
	setsid timeout --kill-after=5 "$seconds" "$path" ${test:+"${test#:}"} < /dev/null > "$pipe" 2>&1
	status=$?
	case $status in
	0) ;;
	124|137) why="no end after $seconds s" ;;
	*) why="exit status $status" ;;
	esac
	if ! leaves_nothing; then
		why=${why:-"left processes behind: ${left[*]}"}
		kill -KILL "${left[@]}"
	fi
	if ! same_devices; then
		there=$(devices)
		why=${why:-"leaves other devices: ${there//$'\n'/ }"}
	fi
	wait "$reader"	# which has been told all when the last one is gone
	echo "# $name took $((SECONDS - start)) s"
	if [ -z "$why" ]; then
		echo "ok $n $name"
	else
		echo "not ok $n $name # $why"
		failed=1
	fi
}

leaves_nothing() {
	local end=$((SECONDS + 5))

	while find_others; [ ${#left[@]} -gt 0 ]; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

devices() { ls /sys/class/infiniband /sys/class/net 2>&1; }

# As there were before; one may be on its way.
same_devices() {
	local end=$((SECONDS + 5))

	while [ "$(devices)" != "$there" ]; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

# read_fields FILE: of a process's "stat", from its state on.
read_fields() {
	local line

	{ read -r line < "$1"; } 2>/dev/null || return
	# state ppid pgrp session tty tpgid flags ...
	read -r -a fields <<< "${line##*) }"
}

# find_others: all processes that are neither of this session nor the
# machine's own, into the array "left".
find_others() {
	local file fields

	left=()
	for file in /proc/[0-9]*/stat; do
		read_fields "$file" || continue
		((fields[6] & 0x200000 || fields[3] == session || fields[3] <= 1)) ||
			left+=("${file//[^0-9]/}")
	done
}

main "$@"
