// SPDX-License-Identifier: Apache-2.0
#include "inference/core/inference_metrics.h"

namespace shoal::inference {
namespace {

constexpr std::array<const char*, kRowStatusCount> kStatusNames = {
    "ok",     "accepted",   "need_content", "need_catalog", "invalid",
    "fenced", "overloaded", "expired",      "resumed"};
constexpr std::array<const char*, kWaitReasonCount> kReasonNames = {"encoding", "parameters",
                                                                    "batch", "replay", "lockstep"};

}  // namespace

InferenceMetrics::InferenceMetrics(runtime::Metrics& metrics, std::size_t replica)
    : batch_rows(metrics.Histogram("shoal_inference_batch_rows", "Rows in a forward pass",
                                   runtime::ExponentialBounds(1, 2, 12))),
      batch_seconds(metrics.Histogram("shoal_inference_batch_seconds",
                                      "From taking a batch to its answers",
                                      runtime::ExponentialBounds(50e-6, 2, 16))),
      unrolls(metrics.Counter("shoal_inference_unrolls_total", "Unrolls handed to replay")),
      dropped_unrolls(metrics.Counter("shoal_inference_dropped_unrolls_total",
                                      "Unrolls that replay refused for good")),
      unroll_version_spread(metrics.Histogram("shoal_inference_unroll_version_spread",
                                              "Publications within one unroll",
                                              runtime::ExponentialBounds(1, 2, 8))),
      parameter_epoch(metrics.Gauge("shoal_inference_parameter_epoch", "Epoch that acts")),
      parameter_step(metrics.Gauge("shoal_inference_parameter_step", "Step that acts")),
      environments(metrics.Gauge("shoal_inference_environments", "Environments known")),
      replica_rows(metrics.Counter({.name = "shoal_inference_replica_rows_total",
                                    .help = "Rows that each replica of the policy has evaluated",
                                    .draw = runtime::Draw::kLabels},
                                   {{"replica", std::to_string(replica)}})) {
  for (std::size_t i = 0; i < kRowStatusCount; ++i) {
    rows_[i] = &metrics.Counter("shoal_inference_rows_total", "Rows answered",
                                {{"status", kStatusNames[i]}});
  }
  for (std::size_t i = 0; i < kWaitReasonCount; ++i) {
    waiting_[i] = std::make_unique<GaugeShare>(metrics.Gauge("shoal_inference_waiting_rows",
                                                             "Rows that wait, by reason",
                                                             {{"reason", kReasonNames[i]}}));
  }
}

}  // namespace shoal::inference
