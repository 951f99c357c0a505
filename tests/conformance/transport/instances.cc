#include "tests/conformance/transport/station.h"

namespace isthmus::conformance {

INSTANTIATE_TEST_SUITE_P(All, TransportConformance, ::testing::ValuesIn(adapters()),
                         [](const auto& info) { return info.param.name; });

}  // namespace isthmus::conformance
