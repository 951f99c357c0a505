/* One rank of a job over the C API, for tests that start several: RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT say
 * which.
 *
 *   rank_program allreduce COUNT     one fp32 allreduce; checks it and prints what was sent and the memory it took
 *   rank_program many NUMBER         so many allreduces of 1 KiB, issued together; checks them
 *   rank_program loop RANK           allreduces without end; rank RANK (if there is one) kills itself after the tenth
 *   rank_program hold SECONDS        forms the group, prints "ready" and stays for that long
 */
#define _POSIX_C_SOURCE 200809L
#include <isthmus/isthmus.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

typedef struct job {
  int rank, size;
  isthmus_rendezvous_server* server; /* at rank 0 */
  isthmus_runtime* runtime;
  isthmus_communicator* communicator;
} job;

static const char* environment(const char* name) {
  const char* value = getenv(name);
  if (value == NULL) {
    fprintf(stderr, "%s is not set\n", name);
    exit(2);
  }
  return value;
}

static void expect_ok(isthmus_status status, const char* what) {
  if (status == ISTHMUS_OK) return;
  printf("%s: %s: %s\n", what, isthmus_status_name(status), isthmus_last_error());
  fflush(stdout);
  exit(1);
}

static void print_log(void* context, isthmus_log_level level, const char* line) {
  (void)context, (void)level;
  fprintf(stderr, "%s\n", line);
}

static job begin(void) {
  job self = {atoi(environment("RANK")), atoi(environment("WORLD_SIZE")), NULL, NULL, NULL};
  const char* host = environment("MASTER_ADDR");
  const char* port = environment("MASTER_PORT");
  char address[128];
  snprintf(address, sizeof(address), "%s:%s", host, port);
  isthmus_set_log(ISTHMUS_LOG_INFO, print_log, NULL);
  isthmus_options* options;
  isthmus_store* store;
  expect_ok(isthmus_options_create(&options), "options");
  expect_ok(isthmus_options_load_environment(options), "environment");
  if (self.rank == 0)
    expect_ok(isthmus_rendezvous_server_start(options, host, (uint16_t)atoi(port), &self.server), "rendezvous server");
  expect_ok(isthmus_runtime_create(options, &self.runtime), "runtime");
  expect_ok(isthmus_store_create_tcp(options, address, 20000, &store), "store");
  expect_ok(isthmus_communicator_create(self.runtime, store, self.rank, self.size, NULL, &self.communicator),
            "communicator");
  isthmus_store_destroy(store);
  isthmus_options_destroy(options);
  return self;
}

static void end(job* self) {
  expect_ok(isthmus_barrier(self->communicator, NULL, NULL), "barrier");
  isthmus_communicator_destroy(self->communicator);
  isthmus_runtime_destroy(self->runtime);
  isthmus_rendezvous_server_stop(self->server);
}

static long peak_kib(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

static void allreduce(job* self, size_t count) {
  float* buffer = malloc(count * sizeof(float));
  for (size_t i = 0; i < count; ++i) buffer[i] = (float)(i % 1000) + (float)self->rank;
  const long before_kib = peak_kib();
  expect_ok(isthmus_allreduce(self->communicator, buffer, buffer, count, ISTHMUS_FLOAT32, ISTHMUS_SUM, NULL, NULL),
            "allreduce");
  printf("memory_kib %ld\n", peak_kib() - before_kib);
  const float ranks = (float)self->size * (float)(self->size - 1) / 2;
  for (size_t i = 0; i < count; ++i) {
    if (buffer[i] == (float)(i % 1000) * (float)self->size + ranks) continue;
    printf("element %zu is %g\n", i, (double)buffer[i]);
    exit(1);
  }
  isthmus_counters counters = ISTHMUS_INIT(isthmus_counters);
  expect_ok(isthmus_runtime_counters(self->runtime, &counters), "counters");
  printf("site %s wan_sent_bytes %llu\n", isthmus_communicator_site_name(self->communicator, self->rank),
         (unsigned long long)counters.wan_sent_bytes);
  free(buffer);
}

static void many(job* self, size_t number) {
  enum { kCount = 256 };
  float* buffers = malloc(number * kCount * sizeof(float));
  isthmus_work** works = malloc(number * sizeof(isthmus_work*));
  for (size_t i = 0; i < number * kCount; ++i) buffers[i] = (float)(i % 1000) + (float)self->rank;
  for (size_t k = 0; k < number; ++k) {
    float* buffer = buffers + k * kCount;
    expect_ok(
        isthmus_allreduce(self->communicator, buffer, buffer, kCount, ISTHMUS_FLOAT32, ISTHMUS_SUM, NULL, &works[k]),
        "allreduce");
  }
  for (size_t k = 0; k < number; ++k) {
    expect_ok(isthmus_work_wait(works[k], -1), "wait");
    isthmus_work_destroy(works[k]);
  }
  const float ranks = (float)self->size * (float)(self->size - 1) / 2;
  for (size_t i = 0; i < number * kCount; ++i) {
    if (buffers[i] == (float)(i % 1000) * (float)self->size + ranks) continue;
    printf("element %zu is %g\n", i, (double)buffers[i]);
    exit(1);
  }
  free(works);
  free(buffers);
}

static void loop(job* self, int victim) {
  enum { kCount = 1 << 18 };
  static float buffer[kCount];
  for (int i = 0;; ++i) {
    if (self->rank == victim && i == 10) raise(SIGKILL);
    if (i == 10) puts("10 done"), fflush(stdout);
    const isthmus_status status =
        isthmus_allreduce(self->communicator, buffer, buffer, kCount, ISTHMUS_FLOAT32, ISTHMUS_SUM, NULL, NULL);
    if (status == ISTHMUS_OK) continue;
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    printf("failed at %.3f: %s: %s\n", (double)time.tv_sec + (double)time.tv_nsec * 1e-9, isthmus_status_name(status),
           isthmus_last_error());
    fflush(stdout);
    isthmus_communicator_destroy(self->communicator);
    isthmus_runtime_destroy(self->runtime);
    exit(3);
  }
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  job self = begin();
  if (strcmp(argv[1], "allreduce") == 0) allreduce(&self, strtoull(argv[2], NULL, 10));
  if (strcmp(argv[1], "many") == 0) many(&self, strtoull(argv[2], NULL, 10));
  if (strcmp(argv[1], "loop") == 0) loop(&self, atoi(argv[2]));
  if (strcmp(argv[1], "hold") == 0) {
    puts("ready");
    fflush(stdout);
    sleep((unsigned)atoi(argv[2]));
  }
  end(&self);
  return 0;
}
