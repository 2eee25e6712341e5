// SPDX-License-Identifier: Apache-2.0
// A proxy's recording is a capture that can be verified, served and crawled again.
#include "mockserver/proxy/proxy_recording.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <string>

#include "platform/runtime/atomic_file.h"
#include "redfish/capture/archive.h"
#include "redfish/capture/capture_check.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/mockserver/proxy/proxied.h"
#include "tests/mockserver/service/services.h"

namespace shoal::mockserver {
namespace {

ProxySettings Recording(const Host& host, const std::string& folder,
                        const std::vector<std::string>& allowed = {}) {
  ProxySettings settings = SettingsFor(host.address(), allowed);
  settings.recording = RecordingOf(host.address(), folder);
  return settings;
}

std::string JournalOf(const std::string& folder) {
  return runtime::ReadFile(folder + "/.proxy/journal").value();
}

// Returns all that a recording wrote as one text.
std::string AllIn(const std::string& folder) {
  std::string all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) all += runtime::ReadFile(entry.path().string()).value();
  }
  return all;
}

std::shared_ptr<const redfish::Capture> Loaded(const std::string& folder) {
  const auto check = redfish::CheckCapture(folder).value();
  REQUIRE(check.has_manifest);
  for (const std::string& fault : check.faults) FAIL(fault);
  return redfish::Capture::Load(folder).value();
}

TEST_CASE("A recording of a crawl equals the capture, and is served as the host serves it") {
  for (const std::string name : {"openbmc-stock", "dmtf-rackmount1"}) {
    INFO(name);
    const Host host(name);
    const doubles::TemporaryFolder recorded;
    const doubles::TemporaryFolder crawled;
    {
      Proxied proxied(Recording(host, recorded.path()));
      discovery::Discovery discovery = host.Whole(crawled.path());
      discovery.source = "http://" + proxied.address();
      discovery.crawl.connection.address = proxied.address();
      discovery.crawl.starts = discovery::Unlinked().at(name);
      REQUIRE(discovery::Crawled(discovery).failed.empty());
      REQUIRE(proxied.Close().ok());
    }
    discovery::RequireSame(recorded.path(), host.resources());
    if (name != kRack) continue;
    const auto capture = Loaded(recorded.path());
    Instance again(World::Create(capture, TestSchema(), {}).value());
    for (const auto& [uri, body] : host.resources()) {
      INFO(uri);
      const Response answer = Get(again, uri);
      REQUIRE(answer.status == 200);
      REQUIRE(*answer.body == http::Fetch(host.address(), {.target = uri}).value().body);
    }
  }
}

TEST_CASE("A recording has the newest of each resource, and knows what is gone") {
  std::map<std::string, int> asked;
  const Host host(kRack, {}, [&](const http::ServerRequest& request) {
    Said response;
    const std::string target(request.target());
    const int number = ++asked[target];
    if (target == "/redfish/v1/Chassis" && number > 1) {
      response = http::ServerResponse{.status = number == 2 ? 503 : 304};
    } else if (target == "/redfish/v1/Managers" && number > 1) {
      response = http::ServerResponse{.status = 404};
    } else if (target == "/redfish/v1" && number > 1) {
      response = http::ServerResponse{.status = 404};
    }
    return response;
  });
  const doubles::TemporaryFolder folder;
  Proxied proxied(Recording(host, folder.path(), {"PATCH /redfish/v1/Systems/*"}));
  for (int i = 0; i < 3; ++i) {
    for (const char* uri : {"/redfish/v1", "/redfish/v1/Chassis", "/redfish/v1/Managers"}) {
      proxied.Get(uri);
    }
  }
  proxied.Get(kSystem);
  REQUIRE(proxied.Ask("PATCH", kSystem, R"({"AssetTag": "new"})").status == 200);
  proxied.Ask("HEAD", kSystem);
  proxied.Ask("OPTIONS", kSystem);
  proxied.Get(kSystem + "?$select=Name");
  proxied.Get("/redfish");
  proxied.Get(kSystem);
  REQUIRE(proxied.Close().ok());
  const auto capture = Loaded(folder.path());
  REQUIRE(capture->Find("/redfish/v1/Chassis") != nullptr);
  REQUIRE(capture->Find("/redfish/v1/Managers") == nullptr);
  REQUIRE(capture->Find(kSystem)->at("AssetTag") == "new");
  REQUIRE(capture->resources().size() == 3);
  const redfish::Archive recorded =
      redfish::ReadArchive(folder.path(), redfish::kManifestFile).value();
  const auto manifest = redfish::FindManifest(recorded, folder.path()).value()->manifest;
  REQUIRE(manifest.source == "http://" + host.address());
  REQUIRE(manifest.resources.at(kSystem).methods ==
          std::vector<std::string>{"GET", "HEAD", "PATCH"});
  REQUIRE(manifest.resources.at("/redfish/v1/Managers").status == 404);
}

TEST_CASE("Every exchange is in the journal, with what was sent and what was said") {
  const Host host(kRack);
  const doubles::TemporaryFolder folder;
  Proxied proxied(Recording(host, folder.path(), {"PATCH /redfish/v1/Systems/*"}));
  proxied.Get(kSystem + "?$select=Name");
  proxied.Ask("PATCH", kSystem, R"({"AssetTag": 7})");
  proxied.Ask("HEAD", kSystem);
  REQUIRE(proxied.Ask("PATCH", "/redfish/v1/Chassis/1U", "{}").status == 403);
  REQUIRE(proxied.Close().ok());
  const std::string journal = JournalOf(folder.path());
  std::vector<Json> records;
  for (std::size_t at = 0; at < journal.size(); at = journal.find('\n', at) + 1) {
    const std::size_t end = journal.find('\n', at);
    records.push_back(Json::parse(journal.substr(at + 17, end - at - 17)));
  }
  REQUIRE(records.size() == 4);
  REQUIRE(records[0].at("format") == "shoal-proxy/1");
  REQUIRE(records[1].at("target") == kSystem + "?$select=Name");
  REQUIRE(records[1].at("body").contains("Name"));
  REQUIRE(records[2].at("method") == "PATCH");
  REQUIRE(records[2].at("status") == 400);
  REQUIRE(records[2].at("request") == Json{{"AssetTag", 7}});
  REQUIRE(records[2].at("said").contains("error"));
  REQUIRE(records[2].at("headers").contains("OData-Version"));
  REQUIRE(records[3].at("method") == "HEAD");
  // Without the service root it is not a capture yet.
  REQUIRE_FALSE(std::filesystem::exists(folder.path() + "/redfish"));
}

TEST_CASE("Pages that a client followed are one collection in the recording") {
  const Host host(kRack, {}, [&](const http::ServerRequest& request) {
    if (request.target() == "/redfish/v1/Chassis?$skip=1") {
      return Said(Text(R"({"Members": [{"@odata.id": "/redfish/v1/Chassis/2U"}]})"));
    }
    return SaidAt(request, "Chassis", Text(R"({"Members": [{"@odata.id": "/redfish/v1/Chassis/1U"}],
                           "Members@odata.nextLink": "/redfish/v1/Chassis/?$skip=1"})"));
  });
  const doubles::TemporaryFolder folder;
  Proxied proxied(Recording(host, folder.path()));
  for (const char* target : {"/redfish/v1", "/redfish/v1/Chassis", "/redfish/v1/Chassis?$skip=1"}) {
    REQUIRE(proxied.Get(target).status == 200);
  }
  REQUIRE(proxied.Close().ok());
  REQUIRE(Loaded(folder.path())->Find("/redfish/v1/Chassis")->at("Members").size() == 2);
}

TEST_CASE("A resource keeps its own spelling where a client escaped it") {
  const std::string name = "/redfish/v1/Chassis/My Chassis";
  const Host host(kRack, {}, [&](const http::ServerRequest& request) {
    return SaidAt(request, "Chassis/My%20Chassis", Text(Json{{"@odata.id", name}}.dump()));
  });
  const doubles::TemporaryFolder folder;
  Proxied proxied(Recording(host, folder.path()));
  proxied.Get("/redfish/v1");
  REQUIRE(proxied.Get("/redfish/v1/Chassis/My%20Chassis").status == 200);
  REQUIRE(proxied.Close().ok());
  REQUIRE(Loaded(folder.path())->Find(name) != nullptr);
}

TEST_CASE("Secrets are in nothing that a recording writes") {
  const Host host(kRack, Closed(), [](const http::ServerRequest& request) {
    return SaidAt(request, "Oem",
                  Text(R"({"Password": "p4ss-in-body", "Keys": {"PrivateKey": "k3y"}})",
                       "Set-Cookie: SESSION=c00kie\r\n"));
  });
  const doubles::TemporaryFolder folder;
  ProxySettings settings =
      Recording(host, folder.path(),
                {"POST " + std::string(kSessions), "PATCH " + std::string(kAccounts) + "/*"});
  settings.recording->redaction = redfish::RedactionOptions{};
  Proxied proxied(std::move(settings));
  const std::string login =
      Json{{"UserName", "Administrator"}, {"Password", kPasswordOfAll}}.dump();
  const auto session = proxied.Ask("POST", kSessions, login);
  const std::string token(session.headers.Find("X-Auth-Token"));
  REQUIRE_FALSE(token.empty());
  const http::Headers headers = Header("X-Auth-Token", token);
  proxied.Ask("GET", "/redfish/v1", "", headers);
  proxied.Ask("GET", "/redfish/v1/Oem", "", headers);
  REQUIRE(proxied
              .Ask("PATCH", "/redfish/v1/AccountService/Accounts/1",
                   R"({"Password": "n3w-password"})", headers)
              .status == 200);
  REQUIRE(proxied.Close().ok());
  const std::string all = AllIn(folder.path());
  REQUIRE(all.find("\"POST\"") != std::string::npos);
  REQUIRE(all.find(std::string(redfish::kRedacted)) != std::string::npos);
  for (const std::string& secret :
       {token, std::string(kPasswordOfAll), std::string("c00kie"), std::string("p4ss-in-body"),
        std::string("k3y"), std::string("n3w-password")}) {
    INFO(secret);
    REQUIRE(all.find(secret) == std::string::npos);
  }
}

TEST_CASE("A recording that was cut off is a capture at the next start, and goes on") {
  const Host host(kRack);
  const doubles::TemporaryFolder folder;
  {
    // This proxy is never closed, as if it were killed.
    Proxied killed(Recording(host, folder.path()));
    killed.Get("/redfish/v1");
    killed.Get(kSystem);
    REQUIRE_FALSE(std::filesystem::exists(folder.path() + "/redfish"));
  }
  const std::string journal = JournalOf(folder.path());
  folder.Write(".proxy/journal", journal + "0123456789abcdef {\"torn");
  Proxied proxied(Recording(host, folder.path()));
  REQUIRE(Loaded(folder.path())->resources().size() == 2);
  proxied.Get("/redfish/v1/Chassis");
  REQUIRE(proxied.Close().ok());
  REQUIRE(Loaded(folder.path())->resources().size() == 3);
  REQUIRE(JournalOf(folder.path()).starts_with(journal));
}

TEST_CASE("A recording replaces nobody else's capture, and is one host's") {
  const Host host(kRack);
  runtime::Metrics metrics;
  const auto refused = [&](const ProxySettings& settings) {
    const auto status = Proxy::Create(settings, metrics).status();
    INFO(status.ToString());
    REQUIRE(absl::IsFailedPrecondition(status));
  };
  const doubles::TemporaryFolder crawled;
  discovery::Discovery discovery = host.Whole(crawled.path());
  discovery.crawl.max_depth = 1;
  discovery::Crawled(discovery);
  const std::string before = AllIn(crawled.path());
  refused(Recording(host, crawled.path()));
  REQUIRE(AllIn(crawled.path()) == before);

  const doubles::TemporaryFolder folder;
  {
    Proxied proxied(Recording(host, folder.path()));
    refused(Recording(host, folder.path()));
  }
  ProxySettings other = Recording(host, folder.path());
  other.recording->source = "http://elsewhere:80";
  refused(other);
  ProxySettings redacted = Recording(host, folder.path());
  redacted.recording->redaction = redfish::RedactionOptions{};
  refused(redacted);
}

TEST_CASE("A recording that is full stops, and its proxy does not") {
  const Host host(kRack);
  const doubles::TemporaryFolder folder;
  ProxySettings settings = Recording(host, folder.path());
  settings.recording->max_bytes = 10'000;
  Proxied proxied(std::move(settings));
  for (int i = 0; i < 30; ++i) REQUIRE(proxied.Get("/redfish/v1").status == 200);
  const std::string journal = JournalOf(folder.path());
  REQUIRE(journal.size() > 10'000);
  REQUIRE(journal.size() < 20'000);
  REQUIRE(absl::IsResourceExhausted(proxied.Close()));
  REQUIRE(Loaded(folder.path())->resources().size() == 1);
}

}  // namespace
}  // namespace shoal::mockserver
