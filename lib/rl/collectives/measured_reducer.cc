// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/measured_reducer.h"

#include <utility>

namespace shoal::collectives {

MeasuredReducer::MeasuredReducer(std::unique_ptr<GradientReducer> inner, RankProgress* progress,
                                 std::chrono::milliseconds call_timeout)
    : MeasuredReducer(std::move(inner), progress, call_timeout, nullptr) {}

MeasuredReducer::MeasuredReducer(std::unique_ptr<GradientReducer> inner, RankProgress* progress,
                                 std::chrono::milliseconds call_timeout,
                                 std::shared_ptr<Spent> whole)
    : inner_(std::move(inner)),
      progress_(progress),
      call_timeout_(call_timeout),
      spent_(std::make_shared<Spent>(std::move(whole))) {
  if (progress_ != nullptr) progress_->call_timeout_ms = call_timeout.count();
}

void MeasuredReducer::Spent::Add(std::size_t bytes, double seconds) {
  if (whole_ != nullptr) whole_->Add(bytes, seconds);
  const runtime::MutexLock lock(mutex_);
  ++total_.calls;
  total_.bytes += bytes;
  total_.seconds += seconds;
}

Communication MeasuredReducer::Spent::total() const {
  const runtime::MutexLock lock(mutex_);
  return total_;
}

template <typename Call>
absl::Status MeasuredReducer::Measure(std::size_t bytes, const Call& call) {
  if (progress_ != nullptr) ++progress_->calls;
  const auto begin = std::chrono::steady_clock::now();
  const absl::Status done = call();
  spent_->Add(bytes,
              std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
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
  return std::unique_ptr<GradientReducer>(
      new MeasuredReducer(std::move(group), progress_, call_timeout_, spent_));
}

}  // namespace shoal::collectives
