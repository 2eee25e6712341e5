// SPDX-License-Identifier: Apache-2.0
// Measures how long a version of the parameters takes from the learner's call to the last of its
// subscribers, which check its SHA-256 as inference does, over TCP on loopback. It also says how
// long the call keeps the learner, which consists of making the file from the weights, with the
// function that the learner uses, and of publishing it, and how many bytes each subscriber gets.
// Prints one JSON line.
//
// A round publishes one version and waits until all subscribers have delivered it. Versions are
// those of a folder, forwards and backwards in turn, or made up: normally distributed weights, with
// a deviation of 0.05, that all move by 0.0001 or so. Publisher and subscribers are threads of this
// process, each subscriber with a connection of its own.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "platform/runtime/median.h"
#include "platform/runtime/metrics.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/random.h"
#include "platform/transport/server.h"
#include "rl/model/safetensors.h"
#include "rl/parameters/parameters_file.h"
#include "rl/parameters/publisher.h"
#include "rl/parameters/subscriber.h"
#include "tests/bench/flags.h"

namespace shoal {
namespace {

using parameters::Parameters;
using parameters::Version;
using Steady = std::chrono::steady_clock;

struct Settings {
  double megabytes = 30;
  int subscribers = 4;
  int rounds = 9;
  std::string encoding = "float32";
  std::string versions;
  std::string folder;
};

// The weights of a version, which lie in a file.
struct Weights {
  std::string file;
  model::SafetensorsView view = {};
  // They view what stands above.
  std::vector<model::SafetensorsItem> items = {};
};

double Milliseconds(Steady::time_point from) {
  return std::chrono::duration<double, std::milli>(Steady::now() - from).count();
}

// Counts the subscribers that have a version.
class Arrivals {
 public:
  void Add(const Version& version) ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    if (version.step != step_) return;
    ++count_;
    changed_.NotifyAll();
  }
  void Expect(std::uint64_t step) ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    step_ = step;
    count_ = 0;
  }
  bool Await(int count) ABSL_LOCKS_EXCLUDED(mutex_) {
    const auto deadline = Steady::now() + std::chrono::seconds(60);
    const runtime::MutexLock lock(mutex_);
    while (count_ < count) {
      if (!changed_.WaitUntil(mutex_, deadline)) return false;
    }
    return true;
  }

 private:
  runtime::Mutex mutex_;
  runtime::CondVar changed_;
  std::uint64_t step_ ABSL_GUARDED_BY(mutex_) = 0;
  int count_ ABSL_GUARDED_BY(mutex_) = 0;
};

// REQUIRES: `weights` stays where it is.
absl::Status FindItems(Weights& weights) {
  SHOAL_ASSIGN_OR_RETURN(weights.view, model::SafetensorsView::Parse(weights.file));
  for (const auto& entry : weights.view.entries()) {
    weights.items.push_back({entry.name, {entry.dtype, entry.shape, entry.bytes}});
  }
  return absl::OkStatus();
}

std::vector<Weights> MadeUp(double megabytes) {
  runtime::Random random(1);
  std::vector<float> weights(static_cast<std::size_t>(megabytes * 1e6 / sizeof(float)));
  for (float& weight : weights) weight = static_cast<float>(0.05 * random.Normal());
  const runtime::Shape shape = {1, static_cast<std::int64_t>(weights.size())};
  std::vector<Weights> versions;
  for (int i = 0; i < 2; ++i) {
    const std::vector<model::SafetensorsItem> items = {
        {"weights",
         {runtime::DType::kFloat32, shape, std::as_bytes(std::span(std::as_const(weights)))}}};
    versions.push_back({.file = model::WriteSafetensors(items, {})});
    for (float& weight : weights) weight += static_cast<float>(1e-4 * random.Normal());
  }
  return versions;
}

// The elements of the result view themselves.
absl::StatusOr<std::vector<Weights>> WeightsOf(const Settings& settings) {
  std::vector<Weights> versions;
  if (settings.versions.empty()) versions = MadeUp(settings.megabytes);
  const parameters::ParametersFolder folder(settings.versions);
  for (const Version& version : folder.List()) {
    SHOAL_ASSIGN_OR_RETURN(const Parameters loaded, folder.Load(version));
    versions.push_back({.file = *loaded.bytes});
  }
  if (versions.size() < 2) {
    return runtime::NotFound("fewer than two versions in " + settings.versions);
  }
  for (std::size_t i = versions.size() - 2; i > 0; --i) versions.push_back(versions[i]);
  for (Weights& weights : versions) SHOAL_RETURN_IF_ERROR(FindItems(weights));
  return versions;
}

absl::Status Run(const Settings& settings) {
  SHOAL_ASSIGN_OR_RETURN(const std::vector<Weights> versions, WeightsOf(settings));
  runtime::Metrics metrics;
  parameters::Publisher publisher({.differences = settings.encoding.ends_with("delta"),
                                   .halves = settings.encoding.starts_with("float16")},
                                  metrics);
  const auto& sent = metrics.Counter("shoal_parameters_sent_bytes_total",
                                     "Bytes of files and differences sent to subscribers");
  SHOAL_ASSIGN_OR_RETURN(const auto server, transport::Server::Create({.listen = "127.0.0.1:0"},
                                                                      {publisher.service()}));
  Arrivals arrivals;
  std::vector<std::unique_ptr<runtime::Metrics>> counters;
  std::vector<std::unique_ptr<parameters::Subscriber>> subscribers;
  arrivals.Expect(1);
  for (int i = 0; i < settings.subscribers; ++i) {
    counters.push_back(std::make_unique<runtime::Metrics>());
    const std::string name = "subscriber-" + std::to_string(i);
    const std::string folder = settings.folder.empty() ? "" : settings.folder + "/" + name;
    SHOAL_ASSIGN_OR_RETURN(
        auto subscriber,
        parameters::Subscriber::Create(
            {.address = server->address(), .client = name, .folder = folder},
            [&arrivals](const Parameters& got) { arrivals.Add(got.version); }, *counters.back()));
    subscribers.push_back(std::move(subscriber));
  }
  std::vector<double> makings;
  std::vector<double> publishings;
  std::vector<double> calls;
  std::vector<double> deliveries;
  double sent_before = 0;
  // The first version finds the connections being made.
  for (int round = 0; round <= settings.rounds; ++round) {
    const auto step = static_cast<std::uint64_t>(round) + 1;
    arrivals.Expect(step);
    const Steady::time_point start = Steady::now();
    const Weights& weights = versions[static_cast<std::size_t>(round) % versions.size()];
    auto file = std::make_shared<const std::string>(
        model::WriteSafetensors(weights.items, weights.view.metadata()));
    const double making = Milliseconds(start);
    publisher.Publish({.version = {.epoch = 1, .step = step},
                       .spec_digest = "spec",
                       .encoder_version = "encoder",
                       .bytes = std::move(file)});
    const double call = Milliseconds(start);
    if (!arrivals.Await(settings.subscribers)) {
      return absl::DeadlineExceededError("a subscriber has no version after 60 s");
    }
    if (round == 0) {
      sent_before = sent.Value();
      continue;
    }
    makings.push_back(making);
    publishings.push_back(call - making);
    calls.push_back(call);
    deliveries.push_back(Milliseconds(start));
  }
  const double sent_each = (sent.Value() - sent_before) / settings.rounds / settings.subscribers;
  subscribers.clear();
  publisher.Drain(std::chrono::seconds(5));
  const auto figures = [](const std::vector<double>& values) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    return nlohmann::json{{"min", *least}, {"median", runtime::Median(values)}, {"max", *most}};
  };
  std::puts(nlohmann::json{{"bench", "publish"},
                           {"encoding", settings.encoding},
                           {"megabytes", static_cast<double>(versions[0].file.size()) / 1e6},
                           {"sent_megabytes", sent_each / 1e6},
                           {"subscribers", settings.subscribers},
                           {"rounds", settings.rounds},
                           {"kept_on_disk", !settings.folder.empty()},
                           {"delivered_ms", figures(deliveries)},
                           {"call_ms", figures(calls)},
                           {"making_file_ms", figures(makings)},
                           {"publishing_ms", figures(publishings)}}
                .dump()
                .c_str());
  return absl::OkStatus();
}

}  // namespace
}  // namespace shoal

int main(int argc, char** argv) {
  shoal::Settings settings;
  shoal::bench::Flags flags("Measures how long parameters take from a learner to its subscribers.");
  flags.Add("--encoding", settings.encoding, "as learner.publication_encoding")
      .OneOf({"float32", "float16", "delta", "float16_delta"});
  flags.Add("--versions", settings.versions, "a folder of versions; empty: made up");
  flags.Add("--megabytes", settings.megabytes, "of a version that is made up").InRange(0.001, 4e3);
  flags.Add("--subscribers", settings.subscribers).InRange(1, 1000);
  flags.Add("--rounds", settings.rounds).InRange(1, 100'000);
  flags.Add("--folder", settings.folder, "where subscribers keep versions; empty: nowhere");
  if (const auto code = flags.Parse(argc, argv)) return *code;
  spdlog::set_level(spdlog::level::warn);
  const absl::Status status = shoal::Run(settings);
  if (status.ok()) return 0;
  std::fprintf(stderr, "bench_publish: %s\n", shoal::runtime::Message(status).c_str());
  return 1;
}
