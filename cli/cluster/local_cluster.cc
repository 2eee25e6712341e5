// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster/local_cluster.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>

#include "cli/cluster/effective_config.h"

namespace shoal::cli {

namespace {

absl::Status CheckCount(const std::string& key, std::int64_t processes, std::size_t addresses) {
  if (addresses == 0 || addresses == static_cast<std::size_t>(processes)) return absl::OkStatus();
  return runtime::InvalidArgument("cluster." + key + " has " + std::to_string(addresses) +
                                  " addresses for " + std::to_string(processes) + " processes");
}

class Planner {
 public:
  Planner(const ClusterPlan& plan, std::vector<std::string> metrics)
      : plan_(plan), metrics_(std::move(metrics)) {}

  // `listen` has "section.key" and the address for each address that the process serves.
  void Add(const std::string& program, int index, Stage stage,
           const std::vector<std::pair<std::string, std::string>>& listen,
           const std::vector<std::string>& flags = {}) {
    PlannedProcess process = Begin(program, index, stage);
    process.metrics.push_back(TakeAddress(process.spec.name));
    std::vector<std::string>& command = process.spec.command;
    for (const auto& [key, address] : listen) {
      command.insert(command.end(), {"--set", program + "." + key + "=" + TomlText(address)});
    }
    command.insert(
        command.end(),
        {"--set", program + ".metrics_listen=" + TomlText(process.metrics.front().address)});
    command.insert(command.end(), flags.begin(), flags.end());
    processes_.push_back(std::move(process));
  }

  // Adds the process whose parts are all of the cluster but the mock server.
  void AddTogether() {
    PlannedProcess process = Begin("local", 0, kReplay);
    process.spec.parts = {{kActors, "actors"}, {kLearner, "learner"}};
    const auto add = [&](const std::string& part, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) {
        process.metrics.push_back(TakeAddress(part + "-" + std::to_string(i)));
      }
    };
    // The order of the program's flag --metrics.
    add("replay", plan_.cluster.replay.size());
    add("inference", plan_.cluster.inference.size());
    add("learner", 1);
    add("actor", static_cast<std::size_t>(plan_.cluster.actors));
    std::string metrics;
    for (const MetricsAddress& part : process.metrics) {
      metrics += (metrics.empty() ? "" : ",") + part.address;
    }
    process.spec.command.insert(process.spec.command.end(), {"--metrics", metrics});
    // Every part finds its address in [cluster].
    AppendSettings({"replay.listen=\"\"", "inference.listen=\"\"", "learner.listen=\"\""},
                   process.spec.command);
    processes_.push_back(std::move(process));
  }

  void LastFinishes() { processes_.back().spec.finishes = true; }

  std::vector<PlannedProcess> Take() { return std::move(processes_); }

 private:
  PlannedProcess Begin(const std::string& program, int index, Stage stage) const {
    const std::string name = program + "-" + std::to_string(index);
    return {.spec = {.name = name,
                     .command = {plan_.programs + "/" + program, "--config", plan_.config_path,
                                 "--index", std::to_string(index)},
                     .log_path = plan_.logs + "/" + name + ".log"},
            .stage = stage};
  }
  MetricsAddress TakeAddress(const std::string& name) { return {name, metrics_[taken_++]}; }

  const ClusterPlan& plan_;
  // The free addresses, and how many of them are taken.
  const std::vector<std::string> metrics_;
  std::size_t taken_ = 0;
  std::vector<PlannedProcess> processes_;
};

}  // namespace

absl::Status FillAddresses(runtime::ClusterOptions& cluster, const OptionalProcesses& processes) {
  SHOAL_RETURN_IF_ERROR(CheckCount("replay", cluster.replay_shards, cluster.replay.size()));
  SHOAL_RETURN_IF_ERROR(
      CheckCount("inference", cluster.inference_servers, cluster.inference.size()));
  std::vector<std::string*> empty;
  cluster.replay.resize(static_cast<std::size_t>(cluster.replay_shards));
  cluster.inference.resize(static_cast<std::size_t>(cluster.inference_servers));
  for (std::string& address : cluster.replay) empty.push_back(&address);
  for (std::string& address : cluster.inference) empty.push_back(&address);
  if (processes.learner) empty.push_back(&cluster.learner);
  if (processes.mockserver) {
    empty.push_back(&cluster.mockserver);
    empty.push_back(&cluster.mockserver_control);
  }
  std::erase_if(empty, [](const std::string* address) { return !address->empty(); });
  SHOAL_ASSIGN_OR_RETURN(const std::vector<std::string> addresses,
                         FreeLoopbackAddresses(static_cast<int>(empty.size())));
  for (std::size_t i = 0; i < empty.size(); ++i) *empty[i] = addresses[i];
  return absl::OkStatus();
}

std::vector<std::string> AddressOverrides(const runtime::ClusterOptions& cluster) {
  return {"cluster.replay=" + TomlList(cluster.replay),
          "cluster.inference=" + TomlList(cluster.inference),
          "cluster.learner=" + TomlText(cluster.learner),
          "cluster.mockserver=" + TomlText(cluster.mockserver),
          "cluster.mockserver_control=" + TomlText(cluster.mockserver_control)};
}

absl::StatusOr<std::vector<PlannedProcess>> PlanCluster(const ClusterPlan& plan) {
  const runtime::ClusterOptions& cluster = plan.cluster;
  const std::int64_t count = cluster.replay_shards + cluster.inference_servers + cluster.actors + 2;
  std::set<std::string> taken = {cluster.learner, cluster.mockserver, cluster.mockserver_control};
  taken.insert(cluster.replay.begin(), cluster.replay.end());
  taken.insert(cluster.inference.begin(), cluster.inference.end());
  SHOAL_ASSIGN_OR_RETURN(std::vector<std::string> metrics,
                         FreeLoopbackAddresses(static_cast<int>(count), taken));
  Planner planner(plan, std::move(metrics));
  if (plan.mockserver) {
    planner.Add("mockserver", 0, kMockserver,
                {{"listen", cluster.mockserver}, {"control_listen", cluster.mockserver_control}});
  }
  if (plan.in_process) {
    planner.AddTogether();
    if (plan.learner_finishes) planner.LastFinishes();
    return planner.Take();
  }
  for (std::size_t i = 0; i < cluster.replay.size(); ++i) {
    planner.Add("replay", static_cast<int>(i), kReplay, {{"listen", cluster.replay[i]}});
  }
  for (std::size_t i = 0; i < cluster.inference.size(); ++i) {
    planner.Add("inference", static_cast<int>(i), kInference, {{"listen", cluster.inference[i]}});
  }
  if (plan.learner) {
    std::vector<std::string> ranks;
    if (cluster.learner_ranks > 1) {
      ranks = {"--world-size", std::to_string(cluster.learner_ranks), "--max-restarts",
               std::to_string(cluster.learner_max_restarts)};
    }
    planner.Add("learner", 0, kLearner, {{"listen", cluster.learner}}, ranks);
    if (plan.learner_finishes) planner.LastFinishes();
  }
  for (std::int64_t i = 0; plan.actors && i < cluster.actors; ++i) {
    planner.Add("actor", static_cast<int>(i), kActors, {});
  }
  return planner.Take();
}

std::string ProgramFolder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path().string();
}

namespace {

constexpr int kLowestPort = 10000;
constexpr int kAttemptsPerPort = 200;

int LowestOutgoingPort() {
  std::ifstream file("/proc/sys/net/ipv4/ip_local_port_range");
  int low = 0;
  return file >> low && low > kLowestPort + 1000 ? low : 32768;
}

// Returns the bound socket, or -1.
int Bind(int port) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::bind(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    return descriptor;
  }
  ::close(descriptor);
  return -1;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> FreeLoopbackAddresses(int count,
                                                               const std::set<std::string>& taken) {
  std::random_device device;
  std::uniform_int_distribution<int> draw(kLowestPort, LowestOutgoingPort() - 1);
  std::vector<std::string> addresses;
  // The sockets stay bound until all ports are chosen, so that no port is chosen twice.
  std::vector<int> descriptors;
  for (int attempt = 0; attempt < count * kAttemptsPerPort; ++attempt) {
    if (addresses.size() == static_cast<std::size_t>(count)) break;
    const int port = draw(device);
    std::string address = "127.0.0.1:" + std::to_string(port);
    if (taken.contains(address)) continue;
    const int descriptor = Bind(port);
    if (descriptor < 0) continue;
    descriptors.push_back(descriptor);
    addresses.push_back(std::move(address));
  }
  std::for_each(descriptors.begin(), descriptors.end(), ::close);
  if (addresses.size() != static_cast<std::size_t>(count)) {
    return runtime::ResourceExhausted("no " + std::to_string(count) + " free ports on 127.0.0.1");
  }
  return addresses;
}

}  // namespace shoal::cli
