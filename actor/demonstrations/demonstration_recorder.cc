// SPDX-License-Identifier: Apache-2.0
#include "actor/demonstrations/demonstration_recorder.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "actor/demonstrations/simulation_recorder.h"
#include "actor/demonstrations/unroll_columns.h"
#include "actor/environments/plan_player.h"
#include "platform/content/canonical_json.h"
#include "platform/runtime/log.h"
#include "platform/runtime/program.h"
#include "platform/runtime/random.h"
#include "rl/demonstrations/demonstration_file.h"

namespace shoal::actor {
namespace {

using content::ContentKey;
using content::ContentKeyHash;
using inference::client::CandidateList;
using inference::client::ContentReference;

class Recorder {
 public:
  explicit Recorder(const RedfishTasks& tasks) : tasks_(tasks) {
    const EnvironmentSpec spec = RedfishEnvironment::Spec();
    proto::DemonstrationHeader& header = *recorded_.mutable_header();
    header.set_canonicaliser_version(std::string(content::kCanonicaliserVersion));
    proto::ObservationSpec& observation = *header.mutable_spec()->add_observations();
    observation.set_name(spec.observation_name);
    observation.set_dtype(proto::FLOAT32);
    observation.add_shape(spec.observation_size());
    for (const std::string& field : spec.content_fields) {
      header.mutable_spec()->add_content_fields(field);
    }
    header.mutable_spec()->mutable_action()->mutable_candidates();
    header.mutable_spec()->set_candidate_marks(static_cast<std::uint32_t>(spec.candidate_marks));
    header.set_episode_limit(static_cast<std::uint32_t>(tasks.options.episode_limit));
    header.set_seed(tasks.seed);
    header.set_revision(runtime::GitRevision());
  }

  void Add(std::size_t pair, std::uint64_t episode, const PlayedEpisode& played) {
    proto::Demonstration& demonstration = *recorded_.add_demonstrations();
    demonstration.set_goal(tasks_.pairs[pair].goal);
    demonstration.set_capture(tasks_.pairs[pair].capture);
    demonstration.set_mutations(
        static_cast<std::uint32_t>(played.facts.mutations - played.wrong_mutations));
    demonstration.set_optimum(static_cast<std::uint32_t>(played.facts.optimum));
    proto::Unroll& unroll = *demonstration.mutable_unroll();
    unroll.mutable_id()->set_environment_id(pair);
    unroll.mutable_id()->set_first_sequence(episode);
    unroll.set_length(static_cast<std::uint32_t>(played.steps.size()));
    AddObservations(played, unroll);
    ExpertSteps steps;
    for (const PlayedStep& step : played.steps) {
      steps.actions.push_back(step.action);
      steps.rewards.push_back(step.reward);
    }
    AddOutcomes(steps, episode, unroll);
  }

  void LeaveOut(std::size_t pair, const std::string& reason, std::uint32_t episodes) {
    proto::LeftOut& left_out = *recorded_.add_left_out();
    left_out.set_goal(tasks_.pairs[pair].goal);
    left_out.set_capture(tasks_.pairs[pair].capture);
    left_out.set_reason(reason);
    left_out.set_episodes(episodes);
  }

  proto::DemonstrationChunk Take() { return std::move(recorded_); }

 private:
  void AddObservations(const PlayedEpisode& played, proto::Unroll& unroll) {
    const EnvironmentSpec spec = RedfishEnvironment::Spec();
    const auto rows = static_cast<std::int64_t>(played.steps.size()) + 1;
    std::vector<float> numeric;
    std::vector<std::vector<std::uint8_t>> keys(spec.content_fields.size());
    std::vector<std::int32_t> catalogs;
    for (const PlayedStep& step : played.steps) {
      const Observation& seen = step.observation;
      numeric.insert(numeric.end(), seen.numeric.begin(), seen.numeric.end());
      for (std::size_t field = 0; field < keys.size(); ++field) {
        Keep(seen.contents[field]);
        const auto& bytes = seen.contents[field].key.bytes;
        keys[field].insert(keys[field].end(), bytes.begin(), bytes.end());
      }
      catalogs.push_back(CatalogIndex(*seen.catalog, unroll));
    }
    ColumnWriter writer(*unroll.mutable_step_columns());
    numeric.resize(static_cast<std::size_t>(rows * spec.observation_size()));
    writer.Add("observation/" + spec.observation_name, {rows, spec.observation_size()}, numeric);
    for (std::size_t field = 0; field < keys.size(); ++field) {
      keys[field].resize(static_cast<std::size_t>(rows) * ContentKey::kBytes);
      writer.Add("content/" + spec.content_fields[field],
                 {rows, static_cast<std::int64_t>(ContentKey::kBytes)}, keys[field]);
    }
    catalogs.push_back(0);
    writer.Add("catalog", {rows}, catalogs);
    AddMarks(played, unroll);
  }

  static void AddMarks(const PlayedEpisode& played, proto::Unroll& unroll) {
    std::vector<std::int32_t> counts;
    std::vector<std::int32_t> candidates;
    std::vector<std::int32_t> bits;
    for (const PlayedStep& step : played.steps) {
      counts.push_back(static_cast<std::int32_t>(step.observation.marks.size()));
      for (const model::CandidateMark& mark : step.observation.marks) {
        candidates.push_back(static_cast<std::int32_t>(mark.candidate));
        bits.push_back(static_cast<std::int32_t>(mark.bits));
      }
    }
    counts.push_back(0);
    const auto rows = static_cast<std::int64_t>(counts.size());
    const auto marked = static_cast<std::int64_t>(candidates.size());
    ColumnWriter writer(*unroll.mutable_unroll_columns());
    writer.Add("marks/count", {rows}, counts);
    writer.Add("marks/candidate", {marked}, candidates);
    writer.Add("marks/bits", {marked}, bits);
  }

  void Keep(const ContentReference& content) {
    if (content.key.IsZero() || !kept_.insert(content.key).second) return;
    proto::Content& kept = *recorded_.add_contents();
    kept.set_key(std::string(content.key.AsBytes()));
    kept.set_text(*content.text);
  }

  void Keep(const CandidateList& list) {
    if (!lists_.insert(list.key()).second) return;
    if (list.base() != nullptr) Keep(*list.base());
    for (const ContentReference& candidate : list.candidates()) Keep(candidate);
    if (list.base() == nullptr) {
      *recorded_.add_catalogs() = list.AsCatalog();
    } else {
      *recorded_.add_overlays() = list.AsOverlay();
    }
  }

  std::int32_t CatalogIndex(const CandidateList& list, proto::Unroll& unroll) {
    Keep(list);
    for (int i = 0; i < unroll.catalog_keys_size(); ++i) {
      if (unroll.catalog_keys(i) == list.key().AsBytes()) return i;
    }
    unroll.add_catalog_keys(std::string(list.key().AsBytes()));
    return unroll.catalog_keys_size() - 1;
  }

  const RedfishTasks& tasks_;
  proto::DemonstrationChunk recorded_;
  absl::flat_hash_set<ContentKey, ContentKeyHash> kept_;
  absl::flat_hash_set<ContentKey, ContentKeyHash> lists_;
};

struct PlayedPair {
  // In ascending order, each with its number.
  std::vector<std::pair<std::uint64_t, PlayedEpisode>> episodes;
  // Why the first missing episode is missing, or empty when none is.
  std::string reason;
};

// A sentence may lack a word that the plan needs. Where so many episodes that need work, one after
// the other, have requests that are no candidates, the plan cannot be played at all.
constexpr std::uint64_t kHopelessEpisodes = 8;

// Of four episodes one shows all looks. The others save looks where they can, so that a policy
// knows both ways and can learn which looks are needed. Two of them have mistakes, about two in an
// episode: a policy makes some, and learns here how to go on. Each style is followed by those that
// stand in for it where it fails.
std::vector<PlayStyle> StylesOf(std::uint64_t episode, std::int64_t limit) {
  constexpr std::int64_t kShort = 10;
  const double mistakes = 3.0 / static_cast<double>(std::max(limit, kShort));
  const PlayStyle plain;
  const PlayStyle sparing = {.looks = Looks::kWhereNeeded};
  const PlayStyle erring = {.mistakes = mistakes};
  const PlayStyle both = {.looks = Looks::kWhereNeeded, .mistakes = mistakes};
  if (episode % 4 == 0) return {plain};
  if (episode % 4 == 3) return {sparing, plain};
  return {both, erring, sparing, plain};
}

// Plays the episode in the first style that works.
absl::StatusOr<PlayedEpisode> PlayOne(PlanPlayer& player, std::size_t pair, std::uint64_t episode,
                                      std::int64_t limit) {
  absl::StatusOr<PlayedEpisode> played;
  for (const PlayStyle& style : StylesOf(episode, limit)) {
    played = player.Play(pair, episode, style);
    const bool is_plain = style.mistakes == 0 && style.looks == Looks::kAlways;
    // Neither sparing looks nor a mistake must cost the expert requests that change something.
    if (played.ok() && (is_plain || played->facts.mutations - played->wrong_mutations <=
                                        std::max(1, played->facts.optimum))) {
      break;
    }
  }
  return played;
}

PlayedPair PlayPair(PlanPlayer& player, std::size_t pair, std::uint64_t episodes,
                    std::int64_t limit) {
  PlayedPair played;
  bool shows_work = false;
  std::uint64_t hopeless = 0;
  for (std::uint64_t episode = 0; episode < episodes; ++episode) {
    auto one = PlayOne(player, pair, episode, limit);
    if (one.ok()) {
      shows_work = shows_work || one->facts.optimum > 0;
      played.episodes.emplace_back(episode, *std::move(one));
      continue;
    }
    if (played.reason.empty()) played.reason = runtime::Message(one.status());
    hopeless = absl::IsNotFound(one.status()) ? hopeless + 1 : 0;
    if (!shows_work && hopeless >= kHopelessEpisodes) break;
  }
  if (!shows_work && !played.reason.empty()) played.episodes.clear();
  return played;
}

// Returns the number of episodes of each pair.
std::vector<std::uint64_t> EpisodesOf(const std::vector<Pair>& pairs,
                                      const RecordedEpisodes& episodes) {
  std::map<std::string, std::uint64_t> captures;
  for (const Pair& pair : pairs) ++captures[pair.goal];
  std::vector<std::uint64_t> counts;
  for (const Pair& pair : pairs) {
    const std::uint64_t sharing = captures[pair.goal];
    counts.push_back(std::max(episodes.of_pair, (episodes.of_goal + sharing - 1) / sharing));
  }
  return counts;
}

}  // namespace

proto::DemonstrationChunk RecordDemonstrations(const RedfishData& data,
                                               const RecordedEpisodes& episodes) {
  PlanPlayer player(data);
  Recorder recorder(*data.tasks);
  const std::vector<std::uint64_t> counts = EpisodesOf(data.tasks->pairs, episodes);
  for (std::size_t pair = 0; pair < data.tasks->pairs.size(); ++pair) {
    const PlayedPair played = PlayPair(player, pair, counts[pair], data.tasks->limits[pair]);
    for (const auto& [episode, steps] : played.episodes) recorder.Add(pair, episode, steps);
    const auto left_out = static_cast<std::uint32_t>(counts[pair] - played.episodes.size());
    const Pair& names = data.tasks->pairs[pair];
    spdlog::info("event=recorded goal={} capture={} episodes={} left_out={} reason={}",
                 runtime::Quoted(names.goal), names.capture, played.episodes.size(), left_out,
                 runtime::Quoted(played.reason));
    if (left_out > 0) recorder.LeaveOut(pair, played.reason, left_out);
  }
  return recorder.Take();
}

absl::Status RecordToFile(const EnvironmentOptions& environment, const runtime::RunOptions& run,
                          const RecordedEpisodes& episodes, const std::string& path) {
  const std::uint64_t seed =
      runtime::DeriveSeed(static_cast<std::uint64_t>(run.seed), "demonstrations");
  if (environment.kind != "redfish") {
    SHOAL_ASSIGN_OR_RETURN(const proto::DemonstrationChunk recorded,
                           RecordSimulation({.kind = environment.kind,
                                             .simulation = environment.simulation,
                                             .episodes = episodes.of_pair,
                                             .seed = seed}));
    return demonstrations::WriteDemonstrations(path, recorded);
  }
  EnvironmentOptions inprocess = environment;
  inprocess.access = "inprocess";
  const runtime::ClusterOptions cluster;
  SHOAL_ASSIGN_OR_RETURN(const RedfishData data,
                         LoadRedfishData({.environment = inprocess,
                                          .cluster = cluster,
                                          .seed = seed,
                                          .captures = environment.training_captures()}));
  return demonstrations::WriteDemonstrations(path, RecordDemonstrations(data, episodes));
}

}  // namespace shoal::actor
