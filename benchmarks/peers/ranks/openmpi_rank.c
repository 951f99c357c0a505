/* One rank of an allreduce over MPI, timed as isthmus bench does it: back to back, the mean of the ranks.
 *
 *   openmpi_rank SIZE_BYTES TOGETHER ITERATIONS WARMUP
 *
 * Rank 0 prints one JSON object: version, times_us, wrong, congestion (TCP_CONGESTION of the sockets to other hosts).
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <mpi.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { kMaxFds = 4096, kTextBytes = 64, kMaxText = 256 };

typedef struct run {
  int rank, ranks, count, together, iterations, warmup;
  float *input, *output; /* of all calls */
  MPI_Request* requests;
} run;

static int is_remote(const struct sockaddr_storage* peer) {
  if (peer->ss_family == AF_INET)
    return (ntohl(((const struct sockaddr_in*)peer)->sin_addr.s_addr) >> 24) != IN_LOOPBACKNET;
  return peer->ss_family == AF_INET6 && !IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6*)peer)->sin6_addr);
}

/* The congestion controls of the process's connections, joined with +. */
static void read_congestion(char* text) {
  text[0] = '\0';
  for (int fd = 3; fd < kMaxFds; ++fd) {
    struct sockaddr_storage peer;
    socklen_t peer_bytes = sizeof(peer), name_bytes = 15;
    char name[16] = "";
    if (getpeername(fd, (struct sockaddr*)&peer, &peer_bytes) != 0 || !is_remote(&peer)) continue;
    if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &name_bytes) != 0) continue;
    if (strstr(text, name) != NULL || strlen(text) + strlen(name) + 2 > kTextBytes) continue;
    if (text[0] != '\0') strcat(text, "+");
    strcat(text, name);
  }
}

static float value(size_t i, int rank) { return (float)(i % 1000 + (size_t)rank); }

static void fill(run* r) {
  const size_t all = (size_t)r->count * (size_t)r->together;
  for (size_t i = 0; i < all; ++i) r->input[i] = value(i, r->rank);
  memset(r->output, 0xff, all * sizeof(float));
}

static void iterate(run* r) {
  for (int call = 0; call < r->together; ++call) {
    const size_t at = (size_t)call * (size_t)r->count;
    if (r->together == 1)
      MPI_Allreduce(r->input, r->output, r->count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    else
      MPI_Iallreduce(r->input + at, r->output + at, r->count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &r->requests[call]);
  }
  if (r->together > 1) MPI_Waitall(r->together, r->requests, MPI_STATUSES_IGNORE);
}

static long long count_wrong(const run* r) {
  long long wrong = 0;
  const size_t all = (size_t)r->count * (size_t)r->together;
  const float ranks_sum = (float)r->ranks * (float)(r->ranks - 1) / 2;
  for (size_t i = 0; i < all; ++i) wrong += r->output[i] != (float)(i % 1000) * (float)r->ranks + ranks_sum;
  return wrong;
}

static void print_result(const double* times_us, int iterations, long long wrong, const char* congestion) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  version[strcspn(version, ",")] = '\0'; /* "Open MPI v4.1.4" */
  printf("{\"version\": \"%s\", \"wrong\": %lld, \"congestion\": \"%s\", \"times_us\": [", version, wrong, congestion);
  for (int i = 0; i < iterations; ++i) printf("%s%.1f", i == 0 ? "" : ", ", times_us[i]);
  printf("]}\n");
}

static void measure(run* r) {
  double* times_us = calloc((size_t)r->iterations, sizeof(double));
  double* mean_us = calloc((size_t)r->iterations, sizeof(double));
  fill(r);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < r->warmup + r->iterations; ++i) {
    const double start = MPI_Wtime();
    iterate(r);
    if (i >= r->warmup) times_us[i - r->warmup] = (MPI_Wtime() - start) * 1e6;
  }
  long long wrong = count_wrong(r), all_wrong = 0;
  char congestion[kMaxText];
  read_congestion(congestion);
  MPI_Reduce(times_us, mean_us, r->iterations, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  for (int i = 0; i < r->iterations; ++i) mean_us[i] /= r->ranks;
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (r->rank == 0) print_result(mean_us, r->iterations, all_wrong, congestion);
  free(times_us);
  free(mean_us);
}

int main(int argc, char** argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: %s SIZE_BYTES TOGETHER ITERATIONS WARMUP\n", argv[0]);
    return 2;
  }
  MPI_Init(&argc, &argv);
  run r = {.count = (int)(strtoll(argv[1], NULL, 10) / (long long)sizeof(float)),
           .together = atoi(argv[2]),
           .iterations = atoi(argv[3]),
           .warmup = atoi(argv[4])};
  MPI_Comm_rank(MPI_COMM_WORLD, &r.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &r.ranks);
  const size_t all = (size_t)r.count * (size_t)r.together;
  r.input = malloc(all * sizeof(float));
  r.output = malloc(all * sizeof(float));
  r.requests = calloc((size_t)r.together, sizeof(MPI_Request));
  measure(&r);
  free(r.requests);
  free(r.output);
  free(r.input);
  MPI_Finalize();
  return 0;
}
