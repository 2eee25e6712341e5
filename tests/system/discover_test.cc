// SPDX-License-Identifier: Apache-2.0
// Tests `shoal discover` as a person starts it, against a mockserver of its own.
#include <signal.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "mock_process.h"
#include "shoal_run.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::tests {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

const std::string kCrawled = "data/captures/openbmc-stock.tar.xz";

// Returns a crawl of the whole service, in the form of the shipped capture.
std::vector<std::string> Crawl(const std::string& url, const std::string& folder,
                               const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"discover",   url,        "--out", folder,    "--logs",
                                        "--sessions", "--redact", "none",  "--known", kCrawled};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

void RequireWhole(const std::string& folder) {
  const EndedRun diff = RunToEnd({"capture", "diff", kCrawled, folder});
  INFO(diff.output);
  REQUIRE(diff.code == 0);
  REQUIRE(RunToEnd({"capture", "verify", folder}).code == 0);
}

// Requires exit code 2 and an error that contains `words`.
void RequireRefused(std::vector<std::string> arguments, const std::vector<std::string>& words) {
  const EndedRun ended = RunToEnd(std::move(arguments));
  INFO(ended.output);
  REQUIRE(ended.code == 2);
  for (const std::string& word : words) REQUIRE(ended.output.find(word) != std::string::npos);
}

bool JournalHas(const std::string& folder, std::uintmax_t bytes) {
  std::error_code error;
  const auto size = fs::file_size(folder + "/.crawl/journal", error);
  return !error && size >= bytes;
}

}  // namespace

TEST_CASE("a crawl equals the capture that is served, and is not made twice", "[discover]") {
  MockProcess mock(Simulating("openbmc-stock"));
  const doubles::TemporaryFolder folder;
  const std::string url = "http://" + mock.address();
  const EndedRun first = RunToEnd(Crawl(url, folder.path()));
  INFO(first.output);
  REQUIRE(first.code == 0);
  REQUIRE(first.last_line.starts_with("capture " + folder.path() + " resources="));
  REQUIRE(NumberIn(first.last_line, "failed") == 0);
  REQUIRE(NumberIn(first.last_line, "requests") >= NumberIn(first.last_line, "resources"));
  RequireWhole(folder.path());

  const EndedRun second = RunToEnd(Crawl(url, folder.path()));
  REQUIRE(second.code == 0);
  REQUIRE(second.output.find("--fresh crawls again") != std::string::npos);
  REQUIRE(RunToEnd(Crawl(url, folder.path(), {"--fresh"})).code == 0);
  RequireWhole(folder.path());
  REQUIRE(mock.Stop() == 0);
}

TEST_CASE("a crawl logs in by TLS to a service that it trusts, and out again", "[discover]") {
  const doubles::TemporaryFolder files;
  const std::string certificate = files.path() + "/mock.pem";
  std::vector<std::string> settings = Simulating("dmtf-rackmount1");
  settings.insert(settings.end(),
                  {"authentication=\"required\"", "certificate_file=\"" + certificate + "\"",
                   "key_file=\"" + files.path() + "/mock.key\""});
  MockProcess mock(settings);
  const std::string url = "https://" + mock.address();
  const std::string password = files.Write("password", "shoal-password\n");
  const std::vector<std::string> login = {"--user", "Administrator", "--password-file", password};
  const doubles::TemporaryFolder folder;
  const auto with = [&](std::vector<std::string> more, bool logs_in = true) {
    if (logs_in) more.insert(more.end(), login.begin(), login.end());
    std::vector<std::string> arguments = {"discover", url, "--out", folder.path()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  RequireRefused(with({}), {"not trusted"});
  RequireRefused(with({"--ca-file", certificate}, false), {"401"});
  const std::string wrong = files.Write("wrong", "s3cret-and-wrong\n");
  ShoalRun refused(
      with({"--ca-file", certificate, "--user", "Administrator", "--password-file", wrong}, false));
  REQUIRE(refused.WaitForExit(seconds(30)));
  REQUIRE(refused.exit().code == 2);
  REQUIRE(refused.output().find("Administrator") != std::string::npos);
  REQUIRE(refused.output().find("s3cret-and-wrong") == std::string::npos);

  const EndedRun crawled = RunToEnd(with({"--ca-file", certificate}));
  INFO(crawled.output);
  REQUIRE(crawled.code == 0);
  REQUIRE(NumberIn(crawled.last_line, "resources") > 200);
  REQUIRE(crawled.output.find("warning") == std::string::npos);
  REQUIRE(RunToEnd(with({"--insecure", "--auth", "basic", "--fresh"})).code == 0);
  REQUIRE(RunToEnd({"capture", "verify", folder.path()}).code == 0);
}

TEST_CASE("a crawl that is killed goes on from where it was, and one that is interrupted",
          "[discover]") {
  MockProcess mock(Simulating("openbmc-stock"));
  const doubles::TemporaryFolder folder;
  const std::string url = "http://" + mock.address();
  const std::vector<std::string> slowly = Crawl(url, folder.path(), {"--rate", "100"});
  {
    ShoalRun run(slowly);
    REQUIRE(Eventually(seconds(30), [&] { return JournalHas(folder.path(), 20'000); }));
    run.Kill();
    REQUIRE(run.WaitForExit(seconds(10)));
    REQUIRE(run.exit().signal == SIGKILL);
  }
  REQUIRE_FALSE(fs::exists(folder.path() + "/redfish"));
  {
    const std::uintmax_t before = fs::file_size(folder.path() + "/.crawl/journal");
    ShoalRun run(slowly);
    REQUIRE(Eventually(seconds(30), [&] { return JournalHas(folder.path(), before + 20'000); }));
    run.Interrupt();
    REQUIRE(run.WaitForExit(seconds(10)));
    INFO(run.output());
    REQUIRE(run.exit().code == 1);
    REQUIRE(run.last_line() == "the same command goes on from here");
  }
  const EndedRun rest = RunToEnd(Crawl(url, folder.path()));
  INFO(rest.output);
  REQUIRE(rest.code == 0);
  REQUIRE(NumberIn(rest.last_line, "resumed") > 20);
  RequireWhole(folder.path());
}

TEST_CASE("wrong words to discover are named", "[discover]") {
  const doubles::TemporaryFolder folder;
  const std::string out = folder.path() + "/out";
  RequireRefused({"discover"}, {"URL"});
  RequireRefused({"discover", "http://127.0.0.1:1"}, {"--out"});
  RequireRefused({"discover", "ftp://bmc", "--out", out}, {"ftp://bmc", "http"});
  RequireRefused({"discover", "http://root@bmc", "--out", out}, {"user"});
  RequireRefused({"discover", "http://bmc", "--out", out, "--user", "root"}, {"--password-file"});
  RequireRefused({"discover", "http://bmc", "--out", out, "--user", "root", "--password-file",
                  folder.path() + "/none"},
                 {"none"});
  RequireRefused({"discover", "https://bmc", "--out", out, "--ca-file",
                  folder.Write("no.pem", "no certificate")},
                 {"no.pem"});
  RequireRefused({"discover", "http://bmc", "--out", out, "--rate", "-1"}, {"--rate"});
  RequireRefused({"discover", "http://bmc", "--out", out, "--redact", "all"}, {"--redact"});
  RequireRefused({"discover", "http://bmc", "--out", out, "--known", folder.path() + "/none"},
                 {"none"});
  RequireRefused({"discover", "http://bmc", "--out", out, "--dept", "3"}, {"--dept"});
  REQUIRE_FALSE(fs::exists(out));
}

TEST_CASE("a host where nobody listens is worth another try", "[discover]") {
  std::string address;
  {
    MockProcess mock(Simulating("openbmc-stock"));
    address = mock.address();
    REQUIRE(mock.Stop() == 0);
  }
  const doubles::TemporaryFolder folder;
  const EndedRun ended =
      RunToEnd({"discover", "http://" + address, "--out", folder.path(), "--attempts", "1"});
  INFO(ended.output);
  REQUIRE(ended.code == 1);
  REQUIRE(ended.output.find(address) != std::string::npos);
}

}  // namespace shoal::tests
