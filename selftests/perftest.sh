#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# perftest.sh - Debian's perftest, unmodified, with its connections made by
# whichever library the environment gives it, inside the virtual machine.
# Output: KTAP.  What it measures is of no interest.
set -uo pipefail
# shellcheck source=selftests/programs_lib.sh
. "$(dirname "$0")/programs_lib.sh"

tests=(the_library_is_the_intended_one
	ib_send_bw ib_send_lat ib_write_bw_four_qps ib_read_bw ib_send_bw_unconnected
	ib_send_bw_with_tos)

# both PROGRAM OPTION...: the client ends with a row of results.
both() {
	local try

	for ((try = 1; try <= 5; try++)); do
		once "$@" && return
		clocks_disagree || return
	done
	return 1
}

once() { pair 18515 "^ *$size  *[1-9]" "$@" -R -s $size -n 100 -- "$@" -R -s $size -n 100 192.0.2.1; }
size=1024

# For its figures each end compares two clocks for a moment, and has none if they did
# not go along with each other, as those of an emulated machine do not always: that
# says nothing of a connection.
clocks_disagree() { grep -qs "^Correlation coefficient" "$work/server" "$work/client"; }

ib_send_bw() { both ib_send_bw; }
ib_send_lat() { both ib_send_lat; }
ib_write_bw_four_qps() { both ib_write_bw -q 4; }
ib_read_bw() { both ib_read_bw; }
ib_send_bw_unconnected() { both ib_send_bw -c UD; }
ib_send_bw_with_tos() { both ib_send_bw -T 32; }

ulimit -l unlimited
[ $# -eq 0 ] || tests=("$@")
run_all perftest "${tests[@]}"
