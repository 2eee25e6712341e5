// SPDX-License-Identifier: Apache-2.0
#include "actor/demonstrations/simulation_recorder.h"

#include <absl/strings/str_join.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "actor/demonstrations/scripted_expert.h"
#include "actor/demonstrations/unroll_columns.h"
#include "actor/environments/simulated_environment.h"
#include "platform/content/canonical_json.h"
#include "platform/runtime/program.h"

namespace shoal::actor {
namespace {

// What stands in results where other demonstrations name a capture.
constexpr const char* kCapture = "simulation";

struct SimulatedEpisode {
  std::vector<float> observations;  // [T, O]
  ExpertSteps steps;
};

// Returns nothing when the expert failed.
std::optional<SimulatedEpisode> Play(Simulation& simulation, const ScriptedExpert& expert,
                                     const EpisodeDraws& draws) {
  const SimulationSpec& spec = simulation.spec();
  std::vector<float> observation(
      static_cast<std::size_t>(SimulatedEnvironment::SpecOf(spec).observation_size()));
  SimulatedEpisode episode;
  double sum = 0;
  bool terminated = false;
  simulation.Reset(draws);
  for (int step = 0; step < spec.step_limit && !terminated; ++step) {
    simulation.Observe(observation);
    episode.observations.insert(episode.observations.end(), observation.begin(), observation.end());
    episode.steps.actions.push_back(expert(observation));
    const SimulationStep next = simulation.Step(episode.steps.actions.back());
    episode.steps.rewards.push_back(next.reward);
    sum += next.reward;
    terminated = next.terminated;
  }
  if (!terminated || sum < spec.success_return) return std::nullopt;
  return episode;
}

proto::DemonstrationHeader HeaderOf(const EnvironmentSpec& spec, const SimulationSpec& simulation,
                                    std::uint64_t seed) {
  proto::DemonstrationHeader header;
  header.set_canonicaliser_version(std::string(content::kCanonicaliserVersion));
  proto::ObservationSpec& observation = *header.mutable_spec()->add_observations();
  observation.set_name(spec.observation_name);
  observation.set_dtype(proto::FLOAT32);
  for (const std::int64_t size : spec.observation_shape) observation.add_shape(size);
  header.mutable_spec()->mutable_action()->mutable_discrete()->set_count(
      static_cast<std::uint32_t>(spec.actions));
  header.set_episode_limit(static_cast<std::uint32_t>(simulation.step_limit));
  header.set_seed(seed);
  header.set_revision(runtime::GitRevision());
  return header;
}

proto::Demonstration DemonstrationOf(const EnvironmentSpec& spec, const std::string& name,
                                     std::uint64_t number, SimulatedEpisode episode) {
  const auto steps = static_cast<std::int64_t>(episode.steps.actions.size());
  proto::Demonstration demonstration;
  demonstration.set_goal(name);
  demonstration.set_capture(kCapture);
  proto::Unroll& unroll = *demonstration.mutable_unroll();
  unroll.mutable_id()->set_first_sequence(number);
  unroll.set_length(static_cast<std::uint32_t>(steps));
  runtime::Shape shape = {steps + 1};
  shape.insert(shape.end(), spec.observation_shape.begin(), spec.observation_shape.end());
  episode.observations.resize(static_cast<std::size_t>((steps + 1) * spec.observation_size()));
  ColumnWriter(*unroll.mutable_step_columns())
      .Add("observation/" + spec.observation_name, shape, episode.observations);
  AddOutcomes(episode.steps, number, unroll);
  return demonstration;
}

}  // namespace

absl::StatusOr<proto::DemonstrationChunk> RecordSimulation(const SimulationRecording& recording) {
  const ScriptedExpert expert = ExpertOf(recording.kind);
  if (!expert) {
    return runtime::InvalidArgument("environment.kind: " + recording.kind +
                                    " has no expert; those that have one are redfish, " +
                                    absl::StrJoin(SimulationsWithExpert(), ", "));
  }
  const std::unique_ptr<Simulation> simulation =
      MakeSimulation(recording.kind, recording.simulation);
  const SimulationSpec& task = simulation->spec();
  const EnvironmentSpec spec = SimulatedEnvironment::SpecOf(task);
  proto::DemonstrationChunk recorded;
  *recorded.mutable_header() = HeaderOf(spec, task, recording.seed);
  std::uint32_t failed = 0;
  for (std::uint64_t episode = 0; episode < recording.episodes; ++episode) {
    auto played = Play(*simulation, expert, {.seed = recording.seed, .episode = episode});
    if (!played) {
      ++failed;
      continue;
    }
    *recorded.add_demonstrations() = DemonstrationOf(spec, task.name, episode, *std::move(played));
  }
  if (failed > 0) {
    proto::LeftOut& left_out = *recorded.add_left_out();
    left_out.set_goal(task.name);
    left_out.set_capture(kCapture);
    left_out.set_reason("the expert did not succeed");
    left_out.set_episodes(failed);
  }
  return recorded;
}

}  // namespace shoal::actor
