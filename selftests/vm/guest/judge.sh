# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Sourced by guest/init: looks at what the command left behind.

end_overdue() {
	kill -KILL -- "-$1"
	sleep 1
}

judge() {
	:
}
