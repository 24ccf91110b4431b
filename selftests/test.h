/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kernel's test harness, and how a call is tested: test_ok() expects 0,
 * test_err() -1 and the errno.  Included by the file with the tests only.
 */
#ifndef SELFTESTS_TEST_H
#define SELFTESTS_TEST_H

#include <kselftest_harness.h>

/* An emulated debug kernel is slow, and time decides nothing. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 240

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
