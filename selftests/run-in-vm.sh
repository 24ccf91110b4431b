#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# run-in-vm.sh [--scale N] PROGRAM[=SECONDS]... - run test programs one after
# the other, inside the virtual machine, and print one KTAP stream with that of
# each program as a subtest.
#
# PROGRAM is a file in build/selftests or here, SECONDS its time-out.  With
# --scale counts are divided by N: for a kernel on which everything is slow.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
built=$here/../build/selftests

main() {
	local n=0 failed=0 program

	if [ "${1:-}" = --scale ]; then
		export UCMX_SCALE=$2
		shift 2
	fi
	[ $# -gt 0 ] || { echo "usage: $0 [--scale N] PROGRAM[=SECONDS]..." >&2; exit 2; }
	printf 'KTAP version 1\n1..%d\n' $#
	for program in "$@"; do
		n=$((n + 1))
		run_program "$program"
	done
	[ $failed -eq 0 ]
}

# Exit status of a program says no more than its results do; but a program
# that crashed may have printed nothing.
run_program() {
	local name=${1%%=*} seconds=300 status start=$SECONDS path

	[[ $1 != *=* ]] || seconds=${1#*=}
	path=$built/$name
	[ -e "$path" ] || path=$here/$name
	setsid timeout --kill-after=5 "$seconds" "$path" 2>&1 < /dev/null | sed -u 's/^/    /'
	status=${PIPESTATUS[0]}
	echo "# $name took $((SECONDS - start)) s"
	case $status in
	0)	echo "ok $n $name" ;;
	124|137) end_leftovers
		echo "not ok $n $name # no end after $seconds s" ;;
	*)	echo "not ok $n $name # exit status $status" ;;
	esac
	[ "$status" -eq 0 ] || failed=1
}

# What a program left when its time was over: all that are not of this session.
end_leftovers() {
	local file line fields

	for file in /proc/[0-9]*/stat; do
		{ read -r line < "$file"; } 2>/dev/null || continue
		# state ppid pgrp session tty tpgid flags ...
		read -r -a fields <<< "${line##*) }"
		# Neither kernel threads nor this session nor the machine's own.
		if ((!(fields[6] & 0x200000) && fields[3] != $$ && fields[3] > 1)); then
			kill -KILL "${line%% *}"
		fi
	done
}

main "$@"
