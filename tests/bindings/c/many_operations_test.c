/* The operations with a root, with blocks of any size and over many buffers, from C, in processes. */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "ranks.h"

enum { kRanks = 4, kCount = 5003 };

static int32_t value_of(int from, int to, size_t i) { return from * 1000000 + to * 100000 + (int32_t)(i % 9973); }

static void fill(int32_t* block, int from, int to, size_t count) {
  for (size_t i = 0; i < count; ++i) block[i] = value_of(from, to, i);
}

static void check_block(const int32_t* block, int from, int to, size_t count) {
  for (size_t i = 0; i < count; ++i) CHECK(block[i] == value_of(from, to, i));
}

static void check_rooted(const rank_context* self) {
  static int32_t own[kCount], all[kRanks * kCount], back[kCount];
  const int root = 2;
  fill(own, self->rank, 0, kCount);
  int32_t* const at_root = self->rank == root ? all : NULL;
  CHECK_OK(isthmus_reduce(self->communicator, own, at_root, kCount, ISTHMUS_INT32, ISTHMUS_MAX, root, NULL, NULL));
  if (self->rank == root) check_block(all, kRanks - 1, 0, kCount);
  CHECK_OK(isthmus_gather(self->communicator, own, at_root, kCount, ISTHMUS_INT32, root, NULL, NULL));
  if (self->rank == root)
    for (int rank = 0; rank < kRanks; ++rank) check_block(all + rank * kCount, rank, 0, kCount);
  CHECK_OK(isthmus_scatter(self->communicator, at_root, back, kCount, ISTHMUS_INT32, root, NULL, NULL));
  check_block(back, self->rank, 0, kCount);
  CHECK_STATUS(isthmus_reduce(self->communicator, own, all, 1, ISTHMUS_INT32, ISTHMUS_MAX, kRanks, NULL, NULL),
               ISTHMUS_INVALID_ARGUMENT);
}

static void check_blocks_of_any_size(const rank_context* self) {
  static const size_t counts[kRanks] = {7, 0, 3000, 1};
  static int32_t own[3000], all[3008], back[3000];
  const size_t mine = counts[self->rank];
  fill(own, self->rank, 1, mine);
  CHECK_OK(isthmus_all_gather_v(self->communicator, own, all, counts, ISTHMUS_INT32, NULL, NULL));
  const int32_t* at = all;
  for (int rank = 0; rank < kRanks; at += counts[rank++]) check_block(at, rank, 1, counts[rank]);
  CHECK_OK(isthmus_reduce_scatter_v(self->communicator, all, back, counts, ISTHMUS_INT32, ISTHMUS_AVG, NULL, NULL));
  check_block(back, self->rank, 1, mine);
  memset(all, 0, sizeof(all));
  CHECK_OK(isthmus_gather_v(self->communicator, own, all, counts, ISTHMUS_INT32, 0, NULL, NULL));
  memset(back, 0, sizeof(back));
  CHECK_OK(isthmus_scatter_v(self->communicator, all, back, counts, ISTHMUS_INT32, 0, NULL, NULL));
  check_block(back, self->rank, 1, mine);
  CHECK_STATUS(isthmus_all_gather_v(self->communicator, own, all, NULL, ISTHMUS_INT32, NULL, NULL),
               ISTHMUS_INVALID_ARGUMENT);
}

static void check_all_to_all(const rank_context* self) {
  static int32_t out[kRanks * kCount], in[kRanks * kCount];
  for (int rank = 0; rank < kRanks; ++rank) fill(out + rank * kCount, self->rank, rank, kCount);
  CHECK_OK(isthmus_all_to_all(self->communicator, out, in, kCount, ISTHMUS_INT32, NULL, NULL));
  for (int rank = 0; rank < kRanks; ++rank) check_block(in + rank * kCount, rank, self->rank, kCount);
  size_t send_counts[kRanks], recv_counts[kRanks];
  int32_t* at = out;
  for (int rank = 0; rank < kRanks; at += send_counts[rank++]) {
    send_counts[rank] = (size_t)((self->rank + 2 * rank) % 3 * 11);
    recv_counts[rank] = (size_t)((rank + 2 * self->rank) % 3 * 11);
    fill(at, self->rank, rank, send_counts[rank]);
  }
  CHECK_OK(isthmus_all_to_all_v(self->communicator, out, send_counts, in, recv_counts, ISTHMUS_INT32, NULL, NULL));
  at = in;
  for (int rank = 0; rank < kRanks; at += recv_counts[rank++]) check_block(at, rank, self->rank, recv_counts[rank]);
}

static void check_coalesced(const rank_context* self) {
  static int32_t small[10], large[60000], blocks[kRanks * 10], gathered[kRanks * 10];
  fill(small, self->rank, 0, 10);
  fill(large, self->rank, 0, 60000);
  isthmus_buffer buffers[3] = {ISTHMUS_INIT(isthmus_buffer), ISTHMUS_INIT(isthmus_buffer),
                               ISTHMUS_INIT(isthmus_buffer)};
  buffers[0].send = buffers[0].recv = small;
  buffers[0].count = 4;
  buffers[1].send = buffers[1].recv = small + 4;
  buffers[1].count = 6;
  buffers[2].send = buffers[2].recv = large;
  buffers[2].count = 60000;
  for (int i = 0; i < 3; ++i) buffers[i].dtype = ISTHMUS_INT32;
  isthmus_work* work;
  CHECK_OK(isthmus_allreduce_coalesced(self->communicator, buffers, 3, ISTHMUS_MAX, NULL, &work));
  CHECK_OK(isthmus_work_wait(work, -1));
  isthmus_work_destroy(work);
  check_block(small, kRanks - 1, 0, 10);
  check_block(large, kRanks - 1, 0, 60000);

  fill(small, self->rank, 5, 10);
  isthmus_buffer parts[2] = {ISTHMUS_INIT(isthmus_buffer), ISTHMUS_INIT(isthmus_buffer)};
  for (int i = 0; i < 2; ++i) {
    parts[i].send = small + 5 * i;
    parts[i].recv = gathered + 5 * kRanks * i;
    parts[i].count = 5;
    parts[i].dtype = ISTHMUS_INT32;
  }
  CHECK_OK(isthmus_all_gather_coalesced(self->communicator, parts, 2, NULL, NULL));
  for (int rank = 0; rank < kRanks; ++rank)
    for (size_t i = 0; i < 10; ++i)
      CHECK(gathered[i / 5 * 5 * kRanks + (size_t)rank * 5 + i % 5] == value_of(rank, 5, i));
  for (int i = 0; i < 2; ++i) {
    parts[i].send = gathered + 5 * kRanks * i;
    parts[i].recv = blocks + 5 * i;
  }
  CHECK_OK(isthmus_reduce_scatter_coalesced(self->communicator, parts, 2, ISTHMUS_MIN, NULL, NULL));
  check_block(blocks, self->rank, 5, 10);
  parts[1].struct_size = 1;
  CHECK_STATUS(isthmus_all_gather_coalesced(self->communicator, parts, 2, NULL, NULL), ISTHMUS_INVALID_ARGUMENT);
}

static void check_messages(const rank_context* self) {
  int32_t mine[kRanks], theirs[kRanks];
  isthmus_message messages[2 * kRanks];
  size_t count = 0;
  for (int peer = 0; peer < kRanks; ++peer) {
    if (peer == self->rank) continue;
    mine[peer] = value_of(self->rank, peer, 0);
    for (int is_send = 0; is_send < 2; ++is_send) {
      isthmus_message message = ISTHMUS_INIT(isthmus_message);
      message.is_send = is_send;
      message.buffer = is_send ? &mine[peer] : &theirs[peer];
      message.count = 1;
      message.dtype = ISTHMUS_INT32;
      message.peer = peer;
      message.tag = 11;
      messages[count++] = message;
    }
  }
  CHECK_OK(isthmus_batch_send_recv(self->communicator, messages, count, NULL, NULL));
  for (int peer = 0; peer < kRanks; ++peer) CHECK(peer == self->rank || theirs[peer] == value_of(peer, self->rank, 0));

  isthmus_call_options options = ISTHMUS_INIT(isthmus_call_options);
  options.tag = 12;
  options.priority = 3;
  if (self->rank != 0) {
    CHECK_OK(isthmus_send(self->communicator, &self->rank, 1, ISTHMUS_INT32, 0, &options, NULL));
  } else {
    for (int i = 1; i < kRanks; ++i) {
      int32_t from = -1;
      isthmus_work* work;
      CHECK_OK(isthmus_recv(self->communicator, &from, 1, ISTHMUS_INT32, ISTHMUS_ANY_SOURCE, &options, &work));
      CHECK_OK(isthmus_work_wait(work, -1));
      CHECK(from > 0 && isthmus_work_source(work) == from);
      isthmus_work_destroy(work);
    }
  }
  CHECK_OK(isthmus_barrier(self->communicator, NULL, NULL));
}

static void check_subset(const rank_context* self) {
  const int ranks[3] = {3, 0, 1};
  isthmus_communicator* three;
  if (self->rank == 2) {
    CHECK_STATUS(isthmus_communicator_subset(self->communicator, ranks, 3, NULL, &three), ISTHMUS_INVALID_ARGUMENT);
    return;
  }
  CHECK_OK(isthmus_communicator_subset(self->communicator, ranks, 3, NULL, &three));
  CHECK(isthmus_communicator_size(three) == 3 && ranks[isthmus_communicator_rank(three)] == self->rank);
  int32_t sum = self->rank;
  CHECK_OK(isthmus_allreduce(three, &sum, &sum, 1, ISTHMUS_INT32, ISTHMUS_SUM, NULL, NULL));
  CHECK(sum == 4);
  isthmus_communicator_destroy(three);
}

static void body(const rank_context* self) {
  check_rooted(self);
  check_blocks_of_any_size(self);
  check_all_to_all(self);
  check_coalesced(self);
  check_messages(self);
  check_subset(self);
  CHECK_OK(isthmus_communicator_status(self->communicator));
  CHECK_OK(isthmus_barrier(self->communicator, NULL, NULL));
}

int main(void) {
  run_ranks(kRanks, 2, body);
  puts("many_operations_test: passed");
  return 0;
}
