// SPDX-License-Identifier: Apache-2.0
// The hosts that one command operates, each with its own login, trust and capture. A file lists
// them in the syntax of platform/runtime/config.h:
//
//   [[do.host]]
//   url = "https://bmc1.lab"
//   user = "root"
//   password_file = "secrets/bmc1"
//   capture = "captures/bmc1"
//
// The other keys are those of HostAccess. Paths are relative to the working directory, as those of
// flags are, and no key holds a password.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "operate/host_access.h"
#include "platform/runtime/config.h"
#include "platform/runtime/status.h"

namespace shoal::operate {

struct ListedHost {
  std::string url = {};
  // The name or path of an earlier capture of it; empty for none.
  std::string capture = {};
  HostAccess access = {};
  // Where it is listed, for errors: "hosts.toml:3" or "--host".
  std::string place = {};

  void Visit(runtime::Visitor& visitor);
};

// Reads the hosts of a file, each of which has from `usual` what its table does not say. A table
// that names another user than `usual` says its own password file. INVALID_ARGUMENT naming file and
// line, or that there is no host; other errors are those of runtime::ReadFile.
absl::StatusOr<std::vector<ListedHost>> ReadHosts(const std::string& path, const ListedHost& usual);

// Returns the options for each host, with each password file read once. Errors are those of
// HostOptionsOf for one host, and INVALID_ARGUMENT for one that is listed twice; they name the
// place.
absl::StatusOr<std::vector<HostOptions>> HostOptionsOf(std::span<const ListedHost> hosts);

}  // namespace shoal::operate
