#include "collectives/local/shm/shm_site.h"

namespace isthmus {

Result<std::shared_ptr<ShmSite>> ShmSite::create(ProcessId self, EagerLimits limits, Traffic* traffic) {
  ISTHMUS_ASSIGN_OR_RETURN(std::unique_ptr<ShmDirectory> directory, ShmDirectory::create(self));
  return std::shared_ptr<ShmSite>(new ShmSite(self, limits, traffic, std::move(directory)));
}

ShmSite::ShmSite(ProcessId self, EagerLimits limits, Traffic* traffic, std::unique_ptr<ShmDirectory> directory)
    : self_(self), limits_(limits), traffic_(traffic), directory_(std::move(directory)) {}

Status ShmSite::prepare(const std::vector<ShmMateInfo>& mates) {
  for (const ShmMateInfo& mate : mates) {
    auto& channel = channels_[mate.process];
    if (channel) continue;
    ISTHMUS_ASSIGN_OR_RETURN(ShmRingReader reader, directory_->create_ring(mate.process));
    channel = std::make_unique<ShmChannel>(limits_, traffic_, mate.name, std::move(reader));
  }
  return Status();
}

Status ShmSite::attach(const std::vector<ShmMateInfo>& mates) {
  for (const ShmMateInfo& info : mates) {
    ShmChannel& channel = *channels_.at(info.process);
    if (channel.is_attached()) continue;
    ISTHMUS_ASSIGN_OR_RETURN(ShmMate mate, ShmMate::open(shm_directory_path(info.pid, info.process)));
    ISTHMUS_ASSIGN_OR_RETURN(ShmRingWriter writer, mate.open_ring(self_));
    channel.attach(std::move(mate), std::move(writer));
  }
  return Status();
}

Channel* ShmSite::channel(ProcessId mate) {
  const auto found = channels_.find(mate);
  return found == channels_.end() ? nullptr : found->second.get();
}

bool ShmSite::progress() {
  if (may_have_been_woken_) {
    may_have_been_woken_ = false;
    directory_->drain_wakes();
  }
  bool any = false;
  for (auto& [process, channel] : channels_) any |= channel->progress();
  return any;
}

bool ShmSite::arm() {
  may_have_been_woken_ = true;
  for (auto& [process, channel] : channels_)
    if (!channel->arm()) return false;
  return true;
}

}  // namespace isthmus
