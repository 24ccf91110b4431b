#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# kunit.sh MODULE [CASE] - run the KUnit suites of a module, inside the virtual
# machine, and print their cases as one KTAP stream.  With CASE that one alone,
# and the status is not 0, since the others are skipped.
#
# KUnit runs the suites while the module is loaded, which succeeds whatever
# comes of them, and keeps the results in debugfs.  Which suites there must be
# is in the module's information ("kunit_suite"), how many cases in each one's
# plan.  A case without a result, a suite without results and a skip count as
# failed.
set -euo pipefail

[ $# -eq 1 ] || [ $# -eq 2 ] || { echo "usage: $0 MODULE [CASE]" >&2; exit 2; }
module=$1
name=$(basename "$module" .ko)
results=/sys/kernel/debug/kunit
lines=()
failed=0

# Says how a case ended: ok, or anything else and why.
conclude() {
	local number=$((${#lines[@]} + 1))

	case $1 in
	ok) lines+=("ok $number $2") ;;
	*) lines+=("not ok $number $2 # $1"); failed=$((failed + 1)) ;;
	esac
}

# One suite, by its results.
read_suite() {
	local suite=$1 file=$results/$1/results line plan=0 number said=''
	local case_line='^    (not ok|ok) ([0-9]+) ([^ ]+)(.*)$' plan_line='^    1\.\.([0-9]+)$'
	local -A names=() ends=()

	if [ ! -e "$file" ]; then
		conclude "did not run" "$suite"
		return
	fi
	while IFS= read -r line; do
		if [[ $line =~ $plan_line ]]; then
			plan=${BASH_REMATCH[1]}
		elif [[ $line =~ $case_line ]]; then
			number=${BASH_REMATCH[2]}
			names[$number]=${BASH_REMATCH[3]}
			ends[$number]=${BASH_REMATCH[1]}
			[[ ${BASH_REMATCH[4]} != *SKIP* ]] || ends[$number]=skipped
		elif [[ $line = "ok 1 $suite" ]]; then
			said=ok
		fi
	done < "$file"
	for ((number = 1; number <= plan; number++)); do
		conclude "${ends[$number]:-no result}" "$suite.${names[$number]:-case $number}"
	done
	[ "$plan" -gt 0 ] || conclude "no plan" "$suite"
	[ "$said" = ok ] || conclude "suite not ok" "$suite"
}

read -r -a suites <<< "$(modinfo -F kunit_suite "$module" | tr '\n' ' ')"
[ ${#suites[@]} -gt 0 ] || { echo "$0: $module names no suites" >&2; exit 2; }
mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug

echo "KTAP version 1"
logged=$(dmesg | wc -l)
if ! insmod "$module" ${2:+"only=$2"}; then
	echo "1..1"
	echo "not ok 1 $name # cannot be loaded"
	exit 1
fi
for suite in "${suites[@]}"; do
	read_suite "$suite"
done
if rmmod "$name"; then
	conclude ok "$name.unload"
else
	conclude "it stays loaded" "$name.unload"
fi
echo "1..${#lines[@]}"
printf '%s\n' "${lines[@]}"
[ "$failed" -gt 0 ] || exit 0
# Debugfs keeps only the beginning of what a case says; the log has it all.
dmesg | tail -n "+$((logged + 1))" | sed 's/^/# /'
exit 1
