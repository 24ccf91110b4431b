// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The stage hand: sets the scene, with nobody else there, and tidies up when
 * all have gone home, by which it finds out whether something was lost or left.
 */
#include <limit.h>
#include <linux/cred.h>
#include <linux/slab.h>

#include "search.h"
#include "world.h"

/* A command made room for each event that it causes. */
static void make_room_for(const struct op *op)
{
	if (op->kind == OP_RAISE && W.parts[op->id].alive)
		give_room(W.parts[op->id].id, UCMX_ROOM_CONNECT);
}

static void prepare_new(const struct op *op)
{
	struct ucmx_channel *channel = W.desks[op->channel].channel;
	struct ucmx_id *id = make_id(op->id);
	int i, j;

	W.parts[op->id].given = true;
	W.parts[op->id].claimed = true;
	ucmx_channel_charge(channel);
	ucmx_id_publish(id, channel, W.parts[op->id].cookie);
	for (i = 0; i < MAX_PREPARE; i++) {
		if (scene->prepare[i].id == op->id)
			make_room_for(&scene->prepare[i]);
	}
	for (i = 0; i < MAX_CAST; i++) {
		for (j = 0; j < MAX_STEPS; j++) {
			if (scene->cast[i].steps[j].id == op->id)
				make_room_for(&scene->cast[i].steps[j]);
		}
	}
}

static void prepare_op(const struct op *op)
{
	switch (op->kind) {
	case OP_NEW:
		prepare_new(op);
		break;
	case OP_LISTEN:
		prepare_new(op);
		ucmx_id_set_backlog(W.parts[op->id].id, op->target);
		break;
	default:
		do_op(op);
	}
}

/* Channels 0 and 2 are opened by one user, 1 by another. */
kuid_t current_euid(void)
{
	kuid_t uid = { W.desks[0].channel && !W.desks[1].channel };

	return uid;
}

void stage_prepare(void)
{
	int i;

	if (scene->limit)
		ucmx_max_channel_ids = scene->limit;
	if (scene->limit_user)
		ucmx_max_ids_per_user = scene->limit_user;
	if (scene->limit_all)
		ucmx_max_ids = scene->limit_all;
	if (scene->limit_caused)
		ucmx_max_user_events = scene->limit_caused;
	ucmx_id_core_init();
	ucmx_channel_core_init();
	for (i = 0; i < scene->channels; i++) {
		W.desks[i].channel = ucmx_channel_create();
		W.desks[i].files = 1;
		W.desks[i].open = true;
	}
	for (i = 0; i < MAX_PREPARE && scene->prepare[i].kind; i++)
		prepare_op(&scene->prepare[i]);
	W.signals = scene->signals;
	W.faults = scene->faults;
	W.nomem = scene->nomem;
	W.stuck = scene->stuck;
}

/* Whoever is unclaimed is adopted, so that its events are delivered. */
static void adopt_all(void)
{
	int k;

	for (k = 0; k < MAX_IDS; k++) {
		struct part *part = &W.parts[k];

		if (part->alive && part->given && !part->id->listener &&
		    !part->id->claimed && !part->id->dying)
			ucmx_id_adopt(part->id->channel, part->id,
				      part->cookie);
	}
}

static bool read_all(void)
{
	struct op op = { .kind = OP_READ, .flags = NONBLOCK };
	bool some = false;
	int c;

	for (c = 0; c < scene->channels; c++) {
		op.channel = c;
		do {
			ME->copied = 0;
			if (W.desks[c].open)
				do_op(&op);
			some = some || ME->copied;
		} while (ME->copied);
	}
	return some;
}

static void acknowledge_all(void)
{
	int k, c;

	for (k = 0; k < MAX_IDS; k++) {
		struct part *part = &W.parts[k];

		for (c = 0; c < scene->channels && part->given; c++) {
			if (W.desks[c].open)
				ucmx_channel_ack(W.desks[c].channel,
						 part->handle, 0);
		}
	}
}

void stage_tidy(void)
{
	int c;

	stand(DOING_JOIN, NULL, HERE, WANTS_END);
	do {
		ME->n_read = 0;
		adopt_all();
	} while (read_all());
	account_at_end();
	acknowledge_all();
	for (c = 0; c < scene->channels; c++) {
		if (!W.desks[c].open)
			continue;
		W.desks[c].open = false;
		file_put(c);
	}
	ucmx_id_core_exit();
	ucmx_channel_core_exit();
}
