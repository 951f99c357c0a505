/* Checks for tests written in C: they print what failed and where, and end the process with status 1. */
#ifndef ISTHMUS_TESTS_BINDINGS_C_CHECK_H_
#define ISTHMUS_TESTS_BINDINGS_C_CHECK_H_

#include <isthmus/isthmus.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                            \
  do {                                                                              \
    if (!(condition)) {                                                             \
      fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                      \
    }                                                                               \
  } while (0)

#define CHECK_STATUS(call, expected)                                                                                  \
  do {                                                                                                                \
    const isthmus_status check_status = (call);                                                                       \
    if (check_status != (expected)) {                                                                                 \
      fprintf(stderr, "%s:%d: %s is %s (%s), not %s\n", __FILE__, __LINE__, #call, isthmus_status_name(check_status), \
              isthmus_last_error(), isthmus_status_name(expected));                                                   \
      exit(1);                                                                                                        \
    }                                                                                                                 \
  } while (0)

#define CHECK_OK(call) CHECK_STATUS(call, ISTHMUS_OK)

#endif
