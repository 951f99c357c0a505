#include "runtime/transport/ucx/request.h"

namespace isthmus {
namespace {

void finish(UcxRequest* request, ucs_status_t status, std::size_t bytes) {
  request->done = true;
  request->status = status;
  request->bytes = bytes;
}

void on_sent(void* handle, ucs_status_t status, void* user_data) {
  auto* request = static_cast<UcxRequest*>(user_data);
  finish(request, status, 0);
  request->handle = nullptr;
  ucp_request_free(handle);
}

void on_received(void* handle, ucs_status_t status, const ucp_tag_recv_info_t* info, void* user_data) {
  auto* request = static_cast<UcxRequest*>(user_data);
  finish(request, status, status == UCS_OK ? info->length : 0);
  request->handle = nullptr;
  ucp_request_free(handle);
}

// Takes what a call returned: done at once, failed at once, or to be called back, which may have happened within it.
void take(ucs_status_ptr_t returned, UcxRequest* request) {
  if (request->done) return;
  if (returned == nullptr) return finish(request, UCS_OK, 0);
  if (UCS_PTR_IS_ERR(returned)) return finish(request, UCS_PTR_STATUS(returned), 0);
  request->handle = returned;
}

}  // namespace

void post_send(ucp_ep_h endpoint, ConstBytes message, std::uint64_t tag, UcxRequest* request) {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.cb.send = on_sent;
  param.user_data = request;
  *request = {};
  take(ucp_tag_send_nbx(endpoint, message.data(), message.size(), tag, &param), request);
}

// The callback is asked for in any case: where a message is there already, UCX 1.13 does not tell its length otherwise.
void post_receive(ucp_worker_h worker, MutableBytes buffer, std::uint64_t tag, UcxRequest* request) {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
  param.cb.recv = on_received;
  param.user_data = request;
  *request = {};
  take(ucp_tag_recv_nbx(worker, buffer.data(), buffer.size(), tag, ~0ull, &param), request);
}

void cancel(ucp_worker_h worker, UcxRequest* request) {
  if (request->is_open()) ucp_request_cancel(worker, request->handle);
}

void post_close(ucp_ep_h endpoint, UcxRequest* request) {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  param.flags = UCP_EP_CLOSE_FLAG_FORCE;
  param.cb.send = on_sent;
  param.user_data = request;
  *request = {};
  take(ucp_ep_close_nbx(endpoint, &param), request);
}

}  // namespace isthmus
