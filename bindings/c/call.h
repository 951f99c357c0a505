// The common frame of all operations of the C API: handles and options are checked, the work is handed out or waited
// for.
//
// Threads: any thread.
#pragma once

#include "bindings/c/handles.h"

namespace isthmus::c_api {

Result<CallOptions> call_options(const isthmus_call_options* from);

// `call` starts the operation on the communicator: Communicator::WorkResult(Communicator&, DataType, ReduceOp, const
// CallOptions&).
template <typename Call>
isthmus_status run(const char* name, isthmus_communicator* communicator, int dtype, int op,
                   const isthmus_call_options* options, isthmus_work** work, Call&& call) {
  return guard([&]() -> Status {
    if (work != nullptr) *work = nullptr;
    if (communicator == nullptr) return invalid_argument("{}: communicator is null", name);
    if (!is_valid_dtype(dtype)) return invalid_argument("{}: {} is no isthmus_dtype", name, dtype);
    if (!is_valid_reduce_op(op)) return invalid_argument("{}: {} is no isthmus_op", name, op);
    ISTHMUS_ASSIGN_OR_RETURN(const CallOptions resolved, call_options(options));
    ISTHMUS_ASSIGN_OR_RETURN(
        std::shared_ptr<Work> started,
        call(*communicator->communicator, static_cast<DataType>(dtype), static_cast<ReduceOp>(op), resolved));
    if (work == nullptr) return started->wait(Duration(-1));
    *work = new isthmus_work{std::move(started)};
    return Status();
  });
}

// The counts of all ranks, as the caller passed them.
inline Result<std::span<const std::size_t>> counts_of(const char* name, const Communicator& communicator,
                                                      const std::size_t* counts) {
  if (counts == nullptr) return invalid_argument("{}: counts is null", name);
  return std::span<const std::size_t>(counts, static_cast<std::size_t>(communicator.size()));
}

// Reads an array of size-tagged structs, whose stride is the struct_size of the first.
template <typename T>
Result<std::vector<T>> read_structs(const T* from, std::size_t count, const char* name) {
  std::vector<T> all;
  if (count == 0) return all;
  if (from == nullptr) return invalid_argument("{}: the array is null and {} are expected there", name, count);
  const auto* at = reinterpret_cast<const unsigned char*>(from);
  const std::size_t stride = from->struct_size;
  for (std::size_t i = 0; i < count; ++i, at += stride) {
    const auto* element = reinterpret_cast<const T*>(at);
    if (element->struct_size != stride)
      return invalid_argument("{}: struct_size of element {} is {}, of element 0 {}", name, i, element->struct_size,
                              stride);
    ISTHMUS_ASSIGN_OR_RETURN(const T one, read_struct(element, name));
    all.push_back(one);
  }
  return all;
}

}  // namespace isthmus::c_api
