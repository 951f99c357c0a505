#include "runtime/bootstrap/prefix_store.h"

namespace isthmus {

Result<std::unique_ptr<Store>> PrefixStore::clone() {
  ISTHMUS_ASSIGN_OR_RETURN(std::unique_ptr<Store> inner, store_->clone());
  return std::unique_ptr<Store>(std::make_unique<PrefixStore>(prefix_, std::move(inner)));
}

}  // namespace isthmus
