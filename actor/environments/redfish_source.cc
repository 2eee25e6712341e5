// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/redfish_source.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "actor/environments/http_service.h"
#include "actor/environments/inprocess_service.h"
#include "actor/environments/plan_player.h"
#include "actor/environments/response_cache.h"
#include "mockserver/service/tree_pool.h"
#include "platform/runtime/log.h"
#include "redfish/capture/capture.h"
#include "redfish/capture/capture_path.h"
#include "redfish/schema/schema.h"

namespace shoal::actor {
namespace {

class RedfishSource final : public EnvironmentSource {
 public:
  RedfishSource(RedfishData data, RedfishAddresses addresses, bool hindsight)
      : data_(std::move(data)), addresses_(std::move(addresses)), hindsight_(hindsight) {}

  const EnvironmentSpec& spec() const override { return spec_; }
  const std::vector<Pair>& pairs() const override { return data_.tasks->pairs; }

  std::vector<std::unique_ptr<Environment>> Create(boost::asio::any_io_executor executor,
                                                   std::uint64_t first_environment,
                                                   std::size_t count) const override {
    const auto response_cache = std::make_shared<ResponseCache>(
        static_cast<std::size_t>(data_.tasks->options.response_cache_bytes));
    const ServiceMaker make = MakeServices(data_, addresses_, executor, count);
    std::vector<std::unique_ptr<Environment>> environments;
    for (std::size_t i = 0; i < count; ++i) {
      environments.push_back(std::make_unique<RedfishEnvironment>(
          data_.tasks, make(first_environment + i), response_cache, hindsight_));
    }
    return environments;
  }

 private:
  const RedfishData data_;
  const RedfishAddresses addresses_;
  const bool hindsight_;
  const EnvironmentSpec spec_ = RedfishEnvironment::Spec();
};

// Loads the goals, and if numbers are chosen also the goals that need reading and the request
// sequences of real tools, which share the numbering.
absl::StatusOr<redfish::GoalSuite> LoadFolders(const EnvironmentOptions& options) {
  SHOAL_ASSIGN_OR_RETURN(redfish::GoalSuite suite, redfish::LoadGoals(options.data + "/goals"));
  if (options.goals.empty()) return suite;
  for (const char* folder : {"/reading", "/demonstrations"}) {
    const absl::StatusOr<redfish::GoalSuite> more = redfish::LoadGoals(options.data + folder);
    if (absl::IsNotFound(more.status())) continue;
    if (!more.ok()) return more.status();
    suite.insert(suite.end(), more->begin(), more->end());
  }
  return suite;
}

absl::StatusOr<redfish::GoalSuite> LoadSuite(const EnvironmentOptions& options) {
  SHOAL_ASSIGN_OR_RETURN(redfish::GoalSuite suite, LoadFolders(options));
  if (options.phrasings.empty()) return suite;
  return redfish::WithEvaluationPhrasings(std::move(suite), options.phrasings);
}

absl::Status AddPairs(const SourceConfig& config, const redfish::GoalSuite& suite,
                      const redfish::Capture& capture, RedfishTasks& tasks) {
  const redfish::Starts starts =
      config.environment.exchange ? redfish::Starts::kExchanged : redfish::Starts::kDrawn;
  SHOAL_ASSIGN_OR_RETURN(const auto applied, redfish::ApplyGoals(suite, capture, starts));
  const auto& wanted = config.environment.goals;
  for (const auto& goal : applied) {
    const bool is_wanted = wanted.empty() || std::find(wanted.begin(), wanted.end(),
                                                       goal->goal().id()) != wanted.end();
    if (!is_wanted) continue;
    Pair pair{.goal = std::to_string(goal->goal().id()) + " " + goal->goal().name(),
              .capture = capture.name()};
    for (const redfish::SituationShare& one : goal->Situations()) {
      pair.situations.push_back({.share = one.share, .satisfied = one.satisfied});
    }
    tasks.pairs.push_back(std::move(pair));
    tasks.goals.push_back(goal);
    spdlog::info("event=pair goal={} capture={}", runtime::Quoted(tasks.pairs.back().goal),
                 capture.name());
  }
  return absl::OkStatus();
}

// A fleet's episodes have one limit.
bool IsLimitedByExperts(const EnvironmentOptions& options) {
  return options.limit_per_expert_request > 0 && options.fleet_size <= 1;
}

struct ExpertEpisodes {
  // The most requests of an episode that reached its goal; 0 if none did.
  std::int64_t requests = 0;
  bool failed = false;
};

ExpertEpisodes PlayExpert(PlanPlayer& expert, std::size_t pair) {
  constexpr std::uint64_t kEpisodes = 16;
  ExpertEpisodes episodes;
  for (std::uint64_t episode = 0; episode < kEpisodes; ++episode) {
    const auto played = expert.Play(pair, episode);
    if (!played.ok()) {
      episodes.failed = true;
      break;
    }
    episodes.requests = std::max(episodes.requests, std::int64_t{played->facts.steps});
  }
  return episodes;
}

// Sets the limit of each pair, of episodes that need not wait for tasks. It depends on the pair
// alone, not on the seed, the noise in texts or the other captures, as all processes of a run and
// later evaluations must agree on it.
void SetLimits(const Worlds& worlds, RedfishTasks& tasks) {
  // Where a share of requests fails, as many more have to be sent.
  const double factor = tasks.options.limit_per_expert_request / (1 - tasks.options.faults.rate);
  const std::int64_t highest = tasks.options.episode_limit;
  tasks.limits.assign(tasks.pairs.size(), highest);
  if (!IsLimitedByExperts(tasks.options)) return;
  auto played = std::make_shared<RedfishTasks>(tasks);
  played->seed = 0;
  played->options = tasks.options.undisturbed();
  const RedfishData data{.tasks = std::move(played), .captures = {}, .worlds = worlds};
  PlanPlayer expert(data);
  for (std::size_t pair = 0; pair < tasks.pairs.size(); ++pair) {
    const ExpertEpisodes episodes = PlayExpert(expert, pair);
    // Where the expert fails, its other episodes may be the short ones.
    if (episodes.failed || episodes.requests == 0) continue;
    const double limit = std::ceil(factor * static_cast<double>(episodes.requests));
    tasks.limits[pair] =
        std::min(std::max(static_cast<std::int64_t>(limit), kShortestLimit), highest);
  }
  const auto [shortest, longest] = std::minmax_element(tasks.limits.begin(), tasks.limits.end());
  if (!tasks.limits.empty())
    spdlog::info("event=limits shortest={} longest={}", *shortest, *longest);
}

absl::Status CheckGoals(const SourceConfig& config, const redfish::GoalSuite& suite) {
  for (const std::int64_t id : config.environment.goals) {
    const bool known = std::any_of(suite.begin(), suite.end(),
                                   [id](const auto& goal) { return goal->id() == id; });
    if (!known) {
      return runtime::NotFound("environment.goals: no goal " + std::to_string(id) + " in " +
                               config.environment.data + "/goals, /reading or /demonstrations");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RedfishData> LoadRedfishData(const SourceConfig& config) {
  const EnvironmentOptions& options = config.environment;
  if (options.limit_per_expert_request > 0 && options.limit_per_expert_request < 1) {
    return runtime::InvalidArgument(
        "environment.limit_per_expert_request is between 0 and 1, so no expert could reach a goal");
  }
  RedfishData data;
  auto tasks = std::make_shared<RedfishTasks>();
  tasks->options = options;
  tasks->seed = config.seed;
  SHOAL_ASSIGN_OR_RETURN(const std::shared_ptr<const redfish::Schema> schema,
                         redfish::Schema::Load(options.data + "/schema/redfish.schema.zst"));
  SHOAL_ASSIGN_OR_RETURN(const redfish::GoalSuite suite, LoadSuite(options));
  SHOAL_RETURN_IF_ERROR(CheckGoals(config, suite));
  for (const std::string& named : config.captures) {
    SHOAL_ASSIGN_OR_RETURN(const std::string path, redfish::FindCapture(named, options.data));
    SHOAL_ASSIGN_OR_RETURN(const auto capture, redfish::Capture::Load(path));
    const std::string& name = capture->name();
    if (tasks->catalogs.contains(name)) {
      return runtime::InvalidArgument("two captures are called " + name);
    }
    SHOAL_ASSIGN_OR_RETURN(auto catalog, redfish::Catalog::Build(*capture, *schema));
    spdlog::info("event=catalog summary={}", runtime::Quoted(catalog->Summary()));
    tasks->catalogs[name] = MakeServiceCatalog(std::move(catalog), schema);
    SHOAL_RETURN_IF_ERROR(AddPairs(config, suite, *capture, *tasks));
    if (options.access == "inprocess" || IsLimitedByExperts(options)) {
      SHOAL_ASSIGN_OR_RETURN(data.worlds[name], mockserver::World::Create(capture, schema));
    }
    if (options.fleet_size > 1) data.captures[name] = capture;
  }
  if (tasks->pairs.empty()) {
    return runtime::InvalidArgument("no goal of environment.goals applies to any capture");
  }
  SetLimits(data.worlds, *tasks);
  if (options.access != "inprocess") data.worlds.clear();
  data.tasks = std::move(tasks);
  return data;
}

absl::StatusOr<RedfishAddresses> FindAddresses(const SourceConfig& config) {
  if (config.environment.access == "http" &&
      (config.cluster.mockserver.empty() || config.cluster.mockserver_control.empty())) {
    return runtime::InvalidArgument(
        "environment.access is http, but cluster.mockserver or cluster.mockserver_control is "
        "empty");
  }
  RedfishAddresses addresses{.mockserver = config.cluster.mockserver,
                             .control = config.cluster.mockserver_control};
  if (config.environment.access != "host") return addresses;
  if (config.captures.size() != 1 || config.environment.fleet_size > 1) {
    return runtime::InvalidArgument(
        "environment.access is host: environment.captures must name the capture of that host and "
        "no other, and a fleet cannot be one");
  }
  // Whether changes are tasks is up to the host, so jobs that train on both kinds may run there.
  if (config.environment.faults.rate > 0 || config.environment.faults.latency_ms > 0) {
    return runtime::InvalidArgument(
        "environment.access is host: a real host cannot be made to fail, so "
        "environment.faults.rate and environment.faults.latency_ms must be 0");
  }
  SHOAL_ASSIGN_OR_RETURN(addresses.host, TermsOf(config.environment.host));
  return addresses;
}

ServiceMaker MakeServices(const RedfishData& data, const RedfishAddresses& addresses,
                          boost::asio::any_io_executor executor, std::size_t count) {
  if (addresses.host) {
    const auto budget = std::make_shared<operate::Budget>(addresses.host->permissions.budget);
    return [terms = *addresses.host, budget](std::uint64_t) {
      return std::make_unique<HostService>(terms, budget);
    };
  }
  if (!data.worlds.empty()) {
    const mockserver::InstanceOptions options{.trees = std::make_shared<mockserver::TreePool>()};
    return [&data, options](std::uint64_t) {
      return std::make_unique<InProcessService>(data.worlds, options);
    };
  }
  const auto connections = std::make_shared<HttpConnections>(
      executor,
      HttpConnections::Options{.service = addresses.mockserver,
                               .control = addresses.control,
                               .count = static_cast<std::size_t>(data.tasks->options.connections),
                               .max_waiting = 2 * count + 16});
  return [connections](std::uint64_t id) { return std::make_unique<HttpService>(connections, id); };
}

absl::StatusOr<std::unique_ptr<EnvironmentSource>> MakeRedfishSource(const SourceConfig& config) {
  if (config.hindsight && config.environment.access != "inprocess") {
    return runtime::InvalidArgument(
        "hindsight watches many goals of a service at once, which only services inside the actor "
        "allow: set environment.access to inprocess, or actor.hindsight.strategy to none");
  }
  SHOAL_ASSIGN_OR_RETURN(RedfishAddresses addresses, FindAddresses(config));
  SHOAL_ASSIGN_OR_RETURN(RedfishData data, LoadRedfishData(config));
  return std::make_unique<RedfishSource>(std::move(data), std::move(addresses), config.hindsight);
}

}  // namespace shoal::actor
