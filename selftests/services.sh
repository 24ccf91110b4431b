#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# services.sh PROGRAM - run a test program while there is an administrator of the
# subnet who knows services (vm/services), inside the virtual machine.  Output: that
# of the program.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp "$here"/vm/services/* "$work"
make -s -C "/lib/modules/$(uname -r)/build" M="$work" modules > "$work/said" 2>&1 ||
	{ cat "$work/said" >&2; exit 98; }
insmod "$work/vm_services.ko"
status=0
"$here/../build/selftests/$1" || status=$?
rmmod vm_services
exit $status
