/* Every operation of the C API, from C, in processes. */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "ranks.h"

enum { kCount = 100003 };

static float value_of(int rank, size_t i) { return (float)((i * 7 + (size_t)rank * 13) % 101) - 50.0f; }

static void check_allreduce(const rank_context* self) {
  float* in = malloc(kCount * sizeof(float));
  float* out = malloc(kCount * sizeof(float));
  for (size_t i = 0; i < kCount; ++i) in[i] = value_of(self->rank, i);
  CHECK_OK(isthmus_allreduce(self->communicator, in, out, kCount, ISTHMUS_FLOAT32, ISTHMUS_SUM, NULL, NULL));
  for (size_t i = 0; i < kCount; ++i) {
    float sum = 0;
    for (int r = 0; r < self->size; ++r) sum += value_of(r, i);
    CHECK(out[i] == sum); /* small integers: exact in any order */
  }
  CHECK_OK(isthmus_allreduce(self->communicator, in, in, kCount, ISTHMUS_FLOAT32, ISTHMUS_SUM, NULL, NULL));
  CHECK(memcmp(in, out, kCount * sizeof(float)) == 0);
  free(in);
  free(out);
}

static void check_gathers(const rank_context* self) {
  const size_t n = (size_t)self->size;
  int32_t mine[3] = {self->rank, self->rank * 10, self->rank * 100};
  int32_t* all = malloc(3 * n * sizeof(int32_t));
  CHECK_OK(isthmus_all_gather(self->communicator, mine, all, 3, ISTHMUS_INT32, NULL, NULL));
  for (size_t r = 0; r < n; ++r) CHECK(all[3 * r + 2] == (int32_t)r * 100);
  int32_t block[3];
  CHECK_OK(isthmus_reduce_scatter(self->communicator, all, block, 3, ISTHMUS_INT32, ISTHMUS_AVG, NULL, NULL));
  CHECK(block[0] == self->rank && block[1] == self->rank * 10 && block[2] == self->rank * 100);
  int64_t word = self->rank == self->size - 1 ? (int64_t)1 << 53 : 0;
  CHECK_OK(isthmus_broadcast(self->communicator, &word, 1, ISTHMUS_INT64, self->size - 1, NULL, NULL));
  CHECK(word == (int64_t)1 << 53);
  CHECK_OK(isthmus_barrier(self->communicator, NULL, NULL));
  free(all);
}

/* Case DT-14: every rank has a factor of its own, 0 among them. */
static void check_premultiplied(const rank_context* self) {
  const double factor = self->rank;
  float value[2] = {1.5f, (float)self->rank};
  double imaginary[2] = {1, -1};
  isthmus_call_options options = ISTHMUS_INIT(isthmus_call_options);
  options.premul_factor = &factor;
  float ranks = 0, squares = 0;
  for (int r = 0; r < self->size; ++r) {
    ranks += (float)r;
    squares += (float)(r * r);
  }
  CHECK_OK(isthmus_allreduce(self->communicator, value, value, 2, ISTHMUS_FLOAT32, ISTHMUS_PREMUL_SUM, &options, NULL));
  CHECK(value[0] == 1.5f * ranks && value[1] == squares);
  CHECK_OK(isthmus_allreduce(self->communicator, imaginary, imaginary, 1, ISTHMUS_COMPLEX128, ISTHMUS_PREMUL_SUM,
                             &options, NULL));
  CHECK(imaginary[0] == ranks && imaginary[1] == -ranks);
  CHECK_STATUS(
      isthmus_allreduce(self->communicator, value, value, 1, ISTHMUS_INT32, ISTHMUS_PREMUL_SUM, &options, NULL),
      ISTHMUS_UNSUPPORTED);
  CHECK(strstr(isthmus_last_error(), "premul_sum of int32") != NULL);
  CHECK_STATUS(isthmus_allreduce(self->communicator, value, value, 1, ISTHMUS_FLOAT32, ISTHMUS_PREMUL_SUM, NULL, NULL),
               ISTHMUS_INVALID_ARGUMENT);
  CHECK_STATUS(isthmus_allreduce(self->communicator, value, value, 1, ISTHMUS_FLOAT32, ISTHMUS_SUM, &options, NULL),
               ISTHMUS_INVALID_ARGUMENT);
}

static void check_bits(const rank_context* self) {
  uint8_t bits[3];
  memset(bits, 1 << self->rank, sizeof bits);
  CHECK_OK(isthmus_allreduce(self->communicator, &bits[0], &bits[0], 1, ISTHMUS_UINT8, ISTHMUS_BOR, NULL, NULL));
  CHECK_OK(isthmus_allreduce(self->communicator, &bits[1], &bits[1], 1, ISTHMUS_UINT8, ISTHMUS_BAND, NULL, NULL));
  CHECK_OK(isthmus_allreduce(self->communicator, &bits[2], &bits[2], 1, ISTHMUS_UINT8, ISTHMUS_BXOR, NULL, NULL));
  CHECK(bits[0] == (1 << self->size) - 1 && bits[1] == 0 && bits[2] == bits[0]);
  CHECK(isthmus_supports_reduction(ISTHMUS_FLOAT32, ISTHMUS_BAND) == 0);
  CHECK(isthmus_supports_reduction(ISTHMUS_FLOAT8_E4M3FN, ISTHMUS_SUM) == 0);
  CHECK(isthmus_supports_reduction(ISTHMUS_COMPLEX64, ISTHMUS_AVG) == 1);
}

static void on_done(void* context, isthmus_status status, const char* message) {
  CHECK(status == ISTHMUS_OK && message[0] == '\0');
  __atomic_add_fetch((int*)context, 1, __ATOMIC_SEQ_CST);
}

static void check_asynchronous(const rank_context* self) {
  enum { kWorks = 8 };
  isthmus_work* works[kWorks];
  int64_t values[kWorks];
  int callbacks = 0;
  for (int i = 0; i < kWorks; ++i) {
    values[i] = self->rank + i;
    CHECK_OK(
        isthmus_allreduce(self->communicator, &values[i], &values[i], 1, ISTHMUS_INT64, ISTHMUS_MAX, NULL, &works[i]));
    CHECK_OK(isthmus_work_on_complete(works[i], on_done, &callbacks));
    CHECK_STATUS(isthmus_work_on_complete(works[i], on_done, &callbacks), ISTHMUS_INVALID_ARGUMENT);
  }
  for (int i = kWorks - 1; i >= 0; --i) {
    int done = 0;
    CHECK_OK(isthmus_work_wait(works[i], -1));
    CHECK_OK(isthmus_work_test(works[i], &done));
    CHECK(done == 1);
    CHECK(values[i] == self->size - 1 + i);
    CHECK(i == 0 || isthmus_work_sequence(works[i]) > isthmus_work_sequence(works[i - 1]));
    isthmus_work_destroy(works[i]);
  }
  CHECK_OK(isthmus_barrier(self->communicator, NULL, NULL));
  const struct timespec pause = {0, 1000000};
  for (int tries = 0; tries < 10000 && __atomic_load_n(&callbacks, __ATOMIC_SEQ_CST) < kWorks; ++tries)
    nanosleep(&pause, NULL);
  CHECK(__atomic_load_n(&callbacks, __ATOMIC_SEQ_CST) == kWorks);
  isthmus_work* barrier;
  if (self->rank == 0) nanosleep(&(struct timespec){0, 50000000}, NULL);
  CHECK_OK(isthmus_barrier(self->communicator, NULL, &barrier));
  CHECK_OK(isthmus_work_wait(barrier, INT64_MAX)); /* for ever, and not at once */
  isthmus_work_destroy(barrier);
}

/* Case SH-08: a send before a receive, both ways, larger than any socket buffer. */
static void check_crossed_messages(const rank_context* self) {
  if (self->rank > 1) return;
  enum { kBytes = 8 * 1024 * 1024 };
  char* out = malloc(kBytes);
  char* in = malloc(kBytes);
  isthmus_call_options options = ISTHMUS_INIT(isthmus_call_options);
  options.tag = 7;
  for (int round = 0; round < 3; ++round) {
    memset(out, 'a' + self->rank + round, kBytes);
    isthmus_work *send, *recv;
    CHECK_OK(isthmus_send(self->communicator, out, kBytes, ISTHMUS_UINT8, 1 - self->rank, &options, &send));
    CHECK_OK(isthmus_recv(self->communicator, in, kBytes, ISTHMUS_UINT8, 1 - self->rank, &options, &recv));
    CHECK_OK(isthmus_work_wait(round % 2 == 0 ? send : recv, -1));
    CHECK_OK(isthmus_work_wait(round % 2 == 0 ? recv : send, -1));
    CHECK(in[0] == 'a' + 1 - self->rank + round && in[kBytes - 1] == in[0]);
    isthmus_work_destroy(send);
    isthmus_work_destroy(recv);
  }
  free(in);
  free(out);
}

static void check_split_and_queries(const rank_context* self) {
  CHECK(isthmus_communicator_rank(self->communicator) == self->rank);
  CHECK(isthmus_communicator_size(self->communicator) == self->size);
  CHECK(isthmus_communicator_site_count(self->communicator) == 2);
  CHECK(isthmus_communicator_site_of_rank(self->communicator, 1) == 1);
  CHECK(isthmus_communicator_site_of_rank(self->communicator, 99) == -1);
  CHECK(strcmp(isthmus_communicator_site_name(self->communicator, 1), "site1") == 0);
  isthmus_communicator* half;
  CHECK_OK(isthmus_communicator_split(self->communicator, self->rank / 2, 0, NULL, &half));
  int32_t one = 1;
  CHECK_OK(isthmus_allreduce(half, &one, &one, 1, ISTHMUS_INT32, ISTHMUS_SUM, NULL, NULL));
  CHECK(one == isthmus_communicator_size(half));
  isthmus_communicator_destroy(half);
  isthmus_counters counters = ISTHMUS_INIT(isthmus_counters);
  CHECK_OK(isthmus_runtime_counters(self->runtime, &counters));
  CHECK(counters.wan_sent_bytes > 0 && counters.site_sent_bytes > 0);
  CHECK(counters.operations_completed > 5 && counters.operations_failed == 0);
}

static void check_refusals(const rank_context* self) {
  float x = 0;
  isthmus_call_options options = ISTHMUS_INIT(isthmus_call_options);
  CHECK_STATUS(isthmus_allreduce(NULL, &x, &x, 1, ISTHMUS_FLOAT32, ISTHMUS_SUM, NULL, NULL), ISTHMUS_INVALID_ARGUMENT);
  CHECK_STATUS(isthmus_allreduce(self->communicator, &x, &x, 1, (isthmus_dtype)77, ISTHMUS_SUM, NULL, NULL),
               ISTHMUS_INVALID_ARGUMENT);
  CHECK(strstr(isthmus_last_error(), "77") != NULL);
  CHECK_STATUS(isthmus_allreduce(self->communicator, &x, &x, 1, ISTHMUS_BOOL, ISTHMUS_AVG, NULL, NULL),
               ISTHMUS_UNSUPPORTED);
  options.codec = "int8";
  CHECK_STATUS(isthmus_allreduce(self->communicator, &x, &x, 1, ISTHMUS_FLOAT32, ISTHMUS_SUM, &options, NULL),
               ISTHMUS_UNSUPPORTED);
  options.codec = NULL;
  options.struct_size = 3;
  CHECK_STATUS(isthmus_barrier(self->communicator, &options, NULL), ISTHMUS_INVALID_ARGUMENT);
  CHECK_OK(isthmus_communicator_status(self->communicator));
  CHECK_OK(isthmus_barrier(self->communicator, NULL, NULL));
}

static void body(const rank_context* self) {
  check_allreduce(self);
  check_gathers(self);
  check_premultiplied(self);
  check_bits(self);
  check_asynchronous(self);
  check_crossed_messages(self);
  check_split_and_queries(self);
  check_refusals(self);
}

int main(void) {
  run_ranks(4, 2, body);
  puts("operations_test: passed");
  return 0;
}
