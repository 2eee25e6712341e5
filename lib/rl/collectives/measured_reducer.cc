// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/measured_reducer.h"

#include <utility>

namespace shoal::collectives {

MeasuredReducer::MeasuredReducer(std::unique_ptr<GradientReducer> inner, RankProgress* progress,
                                 std::chrono::milliseconds call_timeout)
    : inner_(std::move(inner)), progress_(progress), call_timeout_(call_timeout) {
  if (progress_ != nullptr) progress_->call_timeout_ms = call_timeout.count();
}

template <typename Call>
absl::Status MeasuredReducer::Measure(std::size_t bytes, const Call& call) {
  if (progress_ != nullptr) ++progress_->calls;
  const auto begin = std::chrono::steady_clock::now();
  const absl::Status done = call();
  communication_.seconds +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  communication_.bytes += bytes;
  ++communication_.calls;
  if (progress_ == nullptr) return done;
  ++progress_->calls;
  absl::StatusCode none = absl::StatusCode::kOk;
  progress_->failure.compare_exchange_strong(none, done.code());
  return done;
}

absl::Status MeasuredReducer::AllReduceSum(std::span<float> values) {
  return Measure(values.size_bytes(), [&] { return inner_->AllReduceSum(values); });
}
absl::Status MeasuredReducer::AllReduceSum(std::span<double> values) {
  return Measure(values.size_bytes(), [&] { return inner_->AllReduceSum(values); });
}
absl::Status MeasuredReducer::AllReduceSumCompressed(std::span<float> values,
                                                     std::span<float> residual) {
  const std::size_t element_bytes =
      compresses(values.size()) ? sizeof(std::uint16_t) : sizeof(float);
  return Measure(values.size() * element_bytes,
                 [&] { return inner_->AllReduceSumCompressed(values, residual); });
}
absl::Status MeasuredReducer::AllReduceMax(std::span<double> values) {
  return Measure(values.size_bytes(), [&] { return inner_->AllReduceMax(values); });
}
absl::Status MeasuredReducer::AllReduceMin(std::span<double> values) {
  return Measure(values.size_bytes(), [&] { return inner_->AllReduceMin(values); });
}
absl::Status MeasuredReducer::ReduceScatterSum(std::span<float> values) {
  return Measure(values.size_bytes(), [&] { return inner_->ReduceScatterSum(values); });
}
absl::Status MeasuredReducer::AllGather(std::span<float> values) {
  return Measure(values.size_bytes(), [&] { return inner_->AllGather(values); });
}
absl::Status MeasuredReducer::Broadcast(std::span<std::byte> bytes) {
  return Measure(bytes.size(), [&] { return inner_->Broadcast(bytes); });
}
absl::Status MeasuredReducer::Barrier() {
  return Measure(0, [&] { return inner_->Barrier(); });
}

absl::StatusOr<std::unique_ptr<GradientReducer>> MeasuredReducer::Split(std::int64_t colour) {
  std::unique_ptr<GradientReducer> group;
  SHOAL_RETURN_IF_ERROR(Measure(0, [&]() -> absl::Status {
    SHOAL_ASSIGN_OR_RETURN(group, inner_->Split(colour));
    return absl::OkStatus();
  }));
  if (group->world_size() == 1) return group;
  return std::make_unique<MeasuredReducer>(std::move(group), progress_, call_timeout_);
}

}  // namespace shoal::collectives
