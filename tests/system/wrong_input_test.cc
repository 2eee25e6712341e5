// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "platform/runtime/atomic_file.h"
#include "shoal_run.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::tests {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

constexpr char kRedfish[] = "deploy/local/redfish.toml";

// Requires one clear error that contains `words`, and the exit code of a wrong configuration.
void RequireRefused(std::vector<std::string> arguments, const std::vector<std::string>& words) {
  ShoalRun run(std::move(arguments));
  REQUIRE(run.WaitForExit(seconds(60)));
  const std::string output = run.output();
  INFO(output);
  REQUIRE(run.exit().code == 2);
  for (const std::string& word : words) REQUIRE(output.find(word) != std::string::npos);
  REQUIRE(output.find("terminate") == std::string::npos);
  REQUIRE(run.Children().empty());
}

// A listening socket of 127.0.0.1.
class Listener {
 public:
  Listener() : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    REQUIRE(::bind(descriptor_, reinterpret_cast<sockaddr*>(&address), length) == 0);
    REQUIRE(::listen(descriptor_, 1) == 0);
    ::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &length);
    port = std::to_string(ntohs(address.sin_port));
  }
  ~Listener() { ::close(descriptor_); }
  std::string port;

 private:
  const int descriptor_;
};

}  // namespace

TEST_CASE("an unknown key is named, with its file and line", "[input]") {
  const doubles::TemporaryFolder folder;
  const std::string file = folder.path() + "/cluster.toml";
  REQUIRE(runtime::WriteFileAtomically(file, "[run]\nseed = 1\n\n[learner]\nmax_lagg = 3\n").ok());
  RequireRefused({"train", file}, {"cluster.toml:5", "learner.max_lagg", "max_lag?"});
}

TEST_CASE("a wrong type, a value out of range and an unknown section are named", "[input]") {
  RequireRefused({"train", kRedfish, "--set", "learner.round_unrolls=\"many\""},
                 {"learner.round_unrolls", "integer"});
  RequireRefused({"train", kRedfish, "--set", "actor.environments=0"}, {"actor.environments", "0"});
  RequireRefused({"train", kRedfish, "--set", "lerner.listen=\"\""}, {"lerner", "learner"});
  RequireRefused({"train", kRedfish, "--set", "train.minuts=3"}, {"train.minuts", "minutes"});
}

TEST_CASE("a cluster file that is not there or is no TOML is named", "[input]") {
  RequireRefused({"train", "nowhere.toml"}, {"nowhere.toml"});
  const doubles::TemporaryFolder folder;
  const std::string file = folder.path() + "/broken.toml";
  REQUIRE(runtime::WriteFileAtomically(file, "[run]\nseed = \n").ok());
  RequireRefused({"train", file}, {"broken.toml:2"});
}

TEST_CASE("a capture that is missing or cut off is named", "[input]") {
  RequireRefused({"train", kRedfish, "--capture", "sun-fire"}, {"sun-fire"});
  const doubles::TemporaryFolder folder;
  fs::create_directories(folder.path() + "/captures");
  fs::create_directory_symlink(fs::absolute("data/goals"), folder.path() + "/goals");
  fs::create_directory_symlink(fs::absolute("data/schema"), folder.path() + "/schema");
  const std::string whole = runtime::ReadFile("data/captures/openbmc-stock.tar.xz").value();
  const std::string cut = folder.path() + "/captures/openbmc-stock.tar.xz";
  REQUIRE(runtime::WriteFileAtomically(cut, whole.substr(0, whole.size() / 2)).ok());
  RequireRefused({"train", kRedfish, "--capture", "openbmc-stock", "--set",
                  "environment.data=\"" + folder.path() + "\""},
                 {"openbmc-stock"});
}

TEST_CASE("a goal that is not there is named", "[input]") {
  RequireRefused({"train", kRedfish, "--goals", "1,77"}, {"77"});
}

TEST_CASE("a port in use is named", "[input]") {
  const Listener listener;
  const std::string address = "127.0.0.1:" + listener.port;
  RequireRefused({"train", kRedfish, "--set", "cluster.replay=[\"" + address + "\"]"}, {address});
  RequireRefused({"train", kRedfish, "--set", "cluster.mockserver=\"" + address + "\""}, {address});
}

TEST_CASE("health says who does not serve", "[input]") {
  const Listener listener;
  const std::string address = "127.0.0.1:" + listener.port;
  ShoalRun run({"health", address, "--timeout", "0.3"});
  REQUIRE(run.WaitForExit(seconds(10)));
  REQUIRE(run.exit().code == 1);
  REQUIRE(run.output().find(address) != std::string::npos);
}

}  // namespace shoal::tests
