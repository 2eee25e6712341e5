// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/policy_trainer.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "rl/algorithms/algorithm.h"
#include "rl/algorithms/algorithm_fit.h"
#include "rl/algorithms/algorithm_registry.h"
#include "rl/algorithms/batch_statistics.h"
#include "rl/algorithms/behaviour_cloning.h"
#include "rl/algorithms/gradient_sum.h"
#include "rl/algorithms/item_passes.h"
#include "rl/algorithms/minibatch_items.h"
#include "rl/algorithms/policy_gradient.h"
#include "rl/algorithms/relabelling.h"
#include "rl/algorithms/soft_gradient.h"
#include "rl/algorithms/split_value_gradient.h"
#include "rl/algorithms/step_draws.h"
#include "rl/algorithms/target_estimation.h"
#include "rl/algorithms/training_batch.h"
#include "rl/algorithms/training_state.h"
#include "rl/model/candidate_table_tensors.h"
#include "rl/model/digest.h"
#include "rl/model/parameter_layout.h"
#include "rl/model/torch_device.h"
#include "rl/model/torch_guard.h"
#include "rl/model/torch_threads.h"
#include "rl/training/flat_optimiser.h"
#include "rl/training/stopwatch.h"

namespace shoal::algorithms {
namespace {

using model::FloatsOf;

// How many of the newest checkpoints Save keeps.
constexpr std::int64_t kKeptCheckpoints = 3;

}  // namespace

struct PolicyTrainer::State {
  State(const model::PolicySpec& policy_spec, const AlgorithmOptions& algorithm_options,
        const training::OptimiserOptions& optimiser_options, Schedule rate_schedule,
        std::unique_ptr<const Algorithm> strategy, std::uint64_t run_seed,
        collectives::GradientReducer& group, at::Device where, HeadArithmetic arithmetic,
        model::Precision precision)
      : spec(policy_spec),
        options(algorithm_options),
        algorithm(std::move(strategy)),
        requirements(algorithm->requirements()),
        cloning_algorithm(algorithm_options.targets(), algorithm_options.value_coefficient),
        cloning_term(algorithm_options.targets(), /*value_coefficient=*/0),
        seed(run_seed),
        reducer(group),
        layout(model::ParameterLayout::Of(policy_spec)),
        device(where),
        sum(layout.trainable, device, group),
        trained({.spec = spec,
                 .options = options,
                 .layout = layout,
                 .seed = seed,
                 .has_target_network = algorithm->policy() == nullptr,
                 .schedule = rate_schedule},
                optimiser_options, gradients(), group),
        gradient(spec, layout, trained.parameters, gradients(), arithmetic, precision) {
    if (!trained.target.defined()) return;
    if (algorithm->soft() != nullptr) {
      soft.emplace(
          spec, layout,
          SoftParameters{
              .trained = trained.parameters, .target = trained.target, .gradient = gradients()},
          algorithm->soft()->TargetEntropy(spec), precision);
    } else if (spec.has_split_values()) {
      split.emplace(spec, layout, trained.parameters, gradients(), precision);
      split_target.emplace(spec, layout, trained.target, /*gradient=*/at::Tensor(), precision);
    } else {
      target_network.emplace(spec, layout, trained.target, /*gradient=*/at::Tensor(), arithmetic,
                             precision);
    }
  }

  const model::PolicySpec spec;
  const AlgorithmOptions options;
  const std::unique_ptr<const Algorithm> algorithm;
  const Requirements requirements;
  const BehaviourCloning cloning_algorithm;
  // Beside an algorithm of its own the critic learns from that one alone: experts' returns are
  // higher than the policy's.
  const BehaviourCloning cloning_term;
  const std::uint64_t seed;
  collectives::GradientReducer& reducer;
  const model::ParameterLayout layout;
  // Where all tensors lie.
  const at::Device device;
  GradientSum sum;
  TrainingState trained;
  std::optional<PolicyGradient> target_network;
  PolicyGradient gradient;
  // With a soft algorithm only.
  std::optional<SoftGradient> soft;
  // With split values only.
  std::optional<SplitValueGradient> split;
  std::optional<SplitValueGradient> split_target;
  double rate_factor = 1;
  Judge judge;

  // The data of one update.
  struct Material {
    TrainingBatch own;
    // It is empty without demonstrations.
    std::optional<TrainingBatch> demonstrations = {};
    double cloning_coefficient = 0;
  };
  // The items of one gradient step.
  struct Minibatch {
    IndexList own;
    IndexList demonstrations;
  };

  // Holds the gradient of the mean loss after MeanGradient.
  at::Tensor gradients() const { return sum.gradient(); }
  std::vector<std::int64_t> Order(const TrainingBatch& batch, const char* name,
                                  std::int64_t epoch) const;
  ItemPasses PassesOver(const TrainingBatch& batch, const char* name, std::int64_t count) const;
  // Adds the gradients of the items' losses, in the parts that the options say.
  MinibatchSums AddGradients(TrainingBatch& batch, const IndexList& items);
  absl::StatusOr<MinibatchSums> MeanGradient(TrainingBatch& batch, const IndexList& items,
                                             GradientSource source, UpdateReport& report);
  // Makes one optimiser step and returns the gradient norm before clipping.
  absl::StatusOr<double> Descend(double with_rate);
  // The random numbers of the coming optimiser step. A trainer that only computes gradients makes
  // none, and its parameters tell the steps of others.
  StepDraws Draws() const {
    return {seed, reducer.rank(), trained.optimiser.moments().steps + trained.adopted};
  }
  // Lets other policies of the family learn from the batch, as the options say.
  void Relabel(UnrollBatch& batch) const {
    if (options.relabelled_share == 0) return;
    RelabelPolicies(batch, options.members, options.relabelled_share, Draws());
  }
  absl::Status EstimateTargets(TrainingBatch& batch, UpdateReport& report);
  absl::Status Step(Material& material, const Minibatch& minibatch, MinibatchSums& epoch_sums,
                    MinibatchSums& cloning_sums, UpdateReport& report);
  absl::Status RunEpochs(Material& material, UpdateReport& report);
  static void ReportDrift(MinibatchSums first, UpdateReport& report);
  // Write the means over the rows of an epoch, or of all epochs.
  static void ReportEpoch(MinibatchSums sums, UpdateReport& report);
  void ReportRows(const TrainingBatch& own, MinibatchSums sums, UpdateReport& report) const;
  // Sets the learning rate of the coming update, and the numbers of the report that it has.
  void BeginUpdate(UpdateReport& report);
  // Makes the steps of one update. After an error everything is as before.
  absl::Status Attempt(const std::function<absl::Status()>& steps, const UpdateReport& report);
  // Counts an update that has passed, with what follows from it.
  void EndUpdate(const UpdateReport& report);
  absl::StatusOr<RankGradient> ComputeGradient(UnrollBatch& batch);
  absl::StatusOr<UpdateReport> ApplyGradient(const RankGradient& given);
  absl::Status CheckFinite(const UpdateReport& report) const;
  // Both change the rewards of the batch and the policies that it names, as the options say.
  absl::StatusOr<UpdateReport> Update(UnrollBatch& batch, const BehaviourCloningTerm* cloning);
  absl::StatusOr<CloningReport> CloneBehaviour(UnrollBatch& demonstrations, double with_rate);
};

std::vector<std::int64_t> PolicyTrainer::State::Order(const TrainingBatch& batch, const char* name,
                                                      std::int64_t epoch) const {
  // The words are the seed of the order, so they stay as they are.
  const std::string purpose = std::string(name) + " of rank " + std::to_string(reducer.rank()) +
                              " in pass " + std::to_string(epoch);
  return Shuffled(ItemsOf(batch.batch, batch.weight, spec.has_core()), seed, purpose,
                  static_cast<std::uint64_t>(trained.updates));
}

ItemPasses PolicyTrainer::State::PassesOver(const TrainingBatch& batch, const char* name,
                                            std::int64_t count) const {
  std::vector<std::vector<std::int64_t>> orders;
  for (std::int64_t pass = 0; pass < count; ++pass) orders.push_back(Order(batch, name, pass));
  return {std::move(orders), device};
}

absl::Status PolicyTrainer::State::EstimateTargets(TrainingBatch& batch, UpdateReport& report) {
  training::Stopwatch watch;
  const bool on_policy = algorithm->policy() != nullptr;
  const TargetNetworks networks{.trained = gradient,
                                .target = target_network ? &*target_network : nullptr,
                                .soft = soft ? &*soft : nullptr,
                                .split = split ? &*split : nullptr,
                                .split_target = split_target ? &*split_target : nullptr};
  Targets targets = algorithms::EstimateTargets(batch, networks, spec, Draws());
  report.estimate_seconds += watch.Lap();
  SHOAL_RETURN_IF_ERROR(
      ReduceStatistics(batch.batch, reducer,
                       on_policy && options.normalise_advantages && !requirements.keeps_advantages,
                       batch.weight, targets, report));
  report.reduce_seconds += watch.Lap();
  batch.targets.emplace(targets, device);
  report.estimate_seconds += watch.Lap();
  return absl::OkStatus();
}

MinibatchSums PolicyTrainer::State::AddGradients(TrainingBatch& batch, const IndexList& items) {
  const UpdateData data = batch.data(trained.weights());
  const auto parts = static_cast<std::size_t>(options.accumulation_steps);
  at::Tensor noise;
  if (soft) {
    noise = Draws().Noise("noise of actions", static_cast<std::int64_t>(items.host.size()), spec,
                          device);
  }
  MinibatchSums sums;
  for (std::size_t i = 0; i < parts; ++i) {
    const IndexList part = items.At(PartOf(items.host, i, parts));
    if (soft) {
      const at::Tensor of_part = noise.defined()
                                     ? noise.narrow(0, part.host.data() - items.host.data(),
                                                    static_cast<std::int64_t>(part.host.size()))
                                     : noise;
      sums.Add(soft->Add(data, part, of_part, batch.absolute_error));
    } else {
      sums.Add(split ? split->Add(data, part, batch.absolute_error)
                     : gradient.Add(data, part, batch.absolute_error));
    }
  }
  return sums;
}

// Sums over all ranks, and leaves the gradient of the mean loss in gradients().
absl::StatusOr<MinibatchSums> PolicyTrainer::State::MeanGradient(TrainingBatch& batch,
                                                                 const IndexList& items,
                                                                 GradientSource source,
                                                                 UpdateReport& report) {
  training::Stopwatch watch;
  sum.Clear();
  MinibatchSums sums = AddGradients(batch, items);
  report.gradient_seconds += watch.Lap();
  SHOAL_RETURN_IF_ERROR(sum.OverRanks(source, sums));
  report.reduce_seconds += watch.Lap();
  if (sums.weight() > 0) gradients().mul_(1 / sums.weight());
  return sums;
}

absl::StatusOr<double> PolicyTrainer::State::Descend(double with_rate) {
  const double norm = training::ClipByNorm(gradients(), options.max_gradient_norm);
  if (!std::isfinite(norm)) return collectives::SharedFailure("the gradient is not finite");
  trained.optimiser.Step(with_rate);
  return norm;
}

absl::Status PolicyTrainer::State::Step(Material& material, const Minibatch& minibatch,
                                        MinibatchSums& epoch_sums, MinibatchSums& cloning_sums,
                                        UpdateReport& report) {
  at::Tensor cloning_gradient;
  if (material.demonstrations) {
    SHOAL_ASSIGN_OR_RETURN(const MinibatchSums sums,
                           MeanGradient(*material.demonstrations, minibatch.demonstrations,
                                        GradientSource::kDemonstrations, report));
    cloning_sums.Add(sums);
    cloning_gradient = gradients().clone();
  }
  SHOAL_ASSIGN_OR_RETURN(MinibatchSums sums, MeanGradient(material.own, minibatch.own,
                                                          GradientSource::kUnrolls, report));
  epoch_sums.Add(sums);
  if (sums.weight() <= 0) return absl::OkStatus();
  training::Stopwatch watch;
  if (cloning_gradient.defined()) {
    gradients().add_(cloning_gradient, material.cloning_coefficient);
  }
  SHOAL_ASSIGN_OR_RETURN(const double norm, Descend(trained.rate * rate_factor));
  report.gradient_norm += norm;
  report.step_seconds += watch.Lap();
  return absl::OkStatus();
}

absl::Status PolicyTrainer::State::RunEpochs(Material& material, UpdateReport& report) {
  const auto minibatches = static_cast<std::size_t>(requirements.minibatches);
  MinibatchSums all;
  MinibatchSums cloning_sums;
  const ItemPasses own = PassesOver(material.own, "minibatches", requirements.update_epochs);
  ItemPasses demonstrations;
  if (material.demonstrations) {
    demonstrations =
        PassesOver(*material.demonstrations, "demonstrations", requirements.update_epochs);
  }
  for (std::int64_t epoch = 0; epoch < requirements.update_epochs; ++epoch) {
    if (epoch == 0 || requirements.current_policy) {
      SHOAL_RETURN_IF_ERROR(EstimateTargets(material.own, report));
    }
    MinibatchSums sums;
    const auto pass = static_cast<std::size_t>(epoch);
    for (std::size_t m = 0; m < minibatches; ++m) {
      const Minibatch minibatch{own.Part(pass, m, minibatches),
                                demonstrations.Part(pass, m, minibatches)};
      SHOAL_RETURN_IF_ERROR(Step(material, minibatch, sums, cloning_sums, report));
      if (epoch == 0 && m == 0) ReportDrift(sums, report);
    }
    all.Add(sums);
    ReportEpoch(sums, report);
    if (options.kl_stop > 0 && report.approximate_kl > options.kl_stop) break;
  }
  ReportRows(material.own, all, report);
  report.gradient_norm /=
      static_cast<double>(report.update_epochs) * static_cast<double>(minibatches);
  const double cloning_weight = std::max(cloning_sums.weight(), 1e-9);
  report.cloning_loss = cloning_sums.policy_loss() / cloning_weight;
  report.cloning_agreement = cloning_sums.metric(0) / cloning_weight;
  report.cloning_coefficient = material.cloning_coefficient;
  return absl::OkStatus();
}

void PolicyTrainer::State::ReportDrift(MinibatchSums first, UpdateReport& report) {
  report.current_rows = first.current_weight();
  if (report.current_rows > 0) report.log_probability_drift = first.drift() / report.current_rows;
}

void PolicyTrainer::State::ReportEpoch(MinibatchSums sums, UpdateReport& report) {
  ++report.update_epochs;
  if (sums.weight() > 0) report.approximate_kl = sums.kl() / sums.weight();
  report.effective_sample_size = sums.EffectiveSampleSize();
}

void PolicyTrainer::State::ReportRows(const TrainingBatch& own, MinibatchSums sums,
                                      UpdateReport& report) const {
  const double weight = std::max(sums.weight(), 1e-9);
  report.policy_loss = sums.policy_loss() / weight;
  report.value_loss = sums.value_loss() / weight;
  report.entropy = sums.entropy() / weight;
  const std::vector<std::string> names = algorithm->metric_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    report.algorithm_metrics.emplace_back(names[i], sums.metric(i) / weight);
  }
  if (algorithm->policy() == nullptr) {
    report.priorities = own.Priorities(options.priority_maximum_share);
  }
}

// All ranks hold the same losses and parameters, so they find the same.
absl::Status PolicyTrainer::State::CheckFinite(const UpdateReport& report) const {
  if (!std::isfinite(report.policy_loss + report.value_loss)) {
    return collectives::SharedFailure("the loss is not finite");
  }
  if (!std::isfinite(trained.trainable().sum().item<float>())) {
    return collectives::SharedFailure("the parameters are not finite");
  }
  return absl::OkStatus();
}

absl::StatusOr<CloningReport> PolicyTrainer::State::CloneBehaviour(UnrollBatch& demonstrations,
                                                                   double with_rate) {
  if (trained.normalisation.shapes_rewards()) {
    SHOAL_RETURN_IF_ERROR(trained.normalisation.ShapeRewards(demonstrations));
  }
  TrainingBatch batch(demonstrations, spec, cloning_algorithm, device);
  batch.targets.emplace(cloning_algorithm.Estimate(demonstrations, {}), device);
  const std::vector<std::int64_t> items = ItemsOf(demonstrations, batch.weight, spec.has_core());
  UpdateReport times;
  SHOAL_ASSIGN_OR_RETURN(MinibatchSums sums, MeanGradient(batch, IndexList::Of(items, device),
                                                          GradientSource::kDemonstrations, times));
  CloningReport report{.cloning = trained.clonings + 1, .rows = sums.weight()};
  if (sums.weight() > 0) {
    report.loss = sums.policy_loss() / sums.weight();
    report.agreement = sums.metric(0) / sums.weight();
    report.entropy = sums.entropy() / sums.weight();
    SHOAL_ASSIGN_OR_RETURN(report.gradient_norm, Descend(with_rate));
  }
  ++trained.clonings;
  SHOAL_RETURN_IF_ERROR(trained.Observe(demonstrations));
  return report;
}

void PolicyTrainer::State::BeginUpdate(UpdateReport& report) {
  trained.FollowSchedule();
  report.update = trained.updates + 1;
  report.learning_rate = trained.rate * rate_factor;
  report.entropy_coefficient = trained.weights().entropy;
  report.kl_coefficient = trained.weights().kl;
}

absl::Status PolicyTrainer::State::Attempt(const std::function<absl::Status()>& steps,
                                           const UpdateReport& report) {
  const absl::Status attempted = trained.Attempt([&]() -> absl::Status {
    absl::Status passed = model::GuardTorch("update", [&]() -> absl::Status {
      SHOAL_RETURN_IF_ERROR(steps());
      return CheckFinite(report);
    });
    return passed.ok() && judge ? judge(report) : passed;
  });
  if (!attempted.ok()) sum.DropResiduals();
  return attempted;
}

void PolicyTrainer::State::EndUpdate(const UpdateReport& report) {
  trained.CountUpdate(report.rows > 0 ? std::optional(report.approximate_kl) : std::nullopt);
  if (soft) {
    trained.target.lerp_(trained.parameters, options.target_rate);
  } else if (trained.target.defined() && trained.updates % options.target_updates == 0) {
    trained.target.copy_(trained.parameters);
  }
}

absl::StatusOr<RankGradient> PolicyTrainer::State::ComputeGradient(UnrollBatch& batch) {
  training::Stopwatch watch;
  if (trained.normalisation.shapes_rewards()) {
    SHOAL_RETURN_IF_ERROR(trained.normalisation.ShapeRewards(batch));
  }
  Relabel(batch);
  RankGradient computed;
  UpdateReport& report = computed.report;
  TrainingBatch own(batch, spec, *algorithm, device);
  report.estimate_seconds = watch.Lap();
  SHOAL_RETURN_IF_ERROR(EstimateTargets(own, report));
  const ItemPasses passes = PassesOver(own, "minibatches", 1);
  SHOAL_ASSIGN_OR_RETURN(MinibatchSums sums,
                         MeanGradient(own, passes.Part(0, 0, 1), GradientSource::kUnrolls, report));
  ReportEpoch(sums, report);
  ReportRows(own, sums, report);
  if (sums.weight() > 0) computed.values = model::OnHost(gradients());
  return computed;
}

absl::StatusOr<UpdateReport> PolicyTrainer::State::ApplyGradient(const RankGradient& given) {
  UpdateReport report = given.report;
  BeginUpdate(report);
  SHOAL_RETURN_IF_ERROR(Attempt(
      [&]() -> absl::Status {
        training::Stopwatch watch;
        gradients().copy_(model::OnDevice(given.values, device));
        SHOAL_ASSIGN_OR_RETURN(report.gradient_norm, Descend(report.learning_rate));
        report.step_seconds += watch.Lap();
        return absl::OkStatus();
      },
      report));
  EndUpdate(report);
  return report;
}

absl::StatusOr<UpdateReport> PolicyTrainer::State::Update(UnrollBatch& batch,
                                                          const BehaviourCloningTerm* cloning) {
  training::Stopwatch watch;
  const estimators::RunningMoments returns_before = trained.normalisation.returns();
  if (trained.normalisation.shapes_rewards()) {
    SHOAL_RETURN_IF_ERROR(trained.normalisation.ShapeRewards(batch));
  }
  Relabel(batch);
  UpdateReport report;
  BeginUpdate(report);
  report.return_deviation = trained.normalisation.return_deviation();
  Material material{.own = TrainingBatch(batch, spec, *algorithm, device)};
  if (cloning != nullptr) {
    material.demonstrations.emplace(cloning->demonstrations, spec, cloning_term, device);
    material.demonstrations->targets.emplace(cloning_term.Estimate(cloning->demonstrations, {}),
                                             device);
    material.cloning_coefficient = cloning->coefficient;
  }
  report.estimate_seconds = watch.Lap();
  const absl::Status passed = Attempt([&] { return RunEpochs(material, report); }, report);
  if (!passed.ok()) {
    trained.normalisation.RestoreReturns(returns_before);
    return passed;
  }
  SHOAL_RETURN_IF_ERROR(trained.Observe(batch));
  EndUpdate(report);
  return report;
}

PolicyTrainer::PolicyTrainer(std::unique_ptr<State> state) : state_(std::move(state)) {}
PolicyTrainer::~PolicyTrainer() = default;

void PolicyTrainer::SetJudge(Judge judge) { state_->judge = std::move(judge); }
void PolicyTrainer::CompressGradients() { state_->sum.Compress(); }
void PolicyTrainer::ScaleRate(double factor) { state_->rate_factor = factor; }
void PolicyTrainer::ScaleKlPenalty(double factor) { state_->trained.kl_factor = factor; }

absl::StatusOr<std::unique_ptr<PolicyTrainer>> PolicyTrainer::Create(
    const model::PolicySpec& spec, const AlgorithmOptions& options, std::uint64_t seed,
    collectives::GradientReducer& reducer, const model::ComputeDevice& device) {
  SHOAL_RETURN_IF_ERROR(spec.Validate());
  SHOAL_ASSIGN_OR_RETURN(const at::Device where, model::FindDevice(device.name));
  SHOAL_ASSIGN_OR_RETURN(auto algorithm, MakeAlgorithm(options));
  SHOAL_ASSIGN_OR_RETURN(const Schedule schedule, ParseSchedule(options.schedule));
  SHOAL_ASSIGN_OR_RETURN(const training::OptimiserOptions optimiser, options.optimiser_options());
  SHOAL_RETURN_IF_ERROR(CheckFit(*algorithm, options, spec));
  if (schedule == Schedule::kKl && algorithm->policy() == nullptr) {
    return runtime::InvalidArgument(
        "algorithm.schedule: kl needs a KL of updates, which algorithm " + options.name +
        " does not measure");
  }
  return model::GuardTorch(
      "policy trainer", [&]() -> absl::StatusOr<std::unique_ptr<PolicyTrainer>> {
        model::ApplyTorchThreads();
        auto state = std::make_unique<State>(
            spec, options, optimiser, schedule, std::move(algorithm), seed, reducer, where,
            device.whole_batches ? HeadArithmetic::kBatches : HeadArithmetic::kRows,
            device.precision);
        return std::unique_ptr<PolicyTrainer>(new PolicyTrainer(std::move(state)));
      });
}

absl::StatusOr<UpdateReport> PolicyTrainer::Update(UnrollBatch batch) {
  SHOAL_RETURN_IF_ERROR(batch.Validate(state_->spec));
  return model::GuardTorch("update", [&] { return state_->Update(batch, nullptr); });
}

absl::StatusOr<UpdateReport> PolicyTrainer::Update(UnrollBatch batch,
                                                   const BehaviourCloningTerm& cloning) {
  SHOAL_RETURN_IF_ERROR(CheckClones(state_->spec));
  SHOAL_RETURN_IF_ERROR(batch.Validate(state_->spec));
  SHOAL_RETURN_IF_ERROR(
      runtime::Annotate(cloning.demonstrations.Validate(state_->spec), "demonstrations"));
  return model::GuardTorch("update", [&] { return state_->Update(batch, &cloning); });
}

absl::Status PolicyTrainer::CheckAsynchronous() const {
  return algorithms::CheckAsynchronous(state_->requirements, state_->options, state_->spec);
}

absl::StatusOr<RankGradient> PolicyTrainer::ComputeGradient(UnrollBatch batch) {
  SHOAL_RETURN_IF_ERROR(batch.Validate(state_->spec));
  return model::GuardTorch("gradient", [&] { return state_->ComputeGradient(batch); });
}

absl::StatusOr<UpdateReport> PolicyTrainer::ApplyGradient(const RankGradient& gradient) {
  if (static_cast<std::int64_t>(gradient.values.size()) != gradient_size()) {
    return runtime::InvalidArgument("gradient: " + std::to_string(gradient.values.size()) +
                                    " numbers, not " + std::to_string(gradient_size()));
  }
  return model::GuardTorch("update", [&] { return state_->ApplyGradient(gradient); });
}

std::int64_t PolicyTrainer::gradient_size() const { return state_->layout.trainable; }
std::int64_t PolicyTrainer::parameter_count() const { return state_->layout.total; }

std::vector<float> PolicyTrainer::Parameters() const {
  return model::OnHost(state_->trained.parameters);
}
std::vector<float> PolicyTrainer::TargetParameters() const {
  return state_->trained.target.defined() ? model::OnHost(state_->trained.target)
                                          : std::vector<float>();
}

std::int64_t PolicyTrainer::target_number() const {
  return state_->soft ? updates() : updates() / state_->options.target_updates;
}

absl::Status PolicyTrainer::Adopt(std::int64_t updates, std::span<const float> parameters,
                                  std::span<const float> target) {
  return model::GuardTorch("parameters",
                           [&] { return state_->trained.Adopt(updates, parameters, target); });
}

absl::StatusOr<CloningReport> PolicyTrainer::CloneBehaviour(UnrollBatch demonstrations,
                                                            double learning_rate) {
  SHOAL_RETURN_IF_ERROR(CheckClones(state_->spec));
  SHOAL_RETURN_IF_ERROR(demonstrations.Validate(state_->spec));
  return model::GuardTorch("cloning",
                           [&] { return state_->CloneBehaviour(demonstrations, learning_rate); });
}

absl::StatusOr<std::string> PolicyTrainer::SerializeParameters(
    const model::Metadata& metadata) const {
  const at::Tensor host = state_->trained.parameters.to(at::kCPU);
  return state_->layout.Write(FloatsOf(host), state_->spec, metadata);
}

std::string PolicyTrainer::Digest() const {
  const at::Tensor host = state_->trained.parameters.to(at::kCPU);
  const auto bytes = std::as_bytes(FloatsOf(host));
  return model::HexSha256({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

const Requirements& PolicyTrainer::requirements() const { return state_->requirements; }
std::int64_t PolicyTrainer::updates() const { return state_->trained.updates; }
std::int64_t PolicyTrainer::clonings() const { return state_->trained.clonings; }

absl::Status PolicyTrainer::Save(const std::string& folder, const std::string& note) const {
  runtime::LargeMemoryPool memory;
  return training::WriteCheckpoint(folder, FilesOf(Snapshot(note, memory)), kKeptCheckpoints);
}
absl::StatusOr<std::string> PolicyTrainer::Load(const std::string& folder) {
  SHOAL_ASSIGN_OR_RETURN(const training::Checkpoint files, training::ReadNewestCheckpoint(folder));
  return Load(files);
}
absl::StatusOr<FittedCheckpoint> PolicyTrainer::LoadFitting(const std::string& folder) {
  SHOAL_ASSIGN_OR_RETURN(const training::Checkpoint files, training::ReadNewestCheckpoint(folder));
  return LoadFitting(files);
}
TrainerCheckpoint PolicyTrainer::Snapshot(const std::string& note,
                                          runtime::LargeMemoryPool& memory) const {
  return state_->trained.Snapshot(note, memory);
}
absl::StatusOr<std::string> PolicyTrainer::Load(const training::Checkpoint& files) {
  state_->sum.DropResiduals();
  return state_->trained.Load(files);
}
absl::StatusOr<FittedCheckpoint> PolicyTrainer::LoadFitting(const training::Checkpoint& files) {
  state_->sum.DropResiduals();
  return state_->trained.LoadFitting(files);
}

}  // namespace shoal::algorithms
