// SPDX-License-Identifier: Apache-2.0
#include "learner/publication.h"

#include <chrono>
#include <utility>

#include "platform/runtime/log.h"

namespace shoal::learner {
namespace {

constexpr std::chrono::milliseconds kGrace(500);

}  // namespace

Publication::Publication(const PublicationOptions& options, runtime::Metrics& metrics)
    : keep_(options.keep),
      halves_(options.halves),
      folder_(options.folder),
      publisher_({.folder = options.folder,
                  .kept_folder = options.kept_folder,
                  .recent_bytes = options.recent_bytes,
                  .differences = options.differences,
                  .halves = options.halves},
                 metrics) {}

absl::StatusOr<std::unique_ptr<Publication>> Publication::Create(const PublicationOptions& options,
                                                                 runtime::Metrics& metrics) {
  auto publication = std::unique_ptr<Publication>(new Publication(options, metrics));
  SHOAL_ASSIGN_OR_RETURN(
      publication->server_,
      transport::Server::Create({.listen = options.listen}, {publication->publisher_.service(),
                                                             publication->evaluations_.service()}));
  spdlog::info("event=listening address={}", publication->address());
  return publication;
}

Publication::~Publication() {
  if (server_ != nullptr) Drain();
}

void Publication::Publish(const parameters::Parameters& parameters) {
  publisher_.Publish(parameters);
  server_->SetServing(true);
}

absl::Status Publication::Save(parameters::Parameters& parameters) const {
  SHOAL_ASSIGN_OR_RETURN(parameters, parameters::Finished(std::move(parameters), halves_));
  SHOAL_RETURN_IF_ERROR(folder_.Save(parameters));
  return folder_.KeepNewest(keep_);
}

void Publication::Drain() {
  server_->SetServing(false);
  publisher_.Drain(kGrace);
  server_->Shutdown(runtime::Duration::zero());
}

}  // namespace shoal::learner
