#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# pyverbs.sh - the connection manager's tests of rdma-core, as Debian ships them
# with its documentation, over whichever library the environment gives them,
# inside the virtual machine.  Output: KTAP.
set -uo pipefail
# shellcheck source=selftests/programs_lib.sh
. "$(dirname "$0")/programs_lib.sh"

source=/usr/share/doc/rdma-core/tests
names=(sync_traffic async_traffic async_reject_traffic async_traffic_external_qp
	async_udp_traffic async_read async_write)
tests=(the_library_is_the_intended_one)
for name in "${names[@]}"; do
	tests+=("test_rdmacm_$name")
	eval "test_rdmacm_$name() { run_test test_rdmacm_$name; }"
done

# They look for the interface behind the device, where a device in software has
# none, and would all be skipped: they are told the address.  And they give up after ten
# to thirty seconds, which is what they take where all is slow: here it is who runs them
# that does.
write_driver() {
	mkdir "$work/tests" &&
	cp "$source"/* "$work/tests" &&
	gunzip -f "$work"/tests/*.gz &&
	# All that there are would be loaded.
	find "$work/tests" -name 'test_*' ! -name test_rdmacm.py -delete &&
	cat > "$work/driver.py" << 'EOF'
import sys, unittest
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
sys.path.append('tests')
from args_parser import parser
import tests.base, tests.utils

def address(self, dev, port, index):
    self.args.append([dev, port, index, '192.0.2.1', None])

tests.base.RDMATestCase._get_ip_mac = address
barrier, join = BaseContext.Barrier, BaseProcess.join
BaseContext.Barrier = lambda context, parties, timeout: barrier(context, parties)
BaseProcess.join = lambda process, timeout=None: join(process)
tests.utils.POLL_CQ_TIMEOUT = float('inf')
name = 'tests.test_rdmacm.CMTestCase.' + sys.argv.pop()
parser.parse_args()
suite = unittest.defaultTestLoader.loadTestsFromName(name)
result = unittest.TextTestRunner(verbosity=2).run(suite)
sys.exit(not result.wasSuccessful() or len(result.skipped) or result.testsRun != 1)
EOF
}

run_test() {
	(cd "$work" && timeout --kill-after=5 $seconds /usr/bin/python3 driver.py --dev rxe0 "$1") > "$work/test" 2>&1 &&
		return 0
	show test
	return 1
}

write_driver || exit 1
[ $# -eq 0 ] || tests=("$@")
run_all pyverbs "${tests[@]}"
