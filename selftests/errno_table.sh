#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# errno_table.sh - what every call answers in every state, over the system's
# librdmacm with rdma_ucm and over ours, one after the other in one virtual
# machine, compared line by line.  Output: KTAP.
#
# errno_table.list says where ours is different, and what some calls answer over
# both.  A difference that it lists and that is none fails, too.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
program=$here/../build/selftests/errno_table
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0 failures=0
declare -A stock ours expected differs_from differs_to

main() {
	local name plan

	read_list < "$here/errno_table.list"
	env -u LD_LIBRARY_PATH "$program" stock > "$work/stock" 2> "$work/stock.said"
	"$program" ours > "$work/ours" 2> "$work/ours.said"
	read_tables
	sed 's/^/# stock: /' "$work/stock.said"
	sed 's/^/# ours: /' "$work/ours.said"
	plan=$((3 + ${#ours[@]} + ${#stock[@]} - $(both) + $(only_listed)))
	printf 'TAP version 13\n1..%d\n' "$plan"
	library_is "stock_is_the_system's" "$(env -u LD_LIBRARY_PATH ldd "$program")" /lib/
	library_is ours_is_ours "$(ldd "$program")" "${LD_LIBRARY_PATH:-none}/"
	every_function_is_called
	while read -r name _; do
		compare "$name"
	done < "$work/ours"
	while read -r name _; do
		[ -n "${ours[$name]:-}" ] || result false "$name" "stock alone says ${stock[$name]}"
	done < "$work/stock"
	for name in "${!expected[@]}" "${!differs_to[@]}"; do
		[ -n "${ours[$name]:-}${stock[$name]:-}" ] ||
			result false "$name" "is listed, and there is no such case"
	done
	[ $failures -eq 0 ]
}

both() {
	local name count=0

	for name in "${!ours[@]}"; do
		[ -z "${stock[$name]:-}" ] || count=$((count + 1))
	done
	echo $count
}

only_listed() {
	local name count=0

	for name in "${!expected[@]}" "${!differs_to[@]}"; do
		[ -n "${ours[$name]:-}${stock[$name]:-}" ] || count=$((count + 1))
	done
	echo $count
}

# Lines: "both CASE ANSWER", "differs CASE STOCK OURS"; the rest of a line, and
# one that begins with #, is for the reader.
read_list() {
	local kind name first second _

	while read -r kind name first second _; do
		case $kind in
		both) expected[$name]=$first ;;
		differs) differs_from[$name]=$first differs_to[$name]=$second ;;
		''|'#'*) ;;
		*)
			echo "Bail out! errno_table.list: $kind $name"
			exit 1 ;;
		esac
	done
}

read_tables() {
	local name answer

	while read -r name answer; do
		stock["$name"]=$answer
	done < "$work/stock"
	while read -r name answer; do
		ours["$name"]=$answer
	done < "$work/ours"
}

library_is() {
	local path

	path=$(awk '$1 == "librdmacm.so.1" { print $3 }' <<< "$2")
	if [[ $path = "$3"* ]]; then
		result true "$1" "$path"
	else
		result false "$1" "is $path"
	fi
}

# Of those that both libraries have; rsockets are none of ours.
every_function_is_called() {
	local missing

	# There is no /dev/fd here, for bash to have them without files.
	functions --defined-only "${LD_LIBRARY_PATH:-}/librdmacm.so.1" > "$work/our_functions"
	functions --defined-only /lib/x86_64-linux-gnu/librdmacm.so.1 > "$work/stock_functions"
	functions --undefined-only "$program" > "$work/called"
	if missing=$(comm -12 "$work/our_functions" "$work/stock_functions" |
		     comm -23 - "$work/called") &&
	   [ -z "$missing" ] && grep -x rdma_accept "$work/our_functions" > /dev/null &&
	   grep -x rdma_accept "$work/called" > /dev/null; then
		result true every_function_is_called ""
	else
		result false every_function_is_called "not called: ${missing//$'\n'/ }"
	fi
}

functions() {
	nm -D "$1" "$2" | sed -n 's/.* [TU] \(r[a-z_]*\)@.*/\1/p' | sort -u
}

# What is not tried over stock is "not-tried" there.
compare() {
	local name=$1 is=${ours[$1]} was=${stock[$1]:-not-tried} want=${expected[$1]:-}

	if [ -n "${differs_to[$name]:-}" ]; then
		if [ "$was $is" = "${differs_from[$name]} ${differs_to[$name]}" ]; then
			result true "$name" "stock $was, ours $is, as listed"
		else
			result false "$name" "stock $was, ours $is, listed as ${differs_from[$name]}, ${differs_to[$name]}"
		fi
	elif [ "$was" != "$is" ]; then
		result false "$name" "stock $was, ours $is"
	elif [ -n "$want" ] && [ "$want" != "$is" ]; then
		result false "$name" "both $is, not $want"
	else
		result true "$name" "$is"
	fi
}

# result HOLDS NAME TEXT
result() {
	n=$((n + 1))
	if "$1"; then
		echo "ok $n errno.$2 # $3"
	else
		failures=$((failures + 1))
		echo "not ok $n errno.$2 # $3"
	fi
}

main
