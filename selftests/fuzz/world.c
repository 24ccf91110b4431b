// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What walkers know: ids, unacknowledged events, ports and groups are shared by
 * all, in tables of which anybody overwrites anything; channels are those of
 * the process, with a number that they keep when they are passed on.
 *
 * Nothing here is right for longer than it takes to look at it: an id may have
 * gone, a descriptor be another channel's.
 */
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "pass.h"

struct world *world;
__thread struct thread *me;

/* Number above, descriptor below; 0 if there is none. */
static _Atomic __u64 slots[SLOTS];
/* Of each process: where it receives, and where others send. */
static int sockets[PROCESSES][2];

static __u64 pack(__u32 above, __u32 below)
{
	return (__u64)above << 32 | below;
}

/*
 * Drawing
 */

static __u64 mix(__u64 x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

void seed_step(struct thread *thread)
{
	thread->random = mix(world->seed ^ mix(pack(thread->process * THREADS +
						    thread->number + 1,
						    thread->step)));
}

__u64 draw64(void)
{
	return mix(me->random++);
}

unsigned int draw(unsigned int n)
{
	return draw64() % n;
}

bool one_in(unsigned int n)
{
	return !draw(n);
}

__u64 draw_deadline(void)
{
	switch (draw(4)) {
	case 0:
		return 0;
	case 1:
		return 1 + draw(2);
	default:
		return now_ns() + draw(50) * 1000000ULL;
	}
}

/*
 * Channels of this process
 */

struct channel slot_get(unsigned int slot)
{
	__u64 value = slots[slot];

	return (struct channel){ .fd = value ? (int)(__u32)value : -1, .number = value >> 32 };
}

/* The one that takes a channel out closes it. */
void slot_set(unsigned int slot, struct channel channel)
{
	__u64 value = channel.fd < 0 ? 0 : pack(channel.number, channel.fd);
	__u64 old = atomic_exchange(&slots[slot], value);

	if (old)
		count(OP_CLOSE, close((__u32)old));
}

struct channel draw_channel(void)
{
	unsigned int first = draw(SLOTS);
	struct channel channel = { .fd = -1 };

	for (unsigned int i = 0; i < SLOTS && channel.fd < 0; i++)
		channel = slot_get((first + i) % SLOTS);
	return channel;
}

/*
 * Ids, events, ports, groups
 */

void id_note(__u32 id, __u32 channel)
{
	/* In one place, so that it is found where it is now. */
	world->ids[id % ARRAY_LEN(world->ids)] = pack(id, channel);
}

/* One that is there now. */
static __u32 draw_listed(struct channel channel)
{
	struct rdma_ucmx_id_info ids[32] = {};
	int n = cmd_list_ids(channel.fd, 0, ids, ARRAY_LEN(ids));

	return n > 0 ? ids[draw(n) % ARRAY_LEN(ids)].id : 0;
}

__u32 draw_id(struct channel *channel)
{
	__u64 value = world->ids[draw(ARRAY_LEN(world->ids))];
	__u32 id = value >> 32;

	*channel = draw_channel();
	if (one_in(16))
		return id + draw(3);
	if (one_in(8))
		return id;
	if (one_in(2))
		return draw_listed(*channel) ?: id;
	for (unsigned int i = 0; i < SLOTS; i++) {
		struct channel slot = slot_get(i);

		if (slot.fd >= 0 && slot.number == (__u32)value)
			*channel = slot;
	}
	return id;
}

void held_note(__u32 id, __u64 seq)
{
	world->held[(id + seq) % ARRAY_LEN(world->held)] = pack(id, seq);
}

__u64 draw_held(__u32 id)
{
	unsigned int first = draw(ARRAY_LEN(world->held));

	for (unsigned int i = 0; i < ARRAY_LEN(world->held); i++) {
		__u64 value = world->held[(first + i) % ARRAY_LEN(world->held)];

		if (value >> 32 == id)
			return (__u32)value;
	}
	return one_in(8) ? draw(4) : 0;
}

void port_note(__u16 port)
{
	world->ports[draw(ARRAY_LEN(world->ports))] = port;
}

__u16 draw_port(void)
{
	__u16 port = world->ports[draw(ARRAY_LEN(world->ports))];

	return port && !one_in(16) ? port : 7;
}

void group_note(__u32 id, __u32 group)
{
	world->groups[draw(ARRAY_LEN(world->groups))] = pack(id, group);
}

bool draw_group(__u32 *id, __u32 *group)
{
	__u64 value = world->groups[draw(ARRAY_LEN(world->groups))];

	*id = value >> 32;
	*group = value;
	return value;
}

/*
 * Passing channels on
 */

int passing_open(void)
{
	for (unsigned int i = 0; i < PROCESSES; i++) {
		if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, sockets[i]))
			return -1;
	}
	return 0;
}

/* With what is still under way, or nobody would ever close that. */
void passing_close(void)
{
	for (unsigned int i = 0; i < PROCESSES; i++) {
		close(sockets[i][0]);
		close(sockets[i][1]);
	}
}

void channel_send(void)
{
	struct channel channel = draw_channel();

	count(OP_SEND, channel_pass(sockets[draw(PROCESSES)][1], channel.fd, channel.number));
}

void channel_receive(void)
{
	unsigned int slot = draw(SLOTS);
	struct channel channel;

	channel.fd = count(OP_RECEIVE, channel_take(sockets[me->process][0], &channel.number));
	if (channel.fd >= 0)
		slot_set(slot, channel);
}
