// Destructors run wherever the last reference goes, often with the GIL held; what waits for the library's threads must
// let go of it, since they may be running a future's Python callback.
//
// Threads: any thread.
#pragma once

#include <Python.h>

namespace isthmus::torch_binding {

class WithoutGil {
 public:
  WithoutGil() : state_(Py_IsInitialized() != 0 && PyGILState_Check() != 0 ? PyEval_SaveThread() : nullptr) {}
  ~WithoutGil() {
    if (state_ != nullptr) PyEval_RestoreThread(state_);
  }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

}  // namespace isthmus::torch_binding
