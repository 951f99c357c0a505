#include <chrono>

#include "bindings/c/handles.h"
#include "runtime/bootstrap/callback_store.h"
#include "runtime/bootstrap/file_store.h"
#include "runtime/bootstrap/memory_store.h"
#include "runtime/bootstrap/tcp_store.h"
