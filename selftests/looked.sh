#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# looked.sh - what Documentation/debugging.rst says can be seen from outside, inside
# the virtual machine, over our library: rdma, fdinfo, stacks, trace-cmd and bpftrace.
# Output: KTAP.
set -uo pipefail
# shellcheck source=selftests/programs_lib.sh
. "$(dirname "$0")/programs_lib.sh"
top=$(cd "$(dirname "$0")/.." && pwd)
document=$top/Documentation/debugging.rst
# A migration that waits.
traced=("$top/build/selftests/trace_test" c08_a_migration_that_waits)

tests=(rdma_lists_process_and_command rdma_lists_both_ends_of_a_connection
	hung_migrate hung_destroy trace_cmd_records_a_migration
	bpftrace_runs_what_the_document_has)

gcc -Wall -Wextra -Werror -pthread -o "$work/hangs" "$top/selftests/hangs.c" -lrdmacm || exit 98

# become COMMAND...: waits until it succeeds, with patience.
become() {
	local end=$((SECONDS + seconds))

	until "$@"; do
		[ $SECONDS -lt $end ] || { say "never: $*"; return 1; }
		sleep 0.1
	done
}

# is_listed WORDS: of an id.
is_listed() { rdma resource show cm_id | grep -E "$1" > /dev/null; }

# end PID...
end() {
	kill -KILL "$@"
	wait "$@" 2> /dev/null
	become is_empty
}

is_empty() { [ -z "$(rdma resource show cm_id)" ]; }

rdma_lists_process_and_command() {
	local server status=0

	rping -s -a 192.0.2.1 -p 7400 > "$work/server" 2>&1 &
	server=$!
	become is_listed "state LISTEN ps TCP pid $server comm rping src-addr 192.0.2.1:7400" &&
	grep -q '^ucmx-ids:	1$' "/proc/$server/fdinfo/"* || status=1
	[ $status -eq 0 ] || rdma resource show cm_id | sed 's/^/# /'
	end $server || status=1
	return $status
}

# Of a request's id, too, for which no program has called anything.
rdma_lists_both_ends_of_a_connection() {
	local server client status=0

	rping -s -P -a 192.0.2.1 -p 7401 > "$work/server" 2>&1 &
	server=$!
	become is_listed "state LISTEN .*:7401" || status=1
	rping -c -a 192.0.2.1 -p 7401 -C 100000000 > "$work/client" 2>&1 &
	client=$!
	become is_listed "state CONNECT .*pid $client comm rping .*dst-addr 192.0.2.1:7401" &&
	become is_listed "state CONNECT .*pid $server comm rping src-addr 192.0.2.1:7401" || status=1
	[ $status -eq 0 ] || rdma resource show cm_id | sed 's/^/# /'
	end $client $server || status=1
	return $status
}

# hangs HOW: runs the program until it waits; sets pid and reader, shows its stacks.
hangs() {
	"$work/hangs" "$1" 192.0.2.1 > "$work/said" 2>&1 &
	pid=$!
	become waits || { show said; return 1; }
	cat "/proc/$pid/task/"*/stack > "$work/stack"
}

waits() { cat "/proc/$pid/fdinfo/"* 2> /dev/null | grep -q '^ucmx-waiters:	1$'; }

# The command that the document has for all channels of a machine.
longest_first() {
	local command

	command=$(sed -n 's/^\t\(grep -H \^ucmx-oldest .*\)$/\1/p' "$document")
	[ -n "$command" ] && bash -c "$command" > "$work/oldest"
	show oldest
	[ "$(wc -l < "$work/oldest")" -eq 1 ] &&
	grep -qE "^/proc/$pid/fdinfo/[0-9]+:ucmx-oldest:	id [0-9]+ seq 1 event 0 reader $pid age_ms [0-9]+$" "$work/oldest"
}

# stack_has FUNCTION...: from the innermost on, as the document shows them.
stack_has() {
	local name pattern=''

	for name in "$@"; do
		grep -q "$name" "$document" || { say "the document has no $name"; return 1; }
		pattern+="$name\+.*"
	done
	tr '\n' ' ' < "$work/stack" | grep -E "$pattern" > /dev/null && return
	show stack
	return 1
}

hung_migrate() {
	local status=0

	hangs migrate && longest_first &&
	stack_has ucmx_id_wait ucmx_id_migrate ucmx_cmd_migrate_id ucmx_ioctl &&
	is_listed "pid $pid comm hangs" || status=1
	end "$pid" || status=1
	return $status
}

# The id is dead, and nobody's list has it.
hung_destroy() {
	local status=0

	hangs destroy && longest_first && stack_has ucmx_id_wait ucmx_id_destroy &&
	become is_empty || status=1
	end "$pid" || status=1
	return $status
}

# Each tracepoint of the migration, with all that the event has to say.
trace_cmd_records_a_migration() {
	local line lines=(
		'ucmx_id_create: +channel=[0-9]+ id=[0-9]+ cookie=(0|0x[0-9a-f]+) pending=0 outstanding=0'
		'ucmx_event_raise: +channel=[0-9]+ id=[0-9]+ seq=1 event=0 status=0'
		'ucmx_event_deliver: +channel=[0-9]+ id=[0-9]+ seq=1 event=0 status=0'
		'ucmx_migrate_freeze: +source=[0-9]+ target=[0-9]+ id=[0-9]+ pending=1 outstanding=1 unread=0 err=0'
		'ucmx_drain_start: +channel=[0-9]+ id=[0-9]+ outstanding=1 deadline_ns=0'
		'ucmx_event_ack: +channel=[0-9]+ id=[0-9]+ seq=1 event=0 age_ns=[1-9][0-9]+'
		'ucmx_drain_end: +id=[0-9]+ waited_ns=[1-9][0-9]+ err=0'
		'ucmx_migrate_commit: +source=[0-9]+ target=[0-9]+ id=[0-9]+ pending=1 outstanding=0 unread=0 err=0'
		'ucmx_id_destroy: +channel=[0-9]+ id=[0-9]+ '
		'ucmx_id_end: +channel=[0-9]+ id=[0-9]+ ')

	(cd "$work" && trace-cmd record -e rdma_ucmx -o "$work/trace.dat" "${traced[@]}") \
		> "$work/said" 2>&1 || { show said; return 1; }
	trace-cmd report -i "$work/trace.dat" > "$work/report" 2>&1 || { show report; return 1; }
	for line in "${lines[@]}"; do
		grep -E "$line" "$work/report" > /dev/null && continue
		say "no $line"
		show report
		return 1
	done
}

bpftrace_runs_what_the_document_has() {
	local program

	program=$(sed -n "/^\tbpftrace -e '/,\$p" "$document" | sed "1d; s/'\$//")
	show_program "$program"
	bpftrace -e "$program" -c "${traced[*]}" > "$work/said" 2>&1 &&
	grep -qE '^@ms\[[0-9]+\]: *$' "$work/said" &&
	grep -qE '^@read\[trace_test\]: [1-9]' "$work/said" && return
	show said
	return 1
}

show_program() { while read -r line; do say "$line"; done <<< "$1"; }

run_all looked "${tests[@]}"
