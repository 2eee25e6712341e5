// SPDX-License-Identifier: Apache-2.0
#include "rl/parameters/published_versions.h"

#include <algorithm>
#include <utility>

#include "platform/runtime/log.h"

namespace shoal::parameters {

bool PublishedVersions::Add(Parameters parameters) {
  auto added = std::make_shared<const Parameters>(std::move(parameters));
  const runtime::MutexLock lock(mutex_);
  if (!recent_.empty() && added->version <= recent_.back()->version) return false;
  recent_.push_back(std::move(added));
  std::size_t bytes = 0;
  for (std::size_t i = 0; i + 1 < recent_.size(); ++i) bytes += recent_[i]->bytes->size();
  while (bytes > options_.recent_bytes) {
    bytes -= recent_.front()->bytes->size();
    recent_.pop_front();
  }
  return true;
}

bool PublishedVersions::FinishNewest() {
  ParametersPointer added;
  {
    const runtime::MutexLock lock(mutex_);
    if (!recent_.empty()) added = recent_.back();
  }
  if (!added) return false;
  absl::StatusOr<ParametersPointer> finished = Finish(added);
  if (!finished.ok()) {
    spdlog::error("event=version_not_served version={} reason={}", ToString(added->version),
                  runtime::Quoted(runtime::Message(finished.status())));
    return false;
  }
  const runtime::MutexLock lock(mutex_);
  if (newest_ && (*finished)->version <= newest_->version) return false;
  newest_ = *std::move(finished);
  return true;
}

absl::StatusOr<ParametersPointer> PublishedVersions::Finish(const ParametersPointer& added) {
  if (!added->sha256.empty()) return added;
  SHOAL_ASSIGN_OR_RETURN(Parameters parameters, Finished(*added, options_.halves));
  auto finished = std::make_shared<const Parameters>(std::move(parameters));
  const runtime::MutexLock lock(mutex_);
  const auto held = std::find_if(
      recent_.begin(), recent_.end(),
      [&added](const ParametersPointer& one) { return one->version == added->version; });
  if (held == recent_.end()) return ParametersPointer(std::move(finished));
  // Another thread may have finished it too. All shall hold the same object.
  if ((*held)->sha256.empty()) *held = std::move(finished);
  return *held;
}

std::optional<Version> PublishedVersions::last() const {
  const runtime::MutexLock lock(mutex_);
  if (recent_.empty()) return std::nullopt;
  return recent_.back()->version;
}

ParametersPointer PublishedVersions::newest() const {
  const runtime::MutexLock lock(mutex_);
  return newest_;
}

ParametersPointer PublishedVersions::Recent(const Version& version) const {
  const runtime::MutexLock lock(mutex_);
  ParametersPointer held = HeldLocked(version);
  return held && !held->sha256.empty() ? held : nullptr;
}

ParametersPointer PublishedVersions::HeldLocked(const Version& version) const {
  if (newest_ && newest_->version == version) return newest_;
  const auto found =
      std::find_if(recent_.begin(), recent_.end(),
                   [&version](const ParametersPointer& one) { return one->version == version; });
  return found == recent_.end() ? nullptr : *found;
}

absl::StatusOr<ParametersPointer> PublishedVersions::Find(const std::optional<Version>& version) {
  ParametersPointer held;
  {
    const runtime::MutexLock lock(mutex_);
    const std::optional<Version>& wanted = version ? version : initial_;
    if (wanted && read_ && read_->version == *wanted) return read_;
    if (wanted) held = HeldLocked(*wanted);
  }
  if (held) return Finish(held);
  SHOAL_ASSIGN_OR_RETURN(Parameters parameters, Read(version));
  auto read = std::make_shared<const Parameters>(std::move(parameters));
  const runtime::MutexLock lock(mutex_);
  if (!version) initial_ = read->version;
  read_ = read;
  return ParametersPointer(std::move(read));
}

absl::StatusOr<Parameters> PublishedVersions::Read(const std::optional<Version>& version) const {
  const std::string name =
      version ? "parameters " + ToString(*version) : "the parameters that the run began with";
  if (options_.folder.empty()) return runtime::NotFound(name + " are no longer kept");
  auto read = version ? folder_.Load(*version) : folder_.LoadInitial();
  const bool may_be_kept = version && !kept_folder_.path().empty();
  if (absl::IsNotFound(read.status()) && may_be_kept) read = kept_folder_.Load(*version);
  return absl::IsNotFound(read.status()) ? runtime::NotFound(name + " are no longer kept") : read;
}

}  // namespace shoal::parameters
