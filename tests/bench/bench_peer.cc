// SPDX-License-Identifier: Apache-2.0
// Compares two servers under the same load in turn: ours, and a peer.
//
//   bench_peer --name nginx --ours 127.0.0.1:8000 --peer 127.0.0.1:9000 --path /redfish/v1
//       [--tls] [--spin] [--connections 32] [--seconds 1] [--rounds 7] [--ours-pid N] [--peer-pid
//       N]
//
// Both must answer GET of the path with the same body. A round measures ours, then the peer. The
// last line is one JSON object: rates are medians, and the ratio is the median of the rounds'
// ratios, so that other load on the machine affects both. Given the processes' ids, the object also
// has the processor time that each spent on a request.
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "platform/http/fetch.h"
#include "platform/runtime/log.h"
#include "tests/bench/flags.h"
#include "tests/bench/load.h"

namespace {

using namespace shoal;
using nlohmann::json;

struct Settings {
  std::string name;
  std::string ours;
  std::string peer;
  std::string path;
  bool tls = false;
  bool spins = false;
  std::size_t connections = 32;
  double seconds = 1;
  int rounds = 7;
  int ours_pid = 0;
  int peer_pid = 0;
};

struct Rounds {
  std::vector<double> rates;
  std::vector<double> tails_us;
  std::vector<double> costs_us;
};

absl::Status Measure(const Settings& settings, const std::string& address, int pid,
                     Rounds& rounds) {
  const double spent = bench::ProcessorSeconds(pid);
  SHOAL_ASSIGN_OR_RETURN(const bench::LoadResult result,
                         bench::RunLoad({.address = address,
                                         .tls = settings.tls,
                                         .connections = settings.connections,
                                         .spins = settings.spins,
                                         .duration = std::chrono::milliseconds(
                                             static_cast<std::int64_t>(settings.seconds * 1000)),
                                         .next = bench::Repeat(bench::Get(settings.path))}));
  rounds.rates.push_back(result.requests_per_second);
  rounds.tails_us.push_back(result.p99_us);
  rounds.costs_us.push_back((bench::ProcessorSeconds(pid) - spent) * 1e6 /
                            static_cast<double>(result.requests_total));
  return absl::OkStatus();
}

absl::StatusOr<std::size_t> SameBody(const Settings& settings) {
  SHOAL_ASSIGN_OR_RETURN(const auto ours, http::Fetch(settings.ours, {.target = settings.path}));
  SHOAL_ASSIGN_OR_RETURN(const auto peer, http::Fetch(settings.peer, {.target = settings.path}));
  if (ours.status != 200 || peer.status != 200 || ours.body != peer.body) {
    return runtime::FailedPrecondition(
        "the servers do not answer alike: " + std::to_string(ours.status) + " and " +
        std::to_string(peer.status));
  }
  return ours.body.size();
}

absl::Status Run(const Settings& settings) {
  json line = {{"bench", "mockserver_" + settings.name + (settings.tls ? "_tls" : "")},
               {"connections", settings.connections},
               {"spins", settings.spins},
               {"rounds", settings.rounds}};
  if (!settings.tls) {
    SHOAL_ASSIGN_OR_RETURN(line["body_bytes"], SameBody(settings));
  }
  Rounds ours;
  Rounds peer;
  std::vector<double> ratios;
  for (int i = 0; i < settings.rounds; ++i) {
    SHOAL_RETURN_IF_ERROR(Measure(settings, settings.ours, settings.ours_pid, ours));
    SHOAL_RETURN_IF_ERROR(Measure(settings, settings.peer, settings.peer_pid, peer));
    ratios.push_back(ours.rates.back() / peer.rates.back());
  }
  const auto add = [&line](const char* name, const bench::Spread& spread) {
    line[name] = spread.median;
    line[std::string(name) + "_range"] = {spread.minimum, spread.maximum};
  };
  add("ours", bench::SpreadOf(ours.rates));
  add("peer", bench::SpreadOf(peer.rates));
  add("ratio", bench::SpreadOf(ratios));
  line["ours_p99_us"] = bench::SpreadOf(ours.tails_us).median;
  line["peer_p99_us"] = bench::SpreadOf(peer.tails_us).median;
  if (settings.ours_pid > 0) line["ours_cpu_us"] = bench::SpreadOf(ours.costs_us).median;
  if (settings.peer_pid > 0) line["peer_cpu_us"] = bench::SpreadOf(peer.costs_us).median;
  std::printf("%s\n", line.dump().c_str());
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  bench::Flags flags("Two HTTP servers under the same load in turn");
  flags.Add("--name", settings.name, "of the peer").Required();
  flags.Add("--ours", settings.ours, "host:port").Required();
  flags.Add("--peer", settings.peer, "host:port").Required();
  flags.Add("--path", settings.path, "what is asked for").Required();
  flags.Add("--tls", settings.tls, "both speak TLS; bodies are not compared");
  flags.Add("--spin", settings.spins, "the client does not sleep: it has a processor of its own");
  flags.Add("--connections", settings.connections, "at once");
  flags.Add("--seconds", settings.seconds, "of each server in a round");
  flags.Add("--rounds", settings.rounds).Positive();
  flags.Add("--ours-pid", settings.ours_pid, "its processor time is counted");
  flags.Add("--peer-pid", settings.peer_pid, "its processor time is counted");
  if (const auto code = flags.Parse(argc, argv)) return *code;
  spdlog::set_level(spdlog::level::warn);
  const absl::Status status = Run(settings);
  if (status.ok()) return 0;
  std::fprintf(stderr, "bench_peer: %s\n", runtime::Message(status).c_str());
  return 1;
}
