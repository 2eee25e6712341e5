// SPDX-License-Identifier: Apache-2.0
// The metrics that several parts of the core share.
//
// Each replica of the policy has an object of its own. All of them count into the same metrics, and
// a gauge that several set shows the sum of what they set. Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>

#include "inference/core/row_block.h"
#include "platform/runtime/metrics.h"

namespace shoal::inference {

// Why rows wait. Each reason is a gauge shoal_inference_waiting_rows{reason}.
enum class WaitReason : std::uint8_t { kEncoding, kParameters, kBatch, kReplay, kLockstep };
inline constexpr std::size_t kWaitReasonCount = 5;

// One of the values whose sum a gauge shows. It is taken out of the sum when this is destroyed.
// Thread-safe.
class GaugeShare {
 public:
  // `gauge` must outlive the share.
  explicit GaugeShare(prometheus::Gauge& gauge) : gauge_(gauge) {}
  ~GaugeShare() { Set(0); }
  GaugeShare(const GaugeShare&) = delete;
  GaugeShare& operator=(const GaugeShare&) = delete;

  void Set(double value) {
    const double change = value - value_.exchange(value, std::memory_order_relaxed);
    change < 0 ? gauge_.Decrement(-change) : gauge_.Increment(change);
  }

 private:
  prometheus::Gauge& gauge_;
  // Relaxed, since it orders nothing else.
  std::atomic<double> value_{0};
};

class InferenceMetrics {
 public:
  // `metrics` must outlive this object. `replica` is the place of the replica's device in
  // inference.device.
  explicit InferenceMetrics(runtime::Metrics& metrics, std::size_t replica = 0);

  void CountRows(RowStatus status, std::size_t rows) {
    rows_[static_cast<std::size_t>(status)]->Increment(static_cast<double>(rows));
  }
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
  GaugeShare environments;
  // Those of this replica alone.
  prometheus::Counter& replica_rows;

 private:
  std::array<prometheus::Counter*, kRowStatusCount> rows_{};
  std::array<std::unique_ptr<GaugeShare>, kWaitReasonCount> waiting_;
};

}  // namespace shoal::inference
