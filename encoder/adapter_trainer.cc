// SPDX-License-Identifier: Apache-2.0
#include "encoder/adapter_trainer.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numbers>
#include <utility>

#include "platform/runtime/random.h"
#include "rl/model/torch_guard.h"
#include "rl/model/torch_threads.h"
#include "rl/training/flat_optimiser.h"

namespace shoal::encoder {
namespace {

constexpr std::int64_t kMaxSize = 4096;
constexpr std::int64_t kMaxCount = std::int64_t{1} << 20;
constexpr std::int64_t kWarmupSteps = 30;
// A description may fit thousands of requests; so many of a query's are sure to be in a step.
constexpr std::size_t kMaxPositives = 16;
constexpr double kMemory = 0.97;
constexpr double kTinyLength = 1e-6;
constexpr double kNotRelevant = -1e9;

absl::Status Within(const char* name, double value, double least, double most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return runtime::InvalidArgument(std::string(name) + " is " + std::to_string(value) +
                                  " and must be within " + std::to_string(least) + " and " +
                                  std::to_string(most));
}

absl::Status CheckSet(const TuningSet& set, std::int64_t width) {
  const auto is_rows = [width](const runtime::Tensor& rows) {
    return rows.dtype() == runtime::DType::kFloat16 && rows.shape().size() == 2 &&
           rows.shape()[1] == width;
  };
  if (!is_rows(set.requests) || !is_rows(set.queries)) {
    return runtime::InvalidArgument("vectors of a tuning set are not all FLOAT16 [N, " +
                                    std::to_string(width) + "]");
  }
  const std::int64_t requests = set.requests.shape()[0];
  const std::int64_t queries = set.queries.shape()[0];
  bool fits = static_cast<std::int64_t>(set.relevant.size()) == queries;
  for (const std::set<std::int64_t>& relevant : set.relevant) {
    fits = fits && !relevant.empty() && *relevant.begin() >= 0 && *relevant.rbegin() < requests;
  }
  const auto are_queries = [queries](const std::vector<std::int64_t>& numbers) {
    return std::ranges::all_of(numbers, [&](std::int64_t q) { return q >= 0 && q < queries; });
  };
  for (const std::vector<std::int64_t>& goal : set.goals) {
    fits = fits && !goal.empty() && are_queries(goal);
  }
  if (fits && are_queries(set.descriptions)) return absl::OkStatus();
  return runtime::InvalidArgument("the numbers of a tuning set do not fit its vectors");
}

at::Tensor RowsOf(const runtime::Tensor& rows, const std::vector<std::int64_t>& numbers) {
  auto* data = const_cast<std::byte*>(rows.bytes().data());
  const at::Tensor all = at::from_blob(data, {rows.shape()[0], rows.shape()[1]}, at::kHalf);
  return all.index_select(0, at::tensor(numbers, at::kLong)).to(at::kFloat);
}

// One step's queries and requests, by their numbers in the set.
struct Batch {
  std::vector<std::int64_t> queries;
  std::vector<std::int64_t> requests;
  at::Tensor relevant;  // BOOL [queries, requests]
};

class BatchSampler {
 public:
  BatchSampler(std::span<const TuningSet* const> sets, const AdapterTrainerOptions& options)
      : sets_(sets), options_(options), random_(runtime::DeriveSeed(options.seed, "batches")) {}

  std::pair<const TuningSet*, Batch> Draw() {
    const TuningSet& set = *sets_[Below(sets_.size())];
    Batch batch;
    const bool described =
        random_.Uniform() < options_.description_share && !set.descriptions.empty();
    while (static_cast<std::int64_t>(batch.queries.size()) < options_.batch) {
      const std::vector<std::int64_t>& group =
          described ? set.descriptions : set.goals[Below(set.goals.size())];
      batch.queries.push_back(group[Below(group.size())]);
    }
    AddRequests(set, batch);
    return {&set, std::move(batch)};
  }

 private:
  std::size_t Below(std::size_t bound) {
    return static_cast<std::size_t>(random_.Below(static_cast<std::uint64_t>(bound)));
  }

  void AddRequests(const TuningSet& set, Batch& batch) {
    std::map<std::int64_t, std::int64_t> places;
    const auto add = [&](std::int64_t request) {
      if (places.emplace(request, static_cast<std::int64_t>(batch.requests.size())).second) {
        batch.requests.push_back(request);
      }
    };
    for (const std::int64_t query : batch.queries) {
      const std::set<std::int64_t>& relevant = set.relevant[static_cast<std::size_t>(query)];
      std::vector<std::int64_t> some(relevant.begin(), relevant.end());
      if (some.size() > kMaxPositives) {
        runtime::Shuffle(std::span(some), random_);
        some.resize(kMaxPositives);
      }
      std::ranges::for_each(some, add);
    }
    const std::int64_t all = set.requests.shape()[0];
    for (std::int64_t i = 0; i < options_.negatives; ++i) {
      if (all > options_.negatives) {
        add(static_cast<std::int64_t>(Below(static_cast<std::size_t>(all))));
      } else if (i < all) {
        add(i);
      }
    }
    batch.relevant = at::zeros({static_cast<std::int64_t>(batch.queries.size()),
                                static_cast<std::int64_t>(batch.requests.size())},
                               at::kBool);
    bool* row = batch.relevant.data_ptr<bool>();
    for (const std::int64_t query : batch.queries) {
      for (const std::int64_t request : set.relevant[static_cast<std::size_t>(query)]) {
        const auto place = places.find(request);
        if (place != places.end()) row[place->second] = true;
      }
      row += batch.requests.size();
    }
  }

  const std::span<const TuningSet* const> sets_;
  const AdapterTrainerOptions& options_;
  runtime::Random random_;
};

// The trained numbers, as views of one flat array: both maps and the logarithm of the scale by
// which cosines are multiplied.
struct Maps {
  Maps(std::int64_t width, const AdapterTrainerOptions& options)
      : weights(width * options.size),
        total(2 * (weights + options.size) + 1),
        width(width),
        size(options.size),
        flat(at::empty({total}, at::kFloat)) {
    runtime::Random random(runtime::DeriveSeed(options.seed, "projection"));
    std::vector<float> projection(static_cast<std::size_t>(weights));
    const double scale = 1 / std::sqrt(static_cast<double>(size));
    for (float& x : projection) x = static_cast<float>(random.Normal() * scale);
    float* values = flat.data_ptr<float>();
    std::fill(values, values + total, 0.0F);
    for (const std::int64_t map : {0, 1}) {
      std::ranges::copy(projection, values + map * (weights + size));
    }
    values[total - 1] = static_cast<float>(-std::log(options.temperature));
    flat.requires_grad_();
    flat.mutable_grad() = at::zeros({total}, at::kFloat);
  }

  // Returns unit rows [N, K].
  at::Tensor Mapped(const at::Tensor& rows, std::int64_t map) const {
    const std::int64_t begin = map * (weights + size);
    const at::Tensor mapped = at::addmm(flat.narrow(0, begin + weights, size), rows,
                                        flat.narrow(0, begin, weights).view({width, size}));
    return mapped / (mapped.norm(2, {1}, true) + kTinyLength);
  }

  at::Tensor Loss(const TuningSet& set, const Batch& batch) const {
    const at::Tensor scores = at::mm(Mapped(RowsOf(set.queries, batch.queries), 0),
                                     Mapped(RowsOf(set.requests, batch.requests), 1).t()) *
                              flat[total - 1].exp();
    const at::Tensor relevant = scores.masked_fill(batch.relevant.logical_not(), kNotRelevant);
    return (scores.logsumexp(1) - relevant.logsumexp(1)).mean();
  }

  embedding::AffineMap Copy(std::int64_t map) const {
    const float* begin = flat.data_ptr<float>() + map * (weights + size);
    return {{begin, begin + weights}, {begin + weights, begin + weights + size}};
  }

  std::vector<training::FlatOptimiser::Part> Parts() const {
    return {{0, weights, true},
            {weights, size, false},
            {weights + size, weights, true},
            {2 * weights + size, size + 1, false}};
  }

  const std::int64_t weights;
  const std::int64_t total;
  const std::int64_t width;
  const std::int64_t size;
  at::Tensor flat;
};

double RateAt(const AdapterTrainerOptions& options, std::int64_t step) {
  const double done = static_cast<double>(step) / static_cast<double>(options.steps);
  const double warm = static_cast<double>(step + 1) / static_cast<double>(kWarmupSteps);
  return options.learning_rate * std::min(1.0, warm) *
         (0.5 + 0.5 * std::cos(std::numbers::pi * done));
}

absl::StatusOr<TrainedMaps> Train(std::span<const TuningSet* const> sets,
                                  const AdapterTrainerOptions& options,
                                  const TuningObserver& observer) {
  model::ApplyTorchThreads();
  const at::AutoGradMode with_gradients(true);
  Maps maps(sets.front()->requests.shape()[1], options);
  training::FlatOptimiser optimiser({.beta2 = 0.98, .weight_decay = options.weight_decay},
                                    maps.flat.detach(), maps.flat.grad(), maps.Parts());
  BatchSampler sampler(sets, options);
  double weight = 0;
  double sum = 0;
  for (std::int64_t step = 0; step < options.steps; ++step) {
    const auto drawn = sampler.Draw();
    maps.flat.mutable_grad().zero_();
    const at::Tensor loss = maps.Loss(*drawn.first, drawn.second);
    loss.backward();
    const auto value = loss.item<double>();
    if (!std::isfinite(value)) return runtime::Internal("the loss is not finite");
    optimiser.Step(RateAt(options, step));
    sum = kMemory * sum + (1 - kMemory) * value;
    weight = kMemory * weight + (1 - kMemory);
    if (observer) observer(step + 1, sum / weight);
  }
  TrainedMaps trained{maps.Copy(0), maps.Copy(1), sum / weight, 0};
  trained.temperature = std::exp(-static_cast<double>(maps.flat.data_ptr<float>()[maps.total - 1]));
  return trained;
}

}  // namespace

absl::Status AdapterTrainerOptions::Validate() const {
  const auto limit = static_cast<double>(kMaxCount);
  SHOAL_RETURN_IF_ERROR(Within("size", static_cast<double>(size), 1, kMaxSize));
  SHOAL_RETURN_IF_ERROR(Within("steps", static_cast<double>(steps), 1, limit));
  SHOAL_RETURN_IF_ERROR(Within("batch", static_cast<double>(batch), 1, limit));
  SHOAL_RETURN_IF_ERROR(Within("negatives", static_cast<double>(negatives), 1, limit));
  SHOAL_RETURN_IF_ERROR(Within("learning rate", learning_rate, 0, 1));
  SHOAL_RETURN_IF_ERROR(Within("weight decay", weight_decay, 0, 100));
  SHOAL_RETURN_IF_ERROR(Within("temperature", temperature, 1e-3, 10));
  return Within("description share", description_share, 0, 1);
}

absl::StatusOr<TrainedMaps> TrainAdapter(std::span<const TuningSet> sets,
                                         const AdapterTrainerOptions& options,
                                         const TuningObserver& observer) {
  SHOAL_RETURN_IF_ERROR(options.Validate());
  std::vector<const TuningSet*> used;
  for (const TuningSet& set : sets) {
    if (!set.goals.empty()) used.push_back(&set);
  }
  if (used.empty()) return runtime::InvalidArgument("no sentence to learn from");
  if (used.front()->requests.shape().size() != 2) {
    return runtime::InvalidArgument("vectors of a tuning set are no rows");
  }
  for (const TuningSet* set : used) {
    SHOAL_RETURN_IF_ERROR(CheckSet(*set, used.front()->requests.shape()[1]));
  }
  return model::GuardTorch("training of an adapter",
                           [&] { return Train(used, options, observer); });
}

}  // namespace shoal::encoder
