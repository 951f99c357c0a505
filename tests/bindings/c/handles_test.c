/* The parts of the C API that need no peer: versions, capabilities, options, stores, size-tagged structs. */
#define _POSIX_C_SOURCE 200809L
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

/* Libraries below must not take the process's signals over. */
static void check_signals(void) {
  const int numbers[] = {SIGINT, SIGTERM, SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGPIPE};
  CHECK(isthmus_supports_transport("libfabric"));
  for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); ++i) {
    struct sigaction action;
    CHECK(sigaction(numbers[i], NULL, &action) == 0);
    CHECK(action.sa_handler == SIG_DFL);
  }
}

static void check_versions(void) {
  CHECK(strlen(isthmus_version()) >= 5);
  CHECK(isthmus_version_number() >= 1000);
  CHECK(isthmus_protocol_version() == 1);
  CHECK(strcmp(isthmus_status_name(ISTHMUS_UNAVAILABLE), "unavailable") == 0);
}

static void check_capabilities(void) {
  CHECK(isthmus_supports_operation("allreduce") && !isthmus_supports_operation("teleport"));
  CHECK(isthmus_supports_reduction(ISTHMUS_BFLOAT16, ISTHMUS_AVG));
  CHECK(!isthmus_supports_reduction(ISTHMUS_BOOL, ISTHMUS_AVG));
  CHECK(isthmus_supports_transport("libfabric") && !isthmus_supports_transport("pigeons"));
}

static void check_options(void) {
  isthmus_options* options;
  const char* value;
  CHECK_OK(isthmus_options_create(&options));
  CHECK_OK(isthmus_options_set(options, "chunk_bytes", "131072"));
  CHECK_OK(isthmus_options_get(options, "chunk_bytes", &value));
  CHECK(strcmp(value, "131072") == 0);
  CHECK_STATUS(isthmus_options_set(options, "chunk_bytes", "many"), ISTHMUS_INVALID_ARGUMENT);
  CHECK(strstr(isthmus_last_error(), "many") != NULL);
  CHECK_STATUS(isthmus_options_set(options, "chunk_byte", "1"), ISTHMUS_INVALID_ARGUMENT);
  CHECK(strstr(isthmus_last_error(), "chunk_bytes") != NULL); /* the nearest name */
  isthmus_options_destroy(options);

  isthmus_option_info row = ISTHMUS_INIT(isthmus_option_info);
  size_t rows = 0;
  while (isthmus_option_table_row(rows, &row) == ISTHMUS_OK) {
    CHECK(strncmp(row.variable, "ISTHMUS_", 8) == 0 && row.description[0] != '\0');
    ++rows;
  }
  CHECK(rows > 10);
}

typedef struct table {
  char key[64], value[64];
  size_t value_bytes;
  int present, released;
} table;

static isthmus_status table_set(void* context, const char* key, const void* value, size_t bytes, int64_t timeout_ms) {
  table* t = context;
  (void)timeout_ms;
  snprintf(t->key, sizeof(t->key), "%s", key);
  memcpy(t->value, value, bytes < sizeof(t->value) ? bytes : sizeof(t->value));
  t->value_bytes = bytes;
  t->present = 1;
  return ISTHMUS_OK;
}
static isthmus_status table_get(void* context, const char* key, int64_t timeout_ms,
                                void (*sink)(void*, const void*, size_t), void* sink_context) {
  table* t = context;
  (void)timeout_ms;
  if (!t->present || strcmp(key, t->key) != 0) return ISTHMUS_DEADLINE_EXCEEDED;
  sink(sink_context, t->value, t->value_bytes);
  return ISTHMUS_OK;
}
static isthmus_status table_contains(void* context, const char* key, int64_t timeout_ms, int* found) {
  table* t = context;
  (void)timeout_ms;
  *found = t->present && strcmp(key, t->key) == 0;
  return ISTHMUS_OK;
}
static isthmus_status table_add(void* context, const char* key, int64_t delta, int64_t timeout_ms, int64_t* sum) {
  (void)context, (void)key, (void)timeout_ms;
  *sum = delta;
  return ISTHMUS_OK;
}
static const char* table_error(void* context) {
  (void)context;
  return "the table is small";
}
static void table_release(void* context) { ((table*)context)->released = 1; }

static void check_callback_store(void) {
  table t;
  memset(&t, 0, sizeof(t));
  isthmus_store_callbacks callbacks = ISTHMUS_INIT(isthmus_store_callbacks);
  isthmus_store* store = NULL;
  CHECK_STATUS(isthmus_store_create_callback(&callbacks, &store), ISTHMUS_INVALID_ARGUMENT);
  callbacks.context = &t;
  callbacks.set = table_set;
  callbacks.get = table_get;
  callbacks.contains = table_contains;
  callbacks.add = table_add;
  callbacks.last_error = table_error;
  callbacks.release = table_release;
  CHECK_OK(isthmus_store_create_callback(&callbacks, &store));
  /* A world of two of which the other never comes: an error within the limit, with the store's own words or the rank.
   */
  isthmus_runtime* runtime;
  isthmus_communicator* communicator;
  isthmus_communicator_options options = ISTHMUS_INIT(isthmus_communicator_options);
  options.connect_timeout_ms = 300;
  CHECK_OK(isthmus_runtime_create(NULL, &runtime));
  CHECK_STATUS(isthmus_communicator_create(runtime, store, 0, 2, &options, &communicator), ISTHMUS_DEADLINE_EXCEEDED);
  CHECK(communicator == NULL);
  CHECK(isthmus_last_error()[0] != '\0');
  isthmus_runtime_destroy(runtime);
  isthmus_store_destroy(store);
  CHECK(t.released == 1);
}

static void check_alone(void) {
  isthmus_store* store;
  isthmus_runtime* runtime;
  isthmus_communicator* communicator;
  CHECK_OK(isthmus_store_create_memory("alone", &store));
  CHECK_OK(isthmus_runtime_create(NULL, &runtime));
  CHECK_OK(isthmus_communicator_create(runtime, store, 0, 1, NULL, &communicator));
  double x = 3;
  CHECK_OK(isthmus_allreduce(communicator, &x, &x, 1, ISTHMUS_FLOAT64, ISTHMUS_SUM, NULL, NULL));
  CHECK(x == 3);
  CHECK_OK(isthmus_communicator_abort(communicator, "enough"));
  CHECK_STATUS(isthmus_barrier(communicator, NULL, NULL), ISTHMUS_ABORTED);
  CHECK(strstr(isthmus_last_error(), "enough") != NULL);
  isthmus_communicator_destroy(communicator);
  isthmus_runtime_destroy(runtime);
  isthmus_store_destroy(store);
}

static void check_null_and_absurd_arguments(void) {
  isthmus_store* store;
  isthmus_runtime* runtime;
  isthmus_communicator *communicator, *none;
  const int ranks[1] = {0};
  CHECK_OK(isthmus_store_create_memory("absurd", &store));
  CHECK_OK(isthmus_runtime_create(NULL, &runtime));
  CHECK_STATUS(isthmus_communicator_create(runtime, store, 0, INT_MAX, NULL, &none), ISTHMUS_INVALID_ARGUMENT);
  CHECK(strstr(isthmus_last_error(), "1000000 are the most") != NULL);
  CHECK_OK(isthmus_communicator_create(runtime, store, 0, 1, NULL, &communicator));
  CHECK_STATUS(isthmus_communicator_subset(communicator, ranks, SIZE_MAX, NULL, &none), ISTHMUS_INVALID_ARGUMENT);
  CHECK(isthmus_communicator_rank(communicator) == 0 && isthmus_communicator_rank(NULL) == -1);
  CHECK(isthmus_communicator_size(communicator) == 1 && isthmus_communicator_size(NULL) == -1);
  CHECK(isthmus_communicator_site_count(communicator) == 1 && isthmus_communicator_site_count(NULL) == -1);
  CHECK(isthmus_communicator_site_of_rank(NULL, 0) == -1 && isthmus_communicator_site_name(NULL, 0) == NULL);
  isthmus_communicator_destroy(communicator);
  isthmus_runtime_destroy(runtime);
  isthmus_store_destroy(store);
}

/* In the child every call fails, and destroying frees memory only; the parent does not notice. */
static void check_fork(void) {
  isthmus_store* store;
  isthmus_runtime* runtime;
  isthmus_communicator* communicator;
  isthmus_counters counters = ISTHMUS_INIT(isthmus_counters);
  CHECK_OK(isthmus_store_create_memory("fork", &store));
  CHECK_OK(isthmus_runtime_create(NULL, &runtime));
  CHECK_OK(isthmus_communicator_create(runtime, store, 0, 1, NULL, &communicator));
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    CHECK_STATUS(isthmus_barrier(communicator, NULL, NULL), ISTHMUS_UNAVAILABLE);
    CHECK_STATUS(isthmus_communicator_status(communicator), ISTHMUS_UNAVAILABLE);
    CHECK_STATUS(isthmus_communicator_abort(communicator, "a child"), ISTHMUS_UNAVAILABLE);
    CHECK_STATUS(isthmus_runtime_counters(runtime, &counters), ISTHMUS_UNAVAILABLE);
    isthmus_communicator_destroy(communicator);
    isthmus_runtime_destroy(runtime);
    _exit(0);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK_OK(isthmus_barrier(communicator, NULL, NULL));
  isthmus_communicator_destroy(communicator);
  isthmus_runtime_destroy(runtime);
  isthmus_store_destroy(store);
}

static void check_rendezvous(void) {
  isthmus_rendezvous_server* server;
  isthmus_store* store;
  CHECK_OK(isthmus_rendezvous_server_start(NULL, "127.0.0.1", 0, &server));
  CHECK_OK(isthmus_store_create_tcp(NULL, isthmus_rendezvous_server_address(server), 5000, &store));
  isthmus_store_destroy(store);
  isthmus_rendezvous_server_stop(server);
}

int main(void) {
  check_signals();
  check_versions();
  check_capabilities();
  check_options();
  check_callback_store();
  check_alone();
  check_null_and_absurd_arguments();
  check_fork();
  check_rendezvous();
  puts("handles_test: passed");
  return 0;
}
