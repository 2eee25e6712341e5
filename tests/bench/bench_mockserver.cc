// SPDX-License-Identifier: Apache-2.0
// Measures the speed and size of the simulated service: requests per second over loopback with one
// serving and one client thread, the duration of Reset, and the memory of 256 instances.
//
//   bench_mockserver [--seconds 1] [--runs 5] [--spin | --sleep] [--capture dell-r750]...
//
// GETs read the first system of each capture; all other measurements use the first capture only.
// PATCHes set the system's AssetTag to a new text each time. The two threads have a processor each
// if there are two. The last line is one JSON object: rates are [least, median, greatest] of the
// runs, latencies are medians, and server_cpu_us is the server's processor time for a request.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "mockserver/process/event_sender.h"
#include "mockserver/process/front.h"
#include "mockserver/process/instance_table.h"
#include "mockserver/process/options.h"
#include "platform/http/development_certificate.h"
#include "platform/http/server.h"
#include "platform/runtime/log.h"
#include "platform/runtime/median.h"
#include "platform/runtime/process_usage.h"
#include "platform/runtime/random.h"
#include "redfish/capture/capture.h"
#include "redfish/capture/landmarks.h"
#include "redfish/capture/uri.h"
#include "redfish/schema/schema.h"
#include "tests/bench/flags.h"
#include "tests/bench/load.h"

namespace {

using namespace shoal;
using nlohmann::json;
using Worlds = std::vector<std::shared_ptr<const mockserver::World>>;

constexpr std::size_t kInstances = 256;
constexpr int kPatches = 100;

struct Settings {
  double seconds = 1;
  int runs = 5;
  // Whether the client polls and never sleeps (bench::LoadOptions).
  bool spins = std::thread::hardware_concurrency() > 1;
  std::vector<std::string> captures = {"dell-r750", "openbmc-stock", "dmtf-rackmount1"};
};

json Of(bench::Spread spread) { return {spread.minimum, spread.median, spread.maximum}; }

// A service of the first world on a thread of its own, made as the program mockserver makes it.
class Service {
 public:
  static absl::StatusOr<std::unique_ptr<Service>> Create(Worlds worlds,
                                                         const mockserver::Options& options) {
    auto service = std::make_unique<Service>();
    SHOAL_ASSIGN_OR_RETURN(const auto table, options.Table());
    SHOAL_ASSIGN_OR_RETURN(service->table_,
                           mockserver::InstanceTable::Create(std::move(worlds), table));
    service->sender_ = std::make_unique<mockserver::EventSender>(service->metrics_);
    service->front_ = std::make_unique<mockserver::Front>(*service->table_, service->metrics_,
                                                          service->sender_.get());
    SHOAL_ASSIGN_OR_RETURN(
        service->server_,
        http::Server::Create(options.Front({}), [front = service->front_.get()](const auto& r) {
          return front->Handle(r);
        }));
    return service;
  }
  const std::string& address() const { return server_->address(); }

 private:
  runtime::Metrics metrics_;
  std::unique_ptr<mockserver::InstanceTable> table_;
  std::unique_ptr<mockserver::EventSender> sender_;
  std::unique_ptr<mockserver::Front> front_;
  std::unique_ptr<http::Server> server_;
};

// Measures the same load several times.
absl::StatusOr<json> Measure(const Settings& settings, bench::LoadOptions load) {
  load.spins = settings.spins;
  load.duration = std::chrono::milliseconds(static_cast<std::int64_t>(settings.seconds * 1000));
  std::vector<double> rates, middles, tails, costs;
  for (int i = 0; i < settings.runs; ++i) {
    const double spent = bench::ProcessorSeconds(::getpid());
    const double own = bench::ProcessorSecondsOfThisThread();
    SHOAL_ASSIGN_OR_RETURN(const bench::LoadResult result, bench::RunLoad(load));
    const double server =
        bench::ProcessorSeconds(::getpid()) - spent - (bench::ProcessorSecondsOfThisThread() - own);
    rates.push_back(result.requests_per_second);
    middles.push_back(result.p50_us);
    tails.push_back(result.p99_us);
    costs.push_back(server * 1e6 / static_cast<double>(result.requests_total));
  }
  return json{{"per_second", Of(bench::SpreadOf(rates))},
              {"p50_us", bench::SpreadOf(middles).median},
              {"p99_us", bench::SpreadOf(tails).median},
              {"server_cpu_us", bench::SpreadOf(costs).median}};
}

std::string SystemOf(const mockserver::World& world) {
  return redfish::FindLandmarks(world.capture()).system;
}

// Returns PATCHes, each with another AssetTag.
std::function<std::string_view()> Patches(const std::string& uri) {
  return [uri, request = std::string(), count = std::uint64_t{0}]() mutable {
    const std::string body = "{\"AssetTag\":\"tag " + std::to_string(++count) + "\"}";
    request = "PATCH " + uri +
              " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
              "Content-Length: " +
              std::to_string(body.size()) + "\r\n\r\n" + body;
    return std::string_view(request);
  };
}

absl::Status MeasureGets(const Settings& settings, const Worlds& worlds,
                         const mockserver::Options& options, json& line) {
  for (const auto& world : worlds) {
    SHOAL_ASSIGN_OR_RETURN(const auto service, Service::Create({world}, options));
    bench::RunOn(1);
    const std::string uri = SystemOf(*world);
    json& gets = line["get"][world->capture().name()];
    gets["body_bytes"] = world->resource(*world->Find(uri)).body->size();
    for (const std::size_t connections : {1, 8, 32}) {
      SHOAL_ASSIGN_OR_RETURN(gets["c=" + std::to_string(connections)],
                             Measure(settings, {.address = service->address(),
                                                .connections = connections,
                                                .next = bench::Repeat(bench::Get(uri))}));
    }
    bench::RunOn(0);
  }
  return absl::OkStatus();
}

absl::Status MeasurePatches(const Settings& settings, const Worlds& worlds,
                            const mockserver::Options& options, json& line) {
  SHOAL_ASSIGN_OR_RETURN(const auto service, Service::Create({worlds.front()}, options));
  bench::RunOn(1);
  SHOAL_ASSIGN_OR_RETURN(line["patch"]["c=8"],
                         Measure(settings, {.address = service->address(),
                                            .connections = 8,
                                            .next = Patches(SystemOf(*worlds.front()))}));
  bench::RunOn(0);
  return absl::OkStatus();
}

// Measures TLS, in turn with plain connections.
absl::Status MeasureTls(const Settings& settings, const Worlds& worlds, mockserver::Options options,
                        json& line) {
  SHOAL_ASSIGN_OR_RETURN(const auto plain, Service::Create({worlds.front()}, options));
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("shoal-bench-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::shared_ptr<void> removes(nullptr, [&](void*) {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  });
  options.certificate_file = folder / "certificate.pem";
  options.key_file = folder / "key.pem";
  SHOAL_RETURN_IF_ERROR(
      http::MakeDevelopmentCertificate(options.certificate_file, options.key_file));
  SHOAL_ASSIGN_OR_RETURN(const auto secure, Service::Create({worlds.front()}, options));
  bench::RunOn(1);
  const auto next = bench::Repeat(bench::Get(SystemOf(*worlds.front())));
  SHOAL_ASSIGN_OR_RETURN(
      line["tls"]["c=32"],
      Measure(settings,
              {.address = secure->address(), .tls = true, .connections = 32, .next = next}));
  // The two take turns, so that changes in the machine's load affect both.
  Settings once = settings;
  once.runs = 1;
  std::vector<double> ratios;
  for (int i = 0; i < settings.runs; ++i) {
    SHOAL_ASSIGN_OR_RETURN(
        const json without,
        Measure(once, {.address = plain->address(), .connections = 32, .next = next}));
    SHOAL_ASSIGN_OR_RETURN(
        const json with,
        Measure(once,
                {.address = secure->address(), .tls = true, .connections = 32, .next = next}));
    ratios.push_back(with["per_second"][1].get<double>() / without["per_second"][1].get<double>());
  }
  line["tls"]["of_plain"] = Of(bench::SpreadOf(ratios));
  bench::RunOn(0);
  return absl::OkStatus();
}

// A property that a client may write text to.
struct Place {
  std::string uri;
  std::string name;
};

// Returns where a client may write text: the properties of the top level that the schema allows.
std::vector<Place> Writable(const mockserver::World& world) {
  std::vector<Place> places;
  for (const auto& resource : world.resources()) {
    if (!resource.methods.patch) continue;
    for (const auto& [name, value] : resource.json->items()) {
      const redfish::Property* const property =
          world.schema().Find(resource.odata_type, redfish::AppendPointer("", name));
      const bool is_text = property != nullptr && property->writable && value.is_string() &&
                           redfish::Misfit(*property, json("tag 1")).empty();
      if (is_text) places.push_back({resource.uri, name});
    }
  }
  return places;
}

// Sends kPatches of them, at random places.
int PatchAtRandom(mockserver::Instance& instance, const std::vector<Place>& places,
                  runtime::Random& random) {
  int done = 0;
  for (int i = 0; i < kPatches; ++i) {
    const Place& place = places[random.Below(places.size())];
    const std::string body =
        json{{place.name, "tag " + std::to_string(random.Below(1'000'000))}}.dump();
    const mockserver::Response response =
        instance.Handle({.method = mockserver::Method::kPatch, .uri = place.uri, .body = body});
    done += response.status < 300 ? 1 : 0;
  }
  return done;
}

absl::Status MeasureReset(const Settings& settings, const mockserver::World& world,
                          mockserver::Instance instance, json& line) {
  const std::vector<Place> places = Writable(world);
  if (places.empty()) return runtime::FailedPrecondition("nothing to PATCH");
  runtime::Random random(1);
  std::vector<double> spent;
  int done = 0;
  std::size_t changed = 0;
  const int resets = settings.runs * 100;
  for (int i = 0; i < resets; ++i) {
    done += PatchAtRandom(instance, places, random);
    changed += instance.changed_resources();
    const auto start = std::chrono::steady_clock::now();
    SHOAL_RETURN_IF_ERROR(instance.Reset());
    spent.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
            .count());
  }
  std::sort(spent.begin(), spent.end());
  line["reset"] = {{"median_ms", runtime::Median(spent)},
                   {"p99_ms", spent[spent.size() * 99 / 100]},
                   {"patches", static_cast<double>(done) / resets},
                   {"changed_resources", static_cast<double>(changed) / resets}};
  return absl::OkStatus();
}

double ResidentMebibytes() { return runtime::ResidentBytes(::getpid()) / (1 << 20); }

// Each instance has had kPatches. The world that they share counts as resident memory, too.
absl::Status MeasureSize(const std::shared_ptr<const mockserver::World>& world,
                         const mockserver::InstanceTableOptions& options, json& line) {
  const double before = ResidentMebibytes();
  SHOAL_ASSIGN_OR_RETURN(const auto table, mockserver::InstanceTable::Create({world}, options));
  std::vector<std::shared_ptr<mockserver::InstanceTable::Slot>> slots;
  for (std::size_t i = 0; i < kInstances; ++i) {
    SHOAL_ASSIGN_OR_RETURN(const std::string id, table->Make("", "", options.instance));
    slots.push_back(table->Find(id));
  }
  const double fresh = ResidentMebibytes();
  const std::vector<Place> places = Writable(*world);
  runtime::Random random(1);
  for (const auto& slot : slots) {
    const runtime::MutexLock lock(slot->mutex);
    PatchAtRandom(slot->instance, places, random);
  }
  const double patched = ResidentMebibytes();
  line["size"] = {{"instances", kInstances},
                  {"resident_mib_before", before},
                  {"resident_mib_fresh", fresh},
                  {"resident_mib_after_patches", patched}};
  return absl::OkStatus();
}

absl::Status Run(const Settings& settings) {
  bench::RunOn(0);
  mockserver::Options options;
  options.captures.clear();
  for (const std::string& name : settings.captures) {
    options.captures.push_back("data/captures/" + name + ".tar.xz");
  }
  SHOAL_ASSIGN_OR_RETURN(const Worlds worlds, mockserver::LoadWorlds(options));
  SHOAL_ASSIGN_OR_RETURN(const auto table, options.Table());
  json line = {{"bench", "mockserver"}, {"spins", settings.spins}};
  // This comes first, while nothing else has been resident.
  SHOAL_RETURN_IF_ERROR(MeasureSize(worlds.front(), table, line));
  SHOAL_RETURN_IF_ERROR(MeasureGets(settings, worlds, options, line));
  SHOAL_RETURN_IF_ERROR(MeasurePatches(settings, worlds, options, line));
  SHOAL_RETURN_IF_ERROR(MeasureTls(settings, worlds, options, line));
  SHOAL_RETURN_IF_ERROR(MeasureReset(settings, *worlds.front(),
                                     mockserver::Instance(worlds.front(), table.instance), line));
  std::printf("%s\n", line.dump().c_str());
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  bench::Flags flags("Speed and size of the simulated service");
  flags.Add("--seconds", settings.seconds, "of each run");
  flags.Add("--spin,!--sleep", settings.spins,
            "the client does not sleep; by default where there is a processor for it");
  flags.Add("--runs", settings.runs, "of each measurement").Positive();
  flags.Add("--capture", settings.captures, "by name; the first is measured in full");
  if (const auto code = flags.Parse(argc, argv)) return *code;
  spdlog::set_level(spdlog::level::warn);
  const absl::Status status = Run(settings);
  if (status.ok()) return 0;
  std::fprintf(stderr, "bench_mockserver: %s\n", runtime::Message(status).c_str());
  return 1;
}
