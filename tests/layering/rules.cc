// SPDX-License-Identifier: Apache-2.0
#include "rules.h"

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace shoal::layering {
namespace {

// The libraries that a folder must not include.
enum Ban { kGrpc, kProtobuf, kTorch, kBoost, kSockets };

struct Folder {
  std::string name;
  std::set<Ban> bans;
};

// The order is that of the root CMakeLists.txt. A room stands before the folder that it is in.
const std::vector<Folder> kTable = {
    {"proto", {}},
    {"platform/runtime", {kGrpc, kProtobuf, kTorch, kBoost}},
    {"platform/display", {kGrpc, kProtobuf, kTorch, kBoost}},
    {"platform/content", {kGrpc, kProtobuf, kTorch}},
    {"platform/transport", {kTorch, kBoost}},
    {"platform/http", {kGrpc, kProtobuf, kTorch}},
    {"redfish/capture", {kGrpc, kProtobuf, kTorch, kSockets}},
    {"redfish/schema", {kGrpc, kProtobuf, kTorch, kSockets}},
    {"redfish/catalog", {kGrpc, kProtobuf, kTorch, kSockets}},
    {"redfish/goals", {kGrpc, kProtobuf, kTorch, kSockets}},
    {"redfish/discovery", {kGrpc, kProtobuf, kTorch}},
    {"rl/estimators", {kGrpc, kProtobuf, kTorch, kBoost, kSockets}},
    {"rl/model", {kGrpc, kProtobuf}},
    {"rl/collectives", {kGrpc, kProtobuf, kBoost}},
    {"rl/training", {kGrpc, kProtobuf, kBoost}},
    {"rl/algorithms", {kGrpc, kProtobuf, kBoost}},
    {"rl/parameters", {kTorch}},
    {"rl/demonstrations", {kTorch, kBoost}},
    {"text/lexical", {kGrpc, kProtobuf, kTorch}},
    {"text/bpe", {kGrpc, kProtobuf, kTorch}},
    {"text/wordpiece", {kGrpc, kProtobuf, kTorch}},
    {"text/dataset", {kGrpc, kProtobuf, kTorch}},
    {"text/language", {kGrpc, kProtobuf, kBoost}},
    {"text/embedding", {kGrpc, kProtobuf, kTorch, kBoost}},
    {"text/intent", {kGrpc, kProtobuf, kTorch, kBoost, kSockets}},
    {"placement", {kGrpc, kProtobuf, kTorch, kBoost, kSockets}},
    {"profiler", {kGrpc, kProtobuf, kBoost, kSockets}},
    {"placer", {kGrpc, kProtobuf, kBoost, kSockets}},
    {"encoder", {kGrpc}},
    {"mockserver/messages", {kGrpc, kProtobuf, kTorch, kBoost, kSockets}},
    {"mockserver/faults", {kGrpc, kProtobuf, kTorch, kBoost, kSockets}},
    {"mockserver/service", {kGrpc, kProtobuf, kTorch, kBoost, kSockets}},
    {"mockserver/resources", {kGrpc, kProtobuf, kTorch, kBoost, kSockets}},
    {"mockserver/access", {kGrpc, kProtobuf, kTorch, kBoost, kSockets}},
    {"mockserver/events", {kGrpc, kProtobuf, kTorch, kBoost, kSockets}},
    {"mockserver/behaviours", {kGrpc, kProtobuf, kTorch, kBoost, kSockets}},
    {"mockserver/rules", {kGrpc, kProtobuf, kTorch, kBoost, kSockets}},
    {"mockserver/instance", {kGrpc, kProtobuf, kTorch, kBoost, kSockets}},
    {"mockserver/proxy", {kGrpc, kProtobuf, kTorch}},
    {"mockserver/process", {kGrpc, kProtobuf, kTorch}},
    {"mockserver", {kGrpc, kProtobuf, kTorch}},
    {"operate", {kGrpc, kProtobuf, kTorch}},
    {"replay/selectors", {kTorch, kGrpc, kProtobuf}},
    {"replay", {kTorch}},
    {"inference/client", {kTorch}},
    {"inference/core", {kTorch}},
    {"inference/service", {kTorch}},
    {"inference", {kTorch}},
    {"learner/unrolls", {kTorch, kBoost}},
    {"learner/cloning", {kTorch, kBoost}},
    {"learner", {kTorch, kBoost}},
    {"actor/environments/classic", {kGrpc, kProtobuf, kTorch, kBoost, kSockets}},
    {"actor/environments", {kTorch}},
    {"actor/loop", {kTorch}},
    {"actor/demonstrations", {kTorch}},
    {"actor/solver", {kTorch}},
    {"actor", {kTorch}},
    {"local", {kTorch}},
    {"cli/cluster", {kTorch}},
    {"cli/metrics", {kTorch}},
    {"cli/diagnosis", {kTorch}},
    {"cli/results", {kTorch}},
    {"cli/session", {kTorch}},
    {"cli/simulation", {kTorch, kGrpc}},
    {"cli/commands", {kTorch}},
    {"cli", {kTorch}},
};
const std::set<std::string> kProcesses = {"profiler",  "placer",  "encoder", "mockserver", "replay",
                                          "inference", "learner", "actor",   "local",      "cli"};
// These serve the simulated service over HTTP. Others link only what is behind them.
const std::vector<std::string> kMockserverFront = {"mockserver/process/", "mockserver/proxy/"};
const std::set<std::string> kTooMuchTorch = {"torch/torch.h", "torch/script.h", "torch/extension.h",
                                             "torch/all.h"};

const std::map<Ban, std::pair<std::string, std::vector<std::string>>> kHeaders = {
    {kGrpc, {"gRPC", {"grpcpp/", "grpc/"}}},
    {kProtobuf, {"protobuf", {"google/protobuf/"}}},
    {kTorch, {"torch", {"torch/", "ATen/", "c10/"}}},
    {kBoost, {"Boost", {"boost/"}}},
    {kSockets, {"sockets", {"sys/socket.h", "netinet/", "arpa/", "boost/asio", "boost/beast"}}},
};

// Returns "platform/http" for "lib/platform/http/server.cc" and "actor" for "actor/main.cc".
// Returns an empty string for tests and the like.
std::string FolderOf(const std::string& path) {
  const std::string rest = path.starts_with("lib/") ? path.substr(4) : path;
  for (const Folder& folder : kTable) {
    if (rest.starts_with(folder.name + "/")) return folder.name;
  }
  return "";
}

// Returns the process of a folder or room, such as "mockserver" for "mockserver/rules".
std::string ProcessOf(const std::string& folder) {
  const std::string first = folder.substr(0, folder.find('/'));
  return kProcesses.contains(first) ? first : folder;
}

std::size_t PositionOf(const std::string& folder) {
  const auto found = std::find_if(kTable.begin(), kTable.end(),
                                  [&](const Folder& it) { return it.name == folder; });
  return static_cast<std::size_t>(found - kTable.begin());
}

bool Matches(Ban ban, const std::string& header) {
  if (ban == kGrpc && header.ends_with(".grpc.pb.h")) return true;
  if (ban == kProtobuf && header.ends_with(".pb.h")) return true;
  const auto& prefixes = kHeaders.at(ban).second;
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const std::string& prefix) { return header.starts_with(prefix); });
}

// A process may use another one through its client folder. The actor and twins of hosts may also
// use the simulated service, and cli the actor's solver. Only local is made of other processes.
bool MayUseProcess(const std::string& user, const std::string& header) {
  const std::string used = ProcessOf(FolderOf(header));
  if (!kProcesses.contains(used) || used == ProcessOf(user)) return true;
  if (header.starts_with(used + "/client/") || ProcessOf(user) == "local") return true;
  if (ProcessOf(user) == "cli" && header.starts_with("actor/solver/")) return true;
  return (ProcessOf(user) == "actor" || user == "operate") && used == "mockserver" &&
         std::none_of(kMockserverFront.begin(), kMockserverFront.end(),
                      [&](const std::string& room) { return header.starts_with(room); });
}

void CheckInclude(const std::string& path, const std::string& header,
                  std::vector<std::string>& breaches) {
  const auto report = [&](const std::string& why) {
    breaches.push_back(path + " includes " + header + ": " + why);
  };
  if (kTooMuchTorch.contains(header)) report("name the torch headers that are needed");
  const std::string user = FolderOf(path);
  if (user.empty()) return;
  for (const Ban ban : kTable[PositionOf(user)].bans) {
    if (Matches(ban, header)) report(user + " must not see " + kHeaders.at(ban).first);
  }
  const std::string used = FolderOf(header);
  if (used.empty() || header.find('/') == std::string::npos) return;
  if (PositionOf(used) > PositionOf(user)) report(used + " stands below " + user);
  if (!MayUseProcess(user, header)) report("another process is seen through its client/ alone");
}

void CheckShape(const std::string& path, const std::string& text,
                std::vector<std::string>& breaches) {
  if (!text.starts_with("// SPDX-License-Identifier: Apache-2.0\n")) {
    breaches.push_back(path + " does not begin with its licence");
  }
  const bool header = path.ends_with(".h");
  if (header && text.find("\n#pragma once\n") == std::string::npos) {
    breaches.push_back(path + " has no #pragma once");
  }
}

}  // namespace

std::vector<std::string> Breaches(const std::string& path, const std::string& text) {
  static const std::regex include("^\\s*#\\s*include\\s*[<\"]([^>\"]+)[>\"].*");
  // Torch includes glog, whose CHECK would turn Catch's CHECK into an abort.
  static const std::regex check("(^|[^A-Za-z0-9_])CHEC[K](_[A-Z_]+)?\\s*\\(.*");
  std::vector<std::string> breaches;
  CheckShape(path, text, breaches);
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::smatch match;
    if (std::regex_match(line, match, include)) {
      CheckInclude(path, match[1].str(), breaches);
    } else if (line.find("CHECK") != std::string::npos && std::regex_search(line, check)) {
      breaches.push_back(path + ":" + std::to_string(number) +
                         " uses CHECK: REQUIRE in tests, SHOAL_CHECK elsewhere");
    }
  }
  return breaches;
}

const std::vector<std::string>& Folders() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Folder& folder : kTable) all.push_back(folder.name);
    return all;
  }();
  return names;
}

}  // namespace shoal::layering
