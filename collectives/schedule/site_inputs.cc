#include "collectives/schedule/site_inputs.h"

namespace isthmus {

void SiteInputs::collect(ScheduleBuilder& builder, const SiteMap& sites, int rank, std::uint32_t round, Region own,
                         std::size_t bytes, std::int8_t exponent) {
  operands.clear();
  received.clear();
  for (const int mate : sites.ranks_of(sites.site_of(rank))) {
    Region region = own;
    if (mate != rank) {
      region = builder.allocate_scratch(bytes);
      received.push_back(builder.receive(mate, round, region, bytes, {}));
    }
    operands.push_back({.region = region, .exponent = exponent});
  }
}

}  // namespace isthmus
