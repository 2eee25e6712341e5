// SPDX-License-Identifier: Apache-2.0
#include "cli/diagnosis/process_health.h"

#include <chrono>
#include <string_view>

#include "platform/http/address.h"
#include "platform/http/fetch.h"
#include "platform/transport/channel.h"
#include "platform/transport/health_client.h"

namespace shoal::cli {
namespace {

constexpr std::string_view kHttp = "http://";
constexpr std::string_view kUnix = "unix:";

absl::Status CheckHttp(const std::string& rest, std::chrono::milliseconds timeout) {
  const std::size_t slash = rest.find('/');
  const std::string target = slash == std::string::npos ? "/" : rest.substr(slash);
  SHOAL_ASSIGN_OR_RETURN(const http::ClientResponse response,
                         http::Fetch(rest.substr(0, slash), {.target = target}, timeout));
  if (response.status == 200) return absl::OkStatus();
  return runtime::Unavailable("it answers " + std::to_string(response.status));
}

}  // namespace

absl::Status CheckAddress(const std::string& address, runtime::Duration timeout) {
  if (address.starts_with(kHttp)) {
    return CheckHttp(address.substr(kHttp.size()),
                     std::chrono::duration_cast<std::chrono::milliseconds>(timeout));
  }
  if (!address.starts_with(kUnix)) SHOAL_RETURN_IF_ERROR(http::ParseAddress(address).status());
  return transport::CheckHealth(transport::CreateChannel(address), timeout);
}

}  // namespace shoal::cli
