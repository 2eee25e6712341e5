// SPDX-License-Identifier: Apache-2.0
// A request to a simulated service and its response, without a network: what Instance::Handle takes
// and gives, and what the HTTP front translates.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shoal::mockserver {

using Json = nlohmann::json;

struct ExternalCall;

enum class Method : std::uint8_t { kGet, kHead, kPatch, kPost, kPut, kDelete, kOptions, kOther };

// "GET" -> kGet; kOther for what the service does not know.
Method ParseMethod(std::string_view name);
std::string_view Name(Method method);
// GET and HEAD.
bool Reads(Method method);
// Those and OPTIONS: they change nothing (RFC 9110, section 9.2.1).
bool IsSafe(Method method);

// What a resource takes beyond GET, HEAD and OPTIONS.
struct Methods {
  bool post = false;
  bool put = false;
  bool patch = false;
  bool remove = false;

  bool Take(Method method) const;
};

// "GET, HEAD, PATCH"; the text is static.
std::string_view AllowText(Methods methods);

// Borrows all of it from the caller for the length of the call.
struct Request {
  Method method = Method::kGet;
  // Path, maybe with a query; a trailing slash, doubled slashes and a fragment are forgiven.
  std::string_view uri;
  std::string_view body = {};
  // The body as a value, where the caller has it; `body` is then empty.
  const Json* json = nullptr;
  // Header values; empty when absent.
  std::string_view if_match = {};
  std::string_view if_none_match = {};
  std::string_view odata_version = {};
  std::string_view content_type = {};
  std::string_view accept = {};
  std::string_view authorization = {};
  std::string_view auth_token = {};
};

// The header lines of every answer of a service.
inline constexpr std::string_view kProtocolLines =
    "OData-Version: 4.0\r\nCache-Control: no-cache\r\n";

struct Response {
  int status = 200;
  // Serialised JSON; null for none (204, 304) and as InstanceOptions::writes_texts says. HEAD has
  // what GET would answer, for its length. The same text object is handed out until the resource
  // changes, across instances while none changed it, so its address is a cache key for as long as
  // the pointer is held.
  std::shared_ptr<const std::string> body = {};
  // The same parsed; null when body is, or is malformed by a fault.
  std::shared_ptr<const Json> json = {};
  std::string_view content_type = "application/json";
  // Headers; empty when absent. `allow` is static text; `link` has the world's lifetime.
  std::string etag = {};
  std::string location = {};
  std::string_view allow = {};
  std::string_view link = {};
  // Rarer ones.
  std::vector<std::pair<std::string, std::string>> headers = {};
  // Not the answer yet: a handler outside is to be asked, and Instance::Complete told what it says.
  // Who does not ask passes the rest on as it is, a 501.
  std::shared_ptr<const ExternalCall> external = {};
  // Not 0: the body is this event stream of the instance (Instance::TakeStreamText), without end.
  std::uint64_t event_stream = 0;
  // What faults do to the answer on its way (fault.h): nobody gets it; it takes so long. With a
  // virtual clock that time has passed already.
  bool dropped = false;
  std::chrono::milliseconds latency{0};

  // Of the rarer headers; empty when absent.
  std::string Header(std::string_view name) const;
};

}  // namespace shoal::mockserver
