// SPDX-License-Identifier: Apache-2.0
#include "mockserver/service/savepoint.h"

#include <set>
#include <string>
#include <utility>

#include "mockserver/events/deliveries.h"
#include "mockserver/events/event_streams.h"
#include "mockserver/messages/json_object.h"
#include "mockserver/service/editor.h"
#include "mockserver/service/instance.h"

namespace shoal::mockserver {

absl::Status Instance::Save(std::string name) {
  if (!IsName(name)) {
    return runtime::InvalidArgument("\"name\" is 1 to 64 letters, digits, '-', '_' and '.'");
  }
  if (savepoints_.size() >= kMaximumSavepoints && !savepoints_.contains(name)) {
    return runtime::ResourceExhausted("there are " + std::to_string(kMaximumSavepoints) +
                                      " savepoints, the limit");
  }
  savepoints_.insert_or_assign(std::move(name), Savepoint{.state = *this,
                                                          .rules = rules_,
                                                          .external_handlers = external_handlers_,
                                                          .faults = faults_});
  return absl::OkStatus();
}

absl::Status Instance::Restore(std::string_view name) {
  const auto found = savepoints_.find(name);
  if (found == savepoints_.end()) {
    return runtime::NotFound("no savepoint " + std::string(name));
  }
  const Savepoint& savepoint = found->second;
  const std::set<std::uint64_t> open = OpenStreams(Editor(*this));
  if (options_.clock == ClockKind::kReal) past_ += now_ - savepoint.state.now_;
  static_cast<InstanceState&>(*this) = savepoint.state;
  rules_ = savepoint.rules;
  external_handlers_ = savepoint.external_handlers;
  faults_ = savepoint.faults;
  ++resets_;
  Editor editor(*this);
  ResendDeliveries(editor);
  for (const std::uint64_t stream : OpenStreams(editor)) {
    if (!open.contains(stream)) CloseEventStream(editor, stream);
  }
  return absl::OkStatus();
}

bool Instance::Forget(std::string_view name) {
  const auto found = savepoints_.find(name);
  if (found == savepoints_.end()) return false;
  savepoints_.erase(found);
  return true;
}

}  // namespace shoal::mockserver
