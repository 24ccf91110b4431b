// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * See nomem.h.  The functions have the names of the C library's and of
 * libibverbs', so that they stand before those, for the whole program; only
 * calls from within librdmacmx are counted, and can fail.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "nomem.h"

enum { MAX_BLOCKS = 4096 };

static struct {
	uintptr_t start;
	uintptr_t end;
} library;

/* Of the thread that asked for it. */
static _Thread_local unsigned int countdown;
static _Thread_local bool refused;

static atomic_int objects;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *blocks[MAX_BLOCKS];

static int find_library(struct dl_phdr_info *info, size_t size, void *argument)
{
	uintptr_t end;
	int i;

	(void)size;
	(void)argument;
	if (!strstr(info->dlpi_name, "librdmacmx"))
		return 0;
	library.start = info->dlpi_addr;
	for (i = 0; i < info->dlpi_phnum; i++) {
		end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr +
		      info->dlpi_phdr[i].p_memsz;
		if (info->dlpi_phdr[i].p_type == PT_LOAD && end > library.end)
			library.end = end;
	}
	return 1;
}

__attribute__((constructor)) static void start(void)
{
	dl_iterate_phdr(find_library, NULL);
}

static bool is_librarys(void *caller)
{
	return (uintptr_t)caller >= library.start &&
	       (uintptr_t)caller < library.end;
}

/* Whether this call of the library's is the one that fails. */
static bool refuse(void)
{
	if (!countdown || --countdown)
		return false;
	refused = true;
	errno = ENOMEM;
	return true;
}

void nomem_arm(unsigned int nth)
{
	refused = false;
	countdown = nth;
}

bool nomem_disarm(void)
{
	countdown = 0;
	return refused;
}

int nomem_blocks(void)
{
	int i, count = 0;

	pthread_mutex_lock(&lock);
	for (i = 0; i < MAX_BLOCKS; i++)
		count += !!blocks[i];
	pthread_mutex_unlock(&lock);
	return count;
}

int nomem_objects(void)
{
	return atomic_load(&objects);
}

static void replace(void *from, void *to)
{
	int i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < MAX_BLOCKS && blocks[i] != from; i++)
		;
	if (i < MAX_BLOCKS)
		blocks[i] = to;
	else if (!from)
		abort();
	pthread_mutex_unlock(&lock);
}

static void *allocate(void *caller, size_t count, size_t size)
{
	void *memory;

	if (!is_librarys(caller))
		return __libc_calloc(count, size);
	if (refuse())
		return NULL;
	memory = __libc_calloc(count, size);
	if (memory)
		replace(NULL, memory);
	return memory;
}

void *calloc(size_t count, size_t size)
{
	return allocate(__builtin_return_address(0), count, size);
}

void *malloc(size_t size)
{
	return allocate(__builtin_return_address(0), 1, size);
}

char *strdup(const char *string)
{
	size_t size = strlen(string) + 1;
	char *copy = allocate(__builtin_return_address(0), 1, size);

	return copy ? memcpy(copy, string, size) : NULL;
}

void free(void *memory)
{
	if (memory)
		replace(memory, NULL);
	__libc_free(memory);
}

#define REAL(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

/* Functions that make an object, and that do away with it. */
#define CREATE(type, name, parameters, arguments)			\
type *(name) parameters							\
{									\
	bool ours = is_librarys(__builtin_return_address(0));		\
	type *object;							\
									\
	if (ours && refuse())						\
		return NULL;						\
	object = REAL(name) arguments;					\
	if (ours && object)						\
		objects++;						\
	return object;							\
}

#define DESTROY(function, type)						\
int function(type *object)						\
{									\
	bool ours = is_librarys(__builtin_return_address(0));		\
	int ret = REAL(function)(object);					\
									\
	if (ours && !ret)						\
		objects--;						\
	return ret;							\
}

#define CHANGE(name, parameters, arguments)				\
int name parameters							\
{									\
	if (is_librarys(__builtin_return_address(0)) && refuse())	\
		return ENOMEM;						\
	return REAL(name) arguments;					\
}

#define CQ_PARAMETERS (struct ibv_context *context, int size, void *argument,	\
		       struct ibv_comp_channel *channel, int vector)
#define CQ_ARGUMENTS (context, size, argument, channel, vector)
#define QP_PARAMETERS (struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
#define SRQ_PARAMETERS (struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
#define QUERY_PARAMETERS (struct ibv_context *context, struct ibv_device_attr *attr)
#define MODIFY_PARAMETERS (struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
#define ATTACH_PARAMETERS (struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)

CREATE(struct ibv_context, ibv_open_device, (struct ibv_device *device), (device))
DESTROY(ibv_close_device, struct ibv_context)
CREATE(struct ibv_pd, ibv_alloc_pd, (struct ibv_context *context), (context))
DESTROY(ibv_dealloc_pd, struct ibv_pd)
CREATE(struct ibv_comp_channel, ibv_create_comp_channel, (struct ibv_context *context), (context))
DESTROY(ibv_destroy_comp_channel, struct ibv_comp_channel)
CREATE(struct ibv_cq, ibv_create_cq, CQ_PARAMETERS, CQ_ARGUMENTS)
DESTROY(ibv_destroy_cq, struct ibv_cq)
CREATE(struct ibv_qp, ibv_create_qp, QP_PARAMETERS, (pd, attr))
DESTROY(ibv_destroy_qp, struct ibv_qp)
CREATE(struct ibv_srq, ibv_create_srq, SRQ_PARAMETERS, (pd, attr))
DESTROY(ibv_destroy_srq, struct ibv_srq)
CHANGE(ibv_query_device, QUERY_PARAMETERS, (context, attr))
CHANGE(ibv_modify_qp, MODIFY_PARAMETERS, (qp, attr, mask))
CHANGE(ibv_attach_mcast, ATTACH_PARAMETERS, (qp, gid, lid))
