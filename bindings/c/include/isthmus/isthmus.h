/* Isthmus: collectives for one model trained across several sites. The C interface, which is the ABI.
 *
 * Threads. Any function may be called from any thread, unless it says otherwise. Calls on one communicator are ordered
 * by the order in which they are made, and every rank must make them in the same order (point-to-point calls: in the
 * same order per pair and tag).
 *
 * Errors. Every function that can fail returns an isthmus_status; isthmus_last_error() then has the message, on the
 * thread that made the call. The category says what to do next. Nothing is printed, and no call aborts the process.
 *
 * Memory. All pointers are host memory unless isthmus_call_options.memory_kind says otherwise. Counts are elements,
 * never bytes. Buffers of an operation belong to Isthmus from the call until its work is done, failed or aborted; an
 * input may be read, but not written, by the caller meanwhile.
 *
 * Structs with a struct_size member: set it with sizeof before the call (ISTHMUS_INIT does). Fields are only ever
 * appended; a library newer than its caller reads no further than struct_size, and one that is older refuses fields
 * that it does not know unless they are zero.
 */
#ifndef ISTHMUS_ISTHMUS_H_
#define ISTHMUS_ISTHMUS_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define ISTHMUS_EXPORT __attribute__((visibility("default")))
#else
#define ISTHMUS_EXPORT
#endif

/* isthmus_call_options options = ISTHMUS_INIT(isthmus_call_options); */
#ifdef __cplusplus
#define ISTHMUS_INIT(type) \
  type { sizeof(type) }
extern "C" {
#else
#define ISTHMUS_INIT(type) {.struct_size = sizeof(type)}
#endif

/* ------------------------------------------------------------------------------------------- status and version */

typedef enum isthmus_status {
  ISTHMUS_OK = 0,
  ISTHMUS_INVALID_ARGUMENT = 1,  /* fix the call */
  ISTHMUS_UNSUPPORTED = 2,       /* choose another operation, type or option */
  ISTHMUS_DEADLINE_EXCEEDED = 3, /* retry, or give more time */
  ISTHMUS_UNAVAILABLE = 4,       /* a peer or a site is gone: form the group again */
  ISTHMUS_CORRUPTION = 5,        /* bytes are not what was sent */
  ISTHMUS_ABORTED = 6,           /* the caller, or another rank, gave up */
  ISTHMUS_INTERNAL = 7           /* a defect of Isthmus */
} isthmus_status;

/* "unavailable". Never NULL. */
ISTHMUS_EXPORT const char* isthmus_status_name(isthmus_status status);

/* The message of the last call on this thread that did not return ISTHMUS_OK; "" if there was none. Valid until the
 * next Isthmus call on this thread. */
ISTHMUS_EXPORT const char* isthmus_last_error(void);

/* "0.1.0" of the library that is loaded, and the same as major * 1000000 + minor * 1000 + patch. */
ISTHMUS_EXPORT const char* isthmus_version(void);
ISTHMUS_EXPORT uint32_t isthmus_version_number(void);

/* Version of the wire format; processes with different ones refuse each other and name both. */
ISTHMUS_EXPORT uint32_t isthmus_protocol_version(void);

/* ---------------------------------------------------------------------------------------------- types and operators */

typedef enum isthmus_dtype {
  ISTHMUS_FLOAT32 = 0,
  ISTHMUS_FLOAT64 = 1,
  ISTHMUS_FLOAT16 = 2, /* IEEE binary16; summed in fp32, rounded once per tier */
  ISTHMUS_BFLOAT16 = 3,
  ISTHMUS_INT8 = 4,
  ISTHMUS_UINT8 = 5,
  ISTHMUS_INT16 = 6,
  ISTHMUS_INT32 = 7,
  ISTHMUS_INT64 = 8,
  ISTHMUS_BOOL = 9,           /* one byte, 0 or 1; SUM and MAX are OR, MIN and PRODUCT are AND */
  ISTHMUS_FLOAT8_E4M3FN = 10, /* the four of 8 bits are moved, never reduced */
  ISTHMUS_FLOAT8_E5M2 = 11,
  ISTHMUS_FLOAT8_E4M3FNUZ = 12,
  ISTHMUS_FLOAT8_E5M2FNUZ = 13,
  ISTHMUS_COMPLEX64 = 14, /* two fp32, the real part first */
  ISTHMUS_COMPLEX128 = 15
} isthmus_dtype;

typedef enum isthmus_op {
  ISTHMUS_SUM = 0, /* integers wrap (two's complement) */
  ISTHMUS_AVG = 1, /* the sum over all ranks (of integers: as ISTHMUS_SUM wraps) divided by their count; integers
                    * truncate toward zero; not for bool */
  ISTHMUS_MIN = 2, /* NaN if any operand is NaN; -0 is below +0; not for complex numbers */
  ISTHMUS_MAX = 3,
  ISTHMUS_PRODUCT = 4,
  ISTHMUS_BAND = 5, /* bitwise: integers and bool */
  ISTHMUS_BOR = 6,
  ISTHMUS_BXOR = 7,
  ISTHMUS_PREMUL_SUM = 8 /* the sum of each rank's input times the premul_factor in that rank's call options; the
                            products are rounded to the type. Floating-point and complex types */
} isthmus_op;

/* Capability queries: 1 or 0. Operations are named as the functions below: "allreduce". A reduction that is not
 * supported is refused with ISTHMUS_UNSUPPORTED before anything is sent. */
ISTHMUS_EXPORT int isthmus_supports_operation(const char* operation);
ISTHMUS_EXPORT int isthmus_supports_reduction(isthmus_dtype dtype, isthmus_op op);
ISTHMUS_EXPORT int isthmus_supports_transport(const char* transport);

/* ------------------------------------------------------------------------------------------------------- log */

typedef enum isthmus_log_level {
  ISTHMUS_LOG_OFF = -1,
  ISTHMUS_LOG_ERROR = 0,
  ISTHMUS_LOG_WARNING = 1,
  ISTHMUS_LOG_INFO = 2,
  ISTHMUS_LOG_DEBUG = 3
} isthmus_log_level;

/* Called with one line (no newline) at a time, from any of the library's threads; must not call Isthmus. */
typedef void (*isthmus_log_callback)(void* context, isthmus_log_level level, const char* line);

/* Sends the log of the process to `callback`; NULL (the state at start) drops it. */
ISTHMUS_EXPORT void isthmus_set_log(isthmus_log_level level, isthmus_log_callback callback, void* context);

/* ------------------------------------------------------------------------------------------------------- options */

typedef struct isthmus_options isthmus_options;

/* All options at their defaults. Free with isthmus_options_destroy. One thread at a time. */
ISTHMUS_EXPORT isthmus_status isthmus_options_create(isthmus_options** options);

/* Takes over every ISTHMUS_* variable. INVALID_ARGUMENT: a bad value (the message has its range) or an unknown name
 * (the message has the nearest one). */
ISTHMUS_EXPORT isthmus_status isthmus_options_load_environment(isthmus_options* options);

/* By the name in the option table, e.g. "chunk_bytes", "262144". `isthmus info --options` prints the table. */
ISTHMUS_EXPORT isthmus_status isthmus_options_set(isthmus_options* options, const char* name, const char* value);

/* The value as text; valid until the options are changed or destroyed. */
ISTHMUS_EXPORT isthmus_status isthmus_options_get(isthmus_options* options, const char* name, const char** value);
ISTHMUS_EXPORT void isthmus_options_destroy(isthmus_options* options);

/* Row `index` (0, 1, ...) of the option table; INVALID_ARGUMENT past the end. The strings live for ever. */
typedef struct isthmus_option_info {
  size_t struct_size;
  const char* name;     /* "chunk_bytes" */
  const char* variable; /* "ISTHMUS_CHUNK_BYTES" */
  const char* type;     /* "integer", "text", "choice" */
  const char* unit;     /* "bytes"; may be "" */
  const char* range;    /* "4096..67108864", or the choices */
  const char* default_value;
  const char* description; /* one sentence */
} isthmus_option_info;
ISTHMUS_EXPORT isthmus_status isthmus_option_table_row(size_t index, isthmus_option_info* info);

/* ------------------------------------------------------------------------------------------------------- stores */

/* The key-value service through which the processes of a group find each other. Used only while a communicator is
 * created; one thread at a time. */
typedef struct isthmus_store isthmus_store;

/* A store that the caller implements. Every callback gets the caller's context and returns a status; a call that waits
 * must end within timeout_ms with ISTHMUS_DEADLINE_EXCEEDED. Keys are NUL-terminated; values are bytes. Callbacks run
 * on the thread that calls isthmus_communicator_create. */
typedef struct isthmus_store_callbacks {
  size_t struct_size;
  void* context;
  isthmus_status (*set)(void* context, const char* key, const void* value, size_t value_bytes, int64_t timeout_ms);
  /* Waits until the key exists, then hands its value over through sink(sink_context, value, value_bytes), once. */
  isthmus_status (*get)(void* context, const char* key, int64_t timeout_ms,
                        void (*sink)(void* sink_context, const void* value, size_t value_bytes), void* sink_context);
  isthmus_status (*contains)(void* context, const char* key, int64_t timeout_ms, int* found);
  isthmus_status (*add)(void* context, const char* key, int64_t delta, int64_t timeout_ms, int64_t* sum);
  isthmus_status (*remove)(void* context, const char* key, int64_t timeout_ms);
  /* The text of the last failure on this thread, for error messages; may be NULL, may return NULL. */
  const char* (*last_error)(void* context);
  /* Called once when the store is destroyed; may be NULL. */
  void (*release)(void* context);
} isthmus_store_callbacks;

ISTHMUS_EXPORT isthmus_status isthmus_store_create_callback(const isthmus_store_callbacks* callbacks,
                                                            isthmus_store** store);
/* `path`: a file on a file system that all processes share; made when absent. */
ISTHMUS_EXPORT isthmus_status isthmus_store_create_file(const char* path, isthmus_store** store);
/* `address`: "host:port" of a rendezvous server. Waits up to timeout_ms for it to answer. `options`: those of the
 * runtime, for their job secret; NULL: none. INVALID_ARGUMENT: authentication failed. */
ISTHMUS_EXPORT isthmus_status isthmus_store_create_tcp(const isthmus_options* options, const char* address,
                                                       int64_t timeout_ms, isthmus_store** store);
/* In this process: for worlds of threads. Stores of the same name share their keys. */
ISTHMUS_EXPORT isthmus_status isthmus_store_create_memory(const char* name, isthmus_store** store);
ISTHMUS_EXPORT void isthmus_store_destroy(isthmus_store* store);

/* The server behind isthmus_store_create_tcp. `options`: as there; `host`: numeric address to bind; `port` 0: any. */
typedef struct isthmus_rendezvous_server isthmus_rendezvous_server;
ISTHMUS_EXPORT isthmus_status isthmus_rendezvous_server_start(const isthmus_options* options, const char* host,
                                                              uint16_t port, isthmus_rendezvous_server** server);
/* "10.77.0.1:29500"; valid until the server is stopped. */
ISTHMUS_EXPORT const char* isthmus_rendezvous_server_address(const isthmus_rendezvous_server* server);
ISTHMUS_EXPORT void isthmus_rendezvous_server_stop(isthmus_rendezvous_server* server);

/* ------------------------------------------------------------------------------------------------------- runtime */

/* Threads, links and listening ports of one process; all its communicators share them. After fork() the calls of the
 * child fail with ISTHMUS_UNAVAILABLE and its destroy functions only free memory. */
typedef struct isthmus_runtime isthmus_runtime;

/* `options`: copied; NULL: defaults. The environment is read only through isthmus_options_load_environment. */
ISTHMUS_EXPORT isthmus_status isthmus_runtime_create(const isthmus_options* options, isthmus_runtime** runtime);

/* Says goodbye to all peers and waits, at most for the option drain_ms, until everything that was sent is acknowledged.
 * Communicators of the runtime must be destroyed before. NULL is allowed. */
ISTHMUS_EXPORT void isthmus_runtime_destroy(isthmus_runtime* runtime);

/* Since the runtime was created. */
typedef struct isthmus_counters {
  size_t struct_size;
  uint64_t wan_sent_bytes; /* whole frames, headers and acknowledgements included, to other sites */
  uint64_t wan_received_bytes;
  uint64_t site_sent_bytes; /* to ranks of the own site */
  uint64_t site_received_bytes;
  uint64_t operations_completed;
  uint64_t operations_failed;
} isthmus_counters;
ISTHMUS_EXPORT isthmus_status isthmus_runtime_counters(isthmus_runtime* runtime, isthmus_counters* counters);

/* --------------------------------------------------------------------------------------------------- communicators */

typedef struct isthmus_communicator isthmus_communicator;

typedef struct isthmus_communicator_options {
  size_t struct_size;
  const char* name;           /* for messages; NULL: "world" */
  int64_t timeout_ms;         /* 0: the runtime's option. Default timeout of operations */
  int64_t connect_timeout_ms; /* 0: the runtime's option. Limit of this call */
} isthmus_communicator_options;

/* Collective over the `size` processes (1000000 at most) that use the same store: returns on all of them, or fails on
 * all of them, within connect_timeout_ms. The keys of the store must be fresh for each communicator (a prefix). The
 * runtime must outlive the communicator. Sites: from the option `site` of each process's runtime (set on all ranks or
 * on none), else detected. DEADLINE_EXCEEDED names the ranks that did not come; INVALID_ARGUMENT the ranks without a
 * site. */
ISTHMUS_EXPORT isthmus_status isthmus_communicator_create(isthmus_runtime* runtime, isthmus_store* store, int rank,
                                                          int size, const isthmus_communicator_options* options,
                                                          isthmus_communicator** communicator);

/* Collective over the parent: ranks that give the same color (>= 0) form a communicator, ordered by key, then by parent
 * rank. A negative color: member of none, *communicator is NULL. Needs no store. */
ISTHMUS_EXPORT isthmus_status isthmus_communicator_split(isthmus_communicator* parent, int color, int key,
                                                         const isthmus_communicator_options* options,
                                                         isthmus_communicator** communicator);

/* Collective over its members only: `ranks` of the parent, each once, the same list in the same order on each. Rank i
 * of the new communicator is ranks[i]. Needs no store. INVALID_ARGUMENT: a bad list, or lists that differ (both are
 * named). */
ISTHMUS_EXPORT isthmus_status isthmus_communicator_subset(isthmus_communicator* parent, const int* ranks,
                                                          size_t rank_count,
                                                          const isthmus_communicator_options* options,
                                                          isthmus_communicator** communicator);

/* Not collective. Operations in flight fail with ISTHMUS_ABORTED here, and, where they need this rank, with
 * ISTHMUS_UNAVAILABLE elsewhere. NULL is allowed. Destroy works separately. */
ISTHMUS_EXPORT void isthmus_communicator_destroy(isthmus_communicator* communicator);

/* -1: the communicator is NULL. */
ISTHMUS_EXPORT int isthmus_communicator_rank(const isthmus_communicator* communicator);
ISTHMUS_EXPORT int isthmus_communicator_size(const isthmus_communicator* communicator);
ISTHMUS_EXPORT int isthmus_communicator_site_count(const isthmus_communicator* communicator);
/* Index (sites in the order of their lowest rank) and name; -1 and NULL if there is no such rank. */
ISTHMUS_EXPORT int isthmus_communicator_site_of_rank(const isthmus_communicator* communicator, int rank);
ISTHMUS_EXPORT const char* isthmus_communicator_site_name(const isthmus_communicator* communicator, int rank);

/* ISTHMUS_OK while the communicator is usable; else the reason why it is not, with its message in isthmus_last_error().
 * An operation that failed after it began breaks the communicator; a call refused by its arguments does not. */
ISTHMUS_EXPORT isthmus_status isthmus_communicator_status(isthmus_communicator* communicator);

/* Breaks the communicator on every rank: operations in flight and later ones fail with ISTHMUS_ABORTED and `reason`. */
ISTHMUS_EXPORT isthmus_status isthmus_communicator_abort(isthmus_communicator* communicator, const char* reason);

/* ------------------------------------------------------------------------------------------------------- work */

/* One operation in flight. */
typedef struct isthmus_work isthmus_work;

/* Blocks until the operation has ended, at most timeout_ms (negative: until the operation's own timeout ends it), and
 * returns how it ended. DEADLINE_EXCEEDED with the operation still in flight: this call gave up, nothing was cancelled,
 * and it may be called again. */
ISTHMUS_EXPORT isthmus_status isthmus_work_wait(isthmus_work* work, int64_t timeout_ms);
/* *done: 1 once the operation has ended, well or badly. */
ISTHMUS_EXPORT isthmus_status isthmus_work_test(isthmus_work* work, int* done);
/* How the operation ended; ISTHMUS_OK while it has not. */
ISTHMUS_EXPORT isthmus_status isthmus_work_status(isthmus_work* work);
/* Gives the operation up, which breaks its communicator on every rank. */
ISTHMUS_EXPORT isthmus_status isthmus_work_abort(isthmus_work* work);
/* Sequence number of the operation in its communicator, as messages give it. */
ISTHMUS_EXPORT uint64_t isthmus_work_sequence(const isthmus_work* work);

/* The rank whose message an isthmus_recv received; -1: it is no receive, or none has been matched yet. */
ISTHMUS_EXPORT int isthmus_work_source(const isthmus_work* work);

/* Runs once, on a thread of the library, when the operation has ended (at once, on this thread, if it has already).
 * `message` is "" on success. Callbacks run one at a time, in the order in which operations ended; others wait for one
 * that blocks, 20 ms at most, and then run beside it, so it may wait for another operation. At most one per work. */
typedef void (*isthmus_work_callback)(void* context, isthmus_status status, const char* message);
ISTHMUS_EXPORT isthmus_status isthmus_work_on_complete(isthmus_work* work, isthmus_work_callback callback,
                                                       void* context);
/* Releases the handle; the operation itself goes on. NULL is allowed. */
ISTHMUS_EXPORT void isthmus_work_destroy(isthmus_work* work);

/* ------------------------------------------------------------------------------------------------------- operations */

typedef enum isthmus_memory_kind { ISTHMUS_MEMORY_HOST = 0 } isthmus_memory_kind;

/* A tensor inside a flat buffer. */
typedef struct isthmus_tensor_segment {
  uint64_t key;    /* stable over steps */
  uint64_t offset; /* elements */
  uint64_t count;  /* elements */
} isthmus_tensor_segment;

typedef struct isthmus_call_options {
  size_t struct_size;
  int64_t timeout_ms; /* 0: the communicator's. Starts anew whenever payload of the operation advances */
  void* stream;       /* must be NULL for host memory */
  isthmus_memory_kind memory_kind;
  int priority;      /* a hint: of several operations that may send, those of higher priority go first; 0 is usual */
  const char* codec; /* NULL or "none" */
  uint32_t tag;      /* isthmus_send, isthmus_recv */
  const isthmus_tensor_segment* segments; /* the tensors in a flat buffer, or NULL */
  size_t segment_count;
  const double* premul_factor; /* ISTHMUS_PREMUL_SUM: what this rank's input is multiplied by; read during the call.
                                  NULL with every other operator */
} isthmus_call_options;

/* All operations: `options` may be NULL. With `work` NULL the call returns when the operation has ended; else it
 * returns at once and *work must be destroyed. Errors of the arguments are returned at once and leave the communicator
 * usable. A descriptor (operation, type, operator, count, root) is compared between ranks: a mismatch fails the
 * operation on every rank with INVALID_ARGUMENT and both values. count 0 is legal and keeps its place in the order. */

/* recv[i] = op over all ranks of send[i]. send == recv: in place. Otherwise they must not overlap. The result has the
 * same bytes on every rank. */
ISTHMUS_EXPORT isthmus_status isthmus_allreduce(isthmus_communicator* communicator, const void* send, void* recv,
                                                size_t count, isthmus_dtype dtype, isthmus_op op,
                                                const isthmus_call_options* options, isthmus_work** work);

/* recv of `root`[i] = op over all ranks of send[i]. At the root in place if send == recv; elsewhere recv is not used
 * and may be NULL. */
ISTHMUS_EXPORT isthmus_status isthmus_reduce(isthmus_communicator* communicator, const void* send, void* recv,
                                             size_t count, isthmus_dtype dtype, isthmus_op op, int root,
                                             const isthmus_call_options* options, isthmus_work** work);

/* buffer of `root` to all. */
ISTHMUS_EXPORT isthmus_status isthmus_broadcast(isthmus_communicator* communicator, void* buffer, size_t count,
                                                isthmus_dtype dtype, int root, const isthmus_call_options* options,
                                                isthmus_work** work);

/* recv (size * count elements) = send of rank 0, rank 1, ... (count elements each). In place: send == recv +
 * rank*count. */
ISTHMUS_EXPORT isthmus_status isthmus_all_gather(isthmus_communicator* communicator, const void* send, void* recv,
                                                 size_t count, isthmus_dtype dtype, const isthmus_call_options* options,
                                                 isthmus_work** work);

/* recv (count elements) = block `rank` of the reduction of send (size * count elements). In place: recv == send +
 * rank*count; the other blocks of send are then used as scratch and hold no result. */
ISTHMUS_EXPORT isthmus_status isthmus_reduce_scatter(isthmus_communicator* communicator, const void* send, void* recv,
                                                     size_t count, isthmus_dtype dtype, isthmus_op op,
                                                     const isthmus_call_options* options, isthmus_work** work);

/* The v-variants: blocks of the ranks may differ in size. `counts` has one count per rank (0 is legal) and must be
 * equal on every rank; blocks lie one after the other in rank order, without gaps. It is read during the call only. */

/* recv (sum of counts) = send of rank 0 (counts[0] elements), of rank 1, ... In place: send == recv + the counts of the
 * ranks before this one. */
ISTHMUS_EXPORT isthmus_status isthmus_all_gather_v(isthmus_communicator* communicator, const void* send, void* recv,
                                                   const size_t* counts, isthmus_dtype dtype,
                                                   const isthmus_call_options* options, isthmus_work** work);

/* recv (counts[rank] elements) = block `rank` of the reduction of send (sum of counts). In place: recv == send + the
 * counts of the ranks before this one; the rest of send then holds no result. */
ISTHMUS_EXPORT isthmus_status isthmus_reduce_scatter_v(isthmus_communicator* communicator, const void* send, void* recv,
                                                       const size_t* counts, isthmus_dtype dtype, isthmus_op op,
                                                       const isthmus_call_options* options, isthmus_work** work);

/* recv of `root` (size * count elements) = send of rank 0, rank 1, ... (count elements each). At the root in place if
 * send == recv + root*count; elsewhere recv is not used and may be NULL. */
ISTHMUS_EXPORT isthmus_status isthmus_gather(isthmus_communicator* communicator, const void* send, void* recv,
                                             size_t count, isthmus_dtype dtype, int root,
                                             const isthmus_call_options* options, isthmus_work** work);
ISTHMUS_EXPORT isthmus_status isthmus_gather_v(isthmus_communicator* communicator, const void* send, void* recv,
                                               const size_t* counts, isthmus_dtype dtype, int root,
                                               const isthmus_call_options* options, isthmus_work** work);

/* recv (count elements) = block `rank` of the send of `root` (size * count elements). At the root in place if recv ==
 * send + root*count; elsewhere send is not used and may be NULL. */
ISTHMUS_EXPORT isthmus_status isthmus_scatter(isthmus_communicator* communicator, const void* send, void* recv,
                                              size_t count, isthmus_dtype dtype, int root,
                                              const isthmus_call_options* options, isthmus_work** work);
ISTHMUS_EXPORT isthmus_status isthmus_scatter_v(isthmus_communicator* communicator, const void* send, void* recv,
                                                const size_t* counts, isthmus_dtype dtype, int root,
                                                const isthmus_call_options* options, isthmus_work** work);

/* Block i of recv (size * count elements) = block `rank` of the send of rank i (size * count elements). Not in place.
 */
ISTHMUS_EXPORT isthmus_status isthmus_all_to_all(isthmus_communicator* communicator, const void* send, void* recv,
                                                 size_t count, isthmus_dtype dtype, const isthmus_call_options* options,
                                                 isthmus_work** work);

/* The same with blocks of any size: send_counts[i] elements go to rank i, recv_counts[i] come from it, each in rank
 * order without gaps. What one rank sends another must be what that one receives: else both fail with INVALID_ARGUMENT,
 * which names both sizes. Not in place. The arrays are read during the call only. */
ISTHMUS_EXPORT isthmus_status isthmus_all_to_all_v(isthmus_communicator* communicator, const void* send,
                                                   const size_t* send_counts, void* recv, const size_t* recv_counts,
                                                   isthmus_dtype dtype, const isthmus_call_options* options,
                                                   isthmus_work** work);

/* Coalesced calls: the operation of one buffer over each of `buffers`, with one work for all; it fails with the first
 * error among them. All ranks pass buffers of the same counts and types in the same order. Large buffers are moved as
 * they lie; small neighbours of one type are copied together, so that they do not each pay a message. The array is read
 * during the call only; the buffers belong to Isthmus until the work is done. Its stride is buffers[0].struct_size. */
typedef struct isthmus_buffer {
  size_t struct_size;
  const void* send;
  void* recv;
  size_t count; /* as the call of one buffer has it */
  isthmus_dtype dtype;
} isthmus_buffer;
ISTHMUS_EXPORT isthmus_status isthmus_allreduce_coalesced(isthmus_communicator* communicator,
                                                          const isthmus_buffer* buffers, size_t buffer_count,
                                                          isthmus_op op, const isthmus_call_options* options,
                                                          isthmus_work** work);
ISTHMUS_EXPORT isthmus_status isthmus_all_gather_coalesced(isthmus_communicator* communicator,
                                                           const isthmus_buffer* buffers, size_t buffer_count,
                                                           const isthmus_call_options* options, isthmus_work** work);
ISTHMUS_EXPORT isthmus_status isthmus_reduce_scatter_coalesced(isthmus_communicator* communicator,
                                                               const isthmus_buffer* buffers, size_t buffer_count,
                                                               isthmus_op op, const isthmus_call_options* options,
                                                               isthmus_work** work);

/* Returns when every rank has called it. */
ISTHMUS_EXPORT isthmus_status isthmus_barrier(isthmus_communicator* communicator, const isthmus_call_options* options,
                                              isthmus_work** work);

/* Matched by pair and tag (at most 4294967279), in order. A send is done when its buffer may be overwritten, which may
 * be before the peer has called isthmus_recv. Counts and types must be equal: otherwise the receive fails with
 * INVALID_ARGUMENT and both, the message is dropped, its send completes, and the communicator stays usable.
 * Source ISTHMUS_ANY_SOURCE: the earliest message of that tag that has arrived; isthmus_work_source() tells whose it
 * was. Receives of one tag that are posted after such a one wait until it is matched. */
#define ISTHMUS_ANY_SOURCE (-1)
ISTHMUS_EXPORT isthmus_status isthmus_send(isthmus_communicator* communicator, const void* buffer, size_t count,
                                           isthmus_dtype dtype, int destination, const isthmus_call_options* options,
                                           isthmus_work** work);
ISTHMUS_EXPORT isthmus_status isthmus_recv(isthmus_communicator* communicator, void* buffer, size_t count,
                                           isthmus_dtype dtype, int source, const isthmus_call_options* options,
                                           isthmus_work** work);

/* Sends and receives that start as one, with one work for all; when one is refused, none starts. The tag of `options`
 * is not used. The array is read during the call only; its stride is messages[0].struct_size. */
typedef struct isthmus_message {
  size_t struct_size;
  int is_send;  /* 1: isthmus_send, 0: isthmus_recv */
  void* buffer; /* a send only reads it */
  size_t count;
  isthmus_dtype dtype;
  int peer; /* destination or source (or ISTHMUS_ANY_SOURCE, but then nothing tells whose message it was) */
  uint32_t tag;
} isthmus_message;
ISTHMUS_EXPORT isthmus_status isthmus_batch_send_recv(isthmus_communicator* communicator,
                                                      const isthmus_message* messages, size_t message_count,
                                                      const isthmus_call_options* options, isthmus_work** work);

#ifdef __cplusplus
}
#endif
#endif /* ISTHMUS_ISTHMUS_H_ */
