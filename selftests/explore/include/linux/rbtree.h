/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Trees, as lists: no scenario has many events, and which node is where nobody but
 * the tree may ask.
 */
#ifndef EXPLORE_RBTREE_H
#define EXPLORE_RBTREE_H

#include <linux/types.h>

struct rb_node {
	struct rb_node *next;
};

struct rb_root {
	struct rb_node *first;
};

#define RB_ROOT				((struct rb_root){})
#define rb_entry(ptr, type, member)	container_of(ptr, type, member)
#define rb_entry_safe(ptr, type, member)				\
({									\
	struct rb_node *__node = (ptr);					\
									\
	__node ? rb_entry(__node, type, member) : NULL;			\
})

static inline void rb_add(struct rb_node *node, struct rb_root *root,
			  bool (*less)(struct rb_node *a,
				       const struct rb_node *b))
{
	node->next = root->first;
	root->first = node;
}

static inline void rb_erase(struct rb_node *node, struct rb_root *root)
{
	struct rb_node **at = &root->first;

	while (*at != node)
		at = &(*at)->next;
	*at = node->next;
}

static inline struct rb_node *
rb_find(const void *key, const struct rb_root *root,
	int (*compare)(const void *key, const struct rb_node *node))
{
	struct rb_node *node = root->first;

	while (node && compare(key, node))
		node = node->next;
	return node;
}

#endif /* EXPLORE_RBTREE_H */
