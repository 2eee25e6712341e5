// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/place_command.h"

#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "actor/solver/policy_placer.h"
#include "cli/cluster/local_cluster.h"
#include "cli/cluster/policy_server.h"
#include "cli/commands/command_result.h"
#include "cli/commands/place_report.h"
#include "cli/commands/placer_process.h"
#include "cli/session/run_directory.h"
#include "placement/device_set.h"
#include "placement/graph_file.h"
#include "placement/group_graph.h"
#include "placement/peers.h"
#include "placement/placement_file.h"
#include "placement/search.h"
#include "placement/simulator.h"
#include "platform/display/live_line.h"
#include "platform/runtime/atomic_file.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/config.h"
#include "platform/runtime/log.h"
#include "platform/runtime/program.h"
#include "platform/runtime/stop_signals.h"

namespace shoal::cli {
namespace {

using placement::DeviceSet;
using placement::Graph;
using placement::Peer;
using placement::Placement;

// The overrides of searches, or those of devices.
std::vector<std::string> OverridesOf(const PlaceFlags& flags, bool of_searches) {
  std::vector<std::string> overrides;
  for (const std::string& override : flags.overrides) {
    if (override.starts_with("placement.search.") == of_searches) overrides.push_back(override);
  }
  return overrides;
}

// The time that the flags give to everything that tries placements.
class TimeLimit {
 public:
  explicit TimeLimit(std::optional<double> minutes)
      : seconds_(minutes ? 60 * *minutes : std::numeric_limits<double>::infinity()),
        start_(runtime::SystemClock().Now()) {}

  // Returns the seconds that are left, which may be below 0; infinity without a limit.
  double Left() const {
    return seconds_ - std::chrono::duration<double>(runtime::SystemClock().Now() - start_).count();
  }

 private:
  const double seconds_;
  const runtime::TimePoint start_;
};

using Stop = std::function<bool()>;

// The placements of a search without a limit in time or placements.
constexpr std::uint64_t kDefaultEvaluations = 20'000;
// More than there is time for.
constexpr std::uint64_t kMostEvaluations = 1'000'000'000;

std::uint64_t EvaluationsOf(const PlaceFlags& flags) {
  return flags.evaluations.value_or(flags.minutes ? kMostEvaluations : kDefaultEvaluations);
}

// Shows how many placements a method has tried.
class TriedLine {
 public:
  void Show(const std::string& method, std::uint64_t tried, std::uint64_t of) {
    line_.Show([&](std::optional<std::size_t>) {
      const std::string text = absl::StrFormat("%s: %d", method, tried);
      return text + (of < kMostEvaluations ? absl::StrFormat(" of %d placements", of)
                                           : std::string(" placements"));
    });
  }

 private:
  display::LiveLine line_{std::chrono::seconds(5), runtime::SystemClock()};
};

constexpr std::string_view kRecurrent = "placement-reinforce";

PlacerTask PlacerTaskOf(const PlaceFlags& flags) {
  return {.programs = ProgramFolder(),
          .graph = flags.graph,
          .grouping = flags.grouping,
          .devices = flags.devices,
          .device_overrides = OverridesOf(flags, false),
          .search_overrides = OverridesOf(flags, true)};
}

// Says before the other searches that the recurrent policy cannot search.
absl::Status CheckRecurrent(const PlaceFlags& flags, const placement::SequenceRule& rule,
                            const Graph& graph) {
  if (std::find(flags.searches.begin(), flags.searches.end(), kRecurrent) == flags.searches.end()) {
    return absl::OkStatus();
  }
  SHOAL_RETURN_IF_ERROR(placement::CheckSequence(rule, graph));
  return CheckPlacer(PlacerTaskOf(flags));
}

// `failure` is why the recurrent policy found nothing, for which the other methods do not suffer.
absl::StatusOr<std::vector<Peer>> TryPeers(const Graph& graph, const DeviceSet& devices,
                                           placement::Simulator& simulator,
                                           const placement::DistributionRules& rules,
                                           const PlaceFlags& flags, const TimeLimit& limit,
                                           const Stop& stop, absl::Status& failure) {
  // Refinement comes after these and gets as much as each of them.
  const auto methods = static_cast<double>(flags.searches.size() + 1);
  const double kept = flags.refine > 0 ? 1 / methods : 0;
  const std::uint64_t evaluations = EvaluationsOf(flags);
  TriedLine line;
  return ComparePeers(
      graph, devices, simulator,
      {.searches = flags.searches,
       .rules = rules,
       .reinforce =
           [&](const placement::SearchOptions& search) -> absl::StatusOr<placement::Found> {
         absl::StatusOr<placement::Found> found = RunPlacer(PlacerTaskOf(flags), simulator, search);
         if (found.ok() || absl::IsCancelled(found.status())) return found;
         failure = found.status();
         return runtime::Cancelled("it failed");
       },
       .evaluations = evaluations,
       .seed = flags.seed,
       .seconds = limit.Left() * (1 - kept),
       .progress = [&](const std::string& method,
                       std::uint64_t tried) { line.Show(method, tried, evaluations); },
       .stop = stop});
}

// What a search finds around the best placement of a policy.
absl::StatusOr<Peer> Refine(const Graph& graph, placement::Simulator& simulator,
                            const placement::DistributionRule& rule, const Placement& placed,
                            const PlaceFlags& flags, const TimeLimit& limit, const Stop& stop) {
  const std::string method = "policy refined";
  TriedLine line;
  const placement::SearchOptions options = {
      .evaluations = flags.refine,
      .seed = flags.seed,
      .progress = [&](std::uint64_t tried) { line.Show(method, tried, flags.refine); },
      .seconds = limit.Left(),
      .stop = stop};
  SHOAL_ASSIGN_OR_RETURN(
      placement::Found found,
      placement::SearchByDistribution("refine", rule, MakeGroupGraph(graph, simulator), simulator,
                                      options, placed));
  return Peer{.method = method, .found = std::move(found)};
}

// Where a policy's samples may take no more than their share of the time.
runtime::Duration SamplesPatience(const PlaceFlags& flags, const TimeLimit& limit) {
  const runtime::Duration most = actor::PolicyPlacerOptions().samples_patience;
  if (!flags.minutes) return most;
  const std::chrono::duration<double> share(std::max(0.0, limit.Left()) /
                                            static_cast<double>(flags.searches.size() + 2));
  if (share > most) return most;
  return std::chrono::duration_cast<runtime::Duration>(share);
}

// Adds what the policy of the run found: its greedy placement, and with samples the best of all.
// Nothing if it was stopped before it had placed the graph.
absl::Status TryPolicy(const Graph& graph, const DeviceSet& devices,
                       placement::Simulator& simulator, const PlaceFlags& flags,
                       const TimeLimit& limit, const Stop& stop, std::vector<Peer>& peers,
                       std::vector<std::string>& notes) {
  // That the policy cannot be reached before its server listens is no news.
  SHOAL_RETURN_IF_ERROR(runtime::SetUpLog("shoal", 0, "error"));
  actor::PolicyPlacerOptions options = {.samples = flags.samples,
                                        .samples_patience = SamplesPatience(flags, limit)};
  runtime::Config config;
  config.Add("environment", options.environment);
  SHOAL_RETURN_IF_ERROR(config.Load(flags.policy + "/config.toml", {}));
  SHOAL_ASSIGN_OR_RETURN(const auto server,
                         PolicyServer::Start({.programs = ProgramFolder(),
                                              .config_path = flags.policy + "/config.toml",
                                              .parameters = LearnedParameters(flags.policy),
                                              .log_path = flags.policy + "/logs/placing.log",
                                              .seed = flags.seed}));
  options.inference = server->address();
  const absl::StatusOr<std::vector<Placement>> placements =
      actor::PlaceByPolicy(graph, devices, options, [&] {
        return stop() ? runtime::Cancelled("somebody stopped the command") : server->Check();
      });
  if (absl::IsCancelled(placements.status())) return absl::OkStatus();
  SHOAL_RETURN_IF_ERROR(placements.status());
  const auto add = [&](const std::string& method, std::size_t count) -> absl::Status {
    const placement::SearchOptions search = {.evaluations = count, .seed = flags.seed};
    placement::Trial trial(simulator, search);
    for (std::size_t i = 0; i < count; ++i) {
      SHOAL_RETURN_IF_ERROR(trial.Cost((*placements)[i]).status());
    }
    peers.push_back({.method = method, .found = trial.Take()});
    return absl::OkStatus();
  };
  SHOAL_RETURN_IF_ERROR(add("policy", 1));
  if (placements->size() > 1) SHOAL_RETURN_IF_ERROR(add("policy samples", placements->size()));
  if (placements->size() < 1 + flags.samples) {
    notes.push_back(absl::StrFormat("note: the policy drew %d of %d samples in its time",
                                    placements->size() - 1, flags.samples));
  }
  return absl::OkStatus();
}

// Which searches of the flags did not begin or failed, and whether the others were cut short.
void NoteEnd(const PlaceFlags& flags, const placement::Simulator& simulator, bool stopped,
             const absl::Status& failure, PlaceAnswer& answer) {
  if (!failure.ok()) {
    answer.notes.push_back("note: " + std::string(kRecurrent) +
                           " failed: " + runtime::Message(failure));
  }
  std::vector<std::string> missing;
  for (const std::string& name : flags.searches) {
    if (name == "brute-force" && !CanTryAll(simulator, EvaluationsOf(flags))) continue;
    if (name == kRecurrent && !failure.ok()) continue;
    const bool tried = std::any_of(answer.peers.begin(), answer.peers.end(),
                                   [&](const Peer& peer) { return peer.method == name; });
    if (!tried) missing.push_back(name);
  }
  const std::string not_begun =
      missing.empty() ? "" : "; not begun: " + absl::StrJoin(missing, ", ");
  if (stopped) {
    answer.notes.push_back("note: somebody stopped the command; this is the best so far" +
                           not_begun);
  } else if (!missing.empty()) {
    answer.notes.push_back("note: there was not enough time" + not_begun);
  }
}

// Says before the work that a file cannot be written after it.
absl::Status CheckFiles(const PlaceFlags& flags) {
  for (const std::string& path : {flags.save, flags.page}) {
    if (!path.empty()) SHOAL_RETURN_IF_ERROR(runtime::CheckWritable(path));
  }
  return absl::OkStatus();
}

// Writes the placement first, since it is what the work was for. Returns the first error.
absl::Status WriteFiles(const PlaceFlags& flags, const Graph& graph, const DeviceSet& devices,
                        const PlaceAnswer& answer, const placement::Simulator& simulator) {
  absl::Status written;
  if (!flags.save.empty()) {
    written = runtime::WriteFileAtomically(flags.save, PlacementText(graph, devices, answer));
  }
  if (!flags.page.empty()) {
    written.Update(
        runtime::WriteFileAtomically(flags.page, PlacementPage(graph, devices, answer, simulator)));
  }
  return written;
}

}  // namespace

absl::StatusOr<PlaceResult> PlaceGraph(const PlaceFlags& flags, const Stop& stop) {
  if (flags.graph.ends_with(".onnx")) {
    return runtime::InvalidArgument(
        flags.graph + " is a model in ONNX: `.deps/onnx/bin/python data/placement/import_onnx.py " +
        flags.graph + "` makes the graph file of it, after `deploy/install.sh install_onnx`");
  }
  SHOAL_ASSIGN_OR_RETURN(const Graph graph, placement::LoadGraph(flags.graph, flags.grouping));
  SHOAL_ASSIGN_OR_RETURN(const DeviceSet devices,
                         placement::LoadDevices(flags.devices, OverridesOf(flags, false)));
  SHOAL_RETURN_IF_ERROR(runtime::Annotate(placement::CheckKinds(devices, graph), flags.devices));
  SHOAL_ASSIGN_OR_RETURN(placement::Simulator simulator,
                         placement::Simulator::Create(graph, devices));
  if ((flags.samples > 0 || flags.refine > 0) && flags.policy.empty()) {
    return runtime::InvalidArgument(
        "--samples and --refine are of a policy, and there is no --policy");
  }
  SHOAL_ASSIGN_OR_RETURN(const placement::DistributionRules rules,
                         placement::ParseDistributionRules(OverridesOf(flags, true)));
  SHOAL_RETURN_IF_ERROR(CheckRecurrent(flags, rules.reinforce, graph));
  // What was learned or placed by hand stands below the rest.
  std::vector<Peer> others;
  if (!flags.placement.empty()) {
    SHOAL_ASSIGN_OR_RETURN(Placement own,
                           placement::LoadPlacement(flags.placement, graph, devices));
    SHOAL_ASSIGN_OR_RETURN(Peer peer, JudgePlacement(simulator, "own placement", std::move(own)));
    others.push_back(std::move(peer));
  }
  SHOAL_RETURN_IF_ERROR(CheckFiles(flags));
  PlaceAnswer answer;
  const TimeLimit limit(flags.minutes);
  // That a policy cannot be asked is said before the searches, which take their time.
  std::vector<Peer> learned;
  if (!flags.policy.empty()) {
    SHOAL_RETURN_IF_ERROR(
        TryPolicy(graph, devices, simulator, flags, limit, stop, learned, answer.notes));
  }
  absl::Status failure;
  SHOAL_ASSIGN_OR_RETURN(answer.peers,
                         TryPeers(graph, devices, simulator, rules, flags, limit, stop, failure));
  if (flags.refine > 0 && !learned.empty() && limit.Left() > 0 && !stop()) {
    SHOAL_ASSIGN_OR_RETURN(
        Peer refined,
        Refine(graph, simulator, rules.refine, learned.back().found.placement, flags, limit, stop));
    learned.push_back(std::move(refined));
  }
  std::move(learned.begin(), learned.end(), std::back_inserter(answer.peers));
  std::move(others.begin(), others.end(), std::back_inserter(answer.peers));
  NoteEnd(flags, simulator, stop(), failure, answer);
  answer.best = placement::BestPeer(answer.peers);
  const Peer& best = answer.Best();
  if (!best.found.step.fits()) {
    return runtime::ResourceExhausted("no placement that was tried fits: the best, of " +
                                      best.method + ", is " + StepText(best.found.step) +
                                      "; more --evaluations or devices may help");
  }
  SHOAL_RETURN_IF_ERROR(simulator.Run(best.found.placement).status());
  answer.limits = placement::Limits(devices, simulator);
  answer.uses = UsesOf(graph, best.found.placement, simulator);
  return PlaceResult{.text = DescribePlacement(graph, devices, answer),
                     .written = WriteFiles(flags, graph, devices, answer, simulator)};
}

absl::Status StartProfiler(const std::string& programs, const std::vector<std::string>& arguments) {
  const std::string program = programs + "/profiler";
  std::vector<char*> words = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) {
    words.push_back(const_cast<char*>(argument.c_str()));
  }
  words.push_back(nullptr);
  ::execv(program.c_str(), words.data());
  return runtime::NotFound("cannot start " + program + ": " + std::strerror(errno));
}

void AddPlace(CLI::App& app, std::function<int()>& action) {
  const auto flags = std::make_shared<PlaceFlags>();
  CLI::App* const place = app.add_subcommand(
      "place",
      "Say which device should run which operation of a neural network, and how long a training "
      "step then takes");
  place
      ->add_option("GRAPH", flags->graph,
                   "file of the network's operations, e.g. data/placement/graphs/resnet50.json; "
                   "data/placement/import_onnx.py makes one of a network in ONNX")
      ->check(CLI::ExistingFile);
  place
      ->add_option("--devices", flags->devices,
                   "file of devices and links, e.g. data/placement/devices/k80.toml; `shoal place "
                   "profile` measures this machine's processor")
      ->check(CLI::ExistingFile);
  static const std::map<std::string, placement::Grouping> groupings = {
      {"name", placement::Grouping::kName}, {"colocation", placement::Grouping::kColocation}};
  place
      ->add_option_function<std::string>(
          "--group-by", [flags](const std::string& name) { flags->grouping = groupings.at(name); },
          "what is always on one device: operations of one group or name, as the file has them, or "
          "whatever is colocated with a parameter, and what only one other operation reads")
      ->check(CLI::IsMember(groupings))
      ->default_str("name");
  place
      ->add_option(
          "--evaluations", flags->evaluations,
          "placements that each search tries at most; without it 20,000, or with --minutes "
          "as many as there is time for")
      ->check(CLI::Range(std::uint64_t{1}, kMostEvaluations));
  place
      ->add_option(
          "--minutes", flags->minutes,
          "time that first choices, searches and refinement take together at most, which "
          "they share; without it, placements alone are counted. Ctrl-C, too, ends with the "
          "best placement so far")
      ->check(CLI::Range(0.001, 1e6));
  place
      ->add_option(
          "--searches,--preset", flags->searches,
          "searches to run, with commas between them, e.g. post,placement-reinforce; `shoal "
          "presets` has their settings")
      ->delimiter(',')
      ->check(CLI::IsMember(placement::SearchNames()))
      ->capture_default_str();
  place->add_option("--seed", flags->seed, "every random draw is a function of it")
      ->check(CLI::Range(0.0, 9e15))
      ->capture_default_str();
  place
      ->add_option(
          "--set", flags->overrides,
          "section.key=value, over the file of devices, e.g. placement.device.gpu.count=8, or of a "
          "search, e.g. placement.search.post.learning_rate=0.5; repeatable")
      ->allow_extra_args(false);
  place
      ->add_option(
          "--placement", flags->placement,
          "file of a placement of one's own, in the format of --save, which is judged beside "
          "the others")
      ->check(CLI::ExistingFile);
  place->add_option("--policy", flags->policy,
                    "a run of deploy/local/placement.toml, e.g. runs/latest, whose policy places "
                    "the graph, which it need not have seen");
  place
      ->add_option(
          "--samples", flags->samples,
          "placements that are drawn from the policy beside its greedy one; the best counts")
      ->check(CLI::Range(0, 100'000));
  place
      ->add_option("--refine", flags->refine,
                   "placements that a search tries around the best one of the policy")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1'000'000'000}));
  place->add_option(
      "--page", flags->page,
      "HTML file to write, with the schedule as a picture, devices and links over "
      "time, and the best step of each search over the placements and seconds it took");
  place->add_option("--save", flags->save,
                    "JSON file to write, with the device of each group, and how each search "
                    "improved");
  CLI::App* const profile = place->add_subcommand(
      "profile", "Measure this machine's processor and write a file of devices (about a minute)");
  // The program that measures has flags of its own, --help among them.
  profile->set_help_flag();
  profile->prefix_command();
  profile->callback([profile, &action] {
    action = [arguments = profile->remaining()] {
      return FailCommand(StartProfiler(ProgramFolder(), arguments));
    };
  });
  place->callback([place, profile, flags, &action] {
    if (place->got_subcommand(profile)) return;
    if (flags->graph.empty()) throw CLI::RequiredError("GRAPH");
    if (flags->devices.empty()) throw CLI::RequiredError("--devices");
    action = [flags] {
      const runtime::StopSignals signals;
      const absl::StatusOr<PlaceResult> placed =
          PlaceGraph(*flags, [&signals] { return signals.pending(); });
      if (!placed.ok()) return FailCommand(placed.status());
      const int printed = PrintResult(placed->text);
      return placed->written.ok() ? printed : FailCommand(placed->written);
    };
  });
}

}  // namespace shoal::cli
