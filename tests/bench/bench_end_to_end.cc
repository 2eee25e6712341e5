// SPDX-License-Identifier: Apache-2.0
// Measures whole training runs: real `shoal train` processes with all that they start, on CartPole
// and on frames of 84 x 84 x 4 bytes. Run it from the repository's root. Prints one JSON line for
// each task and seed.
//
//   bench_end_to_end [--tasks cartpole pixels] [--seeds 1 2 3] [--seconds 30] [--set KEY=VALUE ...]
//                    [--evaluations]
//
// CartPole ends when it is solved as deploy/local/cartpole.toml says: two greedy evaluations of 20
// episodes in a row with a mean return of 475. Pixels trains for the seconds given, without
// evaluations. Steps are those of training.
//   seconds_to_good   from process start to the first evaluation of those two
//   seconds_to_solve  from process start to the second, which ends training
//   seconds           from process start to its end, with the final evaluation and the report
//   steps_per_second  from the first update to the last
//   whole_steps_per_second  from process start to the last update
//
// With --evaluations a line {"env_steps": ..., "return": ..., "steps_per_second": ...} tells of
// each evaluation as soon as it is made, as the programs of other libraries do
// (tests/bench/peers/cartpole_judge.py). Its rate is from the first update to the last until then.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "cli/cluster/child_process.h"
#include "platform/runtime/atomic_file.h"
#include "platform/runtime/scratch_folder.h"
#include "tests/bench/flags.h"

namespace shoal {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr double kSolved = 475;
// A run that has not ended by itself so long after its training should have is stopped.
constexpr double kGraceSeconds = 120;

struct Settings {
  std::vector<std::string> tasks = {"cartpole", "pixels"};
  std::vector<int> seeds = {1};
  double seconds = 30;
  std::vector<std::string> set = {};
  bool evaluations = false;
};

double Now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Returns the whole lines of a file of JSON lines, and none if it does not exist yet.
std::vector<json> Lines(const std::string& path) {
  std::vector<json> lines;
  std::istringstream text(runtime::ReadFile(path).value_or(""));
  for (std::string line; std::getline(text, line);) {
    json parsed = json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (parsed.is_object()) lines.push_back(std::move(parsed));
  }
  return lines;
}

// Returns a learner's updates so far. There are lines of cloning and of the circuit breaker, too.
std::vector<json> Updates(const std::string& run) {
  std::vector<json> updates = Lines(run + "learner.jsonl");
  std::erase_if(updates, [](const json& line) { return !line.contains("environment_steps"); });
  return updates;
}

// Returns the steps a second from the first update to the last, 0 where there are fewer than two.
double StepsPerSecond(const std::vector<json>& updates) {
  if (updates.size() < 2) return 0;
  const auto passed = [&](const char* key) {
    return updates.back().value(key, 0.0) - updates.front().value(key, 0.0);
  };
  return passed("environment_steps") / passed("unix_seconds");
}

std::vector<std::string> CommandOf(const Settings& settings, const std::string& task, int seed,
                                   const std::string& folder) {
  const std::string programs = fs::read_symlink("/proc/self/exe").parent_path().string();
  const std::string file = task == "cartpole" ? "cartpole" : "pixel_catch";
  std::vector<std::string> command = {programs + "/shoal",
                                      "train",
                                      "deploy/local/" + file + ".toml",
                                      "--seed",
                                      std::to_string(seed),
                                      "--name",
                                      "run",
                                      "--minutes",
                                      std::to_string(settings.seconds / 60)};
  const auto set = [&](const std::string& value) {
    command.insert(command.end(), {"--set", value});
  };
  set("run.directory=\"" + folder + "\"");
  if (task == "pixels") {
    command.insert(command.end(), {"--episodes", "1"});
    for (const char* const knob : {"train.evaluate_every_seconds=0", "train.baselines=[]"}) {
      set(knob);
    }
  }
  for (const std::string& value : settings.set) set(value);
  return command;
}

// The seconds after which evaluations were seen, by their order.
struct Watched {
  cli::ExitState exit;
  double seconds = 0;
  std::vector<double> evaluations = {};
};

void Print(const json& line) {
  std::puts(line.dump().c_str());
  std::fflush(stdout);
}

// Waits for the end of a run, and prints its evaluations if `prints`. Returns INTERNAL if the end
// does not come.
absl::StatusOr<Watched> Watch(cli::ChildProcess& process, const std::string& run, double start,
                              double limit, bool prints) {
  Watched watched;
  while (true) {
    const std::optional<cli::ExitState> exit = process.Poll();
    const double seconds = Now() - start;
    const std::vector<json> made = Lines(run + "evaluations.jsonl");
    for (std::size_t i = watched.evaluations.size(); prints && i < made.size(); ++i) {
      Print({{"env_steps", made[i].value("environment_steps", 0.0)},
             {"return", made[i].value("return", 0.0)},
             {"steps_per_second", StepsPerSecond(Updates(run))}});
    }
    watched.evaluations.resize(made.size(), seconds);
    if (exit) {
      watched.exit = *exit;
      watched.seconds = seconds;
      return watched;
    }
    if (seconds > limit) return runtime::Internal("shoal train does not end");
    ::usleep(10'000);
  }
}

absl::StatusOr<json> Measure(const Settings& settings, const std::string& task, int seed) {
  const runtime::ScratchFolder folder;
  if (folder.path().empty()) return runtime::Internal("cannot make a temporary folder");
  const std::string run = folder.path() + "/run/";
  const std::string log = folder.path() + "/output.log";
  const double start = Now();
  SHOAL_ASSIGN_OR_RETURN(
      const auto process,
      cli::ChildProcess::Start({.name = "shoal",
                                .command = CommandOf(settings, task, seed, folder.path()),
                                .log_path = log}));
  SHOAL_ASSIGN_OR_RETURN(
      const Watched watched,
      Watch(*process, run, start, settings.seconds + kGraceSeconds, settings.evaluations));
  if (watched.exit.code != 0) {
    return runtime::Internal("shoal train: " + cli::ToString(watched.exit) + ": " +
                             cli::LastLines(log, 3));
  }
  const std::vector<json> updates = Updates(run);
  if (updates.size() < 2) {
    return runtime::FailedPrecondition("fewer than two updates: give more --seconds");
  }
  const json& last = updates.back();
  const double steps = last.value("environment_steps", 0.0);
  json line = {
      {"bench", "end_to_end"},
      {"task", task},
      {"seed", seed},
      {"seconds", watched.seconds},
      {"env_steps", steps},
      {"updates", last.value("update", 0.0)},
      {"steps_per_second", StepsPerSecond(updates)},
      {"whole_steps_per_second", steps / (last.value("unix_seconds", 0.0) - start)},
  };
  if (task != "cartpole") return line;
  const std::vector<json> evaluations = Lines(run + "evaluations.jsonl");
  const auto good = [&](std::size_t back) {
    return back <= evaluations.size() &&
           evaluations[evaluations.size() - back].value("return", 0.0) >= kSolved;
  };
  line["solved"] = good(1) && good(2);
  if (line["solved"]) {
    line["seconds_to_good"] = watched.evaluations[evaluations.size() - 2];
    line["seconds_to_solve"] = watched.evaluations.back();
    line["reached_steps"] = evaluations[evaluations.size() - 2].value("environment_steps", 0.0);
  }
  return line;
}

}  // namespace
}  // namespace shoal

int main(int argc, char** argv) {
  shoal::Settings settings;
  shoal::bench::Flags flags("Measures whole training runs.");
  flags.Add("--tasks", settings.tasks, "what to train").OneOf({"cartpole", "pixels"});
  flags.Add("--seeds", settings.seeds, "one run of each task with each seed");
  flags.Add("--seconds", settings.seconds, "the longest training, and that of pixels")
      .InRange(1.0, 3600.0);
  flags.Add("--set", settings.set, "knobs of the cluster, as for shoal train");
  flags.Add("--evaluations", settings.evaluations, "print a line for each evaluation");
  if (const auto code = flags.Parse(argc, argv)) return *code;
  for (const std::string& task : settings.tasks) {
    for (const int seed : settings.seeds) {
      const auto line = shoal::Measure(settings, task, seed);
      if (!line.ok()) {
        std::fprintf(stderr, "%s, seed %d: %s\n", task.c_str(), seed,
                     shoal::runtime::Message(line.status()).c_str());
        return 1;
      }
      shoal::Print(*line);
    }
  }
}
