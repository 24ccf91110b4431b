#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# valgrind.sh - Debian's programs, unmodified, and tests of the library under
# valgrind, inside the virtual machine: no invalid or uninitialised memory, no leak,
# no channel left open (memcheck), no race or misuse of a lock (helgrind).  Nothing is
# suppressed.  Blocks that libibverbs has for a device that stays open are "possibly
# lost", since it keeps pointers into them only: that does not count.  Nor does a
# race of which neither access is made by the library: rping has some of its own.
# Arguments: the tests to run, if not all.  Output: KTAP.
set -uo pipefail
# shellcheck source=selftests/programs_lib.sh
. "$(dirname "$0")/programs_lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
built=$here/../build/selftests

tests=(a_leak_is_found an_invalid_read_is_found a_race_is_found
	memcheck_ucmatose memcheck_rdma_server memcheck_mckey memcheck_endpoints
	memcheck_synchronous memcheck_errors helgrind_ucmatose helgrind_rping)

# Whether a program ends while it waits on a channel.
keeps_channel=''

# under TOOL: sets the array "tool".
under() {
	tool=(valgrind --num-callers=24)
	case $1 in
	memcheck)
		tool+=(--error-exitcode=77 --leak-check=full --errors-for-leak-kinds=definite
			--track-fds=yes) ;;
	helgrind) tool+=(--tool=helgrind) ;;
	esac
}

# pair_under TOOL PORT SAYS SERVER... -- CLIENT...: as pair, or if PORT is none as
# pair_when, with both under the tool.
pair_under() {
	local port=$2 says=$3 status=0
	under "$1"
	shift 3

	split "$@"
	server=("${tool[@]}" "--log-file=$work/report.server.%p" "${server[@]}")
	client=("${tool[@]}" "--log-file=$work/report.client.%p" "${client[@]}")
	set -- "${server[@]}" -- "${client[@]}"
	if [[ $port = [0-9]* ]]; then
		pair "$port" "$says" "$@" || status=1
	else
		pair_when "$port" "$says" "$@" || status=1
	fi
	judge_reports || status=1
	return $status
}

# test_under TOOL PROGRAM [ARGUMENT...]: all its tests, each of which is a process.
test_under() {
	local status=0

	under "$1"
	shift
	"${tool[@]}" "--log-file=$work/report.%p" "$built/$1" "${@:2}" > "$work/test" 2>&1 || status=1
	[ $status -eq 0 ] || show test
	judge_reports || status=1
	return $status
}

# provoked_under TOOL WHAT: it finds it.
provoked_under() {
	under "$1"
	"${tool[@]}" "--log-file=$work/report.%p" "$built/provoke_memory" "$2"
	! judge_reports > "$work/test" || { show test; return 1; }
}
a_leak_is_found() { provoked_under memcheck leak; }
an_invalid_read_is_found() { provoked_under memcheck read; }
a_race_is_found() { provoked_under helgrind race; }

# Of descriptors memcheck only says which there are.
judge_reports() {
	local report status=0

	for report in "$work"/report*; do
		if { [ -z "$keeps_channel" ] && grep -q 'Open file descriptor.*rdma_ucmx' "$report"; } ||
		   { grep -q Memcheck "$report" && grep -q 'ERROR SUMMARY: [1-9]' "$report"; } ||
		   { grep -q Helgrind "$report" && is_ours "$report"; }; then
			say "${report##*/}"
			sed 's/^/# /' "$report" | head -n 400
			status=1
		fi
	done
	grep -q 'ERROR SUMMARY: ' "$work"/report* || status=1
	rm -f "$work"/report*
	return $status
}

# Where an access was made, or a lock misused: the first place that is not
# valgrind's own.
is_ours() {
	awk -v "files=$(cd "$here/.." && echo user/*.c selftests/race.c)" '
		BEGIN {
			count = split(files, list, " ")
			for (i = 1; i <= count; i++) {
				sub(".*/", "", list[i])
				ours[list[i]] = 1
			}
		}
		/Possible data race|This conflicts with a previous|Thread #[0-9]+:/ { wanted = 1; next }
		wanted && / (at|by) 0x/ && !/vgpreload/ {
			wanted = 0
			if (match($0, /\([a-z_]+\.c:/) &&
			    substr($0, RSTART + 1, RLENGTH - 2) in ours)
				any = 1
		}
		END { exit !any }' "$1"
}

memcheck_ucmatose() {
	pair_under memcheck 7471 "return status 0" ucmatose -c 5 -- ucmatose -c 5 -s 192.0.2.1
}
memcheck_rdma_server() {
	pair_under memcheck 7471 "rdma_client: end 0" rdma_server -- rdma_client -s 192.0.2.1
}
# A thread of it waits for events to the end, so the channel is still in use then.
memcheck_mckey() {
	local keeps_channel=yes

	pair_under memcheck "joined dgid" "return status 0" \
		mckey -m 239.1.1.1 -b 192.0.2.1 -- mckey -m 239.1.1.1 -b 192.0.2.2 -s
}
memcheck_endpoints() { test_under memcheck lib_ep_test; }
# Every call with every mistake.
memcheck_errors() { test_under memcheck errno_table ours; }
memcheck_synchronous() { test_under memcheck lib_sync_test; }

helgrind_ucmatose() {
	pair_under helgrind 7471 "return status 0" ucmatose -c 5 -- ucmatose -c 5 -s 192.0.2.1
}
helgrind_rping() {
	pair_under helgrind 7174 "ping data: rdma-ping-4: " rping -s -a 192.0.2.1 -C 5 -- rping -c -a 192.0.2.1 -C 5 -v
}

ulimit -l unlimited
[ $# -eq 0 ] || tests=("$@")
run_all valgrind "${tests[@]}"
