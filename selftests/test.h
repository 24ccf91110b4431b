/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kernel's test harness, and how a call is tested: test_ok() expects 0,
 * test_err() -1 and the errno.  Included by the file with the tests only.
 *
 * "PROGRAM NAME" runs the tests of that name alone, in all variants.
 */
#ifndef SELFTESTS_TEST_H
#define SELFTESTS_TEST_H

#include <string.h>

/* What TEST_HARNESS_MAIN calls; ours is below. */
#define test_harness_run kernel_harness_run
#include <kselftest_harness.h>
#undef test_harness_run

/* An emulated debug kernel is slow, and time decides nothing. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 240

/* How many tests are left when all of other names are taken off the lists. */
static inline int test_select(const char *name)
{
	struct __fixture_metadata *fixture;
	struct __test_metadata **test;
	int n = 0;

	for (fixture = __fixture_list; fixture; fixture = fixture->next) {
		test = &fixture->tests;
		while (*test) {
			if (!strcmp((*test)->name, name)) {
				test = &(*test)->next;
				n++;
			} else {
				*test = (*test)->next;
			}
		}
	}
	return n;
}

static inline int test_harness_run(int argc, char **argv)
{
	if (argc > 1 && !test_select(argv[1])) {
		fprintf(stderr, "# there is no test %s\n", argv[1]);
		return 2;
	}
	return kernel_harness_run(argc, argv);
}

#define test_ok(call) do {						\
	int _result = (call);						\
	int _error = errno;						\
									\
	ASSERT_EQ(0, _result) {						\
		TH_LOG("%s: %s", #call, strerror(_error));		\
	}								\
} while (0)

#define test_err(expected, call) do {					\
	int _result, _error;						\
									\
	errno = 0;							\
	_result = (call);						\
	_error = errno;							\
	ASSERT_TRUE(_result == -1 && _error == (expected)) {		\
		TH_LOG("%s: expected %s (%s), got %d (%s)", #call,	\
		       #expected, strerror(expected), _result,		\
		       strerror(_error));				\
	}								\
} while (0)

#endif /* SELFTESTS_TEST_H */
