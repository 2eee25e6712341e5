// SPDX-License-Identifier: Apache-2.0
// The metrics that several parts of the core share. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "inference/core/row_block.h"
#include "platform/runtime/metrics.h"

namespace shoal::inference {

// Why rows wait. Each reason is a gauge shoal_inference_waiting_rows{reason}.
enum class WaitReason : std::uint8_t { kEncoding, kParameters, kBatch, kReplay, kLockstep };
inline constexpr std::size_t kWaitReasonCount = 5;

class InferenceMetrics {
 public:
  explicit InferenceMetrics(runtime::Metrics& metrics);

  void CountRow(RowStatus status) { rows_[static_cast<std::size_t>(status)]->Increment(); }
  void SetWaiting(WaitReason reason, std::size_t rows) {
    waiting_[static_cast<std::size_t>(reason)]->Set(static_cast<double>(rows));
  }

  prometheus::Histogram& batch_rows;
  prometheus::Histogram& batch_seconds;
  prometheus::Counter& unrolls;
  prometheus::Counter& dropped_unrolls;
  // The number of publications between the oldest and the newest version that acted in an unroll.
  prometheus::Histogram& unroll_version_spread;
  prometheus::Gauge& parameter_epoch;
  prometheus::Gauge& parameter_step;
  prometheus::Gauge& environments;

 private:
  std::array<prometheus::Counter*, kRowStatusCount> rows_{};
  std::array<prometheus::Gauge*, kWaitReasonCount> waiting_{};
};

}  // namespace shoal::inference
