#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# others.sh - programs that use librdmacm for something else than to show it:
# fio, qperf, libfabric, UCX, DAPL, and QEMU's live migration, as Debian has them,
# over whichever library the environment gives them, inside the virtual machine.
# Arguments: the tests to run, if not all.  Output: KTAP.
#
# None may fail because a machine is slow.  With one processor (see "suites") what is
# done in order happens in order; what programs take for granted beyond that is said
# below, where it is seen to.
set -uo pipefail
# shellcheck source=selftests/programs_lib.sh
. "$(dirname "$0")/programs_lib.sh"
here=$(cd "$(dirname "$0")" && pwd)

tests=(the_library_is_the_intended_one
	fio_send fio_write fio_read qperf_rc libfabric_pingpong ucx_demo
	dapl_connections qemu_live_migration)

fio_send() { run_fio send 4441; }
fio_write() { run_fio write 4442; }
fio_read() { run_fio read 4443; }
# Who sends gives up at once if nothing is posted where it goes to.  So all is: fio's
# client leaves its server half a second for that.
run_fio() {
	local both=(fio --ioengine=rdma --bs=16k --size=1m "--port=$2")

	pair "$2" " WRITE: .*io=1024KiB" "${both[@]}" --name=server --rw=read --iodepth=64 -- \
		"${both[@]}" --name=client --rw=write --iodepth=4 "--verb=$1" --hostname=192.0.2.1
}

# Its server does not end by itself.  Neither gives up after five seconds as it
# usually does.
qperf_rc() {
	local ends_by=TERM

	pair_tcp 19765 "^ver_rc_compare_swap:" qperf -- \
		"$here/qperf-relay" 19766 19765 \
		qperf -cm 1 --listen_port 19766 --time 1 --timeout $seconds 192.0.2.1 \
			rc_bw rc_lat rc_rdma_write_bw ver_rc_compare_swap
}

# Each step waits for the other side over TCP; whatever is sent finds a receive posted.
libfabric_pingpong() {
	local both=(fi_pingpong -p verbs -e msg -d rxe0 -I 10 -S 4096)

	pair_tcp 47592 "^4k  *10  *=10 " "${both[@]}" -- "${both[@]}" 192.0.2.1
}

# A client that loses its connection in the middle, which the server survives.  Neither
# gives up by itself.
ucx_demo() {
	local -x UCX_TLS=rc_verbs,ud_verbs UCX_SOCKADDR_TLS_PRIORITY=rdmacm
	local ends_by=TERM

	pair 1337 "Client exit with status 'OK'" io_demo -n inf -- \
		io_demo -n inf -t inf -i 10 192.0.2.1
}

# DAPL over the connection manager, where the device goes by its interface.  The server
# listens before its client can reach it over TCP.
dapl_connections() {
	use_dapl
	pair_tcp 15828 "Connections: .* Num=20$" dtestcm -P ucmx-d0 -c 20 -- dtestcm -P ucmx-d0 -c 20 -h 192.0.2.1
}
use_dapl() {
	export DAT_OVERRIDE=$work/dat.conf
	echo 'ucmx-d0 u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 "d0 0" ""' > "$DAT_OVERRIDE"
}

# A machine that does not run goes from one QEMU to the other, which is asked until it
# has all of it, and then told to end.
qemu_live_migration() {
	local machine="qemu-system-x86_64 -M pc -m 8 -accel tcg -nodefaults -display none -S -monitor stdio"
	local completed="Migration status: completed"

	mkfifo "$work/monitor"
	pair 4999 "$completed" \
		bash -c "$machine -incoming rdma:192.0.2.1:4999 <> '$work/monitor'" -- \
		bash -c "printf 'migrate rdma:192.0.2.1:4999\ninfo migrate\nquit\n' | $machine || exit
			until grep -q '$completed' '$work/server'; do
				echo 'info migrate' > '$work/monitor'
				sleep 0.2
			done
			echo quit > '$work/monitor'"
}

ulimit -l unlimited
[ $# -eq 0 ] || tests=("$@")
run_all others "${tests[@]}"
