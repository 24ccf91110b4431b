#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# others.sh - programs that use librdmacm for something else than to show it:
# fio, qperf, libfabric and Open MPI over it, UCX, DAPL, librpma, QEMU's live migration,
# and iSER between tgt and libiscsi, as Debian has them, over whichever library the
# environment gives them, inside the virtual machine.  Documentation/testing.rst has
# what else there is.  Arguments: the tests to run, if not all.  Output: KTAP.
#
# None may fail because a machine is slow.  With one processor (see "suites") what is
# done in order happens in order; what programs take for granted beyond that is said
# below, where it is seen to.
set -uo pipefail
# shellcheck source=selftests/programs_lib.sh
. "$(dirname "$0")/programs_lib.sh"
here=$(cd "$(dirname "$0")" && pwd)

tests=(the_library_is_the_intended_one
	fio_send fio_write fio_read qperf_rc libfabric_pingpong libfabric_datagrams
	open_mpi ucx_demo dapl_connections dapl_transactions librpma_connections
	iser_disk qemu_live_migration)

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

# Reliable datagrams, which come over connections; both compare what they get.  A
# completion queue has room for all peers that are expected, which are 256 if nobody says
# how many, and more than soft-RoCE can have.
libfabric_datagrams() {
	local both=(fi_pingpong -p "verbs;ofi_rxm" -e rdm -d rxe0 -I 10 -S 4096 -c)
	local -x FI_UNIVERSE_SIZE=4

	pair_tcp 47592 "^4k  *10  *=10 " "${both[@]}" -- "${both[@]}" 192.0.2.1
}

# Messages as such datagrams, of two processes that connect to each other, and compare
# what they get.
open_mpi() {
	local -x FI_UNIVERSE_SIZE=4
	local -x OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

	timeout --kill-after=5 $seconds mpirun.openmpi -np 2 --oversubscribe \
		--mca plm_rsh_agent true --mca pml cm --mca mtl ofi \
		--mca mtl_ofi_provider_include "verbs;ofi_rxm" \
		NPopenmpi -i -u 4096 -o "$work/rates" > "$work/client" 2>&1 &&
	grep -q "Integrity check passed" "$work/client" && return
	show client
	return 1
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

# Two threads with two connections each, which compare what they get; then the server is
# told to end, when it is ready for that.
dapl_transactions() {
	use_dapl
	pair_when "Service Point Ready" "Total RDMA Read" dapltest -T S -D ucmx-d0 -- \
		bash -c "dapltest -T T -D ucmx-d0 -s 192.0.2.1 -V -i 20 -t 2 -w 2 \
				client SR 4096 server SR 4096 client RW 8192 server RR 4096 || exit
			until [ \$(grep -c 'Service Point Ready' '$work/server') -gt 1 ]; do
				sleep 0.1
			done
			dapltest -T Q -D ucmx-d0 -s 192.0.2.1"
}

use_dapl() {
	export DAT_OVERRIDE=$work/dat.conf
	echo 'ucmx-d0 u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 "d0 0" ""' > "$DAT_OVERRIDE"
}

# See rpma.c.
librpma_connections() {
	local rpma=$here/../build/selftests/rpma connections=$((many / 2))
	local server_says="^server: all $connections done"

	pair 7204 "^client: all $connections done" \
		"$rpma" server 192.0.2.1 7204 $connections -- \
		"$rpma" client 192.0.2.1 7204 $connections
}

# QEMU's tools read a disk of tgt's, and write to it.  It is taken away when tgt has done
# with connections, and tgt told to end: it does not survive that otherwise.
iser_disk() {
	local target=iqn.2001-04.com.example:disk
	local url=iser://192.0.2.1:3260/$target/1

	mkdir -p /run/tgtd
	head -c 1M /dev/urandom | tee "$work/disk" > "$work/wanted"
	head -c 64K /dev/urandom > "$work/written"
	pair 3260 "all of it" tgtd -f --iser pool_sz_mb=128 -- bash -ec "
		disk() { tgtadm --lld iser --tid 1 \"\$@\"; }
		until tgtadm --op show --mode sys > '$work/shown' 2>&1; do sleep 0.1; done
		disk --op new --mode target -T $target
		disk --op new --mode logicalunit --lun 1 -b '$work/disk'
		disk --op bind --mode target -I ALL
		disk --op bind --mode target -Q iqn.2008-11.org.linux-kvm
		qemu-img dd -f raw -O raw bs=64k if=$url 'of=$work/read'
		cmp '$work/read' '$work/wanted'
		qemu-io -f raw -c 'write -s $work/written 128k 64k' $url
		dd 'if=$work/written' 'of=$work/wanted' bs=64k seek=2 conv=notrunc
		cmp '$work/disk' '$work/wanted'
		ended() { grep -c '(after cleanup)' '$work/server'; }
		until [ \$(ended) -eq \$(grep -c ', established' '$work/server') ]; do sleep 0.1; done
		disk --op delete --mode logicalunit --lun 1
		disk --op delete --mode target
		tgtadm --op delete --mode system
		echo all of it"
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
