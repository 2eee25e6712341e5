// SPDX-License-Identifier: Apache-2.0
#include "rl/parameters/published_versions.h"

#include <algorithm>
#include <utility>

namespace shoal::parameters {

bool PublishedVersions::Add(PublishedPointer published) {
  const runtime::MutexLock lock(mutex_);
  if (!recent_.empty() && published->parameters.version <= recent_.back()->parameters.version) {
    return false;
  }
  recent_.push_back(std::move(published));
  std::size_t bytes = 0;
  for (std::size_t i = 0; i + 1 < recent_.size(); ++i)
    bytes += recent_[i]->parameters.bytes->size();
  while (bytes > recent_bytes_) {
    bytes -= recent_.front()->parameters.bytes->size();
    recent_.pop_front();
  }
  return true;
}

PublishedPointer PublishedVersions::newest() const {
  const runtime::MutexLock lock(mutex_);
  return recent_.empty() ? nullptr : recent_.back();
}

PublishedPointer PublishedVersions::Recent(const Version& version) const {
  const runtime::MutexLock lock(mutex_);
  return RecentLocked(version);
}

PublishedPointer PublishedVersions::RecentLocked(const Version& version) const {
  const auto found = std::find_if(
      recent_.begin(), recent_.end(),
      [&version](const auto& published) { return published->parameters.version == version; });
  return found == recent_.end() ? nullptr : *found;
}

absl::StatusOr<PublishedPointer> PublishedVersions::Find(const std::optional<Version>& version) {
  {
    const runtime::MutexLock lock(mutex_);
    const std::optional<Version>& wanted = version ? version : initial_;
    if (wanted && read_ && read_->parameters.version == *wanted) return read_;
    if (PublishedPointer found = wanted ? RecentLocked(*wanted) : nullptr) return found;
  }
  SHOAL_ASSIGN_OR_RETURN(Parameters parameters, Read(version));
  auto published = std::make_shared<Published>();
  published->digest = Sha256(*parameters.bytes);
  published->parameters = std::move(parameters);
  const runtime::MutexLock lock(mutex_);
  if (!version) initial_ = published->parameters.version;
  read_ = published;
  return PublishedPointer(std::move(published));
}

absl::StatusOr<Parameters> PublishedVersions::Read(const std::optional<Version>& version) const {
  const std::string name =
      version ? "parameters " + ToString(*version) : "the parameters that the run began with";
  if (!has_folder_) return runtime::NotFound(name + " are no longer kept");
  auto read = version ? folder_.Load(*version) : folder_.LoadInitial();
  const bool may_be_kept = version && !kept_folder_.path().empty();
  if (absl::IsNotFound(read.status()) && may_be_kept) read = kept_folder_.Load(*version);
  return absl::IsNotFound(read.status()) ? runtime::NotFound(name + " are no longer kept") : read;
}

}  // namespace shoal::parameters
