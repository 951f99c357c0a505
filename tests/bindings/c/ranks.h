/* Runs a function in several processes, one per rank, each with a runtime and a communicator of its own. */
#ifndef ISTHMUS_TESTS_BINDINGS_C_RANKS_H_
#define ISTHMUS_TESTS_BINDINGS_C_RANKS_H_

#include <isthmus/isthmus.h>

typedef struct rank_context {
  int rank, size;
  isthmus_runtime* runtime;
  isthmus_communicator* communicator;
} rank_context;

/* Forks `size` processes; rank r is in site "site<r % sites>". Returns when all have ended; fails the test unless all
 * exit with 0 within a minute. */
void run_ranks(int size, int sites, void (*body)(const rank_context* self));

#endif
