// SPDX-License-Identifier: Apache-2.0
// Tests a mockserver that is a proxy in front of another one, as processes.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "mock_process.h"
#include "platform/http/fetch.h"
#include "shoal_run.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::tests {
namespace {

const std::string kProxied = "data/captures/openbmc-stock.tar.xz";

std::vector<std::string> StandingInFor(const std::string& host, const std::string& folder = "") {
  std::vector<std::string> settings = {"listen=\"127.0.0.1:0\"", "proxy.host=\"" + host + "\""};
  if (!folder.empty()) {
    settings.insert(settings.end(), {"proxy.record=\"" + folder + "\"", "proxy.redact=\"none\""});
  }
  return settings;
}

int Shoal(std::vector<std::string> arguments) {
  const EndedRun run = RunToEnd(std::move(arguments));
  INFO(run.output);
  return run.code;
}

}  // namespace

TEST_CASE("a proxy records what is crawled through it, killed or ended, as a capture of the host",
          "[proxy]") {
  MockProcess host(Simulating("openbmc-stock"));
  const doubles::TemporaryFolder recorded;
  const doubles::TemporaryFolder crawled;
  const auto settings = StandingInFor("http://" + host.address(), recorded.path());
  {
    MockProcess proxy(settings);
    REQUIRE(http::Fetch(proxy.address(), {.target = "/redfish/v1"}).value().status == 200);
    const auto patch = http::Fetch(proxy.address(), {.method = "PATCH",
                                                     .target = "/redfish/v1/Systems/system",
                                                     .body = R"({"AssetTag": "x"})"});
    REQUIRE(patch.value().status == 403);
    proxy.Kill();
  }
  MockProcess proxy(settings);
  // This is what the killed proxy has left.
  REQUIRE(Shoal({"capture", "verify", recorded.path()}) == 0);
  REQUIRE(Shoal({"discover", "http://" + proxy.address(), "--out", crawled.path(), "--logs",
                 "--sessions", "--redact", "none", "--known", kProxied}) == 0);
  REQUIRE(proxy.Stop() == 0);
  INFO(proxy.log());
  REQUIRE(proxy.log().find("event=capture_written") != std::string::npos);
  REQUIRE(Shoal({"capture", "verify", recorded.path()}) == 0);
  REQUIRE(Shoal({"capture", "diff", kProxied, recorded.path()}) == 0);
  REQUIRE(host.Stop() == 0);
}

TEST_CASE("a proxy of a host that is down starts, says so, and ends when asked", "[proxy]") {
  std::string address;
  {
    MockProcess host(Simulating("openbmc-stock"));
    address = host.address();
    REQUIRE(host.Stop() == 0);
  }
  MockProcess proxy(StandingInFor("http://" + address));
  REQUIRE(http::Fetch(proxy.address(), {.target = "/redfish/v1"}).value().status == 502);
  REQUIRE(proxy.Stop() == 0);
}

TEST_CASE("a proxy that is told something wrong says what", "[proxy]") {
  const doubles::TemporaryFolder folder;
  const auto refused = [](std::vector<std::string> settings, const std::string& word) {
    const FailedStart failed = StartAndFail(std::move(settings));
    INFO(failed.log);
    const bool wrong_configuration = failed.code == 2 || failed.code == 78;
    REQUIRE(wrong_configuration);
    REQUIRE(failed.log.find(word) != std::string::npos);
  };
  const auto with = [](const std::string& setting) {
    auto settings = StandingInFor("https://bmc.lab");
    settings.push_back("proxy." + setting);
    return settings;
  };
  refused(StandingInFor("ftp://bmc.lab"), "mockserver.proxy.host");
  refused(with("allow=[\"PATCH /redfish/v1/**\"]"), "one by one");
  refused(with("allow=[\"/redfish/v1\"]"), "mockserver.proxy.allow");
  refused(with("user=\"root\""), "password_file");
  refused(with("password_file=\"" + folder.path() + "/none\""), "none");
  refused(with("ca_file=\"" + folder.path() + "/none.pem\""), "none.pem");
  refused(with("connections=0"), "connections");
  refused(with("record_to=\"x\""), "record_to");
  folder.Write("redfish/v1/index.json", "{}");
  refused(StandingInFor("https://bmc.lab", folder.path()), "a folder of its own");
}

}  // namespace shoal::tests
