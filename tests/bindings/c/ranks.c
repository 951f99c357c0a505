#define _POSIX_C_SOURCE 200809L
#include "ranks.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static const char kSecret[] = "isthmus_1_000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f_9a79682a";

enum { kMaxRanks = 16, kLimitSeconds = 60 };

static void run_rank(int rank, int size, int sites, const char* path, void (*body)(const rank_context*)) {
  alarm(kLimitSeconds);
  char site[16];
  snprintf(site, sizeof(site), "site%d", rank % sites);
  isthmus_options* options;
  CHECK_OK(isthmus_options_create(&options));
  CHECK_OK(isthmus_options_set(options, "site", site));
  CHECK_OK(isthmus_options_set(options, "timeout_ms", "30000"));
  CHECK_OK(isthmus_options_set(options, "secret", kSecret));
  isthmus_store* store;
  CHECK_OK(isthmus_store_create_file(path, &store));
  rank_context self = {rank, size, NULL, NULL};
  CHECK_OK(isthmus_runtime_create(options, &self.runtime));
  CHECK_OK(isthmus_communicator_create(self.runtime, store, rank, size, NULL, &self.communicator));
  isthmus_store_destroy(store);
  isthmus_options_destroy(options);
  body(&self);
  isthmus_communicator_destroy(self.communicator);
  isthmus_runtime_destroy(self.runtime);
}

void run_ranks(int size, int sites, void (*body)(const rank_context* self)) {
  char path[] = "/tmp/isthmus-c-test-XXXXXX";
  CHECK(size <= kMaxRanks);
  const int fd = mkstemp(path);
  CHECK(fd >= 0);
  close(fd);
  unlink(path);
  pid_t children[kMaxRanks];
  for (int rank = 0; rank < size; ++rank) {
    children[rank] = fork();
    CHECK(children[rank] >= 0);
    if (children[rank] == 0) {
      run_rank(rank, size, sites, path, body);
      exit(0);
    }
  }
  int failures = 0;
  for (int rank = 0; rank < size; ++rank) {
    int status = 0;
    CHECK(waitpid(children[rank], &status, 0) == children[rank]);
    if (status != 0) {
      fprintf(stderr, "rank %d ended with wait status %d\n", rank, status);
      ++failures;
    }
  }
  unlink(path);
  CHECK(failures == 0);
}
