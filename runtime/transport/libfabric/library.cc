#include "runtime/transport/libfabric/library.h"

#include <dlfcn.h>
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include "runtime/transport/signal_keeper.h"

namespace isthmus {
namespace {

constexpr const char* kLibrary = "libfabric.so.1";

struct Functions {
  decltype(&::fi_version) version = nullptr;
  decltype(&::fi_getinfo) getinfo = nullptr;
  decltype(&::fi_freeinfo) freeinfo = nullptr;
  decltype(&::fi_dupinfo) dupinfo = nullptr;
  decltype(&::fi_fabric) fabric = nullptr;
  decltype(&::fi_strerror) strerror = nullptr;
  Status status;
};

template <typename Function>
void find(void* library, const char* name, Function* function, Status* status) {
  *function = reinterpret_cast<Function>(::dlsym(library, name));
  if (*function == nullptr && status->ok()) *status = unavailable("{} has no {}", kLibrary, name);
}

Functions load() {
  const SignalKeeper keeper;
  Functions f;
  void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = ::dlerror();
    f.status = unavailable("cannot load {} (Debian package libfabric1): {}", kLibrary, reason != nullptr ? reason : "");
    return f;
  }
  find(library, "fi_version", &f.version, &f.status);
  find(library, "fi_getinfo", &f.getinfo, &f.status);
  find(library, "fi_freeinfo", &f.freeinfo, &f.status);
  find(library, "fi_dupinfo", &f.dupinfo, &f.status);
  find(library, "fi_fabric", &f.fabric, &f.status);
  find(library, "fi_strerror", &f.strerror, &f.status);
  return f;
}

const Functions& functions() {
  static const Functions instance = load();
  return instance;
}

}  // namespace

Status load_libfabric() { return functions().status; }

}  // namespace isthmus

// Hidden: they serve the adapter and its tests, and never another user of libfabric in the process.
#pragma GCC visibility push(hidden)
extern "C" {

uint32_t fi_version(void) {
  const auto& f = isthmus::functions();
  return f.version != nullptr ? f.version() : 0;
}

int fi_getinfo(uint32_t version, const char* node, const char* service, uint64_t flags, const struct fi_info* hints,
               struct fi_info** info) {
  const auto& f = isthmus::functions();
  return f.getinfo != nullptr ? f.getinfo(version, node, service, flags, hints, info) : -FI_ENOSYS;
}

void fi_freeinfo(struct fi_info* info) {
  const auto& f = isthmus::functions();
  if (f.freeinfo != nullptr) f.freeinfo(info);
}

struct fi_info* fi_dupinfo(const struct fi_info* info) {
  const auto& f = isthmus::functions();
  return f.dupinfo != nullptr ? f.dupinfo(info) : nullptr;
}

int fi_fabric(struct fi_fabric_attr* attributes, struct fid_fabric** fabric, void* context) {
  const auto& f = isthmus::functions();
  return f.fabric != nullptr ? f.fabric(attributes, fabric, context) : -FI_ENOSYS;
}

const char* fi_strerror(int number) {
  const auto& f = isthmus::functions();
  return f.strerror != nullptr ? f.strerror(number) : "libfabric is not loaded";
}

}  // extern "C"
#pragma GCC visibility pop
