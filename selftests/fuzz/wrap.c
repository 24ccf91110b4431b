// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Between the commands and the kernel: every ioctl of a walker comes by here,
 * is counted, and is now and then made wrong first.
 *
 * The argument always ends where a page ends behind which there is none, so
 * that the kernel cannot look beyond it unnoticed.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>

#include "fuzz.h"

const char *const op_names[OPS] = {
	"INFO", "CREATE_ID", "DESTROY_ID", "BIND_ADDR", "RESOLVE_ADDR",
	"RESOLVE_ROUTE", "LISTEN", "CONNECT", "ACCEPT", "REJECT", "DISCONNECT",
	"NOTIFY", "QUERY", "INIT_QP_ATTR", "SET_OPTION", "ACK_EVENTS",
	"LIST_IDS", "MIGRATE_ID", "ADOPT_ID", "SHUTDOWN", "WRITE_EVENT",
	"JOIN_MCAST", "LEAVE_MCAST", "GET_OPTION", "READ_EVENTS",
	"RESOLVE_IB_SERVICE",
	"(no command)", "(open)", "(read)", "(poll)", "(epoll)", "(dup)",
	"(close)", "(send)", "(receive)", "(fork)", "(kill)",
};

int count(enum op op, int result)
{
	struct tally *tally = &world->tallies[op];

	if (result >= 0)
		tally->ok++;
	else
		tally->errors[errno < ERRNOS ? errno : ERRNOS - 1]++;
	return result;
}

static enum op op_of(unsigned long request)
{
	unsigned int number = _IOC_NR(request) - RDMA_UCMX_CMD_BASE;

	return request == RDMA_UCMX_IO(_IOC_NR(request)) && number < OP_COMMANDS ?
		(enum op)number : OP_UNKNOWN;
}

/* Where nothing of this process can be hurt. */
static __u64 wild_address(void)
{
	switch (draw(6)) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX - draw(64);
	case 2:
		return 0xffff888000000000 + draw(1 << 20);
	case 3:
		return (uintptr_t)me->arena + ARENA_NONE - draw(16);
	case 4:
		return (uintptr_t)me->arena + ARENA_READ_ONLY + draw(64);
	default:
		return (uintptr_t)me->arena + draw(64);
	}
}

static __u32 odd_number(void)
{
	static const __u32 numbers[] = {
		0, 1, 2, 0xff, 0x100, 0x7fffffff, 0x80000000, 0xffffffff,
	};

	return one_in(3) ? draw64() : numbers[draw(ARRAY_LEN(numbers))];
}

/* Where the address is to which a command writes besides its argument, or 0. */
static size_t address_offset(unsigned long request)
{
	switch (request) {
	case RDMA_UCMX_LIST_IDS:
		return offsetof(struct rdma_ucmx_list_ids, ids);
	case RDMA_UCMX_GET_OPTION:
		return offsetof(struct rdma_ucmx_get_option, optval);
	case RDMA_UCMX_READ_EVENTS:
		return offsetof(struct rdma_ucmx_read_events, buffer);
	default:
		return 0;
	}
}

/* How much a wrong argument makes it write is not known. */
static void move_output(char *arg, size_t size, unsigned long request)
{
	size_t offset = address_offset(request);
	__u64 address = (uintptr_t)me->arena + ARENA_LARGE;

	if (offset && offset + sizeof(address) <= size)
		memcpy(arg + offset, &address, sizeof(address));
}

/* Another number for the same argument. */
static unsigned long other_request(unsigned long request)
{
	switch (draw(4)) {
	case 0:
		return request ^ 1UL << draw(32);
	case 1:
		return RDMA_UCMX_IO(RDMA_UCMX_CMD_BASE + OP_COMMANDS + draw(4));
	default:
		return RDMA_UCMX_IO(RDMA_UCMX_CMD_BASE + draw(OP_COMMANDS));
	}
}

/*
 * The argument in an arena, of @size bytes that its first member says: made
 * wrong in one respect.
 */
static char *spoil(char *arg, __u32 size, unsigned long *request)
{
	char *end = me->arena + ARENA_NONE, *wrong;
	__u32 new_size = size, number = odd_number();
	__u64 address = wild_address();

	switch (draw(8)) {
	case 0:
		new_size = draw(size + 1);
		break;
	case 1 ... 2:
		new_size = size + 1 + draw(one_in(4) ? PAGE : 64);
		break;
	case 3:
		arg[4 + draw(size - 4)] ^= 1 << draw(8);
		break;
	case 4:
		memcpy(arg + 4 * draw(size / 4), &number, sizeof(number));
		memcpy(&new_size, arg, sizeof(new_size));
		break;
	case 5:
		if (size >= 16)
			memcpy(arg + 8 * (1 + draw(size / 8 - 1)), &address, sizeof(address));
		return arg;
	case 6:
		/* No argument of before, with addresses that are somebody's. */
		memset(me->arena, 0, PAGE / 2);
		return (char *)(uintptr_t)address;
	case 7:
		*request = other_request(*request);
		break;
	}
	move_output(arg, size, *request);
	if (new_size == size || new_size > 2 * PAGE)
		return arg;
	/* What is new is zero, but for a part of it in half of all cases. */
	wrong = end - (new_size < 4 ? 4 : new_size);
	memmove(wrong, arg, new_size < size ? new_size : size);
	if (new_size > size) {
		memset(wrong + size, 0, new_size - size);
		if (one_in(2))
			wrong[size + draw(new_size - size)] = 1;
	}
	memcpy(wrong, &new_size, sizeof(new_size));
	return wrong;
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	bool wrong = me && one_in(8);
	char *own, *arg;
	va_list args;
	__u32 size;
	int ret;

	va_start(args, request);
	own = va_arg(args, char *);
	va_end(args);
	if (!me)
		return __real_ioctl(fd, request, own);
	memcpy(&size, own, sizeof(size));
	arg = me->arena + ARENA_NONE - size;
	memcpy(arg, own, size);
	if (wrong)
		arg = spoil(arg, size, &request);
	me->walker->op = op_of(request);
	ret = count(op_of(request), __real_ioctl(fd, request, arg));
	if (!wrong)
		memcpy(own, arg, size);
	return ret;
}
