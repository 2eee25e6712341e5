// SPDX-License-Identifier: Apache-2.0
#include "replay/acknowledgement_fault.h"

#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "platform/runtime/atomic_file.h"
#include "platform/runtime/log.h"

namespace shoal::replay {
namespace {

std::int64_t UnlessMarked(std::int64_t at, const std::string& marker) {
  std::error_code ignored;
  return at > 0 && std::filesystem::exists(marker, ignored) ? 0 : at;
}

}  // namespace

AcknowledgementFault::AcknowledgementFault(std::int64_t at, std::string marker,
                                           runtime::Clock& clock)
    : marker_(std::move(marker)), at_(UnlessMarked(at, marker_)), clock_(clock) {}

bool AcknowledgementFault::Withhold() {
  if (at_ == 0) return false;
  const runtime::MutexLock lock(mutex_);
  if (++counted_ != at_) return false;
  due_ = clock_.Now() + std::chrono::milliseconds(300);
  return true;
}

void AcknowledgementFault::DieIfDue() {
  if (at_ == 0) return;
  {
    const runtime::MutexLock lock(mutex_);
    if (!due_ || clock_.Now() < *due_) return;
  }
  const absl::Status marked = runtime::WriteFileAtomically(marker_, "done\n");
  spdlog::warn("event=exit_before_acknowledgement item={} marker={} status={}", at_, marker_,
               runtime::Quoted(marked.ToString()));
  spdlog::default_logger()->flush();
  kill(getpid(), SIGKILL);
}

}  // namespace shoal::replay
