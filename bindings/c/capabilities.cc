#include <algorithm>
#include <array>
#include <string_view>

#include "bindings/c/handles.h"
#include "isthmus/version.h"
#include "runtime/base/log.h"
#include "runtime/device/reducible.h"
#include "runtime/transport/factory.h"

const char* isthmus_version(void) { return ISTHMUS_VERSION_STRING; }

uint32_t isthmus_version_number(void) {
  return ISTHMUS_VERSION_MAJOR * 1000000 + ISTHMUS_VERSION_MINOR * 1000 + ISTHMUS_VERSION_PATCH;
}

uint32_t isthmus_protocol_version(void) { return isthmus::kProtocolVersion; }

int isthmus_supports_operation(const char* operation) {
  static constexpr auto kOperations = std::to_array<std::string_view>({"allreduce",
                                                                       "reduce",
                                                                       "broadcast",
                                                                       "all_gather",
                                                                       "all_gather_v",
                                                                       "reduce_scatter",
                                                                       "reduce_scatter_v",
                                                                       "gather",
                                                                       "gather_v",
                                                                       "scatter",
                                                                       "scatter_v",
                                                                       "all_to_all",
                                                                       "all_to_all_v",
                                                                       "allreduce_coalesced",
                                                                       "all_gather_coalesced",
                                                                       "reduce_scatter_coalesced",
                                                                       "barrier",
                                                                       "send",
                                                                       "recv",
                                                                       "batch_send_recv"});
  return operation != nullptr && std::find(kOperations.begin(), kOperations.end(), operation) != kOperations.end();
}

int isthmus_supports_reduction(isthmus_dtype dtype, isthmus_op op) {
  if (!isthmus::is_valid_dtype(dtype) || !isthmus::is_valid_reduce_op(op)) return 0;
  return isthmus::check_reducible(static_cast<isthmus::DataType>(dtype), static_cast<isthmus::ReduceOp>(op)).ok();
}

int isthmus_supports_transport(const char* transport) {
  return transport != nullptr && isthmus::make_transport(transport).ok();
}

void isthmus_set_log(isthmus_log_level level, isthmus_log_callback callback, void* context) {
  isthmus::LogSink sink;
  if (callback != nullptr)
    sink = [callback, context](isthmus::LogLevel line_level, std::string_view line) {
      callback(context, static_cast<isthmus_log_level>(line_level), std::string(line).c_str());
    };
  isthmus::set_log_sink(static_cast<isthmus::LogLevel>(level), std::move(sink));
}
