#include "runtime/transport/ucx/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <ucp/api/ucp.h>
#include <ucs/debug/log_def.h>

#include <array>
#include <cstdio>
#include <string_view>

#include "runtime/base/log.h"
#include "runtime/transport/signal_keeper.h"

namespace isthmus {
namespace {

constexpr const char* kLibrary = "libucp.so.0";

thread_local int captures = 0;

struct Functions {
  decltype(&::ucp_get_version) get_version = nullptr;
  decltype(&::ucp_get_version_string) get_version_string = nullptr;
  decltype(&::ucp_config_read) config_read = nullptr;
  decltype(&::ucp_config_modify) config_modify = nullptr;
  decltype(&::ucp_config_release) config_release = nullptr;
  decltype(&::ucp_init_version) init_version = nullptr;
  decltype(&::ucp_cleanup) cleanup = nullptr;
  decltype(&::ucp_worker_create) worker_create = nullptr;
  decltype(&::ucp_worker_destroy) worker_destroy = nullptr;
  decltype(&::ucp_worker_get_address) worker_get_address = nullptr;
  decltype(&::ucp_worker_release_address) worker_release_address = nullptr;
  decltype(&::ucp_worker_progress) worker_progress = nullptr;
  decltype(&::ucp_worker_get_efd) worker_get_efd = nullptr;
  decltype(&::ucp_worker_arm) worker_arm = nullptr;
  decltype(&::ucp_ep_create) ep_create = nullptr;
  decltype(&::ucp_ep_close_nbx) ep_close_nbx = nullptr;
  decltype(&::ucp_tag_send_nbx) tag_send_nbx = nullptr;
  decltype(&::ucp_tag_recv_nbx) tag_recv_nbx = nullptr;
  decltype(&::ucp_request_cancel) request_cancel = nullptr;
  decltype(&::ucp_request_free) request_free = nullptr;
  decltype(&::ucp_request_check_status) request_check_status = nullptr;
  decltype(&::ucs_status_string) status_string = nullptr;
  decltype(&::ucs_log_push_handler) log_push_handler = nullptr;
  bool only_ours = false;  // nobody had loaded UCX before us
  Status status;
};

const Functions& functions();

// UCX's own thread ("async") accepts connections for every context of the process.
bool is_our_async_thread() {
  std::array<char, 16> name{};
  if (!functions().only_ours || ::pthread_getname_np(::pthread_self(), name.data(), name.size()) != 0) return false;
  return std::string_view(name.data()) == "async";
}

ucs_log_func_rc_t take_line(const char*, unsigned, const char*, ucs_log_level_t level,
                            const ucs_log_component_config_t* config, const char* message, va_list arguments) {
  if (level > config->log_level) return UCS_LOG_FUNC_RC_CONTINUE;
  if (captures == 0 && !is_our_async_thread()) return UCS_LOG_FUNC_RC_CONTINUE;
  if (log_enabled(LogLevel::kDebug)) {
    std::array<char, 512> line{};
    std::vsnprintf(line.data(), line.size(), message, arguments);
    log_debug("UCX: {}", line.data());
  }
  return UCS_LOG_FUNC_RC_STOP;
}

template <typename Function>
void find(void* library, const char* name, Function* function, Status* status) {
  *function = reinterpret_cast<Function>(::dlsym(library, name));
  if (*function == nullptr && status->ok()) *status = unavailable("{} has no {}", kLibrary, name);
}

void find_all(void* library, Functions* f) {
  find(library, "ucp_get_version", &f->get_version, &f->status);
  find(library, "ucp_get_version_string", &f->get_version_string, &f->status);
  find(library, "ucp_config_read", &f->config_read, &f->status);
  find(library, "ucp_config_modify", &f->config_modify, &f->status);
  find(library, "ucp_config_release", &f->config_release, &f->status);
  find(library, "ucp_init_version", &f->init_version, &f->status);
  find(library, "ucp_cleanup", &f->cleanup, &f->status);
  find(library, "ucp_worker_create", &f->worker_create, &f->status);
  find(library, "ucp_worker_destroy", &f->worker_destroy, &f->status);
  find(library, "ucp_worker_get_address", &f->worker_get_address, &f->status);
  find(library, "ucp_worker_release_address", &f->worker_release_address, &f->status);
  find(library, "ucp_worker_progress", &f->worker_progress, &f->status);
  find(library, "ucp_worker_get_efd", &f->worker_get_efd, &f->status);
  find(library, "ucp_worker_arm", &f->worker_arm, &f->status);
  find(library, "ucp_ep_create", &f->ep_create, &f->status);
  find(library, "ucp_ep_close_nbx", &f->ep_close_nbx, &f->status);
  find(library, "ucp_tag_send_nbx", &f->tag_send_nbx, &f->status);
  find(library, "ucp_tag_recv_nbx", &f->tag_recv_nbx, &f->status);
  find(library, "ucp_request_cancel", &f->request_cancel, &f->status);
  find(library, "ucp_request_free", &f->request_free, &f->status);
  find(library, "ucp_request_check_status", &f->request_check_status, &f->status);
  find(library, "ucs_status_string", &f->status_string, &f->status);
  find(library, "ucs_log_push_handler", &f->log_push_handler, &f->status);
}

Functions load() {
  const SignalKeeper keeper;
  Functions f;
  f.only_ours = ::dlopen(kLibrary, RTLD_NOW | RTLD_NOLOAD) == nullptr;
  void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = ::dlerror();
    f.status = unavailable("cannot load {} (Debian package libucx0): {}", kLibrary, reason != nullptr ? reason : "");
    return f;
  }
  find_all(library, &f);
  return f;
}

const Functions& functions() {
  static const Functions instance = load();
  return instance;
}

}  // namespace

Status load_ucx() {
  static const Status status = [] {
    const Functions& f = functions();
    if (f.status.ok()) f.log_push_handler(take_line);
    return f.status;
  }();
  return status;
}

std::string ucx_version() { return functions().get_version_string(); }

bool ucx_prefixes_transport_keys() {
  unsigned major = 0, minor = 0, release = 0;
  functions().get_version(&major, &minor, &release);
  return major > 1 || minor >= 14;
}

UcxLogCapture::UcxLogCapture() { ++captures; }
UcxLogCapture::~UcxLogCapture() { --captures; }

}  // namespace isthmus

// Hidden: they serve the adapter and its tests, and never another user of UCX in the process. They are called after
// load_ucx() succeeded only.
#pragma GCC visibility push(hidden)
extern "C" {

using isthmus::functions;

ucs_status_t ucp_config_read(const char* prefix, const char* file, ucp_config_t** config) {
  return functions().config_read(prefix, file, config);
}
ucs_status_t ucp_config_modify(ucp_config_t* config, const char* name, const char* value) {
  return functions().config_modify(config, name, value);
}
void ucp_config_release(ucp_config_t* config) { functions().config_release(config); }

ucs_status_t ucp_init_version(unsigned major, unsigned minor, const ucp_params_t* params, const ucp_config_t* config,
                              ucp_context_h* context) {
  return functions().init_version(major, minor, params, config, context);
}
void ucp_cleanup(ucp_context_h context) { functions().cleanup(context); }

ucs_status_t ucp_worker_create(ucp_context_h context, const ucp_worker_params_t* params, ucp_worker_h* worker) {
  return functions().worker_create(context, params, worker);
}
void ucp_worker_destroy(ucp_worker_h worker) { functions().worker_destroy(worker); }
ucs_status_t ucp_worker_get_address(ucp_worker_h worker, ucp_address_t** address, size_t* length) {
  return functions().worker_get_address(worker, address, length);
}
void ucp_worker_release_address(ucp_worker_h worker, ucp_address_t* address) {
  functions().worker_release_address(worker, address);
}
unsigned ucp_worker_progress(ucp_worker_h worker) { return functions().worker_progress(worker); }
ucs_status_t ucp_worker_get_efd(ucp_worker_h worker, int* fd) { return functions().worker_get_efd(worker, fd); }
ucs_status_t ucp_worker_arm(ucp_worker_h worker) { return functions().worker_arm(worker); }

ucs_status_t ucp_ep_create(ucp_worker_h worker, const ucp_ep_params_t* params, ucp_ep_h* endpoint) {
  return functions().ep_create(worker, params, endpoint);
}
ucs_status_ptr_t ucp_ep_close_nbx(ucp_ep_h endpoint, const ucp_request_param_t* param) {
  return functions().ep_close_nbx(endpoint, param);
}

ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h endpoint, const void* buffer, size_t count, ucp_tag_t tag,
                                  const ucp_request_param_t* param) {
  return functions().tag_send_nbx(endpoint, buffer, count, tag, param);
}
ucs_status_ptr_t ucp_tag_recv_nbx(ucp_worker_h worker, void* buffer, size_t count, ucp_tag_t tag, ucp_tag_t mask,
                                  const ucp_request_param_t* param) {
  return functions().tag_recv_nbx(worker, buffer, count, tag, mask, param);
}
void ucp_request_cancel(ucp_worker_h worker, void* request) { functions().request_cancel(worker, request); }
void ucp_request_free(void* request) { functions().request_free(request); }
ucs_status_t ucp_request_check_status(void* request) { return functions().request_check_status(request); }

const char* ucs_status_string(ucs_status_t status) { return functions().status_string(status); }

}  // extern "C"
#pragma GCC visibility pop
