// SPDX-License-Identifier: Apache-2.0
#include "operate/host_list.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/doubles/temporary_folder.h"

namespace shoal::operate {
namespace {

const ListedHost kUsual = {.capture = "captures/lab",
                           .access = {.user = "root",
                                      .password_file = "usual.password",
                                      .ca_file = "usual.pem",
                                      .pace_seconds = 2}};

absl::StatusOr<std::vector<ListedHost>> Read(const std::string& text,
                                             const ListedHost& usual = kUsual) {
  const doubles::TemporaryFolder files;
  return ReadHosts(files.Write("hosts.toml", text), usual);
}

// Returns the words of the error that reading the text ends with.
std::string Refusal(const std::string& text, const ListedHost& usual = kUsual) {
  const auto hosts = Read(text, usual);
  REQUIRE(absl::IsInvalidArgument(hosts.status()));
  return runtime::Message(hosts.status());
}

bool Contains(const std::string& text, const std::string& words) {
  INFO(text);
  return text.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("each listed host has its own login, trust and capture, and else the usual ones") {
  const auto hosts = Read(
                         "[[do.host]]\nurl = \"https://a.lab\"\n\n"
                         "[[do.host]]\nurl = \"b.lab:8443\"\nuser = \"admin\"\n"
                         "password_file = \"b.password\"\ncapture = \"captures/b\"\n"
                         "ca_file = \"b.pem\"\npace_seconds = 0.5\n"
                         "[[do.host]]\nurl = \"c.lab\"\npassword_file = \"c.password\"\n"
                         "[[do.host]]\nurl = \"http://d.lab\"\nuser = \"\"\n")
                         .value();
  REQUIRE(hosts.size() == 4);
  REQUIRE(hosts[0].url == "https://a.lab");
  REQUIRE(hosts[0].access.user == "root");
  REQUIRE(hosts[0].access.password_file == "usual.password");
  REQUIRE(hosts[0].access.ca_file == "usual.pem");
  REQUIRE(hosts[0].access.pace_seconds == 2);
  REQUIRE(hosts[0].capture == "captures/lab");
  REQUIRE(hosts[1].access.user == "admin");
  REQUIRE(hosts[1].access.password_file == "b.password");
  REQUIRE(hosts[1].access.ca_file == "b.pem");
  REQUIRE(hosts[1].access.pace_seconds == 0.5);
  REQUIRE(hosts[1].capture == "captures/b");
  REQUIRE(hosts[2].access.user == "root");
  REQUIRE(hosts[2].access.password_file == "c.password");
  REQUIRE(hosts[3].access.user.empty());
}

TEST_CASE("what is wrong in a list of hosts is named with its file and line") {
  REQUIRE(Contains(Refusal("[[do.host]]\nurl = \"a.lab\"\npassword = \"x\"\n"),
                   "hosts.toml:3: unknown key do.host.0.password"));
  REQUIRE(Contains(Refusal("[[do.host]]\nurl = 3\n"), "hosts.toml:2: do.host.0.url must be text"));
  REQUIRE(Contains(Refusal("[[do.host]]\nurl = \"a.lab\"\n\n[[do.host]]\nuser = \"root\"\n"),
                   "hosts.toml:4: the host has no url"));
  REQUIRE(Contains(Refusal("[[do.host]]\nurl = \"a.lab\"\ntimeout_seconds = 0\n"), "hosts.toml:3"));
  REQUIRE(Contains(Refusal("[[do.host]]\nurl = \"a.lab\n"), "hosts.toml:2"));
  REQUIRE(Contains(Refusal("[[do.hots]]\nurl = \"a.lab\"\n"), "unknown key do.hots"));
  REQUIRE(Contains(Refusal("[[host]]\nurl = \"a.lab\"\n"), "unknown section [host]"));
  REQUIRE(Contains(Refusal("[do]\nhost = \"a.lab\"\n"), "hosts.toml:2"));
  for (const std::string none : {"", "[do]\n", "[do]\nhost = []\n"}) {
    REQUIRE(Contains(Refusal(none), "hosts.toml lists no host"));
  }
  REQUIRE(absl::IsNotFound(ReadHosts("no/such/hosts.toml", kUsual).status()));
}

TEST_CASE("no host is given the password of another user") {
  REQUIRE(Contains(Refusal("[[do.host]]\nurl = \"a.lab\"\nuser = \"admin\"\n"),
                   "hosts.toml:1: user admin needs a password_file"));
  REQUIRE(Contains(Refusal("[[do.host]]\nurl = \"a.lab\"\npassword_file = \"a\"\n", {}),
                   "hosts.toml:1: there is a password_file, and no user"));
  const ListedHost nobody = {.access = {.password_file = "usual.password"}};
  REQUIRE(Read("[[do.host]]\nurl = \"a.lab\"\nuser = \"admin\"\n", nobody).ok());
}

TEST_CASE("the options of a listed host name its place where they are wrong") {
  const doubles::TemporaryFolder files;
  const std::string password = files.Write("password", "secret\n");
  const HostAccess access = {
      .user = "root", .password_file = password, .ca_file = "", .insecure = true};
  std::vector<ListedHost> hosts = {
      {.url = "https://a.lab", .access = access, .place = "--host"},
      {.url = "https://b.lab:8443", .access = {.insecure = true}, .place = "hosts.toml:1"}};
  const auto options = HostOptionsOf(hosts);
  REQUIRE(options->size() == 2);
  REQUIRE(options->at(0).access.user == "root");
  REQUIRE(options->at(0).access.password == "secret");
  REQUIRE(options->at(1).access.user.empty());
  REQUIRE(options->at(1).name == "https://b.lab:8443");

  const auto refusal = [&](ListedHost host) {
    host.place = "hosts.toml:9";
    std::vector<ListedHost> more = hosts;
    more.push_back(std::move(host));
    return runtime::Message(HostOptionsOf(more).status());
  };
  REQUIRE(Contains(refusal({.url = "ftp://c.lab"}), "hosts.toml:9: URL \"ftp://c.lab\""));
  REQUIRE(Contains(refusal({.url = "a.lab:443", .access = access}),
                   "hosts.toml:9: a.lab:443 is listed before, at --host"));
  REQUIRE(Contains(refusal({.url = "c.lab", .access = {.user = "root", .insecure = true}}),
                   "hosts.toml:9: user root needs a password file"));
  REQUIRE(Contains(refusal({.url = "c.lab", .access = {.password_file = password}}),
                   "hosts.toml:9: password file " + password + " needs a user"));
  const HostAccess lost = {.user = "root", .password_file = "no/such/file", .insecure = true};
  REQUIRE(Contains(refusal({.url = "c.lab", .access = lost}), "hosts.toml:9: "));
  REQUIRE(Contains(refusal({.url = "c.lab", .access = {.ca_file = password}}), "hosts.toml:9: "));
}

TEST_CASE("hosts share the password of a pipe, which can be read once") {
  std::array<int, 2> ends = {};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  REQUIRE(::write(ends[1], "secret\n", 7) == 7);
  ::close(ends[1]);
  const HostAccess access = {
      .user = "root", .password_file = "/dev/fd/" + std::to_string(ends[0]), .insecure = true};
  const auto options = HostOptionsOf(std::vector<ListedHost>{
      {.url = "https://a.lab", .access = access}, {.url = "https://b.lab", .access = access}});
  ::close(ends[0]);
  REQUIRE(options.status() == absl::OkStatus());
  REQUIRE(options->at(0).access.password == "secret");
  REQUIRE(options->at(1).access.password == "secret");
}

}  // namespace shoal::operate
