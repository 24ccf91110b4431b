// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Multicast over the library: joining, what is received, leaving.
 */
#include <errno.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include <rdma/rdma_verbs.h>

#include "lib_scene.h"
#include "test.h"

#define GROUP "239.1.1.1"
#define GROUP2 "239.1.1.2"

/* The address in front of what a datagram brings. */
enum { HEADER = 40, SIZE = 16 };

static struct sockaddr *address_of(const char *ip)
{
	static struct sockaddr_in addresses[3];
	static int last;
	struct sockaddr_in *address = &addresses[last++ % 3];

	memset(address, 0, sizeof(*address));
	address->sin_family = AF_INET;
	inet_pton(AF_INET, ip, &address->sin_addr);
	return (struct sockaddr *)address;
}

FIXTURE(group) {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
};

static int bound(struct rdma_event_channel *channel, const char *ip,
		 struct rdma_cm_id **id)
{
	if (rdma_create_id(channel, id, NULL, RDMA_PS_UDP))
		return -1;
	return rdma_bind_addr(*id, address_of(ip));
}

static int ud_qp_create(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = qp_attr_of(IBV_QPT_UD);

	attr.sq_sig_all = 1;
	return rdma_create_qp(id, NULL, &attr);
}

FIXTURE_SETUP(group)
{
	self->channel = rdma_create_event_channel();
	ASSERT_NE(NULL, self->channel);
	test_ok(bound(self->channel, ADDR1, &self->id));
}

FIXTURE_TEARDOWN(group)
{
	id_close(self->id);
	rdma_destroy_event_channel(self->channel);
}

static int join(struct rdma_cm_id *id, const char *ip, void *context)
{
	return rdma_join_multicast(id, address_of(ip), context);
}

static int leave(struct rdma_cm_id *id, const char *ip)
{
	return rdma_leave_multicast(id, address_of(ip));
}

TEST_F(group, event_has_the_context)
{
	struct rdma_cm_event *event;

	test_ok(join(self->id, GROUP, self));
	test_ok(event_expect(self->channel, RDMA_CM_EVENT_MULTICAST_JOIN, &event));
	EXPECT_EQ(self->id, event->id);
	EXPECT_EQ(self, event->param.ud.private_data);
	EXPECT_EQ(0, event->status);
	EXPECT_EQ(0xffffff, event->param.ud.qp_num);
	test_ok(rdma_ack_cm_event(event));
	test_ok(leave(self->id, GROUP));
}

TEST_F(group, wrong_arguments)
{
	struct sockaddr unspecified = { .sa_family = AF_UNSPEC };
	struct rdma_cm_join_mc_attr_ex attr = { .comp_mask = 4 };
	struct rdma_cm_id *fresh;

	test_err(EINVAL, rdma_join_multicast(self->id, &unspecified, NULL));
	test_err(EINVAL, rdma_leave_multicast(self->id, &unspecified));
	test_err(EADDRNOTAVAIL, leave(self->id, GROUP));
	test_err(ENOTSUP, rdma_join_multicast_ex(self->id, &attr, NULL));
	attr.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS;
	attr.addr = address_of(GROUP);
	test_err(EINVAL, rdma_join_multicast_ex(self->id, &attr, NULL));
	attr.comp_mask |= RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;
	attr.join_flags = RDMA_MC_JOIN_FLAG_RESERVED;
	test_err(EINVAL, rdma_join_multicast_ex(self->id, &attr, NULL));
	test_ok(rdma_create_id(self->channel, &fresh, NULL, RDMA_PS_UDP));
	test_err(EINVAL, join(fresh, GROUP, NULL));
	test_err(EADDRNOTAVAIL, leave(fresh, GROUP));
	test_ok(rdma_destroy_id(fresh));
}

TEST_F(group, several_are_told_apart)
{
	int first, second;

	test_ok(join(self->id, GROUP, &first));
	test_ok(event_take(self->channel, RDMA_CM_EVENT_MULTICAST_JOIN));
	test_ok(join(self->id, GROUP2, &second));
	test_ok(event_take(self->channel, RDMA_CM_EVENT_MULTICAST_JOIN));
	test_ok(leave(self->id, GROUP));
	test_err(EADDRNOTAVAIL, leave(self->id, GROUP));
	test_ok(leave(self->id, GROUP2));
	test_ok(join(self->id, GROUP, &first));
	test_ok(event_take(self->channel, RDMA_CM_EVENT_MULTICAST_JOIN));
}

TEST_F(group, id_goes_with_its_groups)
{
	struct rdma_cm_id *id;

	test_ok(bound(self->channel, ADDR2, &id));
	test_ok(join(id, GROUP, NULL));
	test_ok(event_take(self->channel, RDMA_CM_EVENT_MULTICAST_JOIN));
	test_ok(join(id, GROUP2, NULL));
	test_ok(rdma_destroy_id(id));
	EXPECT_FALSE(event_there(self->channel));
}

/* Send one message to the group from another id. */
static int send_to_group(struct rdma_cm_id *id, const struct rdma_ud_param *to,
			 char *message, struct ibv_mr *mr)
{
	struct ibv_ah_attr attr = to->ah_attr;
	struct ibv_ah *ah = ibv_create_ah(id->pd, &attr);
	struct ibv_wc wc;
	int ret;

	if (!ah)
		return -1;
	ret = rdma_post_ud_send(id, NULL, message, SIZE, mr, 0, ah, to->qp_num);
	if (!ret)
		ret = rdma_get_send_comp(id, &wc) == 1 && !wc.status ? 0 : -1;
	ibv_destroy_ah(ah);
	return ret;
}

/* With a synchronous sender that only sends. */
TEST_F(group, message_to_the_group_is_received)
{
	struct rdma_cm_join_mc_attr_ex attr = {
		.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS |
			     RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
		.join_flags = RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER,
		.addr = address_of(GROUP),
	};
	char sent[SIZE] = "hello everybody", got[HEADER + SIZE];
	struct ibv_mr *send_mr, *recv_mr;
	struct rdma_cm_id *sender;
	struct ibv_wc wc;

	test_ok(ud_qp_create(self->id));
	recv_mr = rdma_reg_msgs(self->id, got, sizeof(got));
	ASSERT_NE(NULL, recv_mr);
	test_ok(rdma_post_recv(self->id, NULL, got, sizeof(got), recv_mr));
	test_ok(join(self->id, GROUP, NULL));
	test_ok(event_take(self->channel, RDMA_CM_EVENT_MULTICAST_JOIN));

	test_ok(bound(NULL, ADDR2, &sender));
	test_ok(ud_qp_create(sender));
	test_ok(rdma_join_multicast_ex(sender, &attr, self));
	ASSERT_NE(NULL, sender->event);
	EXPECT_EQ(RDMA_CM_EVENT_MULTICAST_JOIN, sender->event->event);
	EXPECT_EQ(self, sender->event->param.ud.private_data);
	send_mr = rdma_reg_msgs(sender, sent, SIZE);
	ASSERT_NE(NULL, send_mr);
	test_ok(send_to_group(sender, &sender->event->param.ud, sent, send_mr));
	ASSERT_EQ(1, rdma_get_recv_comp(self->id, &wc));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	EXPECT_EQ(0, memcmp(sent, got + HEADER, SIZE));

	test_ok(leave(sender, GROUP));
	test_ok(rdma_dereg_mr(send_mr));
	id_close(sender);
	test_ok(leave(self->id, GROUP));
	test_ok(rdma_dereg_mr(recv_mr));
}

/* Verbs destroys none that is attached to a group. */
TEST_F(group, queue_pair_of_a_member_goes)
{
	struct rdma_cm_id *id = self->id;
	struct ibv_cq *cq = ibv_create_cq(id->verbs, 4, NULL, NULL, 0);
	struct ibv_qp_init_attr attr = qp_attr_of(IBV_QPT_UD);

	ASSERT_NE(NULL, cq);
	attr.send_cq = cq;
	attr.recv_cq = cq;
	test_ok(rdma_create_qp(id, NULL, &attr));
	test_ok(join(id, GROUP, NULL));
	test_ok(event_take(self->channel, RDMA_CM_EVENT_MULTICAST_JOIN));
	rdma_destroy_qp(id);
	EXPECT_EQ(0, ibv_destroy_cq(cq));
	test_ok(leave(id, GROUP));
}

/* Leaving in a thread that is sent signals. */
struct leaver {
	pthread_t thread;
	struct rdma_cm_id *id;
	_Atomic bool begun;
	_Atomic bool acked;
	bool early;
	int ret;
	int error;
};

static void *run_leaver(void *argument)
{
	struct leaver *leaver = argument;

	atomic_store(&leaver->begun, true);
	leaver->ret = leave(leaver->id, GROUP);
	leaver->error = errno;
	leaver->early = !atomic_load(&leaver->acked);
	return NULL;
}

static void on_signal(int number)
{
	(void)number;
}

TEST_F(group, leaving_waits_for_the_acknowledgement_whatever_signals_come)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct leaver leaver = { .id = self->id };
	struct rdma_cm_event *event;
	int i;

	sigaction(SIGUSR1, &action, NULL);
	test_ok(join(self->id, GROUP, NULL));
	test_ok(event_expect(self->channel, RDMA_CM_EVENT_MULTICAST_JOIN, &event));
	pthread_create(&leaver.thread, NULL, run_leaver, &leaver);
	while (!atomic_load(&leaver.begun))
		usleep(1000);
	for (i = 0; i < 50; i++) {
		pthread_kill(leaver.thread, SIGUSR1);
		usleep(2000);
	}
	atomic_store(&leaver.acked, true);
	test_ok(rdma_ack_cm_event(event));
	pthread_join(leaver.thread, NULL);
	EXPECT_FALSE(leaver.early);
	errno = leaver.error;
	test_ok(leaver.ret);
	test_err(EADDRNOTAVAIL, leave(self->id, GROUP));
}

/* Its event has not been read: nobody waits for that. */
TEST_F(group, leaving_before_the_event)
{
	test_ok(join(self->id, GROUP, NULL));
	test_ok(leave(self->id, GROUP));
	test_ok(join(self->id, GROUP2, self));
	test_ok(event_take(self->channel, RDMA_CM_EVENT_MULTICAST_JOIN));
	EXPECT_FALSE(event_there(self->channel));
}

TEST_HARNESS_MAIN
