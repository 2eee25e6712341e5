// SPDX-License-Identifier: Apache-2.0
#include "mockserver/service/instance_state.h"

#include <utility>

namespace shoal::mockserver {

void InstanceState::Append(redfish::HistoryRecord record) {
  if (history_->size() >= kMaximumRecords) return;
  if (history_.use_count() > 1) history_ = std::make_shared<History>(*history_);
  history_->push_back(std::move(record));
  evaluated_ = false;
}

}  // namespace shoal::mockserver
