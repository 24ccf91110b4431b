#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# services.sh MODULE+PROGRAM[+PROGRAM...] - run test programs while there is an
# administrator of the subnet who knows services, which is a module (vm/services), inside
# the virtual machine.  Output: KTAP, with that of each program as a subtest.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

IFS=+ read -r module programs <<< "$1"
IFS=+ read -r -a programs <<< "$programs"
insmod "$here/../$module"
status=0
"$here/../user/tests/run-here" "${programs[@]/#/$here/../build/selftests/}" || status=$?
rmmod vm_services
exit $status
