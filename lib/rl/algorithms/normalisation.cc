// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/normalisation.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "rl/algorithms/targets.h"

namespace shoal::algorithms {
namespace {

constexpr double kLeastVariance = 1e-8;
// The most rows that moments count as once there are new numbers among them.
constexpr double kRowsBesideNew = 1000;
constexpr float kRewardLimit = 10;
constexpr const char* kObservations = "observations";
constexpr const char* kReturns = "returns";

// Adds the rows of all ranks, [R, features], where `weight` [R] is above 0. Sums are those of
// distances from the mean so far, which all ranks share, so that no large numbers cancel.
absl::Status AddRows(std::span<const float> rows, std::span<const float> weight,
                     collectives::GradientReducer& reducer, estimators::RunningMoments& moments) {
  const std::vector<double> mean = moments.sums().mean;
  const std::size_t features = mean.size();
  std::vector<double> sums(1 + 2 * features);
  for (std::size_t row = 0; row < weight.size(); ++row) {
    if (weight[row] <= 0) continue;
    sums[0] += 1;
    for (std::size_t i = 0; i < features; ++i) {
      const double apart = rows[row * features + i] - mean[i];
      sums[1 + i] += apart;
      sums[1 + features + i] += apart * apart;
    }
  }
  SHOAL_RETURN_IF_ERROR(reducer.AllReduceSum(std::span<double>(sums)));
  if (sums[0] == 0) return absl::OkStatus();
  estimators::MomentSums added{.count = sums[0], .mean = mean, .squares = {}};
  for (std::size_t i = 0; i < features; ++i) {
    const double apart = sums[1 + i] / sums[0];
    added.mean[i] += apart;
    added.squares.push_back(std::max(0.0, sums[1 + features + i] - apart * sums[1 + i]));
  }
  const auto batch = estimators::RunningMoments::Create(std::move(added));
  if (!batch.ok()) return collectives::SharedFailure(runtime::Message(batch.status()));
  moments.Merge(*batch);
  return absl::OkStatus();
}

nlohmann::json ToJson(const estimators::RunningMoments& moments) {
  const estimators::MomentSums& sums = moments.sums();
  return {{"count", sums.count}, {"mean", sums.mean}, {"squares", sums.squares}};
}

absl::StatusOr<estimators::RunningMoments> FromJson(const nlohmann::json& whole, const char* name) {
  const nlohmann::json& part = whole.at(name);
  return estimators::RunningMoments::Create(
      {.count = part.at("count").get<double>(),
       .mean = part.at("mean").get<std::vector<double>>(),
       .squares = part.at("squares").get<std::vector<double>>()});
}

// Returns what `moments` become.
absl::StatusOr<estimators::RunningMoments> Restored(const nlohmann::json& whole, const char* name,
                                                    const estimators::RunningMoments& moments) {
  SHOAL_ASSIGN_OR_RETURN(estimators::RunningMoments read, FromJson(whole, name));
  // What was not normalised before starts anew.
  if (read.sums().mean.empty() || moments.sums().mean.empty()) return moments;
  if (read.sums().mean.size() != moments.sums().mean.size()) {
    return runtime::InvalidArgument(std::string(name) + ": " +
                                    std::to_string(read.sums().mean.size()) + " means instead of " +
                                    std::to_string(moments.sums().mean.size()));
  }
  return read;
}

}  // namespace

absl::StatusOr<std::string> FitMoments(std::string_view text, std::int64_t observation_size) {
  auto whole = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  try {
    SHOAL_ASSIGN_OR_RETURN(const auto observations, FromJson(whole, kObservations));
    estimators::MomentSums sums = observations.sums();
    const auto size = static_cast<std::size_t>(observation_size);
    if (!sums.mean.empty() && sums.mean.size() < size && sums.count > kRowsBesideNew) {
      for (double& squares : sums.squares) squares *= kRowsBesideNew / sums.count;
      sums.count = kRowsBesideNew;
    }
    if (!sums.mean.empty()) {
      sums.mean.resize(size);
      sums.squares.resize(size, sums.count);
    }
    SHOAL_ASSIGN_OR_RETURN(const auto fitted, estimators::RunningMoments::Create(std::move(sums)));
    whole[kObservations] = ToJson(fitted);
  } catch (const nlohmann::json::exception& error) {
    return runtime::InvalidArgument(std::string("moments: ") + error.what());
  }
  return whole.dump() + "\n";
}

std::vector<float> BackwardReturns(const UnrollBatch& batch, double gamma) {
  const auto columns = static_cast<std::size_t>(batch.columns);
  std::vector<float> returns(batch.reward.size());
  for (std::size_t row = 0; row < returns.size(); ++row) {
    const bool begins = row < columns || (batch.flags[row] & kFirst) != 0;
    const double before = begins ? 0 : gamma * returns[row - columns];
    returns[row] = static_cast<float>(before + batch.reward[row]);
  }
  return returns;
}

Normalisation::Normalisation(const model::PolicySpec& spec, const RewardShaping& shaping,
                             collectives::GradientReducer& reducer)
    : spec_(spec),
      shaping_(shaping),
      reducer_(reducer),
      observations_(
          static_cast<std::size_t>(spec.normalise_observations ? spec.observation_size : 0)),
      returns_(shaping.normalise_returns ? 1 : 0) {}

absl::Status Normalisation::ShapeRewards(UnrollBatch& batch) {
  for (float& reward : batch.reward) {
    reward =
        static_cast<float>(estimators::ClippedReward(shaping_.clipping, reward, shaping_.limit));
  }
  if (!shaping_.normalise_returns) return absl::OkStatus();
  SHOAL_RETURN_IF_ERROR(
      AddRows(BackwardReturns(batch, shaping_.gamma), RowWeights(batch), reducer_, returns_));
  const double deviation = std::sqrt(returns_.variance(0) + kLeastVariance);
  for (float& reward : batch.reward) {
    reward = std::clamp(static_cast<float>(reward / deviation), -kRewardLimit, kRewardLimit);
  }
  return absl::OkStatus();
}

absl::Status Normalisation::Observe(const UnrollBatch& batch) {
  return AddRows(batch.observation, RowWeights(batch), reducer_, observations_);
}

std::vector<float> Normalisation::observation_mean() const {
  const std::vector<double>& mean = observations_.sums().mean;
  if (observations_.count() < 2) return std::vector<float>(mean.size());
  return {mean.begin(), mean.end()};
}

std::vector<float> Normalisation::observation_scale() const {
  std::vector<float> scale(observations_.sums().mean.size(), 1.0F);
  for (std::size_t i = 0; i < scale.size() && observations_.count() >= 2; ++i) {
    scale[i] = static_cast<float>(1 / std::sqrt(observations_.variance(i) + kLeastVariance));
  }
  return scale;
}

double Normalisation::return_deviation() const {
  return shaping_.normalise_returns ? std::sqrt(returns_.variance(0)) : 0;
}

std::string Normalisation::Serialise() const {
  const nlohmann::json whole = {{kObservations, ToJson(observations_)},
                                {kReturns, ToJson(returns_)}};
  return whole.dump() + "\n";
}

absl::Status Normalisation::Restore(std::string_view text) {
  if (text.empty()) return absl::OkStatus();
  const auto whole = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  try {
    SHOAL_ASSIGN_OR_RETURN(auto observations, Restored(whole, kObservations, observations_));
    SHOAL_ASSIGN_OR_RETURN(auto returns, Restored(whole, kReturns, returns_));
    observations_ = std::move(observations);
    returns_ = std::move(returns);
  } catch (const nlohmann::json::exception& error) {
    return runtime::InvalidArgument(std::string("moments: ") + error.what());
  }
  return absl::OkStatus();
}

}  // namespace shoal::algorithms
