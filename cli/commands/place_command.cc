// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/place_command.h"

#include <absl/strings/str_format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "actor/solver/policy_placer.h"
#include "cli/cluster/local_cluster.h"
#include "cli/cluster/policy_server.h"
#include "cli/commands/command_result.h"
#include "cli/session/run_directory.h"
#include "placement/device_set.h"
#include "placement/graph_file.h"
#include "placement/group_graph.h"
#include "placement/peers.h"
#include "placement/schedule_chart.h"
#include "placement/simulator.h"
#include "platform/display/line_chart.h"
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
using placement::Limit;
using placement::Peer;
using placement::Placement;

constexpr double kGibi = 1 << 30;
constexpr std::size_t kShownLimits = 3;

struct DeviceUse {
  std::size_t operations = 0;
  double busy_seconds = 0;
  double peak_bytes = 0;
  // The names of its groups; of many, the first and the last.
  std::string groups;
};

struct Answer {
  std::vector<Peer> peers;
  std::size_t best = 0;
  std::vector<Limit> limits;
  std::vector<DeviceUse> uses;

  const Peer& Best() const { return peers[best]; }
};

std::string GroupsText(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 6;
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names.size() > kShown && i >= kShown / 2 && i + kShown / 2 < names.size()) {
      if (i == kShown / 2) text += ", ...";
      continue;
    }
    text += (text.empty() ? "" : ", ") + names[i];
  }
  return text;
}

std::vector<DeviceUse> UsesOf(const Graph& graph, const Placement& placement,
                              const placement::Simulator& simulator) {
  std::vector<DeviceUse> uses(simulator.devices());
  std::vector<std::vector<std::string>> names(uses.size());
  const std::vector<placement::OperationRun> runs = simulator.Runs();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    DeviceUse& use = uses[placement[graph.operations[i].group]];
    ++use.operations;
    use.busy_seconds += runs[i].finish - runs[i].start;
  }
  for (std::size_t group = 0; group < placement.size(); ++group) {
    names[placement[group]].push_back(graph.groups[group]);
  }
  for (std::size_t device = 0; device < uses.size(); ++device) {
    uses[device].peak_bytes = simulator.peak_bytes()[device];
    uses[device].groups = GroupsText(names[device]);
  }
  return uses;
}

std::string TimeText(const placement::Step& step) {
  if (!step.fits()) return absl::StrFormat("out of memory by %.0f %%", 100 * step.excess);
  return absl::StrFormat("%.3f ms", 1e3 * step.seconds);
}

std::string AgainstBest(const placement::Step& step, const placement::Step& best) {
  if (!step.fits() || !best.fits()) return "";
  return absl::StrFormat("+%.1f %%", 100 * (step.seconds / best.seconds - 1));
}

// Names the best method, and one device if that is no slower.
std::string BestText(const Answer& answer) {
  const Peer& best = answer.Best();
  return absl::StrFormat(
      "best placement: %s, %s a step (predicted)%s\n", best.method, TimeText(best.found.step),
      best.method == "one device" ? "; no way was found to be faster on several" : "");
}

std::string LimitText(const std::vector<Limit>& limits) {
  std::string text = "limited by";
  for (std::size_t i = 0; i < std::min(limits.size(), kShownLimits); ++i) {
    absl::StrAppendFormat(&text, "%s %s (twice as fast: -%.1f %%)", i == 0 ? "" : ",",
                          limits[i].name, 100 * limits[i].gain);
  }
  return limits.empty() ? "limited by no single device or link\n" : text + "\n";
}

std::string Describe(const Graph& graph, const DeviceSet& devices, const Answer& answer) {
  std::string text =
      absl::StrFormat("%s: %d operations in %d groups on %d devices\n\n", graph.name,
                      graph.operations.size(), graph.groups.size(), devices.devices.size());
  absl::StrAppendFormat(&text, "%-14s %22s %10s %12s %12s\n", "method", "step", "slower", "tried",
                        "best after");
  for (const Peer& peer : answer.peers) {
    absl::StrAppendFormat(&text, "%-14s %22s %10s %12d %12d\n", peer.method,
                          TimeText(peer.found.step),
                          AgainstBest(peer.found.step, answer.Best().found.step),
                          peer.found.evaluations, peer.found.best_after());
  }
  text += "\n" + BestText(answer) + LimitText(answer.limits) + "\n";
  absl::StrAppendFormat(&text, "%-10s %10s %8s %22s  %s\n", "device", "operations", "busy",
                        "memory at most", "groups");
  const double seconds = answer.Best().found.step.seconds;
  for (std::size_t i = 0; i < answer.uses.size(); ++i) {
    const DeviceUse& use = answer.uses[i];
    const std::string memory = absl::StrFormat("%.2f of %.0f GiB", use.peak_bytes / kGibi,
                                               devices.devices[i].memory_bytes / kGibi);
    absl::StrAppendFormat(&text, "%-10s %10d %6.1f %% %22s  %s\n", devices.devices[i].name,
                          use.operations, seconds > 0 ? 100 * use.busy_seconds / seconds : 0,
                          memory, use.groups);
  }
  return text;
}

// The best step of each search against the placements it has tried, as stairs; without the first
// placements, which are so slow that they would hide the others.
std::string DrawSearches(const std::vector<Peer>& peers, double best_seconds) {
  constexpr double kSlowest = 2;
  display::Chart chart{
      .title = "Best step", .x_title = "placements tried", .lines = {}, .unit = "ms"};
  for (const Peer& peer : peers) {
    if (peer.found.evaluations <= 1) continue;
    display::ChartLine line{.name = peer.method, .points = {}};
    const auto add = [&line](std::uint64_t evaluations, double milliseconds) {
      line.points.emplace_back(static_cast<double>(evaluations), milliseconds);
    };
    for (const placement::Improvement& improvement : peer.found.improvements) {
      if (!improvement.step.fits() || improvement.step.seconds > kSlowest * best_seconds) continue;
      if (!line.points.empty()) add(improvement.evaluations, line.points.back().second);
      add(improvement.evaluations, 1e3 * improvement.step.seconds);
    }
    if (!line.points.empty()) add(peer.found.evaluations, line.points.back().second);
    if (!line.points.empty()) chart.lines.push_back(std::move(line));
  }
  if (chart.lines.empty()) return "";
  return "<h2>Searches</h2><div class=\"charts\">" + DrawChart(chart) + "</div>";
}

std::string PageOf(const Graph& graph, const DeviceSet& devices, const Answer& answer,
                   const placement::Simulator& simulator) {
  using display::EscapeHtml;
  const placement::Step& best = answer.Best().found.step;
  std::string body =
      "<p class=\"line\">" + EscapeHtml(BestText(answer)) + "</p><p>" +
      EscapeHtml(LimitText(answer.limits)) + "</p><h2>Schedule</h2>" +
      DrawSchedule(graph, devices, answer.Best().found.placement, simulator, best.seconds) +
      "<h2>Methods</h2><table><tr><th>method<th>step<th>slower<th>placements "
      "tried<th>best after</tr>";
  for (const Peer& peer : answer.peers) {
    absl::StrAppendFormat(&body, "<tr><td>%s<td>%s<td>%s<td>%d<td>%d</tr>", EscapeHtml(peer.method),
                          TimeText(peer.found.step), AgainstBest(peer.found.step, best),
                          peer.found.evaluations, peer.found.best_after());
  }
  body += "</table>" + DrawSearches(answer.peers, best.seconds);
  body +=
      "<h2>Devices</h2><table><tr><th>device<th>operations<th>busy<th>memory at "
      "most<th>memory<th class=\"l\">groups</tr>";
  for (std::size_t i = 0; i < answer.uses.size(); ++i) {
    const DeviceUse& use = answer.uses[i];
    absl::StrAppendFormat(
        &body, "<tr><td>%s<td>%d<td>%.1f %%<td>%.2f GiB<td>%.0f GiB<td class=\"l\">%s</tr>",
        EscapeHtml(devices.devices[i].name), use.operations,
        best.seconds > 0 ? 100 * use.busy_seconds / best.seconds : 0, use.peak_bytes / kGibi,
        devices.devices[i].memory_bytes / kGibi, EscapeHtml(use.groups));
  }
  return display::HtmlPage("Placement of " + graph.name, body + "</table>");
}

// What a method found, with its improvements as pairs of placements tried and seconds. Without
// seconds where nothing fits.
nlohmann::json MethodJson(const Peer& peer) {
  nlohmann::json improvements = nlohmann::json::array();
  for (const placement::Improvement& improvement : peer.found.improvements) {
    if (!improvement.step.fits()) continue;
    improvements.push_back({improvement.evaluations, improvement.step.seconds});
  }
  nlohmann::json method = {{"method", peer.method},
                           {"evaluations", peer.found.evaluations},
                           {"improvements", std::move(improvements)}};
  if (peer.found.step.fits()) method["step_seconds"] = peer.found.step.seconds;
  return method;
}

std::string PlacementText(const Graph& graph, const DeviceSet& devices, const Answer& answer) {
  const Peer& best = answer.Best();
  nlohmann::json methods = nlohmann::json::array();
  for (const Peer& peer : answer.peers) methods.push_back(MethodJson(peer));
  nlohmann::json groups = nlohmann::json::object();
  for (std::size_t group = 0; group < graph.groups.size(); ++group) {
    groups[graph.groups[group]] = devices.devices[best.found.placement[group]].name;
  }
  const nlohmann::json file = {{"graph", graph.name},
                               {"method", best.method},
                               {"step_seconds", best.found.step.seconds},
                               {"placement", std::move(groups)},
                               {"methods", std::move(methods)}};
  return file.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

// The overrides of searches, or those of devices.
std::vector<std::string> OverridesOf(const PlaceFlags& flags, bool of_searches) {
  std::vector<std::string> overrides;
  for (const std::string& override : flags.overrides) {
    if (override.starts_with("placement.search.") == of_searches) overrides.push_back(override);
  }
  return overrides;
}

std::string TriedText(const std::string& method, std::uint64_t tried, std::uint64_t of) {
  return absl::StrFormat("%s: %d of %d placements", method, tried, of);
}

absl::StatusOr<std::vector<Peer>> TryPeers(const Graph& graph, const DeviceSet& devices,
                                           placement::Simulator& simulator,
                                           const placement::DistributionRules& rules,
                                           const PlaceFlags& flags) {
  display::LiveLine line(std::chrono::seconds(5), runtime::SystemClock());
  return ComparePeers(graph, devices, simulator,
                      {.searches = flags.searches,
                       .rules = rules,
                       .evaluations = flags.evaluations,
                       .seed = flags.seed,
                       .progress = [&](const std::string& method, std::uint64_t tried) {
                         line.Show([&](std::optional<std::size_t>) {
                           return TriedText(method, tried, flags.evaluations);
                         });
                       }});
}

// What a search finds around the best placement of a policy.
absl::StatusOr<Peer> Refine(const Graph& graph, placement::Simulator& simulator,
                            const placement::DistributionRule& rule, const Placement& placed,
                            const PlaceFlags& flags) {
  const std::string method = "policy refined";
  display::LiveLine line(std::chrono::seconds(5), runtime::SystemClock());
  const placement::SearchOptions options = {
      .evaluations = flags.refine, .seed = flags.seed, .progress = [&](std::uint64_t tried) {
        line.Show(
            [&](std::optional<std::size_t>) { return TriedText(method, tried, flags.refine); });
      }};
  SHOAL_ASSIGN_OR_RETURN(
      placement::Found found,
      placement::SearchByDistribution("refine", rule, MakeGroupGraph(graph, simulator), simulator,
                                      options, placed));
  return Peer{.method = method, .found = std::move(found)};
}

// What the policy of the run found: its greedy placement, and with samples the best of all.
absl::StatusOr<std::vector<Peer>> TryPolicy(const Graph& graph, const DeviceSet& devices,
                                            placement::Simulator& simulator,
                                            const PlaceFlags& flags) {
  // That the policy cannot be reached before its server listens is no news.
  SHOAL_RETURN_IF_ERROR(runtime::SetUpLog("shoal", 0, "error"));
  runtime::StopSignals signals;
  actor::PolicyPlacerOptions options = {.samples = flags.samples};
  runtime::Config config;
  config.Add("environment", options.environment);
  SHOAL_RETURN_IF_ERROR(config.Load(flags.policy + "/config.toml", {}));
  SHOAL_ASSIGN_OR_RETURN(const auto server,
                         PolicyServer::Start({.programs = ProgramFolder(),
                                              .config_path = flags.policy + "/config.toml",
                                              .parameters = LearnedParameters(flags.policy),
                                              .log_path = flags.policy + "/logs/placing.log"}));
  options.inference = server->address();
  SHOAL_ASSIGN_OR_RETURN(const std::vector<Placement> placements,
                         actor::PlaceByPolicy(graph, devices, options, [&server] {
                           return runtime::StopSignals::Wait({})
                                      ? absl::CancelledError("somebody stopped the command")
                                      : server->Check();
                         }));
  std::vector<Peer> peers;
  const auto add = [&](const std::string& method, std::size_t count) -> absl::Status {
    const placement::SearchOptions search = {.evaluations = count, .seed = flags.seed};
    placement::Trial trial(simulator, search);
    for (std::size_t i = 0; i < count; ++i) {
      SHOAL_RETURN_IF_ERROR(trial.Cost(placements[i]).status());
    }
    peers.push_back({.method = method, .found = trial.Take()});
    return absl::OkStatus();
  };
  SHOAL_RETURN_IF_ERROR(add("policy", 1));
  if (placements.size() > 1) SHOAL_RETURN_IF_ERROR(add("policy samples", placements.size()));
  return peers;
}

}  // namespace

absl::StatusOr<std::string> PlaceGraph(const PlaceFlags& flags) {
  if (flags.graph.ends_with(".onnx")) {
    return runtime::InvalidArgument(
        flags.graph + " is a model in ONNX: `.deps/onnx/bin/python data/placement/import_onnx.py " +
        flags.graph + "` makes the graph file of it, after `deploy/install.sh install_onnx`");
  }
  SHOAL_ASSIGN_OR_RETURN(const Graph graph, placement::LoadGraph(flags.graph));
  SHOAL_ASSIGN_OR_RETURN(const DeviceSet devices,
                         placement::LoadDevices(flags.devices, OverridesOf(flags, false)));
  SHOAL_ASSIGN_OR_RETURN(placement::Simulator simulator,
                         placement::Simulator::Create(graph, devices));
  if ((flags.samples > 0 || flags.refine > 0) && flags.policy.empty()) {
    return runtime::InvalidArgument(
        "--samples and --refine are of a policy, and there is no --policy");
  }
  SHOAL_ASSIGN_OR_RETURN(const placement::DistributionRules rules,
                         placement::ParseDistributionRules(OverridesOf(flags, true)));
  Answer answer;
  // That a policy cannot be asked is said before the searches, which take their time.
  std::vector<Peer> learned;
  if (!flags.policy.empty()) {
    SHOAL_ASSIGN_OR_RETURN(learned, TryPolicy(graph, devices, simulator, flags));
  }
  SHOAL_ASSIGN_OR_RETURN(answer.peers, TryPeers(graph, devices, simulator, rules, flags));
  if (flags.refine > 0) {
    SHOAL_ASSIGN_OR_RETURN(Peer refined, Refine(graph, simulator, rules.refine,
                                                learned.back().found.placement, flags));
    learned.push_back(std::move(refined));
  }
  std::move(learned.begin(), learned.end(), std::back_inserter(answer.peers));
  answer.best = placement::BestPeer(answer.peers);
  const Peer& best = answer.Best();
  if (!best.found.step.fits()) {
    return runtime::ResourceExhausted("no placement that was tried fits: the best, of " +
                                      best.method + ", is " + TimeText(best.found.step) +
                                      "; more --evaluations or devices may help");
  }
  SHOAL_RETURN_IF_ERROR(simulator.Run(best.found.placement).status());
  answer.limits = placement::Limits(devices, simulator);
  answer.uses = UsesOf(graph, best.found.placement, simulator);
  if (!flags.page.empty()) {
    SHOAL_RETURN_IF_ERROR(
        runtime::WriteFileAtomically(flags.page, PageOf(graph, devices, answer, simulator)));
  }
  if (!flags.save.empty()) {
    SHOAL_RETURN_IF_ERROR(
        runtime::WriteFileAtomically(flags.save, PlacementText(graph, devices, answer)));
  }
  return Describe(graph, devices, answer);
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
  place->add_option("--evaluations", flags->evaluations, "placements that each search tries")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}))
      ->capture_default_str();
  place
      ->add_option("--searches", flags->searches,
                   "searches to run, with commas between them, e.g. post,ppo,reinforce")
      ->delimiter(',')
      ->check(CLI::IsMember(
          std::vector<std::string>(placement::kSearches.begin(), placement::kSearches.end())))
      ->capture_default_str();
  place->add_option("--seed", flags->seed, "every random draw is a function of it")
      ->capture_default_str();
  place
      ->add_option(
          "--set", flags->overrides,
          "section.key=value, over the file of devices, e.g. placement.device.gpu.count=8, or of a "
          "search, e.g. placement.search.post.learning_rate=0.5; repeatable")
      ->allow_extra_args(false);
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
  place->add_option("--page", flags->page,
                    "HTML file to write, with the schedule as a picture, devices and links over "
                    "time, and the best step of each search over the placements it tried");
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
    action = [flags] { return PrintResult(PlaceGraph(*flags)); };
  });
}

}  // namespace shoal::cli
