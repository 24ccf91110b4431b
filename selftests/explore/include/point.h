/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the stand-ins for the kernel's headers share: where in the source a
 * primitive is used, and how the scheduler learns of it.
 */
#ifndef EXPLORE_POINT_H
#define EXPLORE_POINT_H

/**
 * struct place - where in the source a primitive is used
 * @file: source file
 * @line: line in it
 * @func: function
 */
struct place {
	const char *file;
	int line;
	const char *func;
};

#define HERE ({								\
	static const struct place here_ = { __FILE__, __LINE__, __func__ };	\
									\
	&here_;								\
})

/* What an actor is about to do, at a point where another one may go first. */
enum doing {
	DOING_START,
	DOING_CALL,
	DOING_LOCK,
	DOING_MUTEX,
	DOING_TRYLOCK,
	DOING_UNLOCK,
	DOING_UNLOCK_MUTEX,
	DOING_LOOK,
	DOING_SET,
	DOING_COUNT,
	DOING_GET,
	DOING_PUT,
	DOING_PREPARE,
	DOING_FINISH,
	DOING_SLEEP,
	DOING_ACCESS,
	DOING_WAKE,
	DOING_TABLE,
	DOING_ALLOC,
	DOING_COPY,
	DOING_PAGE,
	DOING_WORK,
	DOING_JOIN,
	DOING_SIGNAL,
	DOING_CLOCK,
};

/* Another actor may go first. */
void point(enum doing what, const volatile void *on, const struct place *here);
/*
 * What was done has let others go on, or told them something: so the next plain
 * access to what is not the actor's own is a point, too.
 */
void let_go(void);
/* To look at something is one, unless it is a parameter of the module. */
void look(const volatile void *at, const struct place *here);
/* One only where a plain access would be. */
void use(enum doing what, const volatile void *on, const struct place *here);
/* And something may go wrong: whether it does. */
int point_fails(enum doing what, const volatile void *on,
		const struct place *here);
/* The calling actor must not sleep in its present state. */
void may_sleep(const char *what, const struct place *here);
/* Memory that is used must be allocated. */
void check_live(const volatile void *at, const struct place *here);
/* The run ends here: a clause of the contract is broken. */
void violated(const char *clause, const char *format, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

#endif /* EXPLORE_POINT_H */
