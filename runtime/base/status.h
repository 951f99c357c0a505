// Status and Result<T>: how every layer below the bindings reports an error.
//
// Threads: values; any thread may use its own copy.
//
// A category says what the caller does next, so there are few of them. The message says what happened, naming the
// rank, its site, the operation, its sequence number and both values that disagree, where those are known.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace isthmus {

enum class StatusCode : int {
  kOk = 0,
  kInvalidArgument = 1,   // fix the call
  kUnsupported = 2,       // choose another operation, type or option
  kDeadlineExceeded = 3,  // retry, or give more time
  kUnavailable = 4,       // a peer or a site is gone: form the group again
  kCorruption = 5,        // bytes are not what was sent
  kAborted = 6,           // the caller, or another rank, gave the operation up
  kInternal = 7,          // a defect of Isthmus
};

// The lower-case name of a category: "unavailable".
std::string_view status_code_name(StatusCode code);

class [[nodiscard]] Status {
 public:
  Status() = default;  // ok
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

  // "unavailable: rank 3 (site b) closed its control connection", or "ok".
  std::string to_string() const;

  // The same category, with `context` and ": " put before the message. Ok stays ok.
  Status with_context(std::string_view context) const;

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

#define ISTHMUS_DEFINE_ERROR(function_name, code_name)                                      \
  template <typename... Args>                                                               \
  Status function_name(fmt::format_string<Args...> format, Args&&... args) {                \
    return Status(StatusCode::code_name, fmt::format(format, std::forward<Args>(args)...)); \
  }
ISTHMUS_DEFINE_ERROR(invalid_argument, kInvalidArgument)
ISTHMUS_DEFINE_ERROR(unsupported, kUnsupported)
ISTHMUS_DEFINE_ERROR(deadline_exceeded, kDeadlineExceeded)
ISTHMUS_DEFINE_ERROR(unavailable, kUnavailable)
ISTHMUS_DEFINE_ERROR(corruption, kCorruption)
ISTHMUS_DEFINE_ERROR(aborted, kAborted)
ISTHMUS_DEFINE_ERROR(internal_error, kInternal)
#undef ISTHMUS_DEFINE_ERROR

// A value, or the error that stands in its place.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Status error) : state_(std::in_place_index<1>, std::move(error)) {}  // `error` must not be ok

  bool ok() const { return state_.index() == 0; }
  Status status() const { return ok() ? Status() : std::get<1>(state_); }

  // Only when ok().
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Status> state_;
};

}  // namespace isthmus

// Leaves the function with the error, if `expression` is one.
#define ISTHMUS_RETURN_IF_ERROR(expression)            \
  do {                                                 \
    ::isthmus::Status isthmus_status_ = (expression);  \
    if (!isthmus_status_.ok()) return isthmus_status_; \
  } while (false)

#define ISTHMUS_CONCAT_INNER_(a, b) a##b
#define ISTHMUS_CONCAT_(a, b) ISTHMUS_CONCAT_INNER_(a, b)

// `declaration` takes the value of a Result, or the function is left with its error.
#define ISTHMUS_ASSIGN_OR_RETURN(declaration, expression)                                                           \
  auto ISTHMUS_CONCAT_(isthmus_result_, __LINE__) = (expression);                                                   \
  if (!ISTHMUS_CONCAT_(isthmus_result_, __LINE__).ok()) return ISTHMUS_CONCAT_(isthmus_result_, __LINE__).status(); \
  declaration = std::move(ISTHMUS_CONCAT_(isthmus_result_, __LINE__)).value()
