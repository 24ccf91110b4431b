#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# services.sh PROGRAM[,PROGRAM...] - run test programs while there is an administrator of
# the subnet who knows services (vm/services), inside the virtual machine.  Output: KTAP,
# with that of each program as a subtest.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp "$here"/vm/services/* "$work"
make -s -C "/lib/modules/$(uname -r)/build" M="$work" modules > "$work/said" 2>&1 ||
	{ cat "$work/said" >&2; exit 98; }
insmod "$work/vm_services.ko"
status=0
IFS=, read -r -a programs <<< "$1"
"$here/../user/tests/run-here" "${programs[@]/#/$here/../build/selftests/}" || status=$?
rmmod vm_services
exit $status
