// The extension module, isthmus._torch_2_13 for torch 2.13. The Python package imports it when the first group is made.
#include <isthmus/isthmus.h>
#include <pybind11/chrono.h>
#include <torch/csrc/utils/pybind.h>
#include <torch/version.h>

#include <chrono>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/torch/backend.h"
#include "bindings/torch/exceptions.h"

namespace isthmus::torch_binding {
namespace {

using Millis = std::chrono::milliseconds;

py::list option_table() {
  py::list rows;
  isthmus_option_info info = ISTHMUS_INIT(isthmus_option_info);
  for (size_t index = 0; isthmus_option_table_row(index, &info) == ISTHMUS_OK; ++index) {
    rows.append(py::make_tuple(info.name, info.variable, info.type, info.unit, info.range, info.default_value,
                               info.description));
  }
  return rows;
}

isthmus_counters read_counters() {
  const py::gil_scoped_release without_gil;
  isthmus_counters counters = ISTHMUS_INIT(isthmus_counters);
  const auto runtime = ProcessRuntime::current();
  if (runtime != nullptr) check_status(isthmus_runtime_counters(runtime->handle(), &counters));
  return counters;
}

py::dict counters() {
  const isthmus_counters values = read_counters();
  py::dict result;
  result["wan_sent_bytes"] = values.wan_sent_bytes;
  result["wan_received_bytes"] = values.wan_received_bytes;
  result["site_sent_bytes"] = values.site_sent_bytes;
  result["site_received_bytes"] = values.site_received_bytes;
  result["operations_completed"] = values.operations_completed;
  result["operations_failed"] = values.operations_failed;
  return result;
}

py::tuple options_state(const GroupOptions& options) {
  return py::make_tuple(options.timeout, options.connect_timeout, options.group_name, options.group_desc,
                        options.global_ranks_in_group, options.priority);
}

c10::intrusive_ptr<GroupOptions> options_from_state(const py::tuple& state) {
  auto options = c10::make_intrusive<GroupOptions>(state[0].cast<Millis>(), state[1].cast<Millis>());
  options->group_name = state[2].cast<std::string>();
  options->group_desc = state[3].cast<std::string>();
  options->global_ranks_in_group = state[4].cast<std::vector<uint64_t>>();
  options->priority = state[5].cast<int>();
  return options;
}

void bind_options(const py::module_& module) {
  py::class_<GroupOptions, c10d::Backend::Options, c10::intrusive_ptr<GroupOptions>>(
      module, "Options",
      "Options of one process group.\n\n"
      "timeout: limit of an operation without progress; torch's `timeout` argument replaces it, unless that is left\n"
      "at torch's default.\n"
      "connect_timeout: limit of the group's construction; zero: ISTHMUS_CONNECT_TIMEOUT_MS, or `timeout` where that\n"
      "is shorter.\n"
      "priority: of operations of several groups that may send, those of higher priority go first.")
      .def(py::init([](Millis timeout, Millis connect_timeout, int priority) {
             auto options = c10::make_intrusive<GroupOptions>(timeout, connect_timeout);
             options->priority = priority;
             return options;
           }),
           py::arg("timeout") = Millis(kBackendDefaultTimeout), py::arg("connect_timeout") = Millis(0),
           py::arg("priority") = 0)
      .def_readwrite("priority", &GroupOptions::priority)
      .def_readwrite("connect_timeout", &GroupOptions::connect_timeout)
      .def("__copy__", [](const GroupOptions& self) { return c10::make_intrusive<GroupOptions>(self); })
      .def("__deepcopy__",
           [](const GroupOptions& self, const py::dict&) { return c10::make_intrusive<GroupOptions>(self); })
      .def(py::pickle(&options_state, &options_from_state))
      .attr("__module__") = "isthmus";  // so that a pickle does not name the version of torch
}

void bind_process_group(const py::module_& module) {
  using Pg = ProcessGroupIsthmus;
  py::class_<Pg, c10d::Backend, c10::intrusive_ptr<Pg>>(
      module, "ProcessGroupIsthmus",
      "Backend \"isthmus\" over the processes that share `store`. The constructor is collective over all of them.")
      .def(py::init([](const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                       const c10::intrusive_ptr<GroupOptions>& options) {
             const py::gil_scoped_release without_gil;
             return c10::make_intrusive<Pg>(store, rank, size, options);
           }),
           py::arg("store"), py::arg("rank"), py::arg("size"), py::arg("options"))
      .def_property_readonly("options", [](Pg& self) { return self.getBackendOptions(); })
      .def("get_error", &Pg::getError, py::call_guard<py::gil_scoped_release>(),
           "SUCCESS while the group is usable; else TIMEOUT, REMOTE_ERROR (a peer is gone) or COMM_ERROR.")
      .def(
          "perform_nocolor_split", [](Pg&, const at::Device&) {}, py::arg("device"),
          "torch calls it on ranks outside of a new group of a bound device; such a group needs nothing from them.")
      .def("site_names", &Pg::site_names, py::call_guard<py::gil_scoped_release>(), "Site of every rank of the group.");
}

PYBIND11_MODULE(ISTHMUS_TORCH_MODULE, module) {
  py::module_::import("torch.distributed");  // the base classes
  bind_options(module);
  bind_process_group(module);
  module.attr("torch_version") = TORCH_VERSION;
  module.def("version", &isthmus_version);
  module.def("protocol_version", &isthmus_protocol_version);
  module.def("supports_operation", [](const char* name) { return isthmus_supports_operation(name) == 1; });
  module.def("supports_transport", [](const char* name) { return isthmus_supports_transport(name) == 1; });
  module.def("option_table", &option_table);
  module.def("counters", &counters);
  module.def("close_all", &Communicator::close_all, py::call_guard<py::gil_scoped_release>(),
             "Shuts every group of this process down.");
}

}  // namespace
}  // namespace isthmus::torch_binding
