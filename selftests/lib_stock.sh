#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# lib_stock.sh - lib_migrate_test, over the system's librdmacm and rdma_ucm: the
# very program that passes over ours must see what is wrong there, and that
# only.  Inside the virtual machine, run --over stock.  Output: KTAP.
set -uo pipefail
program=$(dirname "$0")/../build/selftests/lib_migrate_test

# A listener leaves the children of its queued requests behind.
must_fail=(queued_request queued_request_of_a_wildcard_listener many_queued_requests)
# The program itself works here; and so does this much of migration.
must_pass=(pending_event_of_a_connection blocked_reader_of_the_target_wakes)
# What is a matter of chance is left out: whether a command meets a commit, and
# whether the peer's next event comes to the target before or after the call has
# got as far as to move the id, which stock does before it waits.

n=0 failures=0
result=$(mktemp)
trap 'rm -f "$result"' EXIT

# expect LINE TEXT
expect() {
	n=$((n + 1))
	if grep -qE "$1" "$result"; then
		echo "ok $n stock.$2"
	else
		failures=$((failures + 1))
		echo "not ok $n stock.$2"
	fi
}

printf 'TAP version 13\n1..%d\n' $((1 + ${#must_fail[@]} + ${#must_pass[@]}))
# What is to fail fails by something that never comes; the rest has all the time.
for name in "${must_fail[@]}"; do
	UCMX_PATIENCE_MS=5000 "$program" "$name"
done > "$result" 2>&1
for name in "${must_pass[@]}"; do
	"$program" "$name"
done >> "$result" 2>&1
sed 's/^/# /' "$result"
n=1
if ldd "$program" | grep "librdmacm.so.1 => /lib/" > /dev/null; then
	echo "ok 1 stock.the_library_is_the_system's"
else
	failures=1
	echo "not ok 1 stock.the_library_is_the_system's"
fi
for name in "${must_fail[@]}"; do
	expect "^not ok [0-9]+ migrate\.$name\$" "${name}_is_lost"
done
for name in "${must_pass[@]}"; do
	expect "^ok [0-9]+ migrate\.$name\$" "$name"
done
[ $failures -eq 0 ]
