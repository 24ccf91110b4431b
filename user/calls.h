/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How a public function is defined that makes its call and may have it logged:
 *
 *	KIND(name, (parameters), (their names), format and what goes into it)
 *
 * What goes into it is looked at before the call, which may free it.  The logging
 * is in a function of its own, out of the way of what is usual.
 */
#ifndef CMX_CALLS_H
#define CMX_CALLS_H

#include <pthread.h>

#include "debug.h"

/* In a format: an address, a channel's descriptor, a name; each may be NULL. */
#define CMX_ADDRESS(address) cmx_debug_address(address).text
#define CMX_FD(channel) ((channel) ? (channel)->fd : -1)
#define CMX_NAMED(name) ((name) ?: "none")

#define CMX_FUNCTION(type, name, work, parameters, arguments, end, ...)	\
	__attribute__((cold, noinline))					\
	static type logged_##name parameters				\
	{								\
		struct cmx_call call;					\
		type ret;						\
									\
		cmx_debug_begin(&call, #name, __VA_ARGS__);		\
		ret = work arguments;					\
		end;							\
		return ret;						\
	}								\
	CMX_EXPORT type name parameters					\
	{								\
		if (cmx_debugging())					\
			return logged_##name arguments;			\
		return work arguments;					\
	}

/* Returns a number. */
#define CMX_NUMBER(name, parameters, arguments, ...)			\
	CMX_FUNCTION(int, name, cmx_##name, parameters, arguments,	\
		     cmx_debug_end(&call, ret, NULL), __VA_ARGS__)

static inline void cmx_unkeep(void *id)
{
	if (id)
		cmx_id_put(cmx_id_of(id));
}

/*
 * Returns a number, and takes more than one step: another thread may destroy the id
 * in between, which therefore is kept until it is over, or cancelled.
 */
#define CMX_STEPS(name, parameters, arguments, ...)			\
	static int kept_##name parameters				\
	{								\
		int ret;						\
									\
		if (id)							\
			cmx_id_get(cmx_id_of(id));			\
		pthread_cleanup_push(cmx_unkeep, id);			\
		ret = cmx_##name arguments;				\
		pthread_cleanup_pop(1);					\
		return ret;						\
	}								\
	CMX_FUNCTION(int, name, kept_##name, parameters, arguments,	\
		     cmx_debug_end(&call, ret, NULL), __VA_ARGS__)

/* Returns 0 when it has put something into *out. */
#define CMX_OBJECT(name, parameters, arguments, out, ...)		\
	CMX_FUNCTION(int, name, cmx_##name, parameters, arguments,	\
		     cmx_debug_end(&call, ret, ret ? NULL : *(out)), __VA_ARGS__)

/* Returns a pointer. */
#define CMX_POINTER(type, name, parameters, arguments, ...)		\
	CMX_FUNCTION(type, name, cmx_##name, parameters, arguments,	\
		     cmx_debug_end_pointer(&call, ret), __VA_ARGS__)

/* Returns a port. */
#define CMX_PORT(name, parameters, arguments, ...)			\
	CMX_FUNCTION(__be16, name, cmx_##name, parameters, arguments,	\
		     cmx_debug_end(&call, ntohs(ret), NULL), __VA_ARGS__)

/* Returns nothing. */
#define CMX_NOTHING(name, parameters, arguments, ...)			\
	__attribute__((cold, noinline))					\
	static void logged_##name parameters				\
	{								\
		struct cmx_call call;					\
									\
		cmx_debug_begin(&call, #name, __VA_ARGS__);		\
		cmx_##name arguments;					\
		cmx_debug_end_void(&call);				\
	}								\
	CMX_EXPORT void name parameters					\
	{								\
		if (cmx_debugging())					\
			logged_##name arguments;			\
		else							\
			cmx_##name arguments;				\
	}

#endif /* CMX_CALLS_H */
