// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/launch.h"

#include <charconv>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <utility>

#include "platform/runtime/log.h"
#include "rl/collectives/node_supervisor.h"

namespace shoal::collectives {
namespace {

constexpr const char* kListenerName = "SHOAL_MASTER_LISTENER";
constexpr const char* kEpochName = "SHOAL_GROUP_EPOCH";
constexpr std::int64_t kMaxEpoch = std::numeric_limits<std::int64_t>::max();

absl::Status ReadNumber(const char* name, std::int64_t min, std::int64_t max, std::int64_t& value) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return absl::OkStatus();
  const std::string_view view(text);
  std::int64_t parsed = 0;
  const auto result = std::from_chars(view.data(), view.data() + view.size(), parsed);
  if (result.ec != std::errc() || result.ptr != view.data() + view.size() || parsed < min ||
      parsed > max) {
    return runtime::InvalidArgument(std::string(name) + "='" + text + "' is no number from " +
                                    std::to_string(min) + " to " + std::to_string(max));
  }
  value = parsed;
  return absl::OkStatus();
}

absl::StatusOr<NodePlace> ReadPlace(std::int64_t local_ranks) {
  NodePlace place{.local_ranks = local_ranks, .world_size = local_ranks};
  if (std::getenv("GROUP_RANK") == nullptr) return place;
  for (const char* const name : {"WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}) {
    if (std::getenv(name) != nullptr) continue;
    return runtime::InvalidArgument(std::string("GROUP_RANK is set, ") + name + " is not");
  }
  SHOAL_RETURN_IF_ERROR(ReadNumber("WORLD_SIZE", local_ranks, kMaxRanks, place.world_size));
  if (place.world_size % local_ranks != 0) {
    return runtime::InvalidArgument("WORLD_SIZE='" + std::to_string(place.world_size) +
                                    "' is no multiple of the " + std::to_string(local_ranks) +
                                    " ranks of a node");
  }
  std::int64_t node = 0;
  std::int64_t port = 0;
  std::int64_t epoch = 0;
  SHOAL_RETURN_IF_ERROR(ReadNumber("GROUP_RANK", 0, place.world_size / local_ranks - 1, node));
  SHOAL_RETURN_IF_ERROR(ReadNumber("MASTER_PORT", 1, 65535, port));
  SHOAL_RETURN_IF_ERROR(ReadNumber(kEpochName, 0, kMaxEpoch, epoch));
  place.first_rank = node * local_ranks;
  place.master = NodePlace::Master{.address = std::getenv("MASTER_ADDR"),
                                   .port = static_cast<std::uint16_t>(port),
                                   .epoch = static_cast<std::uint64_t>(epoch)};
  return place;
}

const char* TextOfFlag(std::string_view flag, int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == flag && i + 1 < argc) return argv[i + 1];
    if (argument.starts_with(flag) && argument.substr(flag.size()).starts_with("=")) {
      return argv[i] + flag.size() + 1;
    }
  }
  return nullptr;
}

std::optional<std::int64_t> NumberOfFlag(std::string_view flag, int argc, const char* const* argv) {
  const char* const text = TextOfFlag(flag, argc, argv);
  return text == nullptr ? std::nullopt : std::optional<std::int64_t>(std::atoll(text));
}

absl::StatusOr<Launched> LaunchNode(const LaunchOptions& options) {
  SHOAL_ASSIGN_OR_RETURN(const NodesOptions nodes,
                         ParseNodes(options.nodes, options.rendezvous, options.node_name));
  if (std::getenv("GROUP_RANK") != nullptr) {
    return runtime::InvalidArgument(
        "GROUP_RANK is set, and --nodes says that nodes have no number");
  }
  NodeSupervisor supervisor(options.program, options.local_ranks, nodes, options.supervision);
  SHOAL_ASSIGN_OR_RETURN(const std::optional<int> exit_code, supervisor.Run());
  return Launched{exit_code, supervisor.progress(), supervisor.failures(), supervisor.changes()};
}

absl::StatusOr<Launched> LaunchGroup(const LaunchOptions& options, const NodePlace& place) {
  RankSupervisor supervisor(place, options.supervision);
  SHOAL_ASSIGN_OR_RETURN(const std::optional<int> exit_code, supervisor.Run());
  return Launched{exit_code, supervisor.progress(), supervisor.failures()};
}

}  // namespace

absl::StatusOr<RankEnvironment> ReadRankEnvironment() {
  RankEnvironment environment;
  if (std::getenv("RANK") == nullptr) return environment;
  std::int64_t port = 0;
  std::int64_t listener = -1;
  std::int64_t epoch = 0;
  SHOAL_RETURN_IF_ERROR(ReadNumber("WORLD_SIZE", 1, kMaxRanks, environment.world_size));
  SHOAL_RETURN_IF_ERROR(ReadNumber("RANK", 0, environment.world_size - 1, environment.rank));
  SHOAL_RETURN_IF_ERROR(ReadNumber("LOCAL_RANK", 0, kMaxRanks, environment.local_rank));
  SHOAL_RETURN_IF_ERROR(ReadNumber("MASTER_PORT", 1, 65535, port));
  SHOAL_RETURN_IF_ERROR(ReadNumber(kListenerName, -1, 1 << 20, listener));
  SHOAL_RETURN_IF_ERROR(ReadNumber(kEpochName, 0, kMaxEpoch, epoch));
  environment.epoch = static_cast<std::uint64_t>(epoch);
  if (const char* const address = std::getenv("MASTER_ADDR")) environment.master_address = address;
  if (port == 0 && environment.world_size > 1) {
    return runtime::InvalidArgument("RANK and WORLD_SIZE are set, MASTER_PORT is not");
  }
  environment.master_port = static_cast<std::uint16_t>(port);
  environment.master_listener = environment.rank == 0 ? static_cast<int>(listener) : -1;
  return environment;
}

void WriteRankEnvironment(const RankEnvironment& environment) {
  const auto set = [](const char* name, const std::string& value) {
    ::setenv(name, value.c_str(), /*overwrite=*/1);
  };
  set("RANK", std::to_string(environment.rank));
  set("LOCAL_RANK", std::to_string(environment.local_rank));
  set("WORLD_SIZE", std::to_string(environment.world_size));
  set("MASTER_ADDR", environment.master_address);
  set("MASTER_PORT", std::to_string(environment.master_port));
  set(kEpochName, std::to_string(environment.epoch));
  set(kListenerName, std::to_string(environment.master_listener));
}

LaunchOptions LaunchFlags(std::string program, int argc, const char* const* argv) {
  LaunchOptions options{.program = std::move(program)};
  options.local_ranks = NumberOfFlag("--world-size", argc, argv).value_or(options.local_ranks);
  std::int64_t& restarts = options.supervision.max_restarts;
  restarts = NumberOfFlag("--max-restarts", argc, argv).value_or(restarts);
  int& stop_code = options.supervision.stop_code;
  stop_code = static_cast<int>(NumberOfFlag("--stop-code", argc, argv).value_or(stop_code));
  const auto read = [&](std::string_view flag, std::string& text) {
    if (const char* const found = TextOfFlag(flag, argc, argv)) text = found;
  };
  read("--nodes", options.nodes);
  read("--rendezvous", options.rendezvous);
  read("--node-name", options.node_name);
  return options;
}

absl::StatusOr<Launched> LaunchRanks(const LaunchOptions& options) {
  if (options.local_ranks < 1 || options.local_ranks > kMaxLocalRanks) {
    return runtime::InvalidArgument("world size " + std::to_string(options.local_ranks) +
                                    " is not from 1 to " + std::to_string(kMaxLocalRanks));
  }
  if (options.supervision.max_restarts < 0) {
    return runtime::InvalidArgument("a number of restarts cannot be negative: " +
                                    std::to_string(options.supervision.max_restarts));
  }
  if (std::getenv("RANK") != nullptr) return Launched{};
  const bool elastic = !options.nodes.empty() || !options.rendezvous.empty();
  NodePlace place;
  if (!elastic) {
    SHOAL_ASSIGN_OR_RETURN(place, ReadPlace(options.local_ranks));
  }
  if (!elastic && place.local_ranks == 1) {
    if (place.master) {
      WriteRankEnvironment({.rank = place.first_rank,
                            .world_size = place.world_size,
                            .master_address = place.master->address,
                            .master_port = place.master->port,
                            .epoch = place.master->epoch});
    }
    return Launched{};
  }
  const auto log = spdlog::default_logger();
  SHOAL_RETURN_IF_ERROR(runtime::SetUpLog(options.program + "-supervisor", 0, "info"));
  auto launched = elastic ? LaunchNode(options) : LaunchGroup(options, place);
  spdlog::set_default_logger(log);
  return launched;
}

}  // namespace shoal::collectives
