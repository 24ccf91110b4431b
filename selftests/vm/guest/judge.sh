# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # the configuration comes from the host
#
# Sourced by guest/init: looks at what the command left behind.  What it
# finds goes into the file "found" as "ucmx-vm: KIND: what", details indented
# below; judge-log counts it like a report of the kernel.  No check waits for
# something to become wrong: each waits until all is well, and complains if
# that does not happen.

judge() {
	wait_for_leftovers
	report_leftovers
	end_leftovers
	close_streams
	report_blocked_threads
	validate_slabs
	unload_product
	remove_fabric
	report_leaks
	report_marks
	echo "<5>ucmx-vm end of the run" > /dev/kmsg
}

# Seconds that what is going away anyway may take.
grace=5

found() {
	local kind=$1
	shift
	echo "ucmx-vm: $kind: $*" >> "$share/found"
}

details() { sed 's/^/\t/' >> "$share/found"; }

# find_processes: all but this shell, its two streams and kernel threads, into
# the array "left".  Starts none itself.
find_processes() {
	local file line fields pid

	left=()
	for file in /proc/[0-9]*/stat; do
		{ read -r line < "$file"; } 2>/dev/null || continue
		pid=${line%% *}
		# state ppid pgrp session tty tpgid flags ...
		read -r -a fields <<< "${line##*) }"
		[ $((fields[6] & 0x200000)) -eq 0 ] || continue	# PF_KTHREAD
		case " 1 ${streams[*]} " in
		*" $pid "*) ;;
		*) left+=("$pid") ;;
		esac
	done
}

find_ids() {
	ids=$(rdma resource show cm_id) || give_up "rdma resource show cm_id failed"
}

wait_for_leftovers() {
	local end=$((SECONDS + grace))

	while
		find_processes
		find_ids
		[ ${#left[@]} -gt 0 ] || [ -n "$ids" ]
	do
		[ $SECONDS -lt $end ] || break
		pause
	done
}

report_leftovers() {
	local pid

	for pid in ${left[@]+"${left[@]}"}; do
		found process "$(describe_process "$pid")"
		details 2>/dev/null < "/proc/$pid/stack"
	done
	if [ -n "$ids" ]; then
		found id "$(wc -l <<< "$ids") left in rdma resource"
		details <<< "$ids"
	fi
}

# describe_process PID: in one line.
describe_process() {
	local line state name command

	{ read -r line < "/proc/$1/stat"; } 2>/dev/null || line="? (gone) X"
	state=${line##*) }
	name=${line#*(}
	command=$(tr '\0\n' '  ' 2>/dev/null < "/proc/$1/cmdline")
	echo "${name%)*}, number $1, state ${state%% *}${command:+: $command}"
}

end_leftovers() {
	local pid end=$((SECONDS + grace))

	while find_processes; [ ${#left[@]} -gt 0 ]; do
		kill -KILL "${left[@]}" 2>/dev/null
		[ $SECONDS -lt $end ] || break
		pause
	done
	for pid in ${left[@]+"${left[@]}"}; do
		found process "does not die of SIGKILL: $(describe_process "$pid")"
		details 2>/dev/null < "/proc/$pid/stack"
	done
}

# Nobody holds the command's output any more, so this ends; what cannot be
# killed may hold it for ever.
close_streams() {
	[ ${#left[@]} -eq 0 ] || kill "${streams[@]}"
	wait "${streams[@]}"
}

# end_overdue: the command has had its time.  Say where it is, end it, and
# leave it to judge() to complain if that is not possible.
end_overdue() {
	local pid

	find_processes
	for pid in "${left[@]}"; do
		describe_process "$pid"
		sed 's/^/\t/' "/proc/$pid/stack"
	done > "$share/overdue" 2>/dev/null
	kill -KILL "${left[@]}"
}

# Work that hangs does so in a kernel thread.
report_blocked_threads() {
	local file line state pid end=$((SECONDS + grace)) blocked

	while
		blocked=()
		for file in /proc/[0-9]*/stat; do
			{ read -r line < "$file"; } 2>/dev/null || continue
			state=${line##*) }
			[ "${state%% *}" != D ] || blocked+=("${line%% *}")
		done
		[ ${#blocked[@]} -gt 0 ] && [ $SECONDS -lt $end ]
	do
		pause
	done
	for pid in ${blocked[@]+"${blocked[@]}"}; do
		found blocked "$(describe_process "$pid")"
		details 2>/dev/null < "/proc/$pid/stack"
	done
}

# What was written to freed memory shows when the object is looked at.
validate_slabs() {
	local cache

	[[ $(</proc/cmdline) = *slub_debug=F* ]] || return 0
	for cache in /sys/kernel/slab/ucmx_* /sys/kernel/slab/kmalloc-*; do
		[ ! -e "$cache/validate" ] || echo 1 > "$cache/validate" ||
			found slab "cannot validate ${cache##*/}"
	done
}

loaded() { [ -e "/sys/module/$1" ]; }

unload_product() {
	local module

	[ -n "$module_path" ] || return 0
	grep '\[rdma_ucmx' /proc/kallsyms > /run/kallsyms
	for module in rdma_ucmx_kunit rdma_ucmx; do
		loaded $module || continue
		in_time rmmod $module || found module "$module does not unload: $answer"
	done
}

# The device goes only when everything of it has been given back.
remove_fabric() {
	if [ -e "/sys/class/infiniband/$rdma_device" ]; then
		in_time rdma link del "$rdma_device" || found device "$rdma_device cannot be removed: $answer"
	fi
	if [ -e /sys/class/net/d0 ]; then
		in_time ip link del d0 || found device "d0 cannot be removed: $answer"
	fi
}

# in_time COMMAND...: its status, or false when it has not come back after a
# minute; "answer" is what it said.
in_time() {
	local job end=$((SECONDS + 60))

	"$@" > /run/answer 2>&1 &
	job=$!
	while [ -e /proc/$job ] && [ $SECONDS -lt $end ]; do
		pause
	done
	if [ -e /proc/$job ]; then
		answer="has not come back after a minute"
		return 1
	fi
	wait $job && return 0
	answer=$(</run/answer)
	return 1
}

# The first scan after a leak only notes what the object looks like; the
# next one, if at least 5 s later, reports it.
report_leaks() {
	local list start=$SECONDS

	[ "$leak_detector" = yes ] || return 0
	echo scan > /sys/kernel/debug/kmemleak
	while [ $((SECONDS - start)) -lt 6 ]; do
		pause
	done
	echo scan > /sys/kernel/debug/kmemleak
	list=$(</sys/kernel/debug/kmemleak)
	[ -n "$list" ] || return 0
	[ -e /run/kallsyms ] || : > /run/kallsyms
	"$vm_dir/resolve-symbols" /run/kallsyms <<< "$list" > "$share/leaks" ||
		give_up "cannot read the list of leaks"
}

# Marks that a report leaves: a reader of the log that saw none must not be
# believed then.  Taint 5 bad page (also KASAN), 7 died, 9 warned, 14 soft
# lockup; and lockdep, which falls silent after its first report.
report_marks() {
	local taint key value

	taint=$(</proc/sys/kernel/tainted)
	[ $((taint & (1 << 5 | 1 << 7 | 1 << 9 | 1 << 14))) -eq 0 ] ||
		echo "the kernel is tainted: $taint" >> "$share/marks"
	[ -e /proc/lockdep_stats ] || return 0
	while read -r key value; do
		[ "$key $value" != "debug_locks: 0" ] || echo "lockdep is switched off" >> "$share/marks"
	done < /proc/lockdep_stats
}
