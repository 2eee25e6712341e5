// SPDX-License-Identifier: Apache-2.0
#include "operate/host_list.h"

#include <map>
#include <utility>

namespace shoal::operate {
namespace {

struct HostTables {
  std::vector<ListedHost> hosts = {};
  ListedHost usual;

  void Visit(runtime::Visitor& visitor) { visitor.Groups("host", hosts, usual); }
};

absl::Status CheckHost(const ListedHost& host, const ListedHost& usual) {
  const HostAccess& access = host.access;
  const bool has_own_file = access.password_file != usual.access.password_file;
  if (host.url.empty()) return runtime::InvalidArgument(host.place + ": the host has no url");
  if (access.user.empty() && has_own_file) {
    return runtime::InvalidArgument(host.place + ": there is a password_file, and no user");
  }
  const bool is_other = !usual.access.user.empty() && access.user != usual.access.user;
  if (is_other && !access.user.empty() && !has_own_file) {
    return runtime::InvalidArgument(host.place + ": user " + access.user +
                                    " needs a password_file, as that of " + usual.access.user +
                                    " is another user's");
  }
  return absl::OkStatus();
}

}  // namespace

void ListedHost::Visit(runtime::Visitor& visitor) {
  place = visitor.Place();
  visitor.Knob("url", url, {.help = "https://host[:port]"});
  visitor.Knob("capture", capture,
               {.help = "an earlier capture of the host; without it the host is crawled"});
  access.Visit(visitor);
}

absl::StatusOr<std::vector<ListedHost>> ReadHosts(const std::string& path,
                                                  const ListedHost& usual) {
  HostTables tables = {.usual = usual};
  tables.usual.url.clear();
  runtime::Config config;
  config.Add("do", tables);
  SHOAL_RETURN_IF_ERROR(config.Load(path, {}));
  if (tables.hosts.empty()) {
    return runtime::InvalidArgument(path + " lists no host: there is no [[do.host]]");
  }
  for (ListedHost& host : tables.hosts) {
    SHOAL_RETURN_IF_ERROR(CheckHost(host, usual));
    // The usual password is of no use to a host where nobody logs in.
    if (host.access.user.empty()) host.access.password_file.clear();
  }
  return std::move(tables.hosts);
}

absl::StatusOr<std::vector<HostOptions>> HostOptionsOf(std::span<const ListedHost> hosts) {
  std::vector<HostOptions> all;
  std::map<std::string, std::string> places;
  PasswordFiles passwords;
  for (const ListedHost& host : hosts) {
    absl::StatusOr<HostOptions> options = HostOptionsOf(host.access, host.url, passwords);
    if (!options.ok()) return runtime::Annotate(options.status(), host.place);
    const auto [known, is_new] = places.try_emplace(options->access.connection.address, host.place);
    if (!is_new) {
      return runtime::InvalidArgument(host.place + ": " + host.url + " is listed before, at " +
                                      known->second);
    }
    all.push_back(*std::move(options));
  }
  return all;
}

}  // namespace shoal::operate
