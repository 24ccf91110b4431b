/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Limits, and who is charged for ids: the channel that owns them and the user
 * who opened it.
 */
#ifndef UCMX_LIMIT_H
#define UCMX_LIMIT_H

#include <linux/types.h>
#include <linux/uidgid.h>

struct ucmx_channel;

/* Module parameters; Documentation/uapi.rst says what they count. */
extern unsigned int ucmx_max_ids;
extern unsigned int ucmx_max_ids_per_user;
extern unsigned int ucmx_max_channel_ids;
extern unsigned int ucmx_max_user_events;
extern unsigned int ucmx_max_events_per_user;
extern unsigned int ucmx_max_groups;

struct ucmx_user;

struct ucmx_user *ucmx_user_get(kuid_t uid);
void ucmx_user_put(struct ucmx_user *user);
u32 ucmx_user_ids(const struct ucmx_user *user);
u32 ucmx_user_events(const struct ucmx_user *user);

struct ucmx_user *ucmx_user_of(const struct ucmx_channel *channel);
bool ucmx_user_begin_end(struct ucmx_user *user, struct list_head *entry);
struct list_head *ucmx_user_end_end(struct ucmx_user *user);

bool ucmx_channel_charge(struct ucmx_channel *channel);
void ucmx_channel_uncharge(struct ucmx_channel *channel);

bool ucmx_channel_promise(struct ucmx_channel *channel, unsigned int n);
void ucmx_channel_unpromise(struct ucmx_channel *channel, unsigned int n);
void ucmx_channel_fulfil(struct ucmx_channel *target,
			 struct ucmx_channel *source, unsigned int n);

bool ucmx_channel_has_requests(struct ucmx_channel *channel);
void ucmx_channel_charge_request(struct ucmx_channel *channel);
void ucmx_channel_uncharge_request(struct ucmx_channel *channel);

bool ucmx_channel_has_events(struct ucmx_channel *channel);
struct ucmx_user *ucmx_channel_charge_event(struct ucmx_channel *channel);
void ucmx_user_uncharge_event(struct ucmx_user *user);

#endif /* UCMX_LIMIT_H */
