/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Types and words that every kernel header may use. */
#ifndef EXPLORE_TYPES_H
#define EXPLORE_TYPES_H

#include_next <linux/types.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include <point.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;
typedef unsigned int gfp_t;
typedef unsigned int __poll_t;

typedef struct {
	int counter;
} atomic_t;

struct list_head {
	struct list_head *next, *prev;
};

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

#define __user
#define __force
#define __rcu
#define __acquires(x)
#define __releases(x)
#define __must_hold(x)
#define __acquire(x)		((void)0)
#define __release(x)		((void)0)

#define likely(x)		(x)
#define unlikely(x)		(x)
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define offsetofend(t, m)	(offsetof(t, m) + sizeof(((t *)0)->m))
#define sizeof_field(t, m)	sizeof(((t *)0)->m)
#define container_of(p, t, m)	((t *)((char *)(p) - offsetof(t, m)))
#define min_t(t, a, b)		({ t a_ = (a), b_ = (b); a_ < b_ ? a_ : b_; })
#define max_t(t, a, b)		({ t a_ = (a), b_ = (b); a_ > b_ ? a_ : b_; })
#define min(a, b)		min_t(typeof(a), a, b)
#define max(a, b)		max_t(typeof(a), a, b)
#define swap(a, b)		({ typeof(a) a_ = (a); (a) = (b); (b) = a_; })
#define DECLARE_FLEX_ARRAY(t, name) struct { struct { } empty_; t name[]; }
#define BUILD_BUG_ON(c)		_Static_assert(!(c), #c)
#define static_assert		_Static_assert

#define HZ			250
#define PAGE_SIZE		4096UL
#define MAX_RW_COUNT		(INT_MAX & ~(PAGE_SIZE - 1))
#define U32_MAX		(~(u32)0)
#define ERESTARTSYS		512

#define WARN_ON(condition) ({						\
	bool is_ = (condition);						\
									\
	if (is_)							\
		violated("WARN", "%s:%d: WARN_ON(%s)", __FILE__,		\
			 __LINE__, #condition);				\
	is_;								\
})
#define WARN_ON_ONCE(condition)	WARN_ON(condition)

#include <linux/err.h>
#include <asm/barrier.h>

#endif /* EXPLORE_TYPES_H */
