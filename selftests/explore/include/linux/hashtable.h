/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Hash tables, of one bucket. */
#ifndef EXPLORE_HASHTABLE_H
#define EXPLORE_HASHTABLE_H

#include <linux/list.h>

#define DEFINE_HASHTABLE(name, bits)	struct hlist_head name
#define hash_add(table, node, key)	((void)(key), hlist_add_head(node, &(table)))
#define hash_del(node)			hlist_del_init(node)
#define hash_empty(table)		hlist_empty(&(table))
#define hash_for_each_possible(table, entry, member, key) \
	hlist_for_each_entry(entry, &(table), member)

#endif /* EXPLORE_HASHTABLE_H */
