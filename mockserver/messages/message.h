// SPDX-License-Identifier: Apache-2.0
// A request to a simulated service and its response, without a network: what Instance::Handle takes
// and returns, and what the HTTP front translates.
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

// Converts "GET" to kGet, and a method that the service does not know to kOther.
Method ParseMethod(std::string_view name);
std::string_view Name(Method method);
// Returns whether the method is GET or HEAD.
bool Reads(Method method);
// Returns whether the method is GET, HEAD or OPTIONS, which change nothing (RFC 9110, section
// 9.2.1).
bool IsSafe(Method method);

// The methods that a resource takes beyond GET, HEAD and OPTIONS.
struct Methods {
  bool post = false;
  bool put = false;
  bool patch = false;
  bool remove = false;

  bool Take(Method method) const;
};

// Returns the value of the Allow header, such as "GET, HEAD, PATCH". The text is static.
std::string_view AllowText(Methods methods);

// A request. It borrows everything from the caller for the length of the call.
struct Request {
  Method method = Method::kGet;
  // The path, possibly with a query. A trailing slash, doubled slashes and a fragment are
  // tolerated.
  std::string_view uri;
  std::string_view body = {};
  // The parsed body where the caller has it, and `body` is either empty or its text.
  const Json* json = nullptr;
  // Header values. A value is empty when the header is absent.
  std::string_view if_match = {};
  std::string_view if_none_match = {};
  std::string_view odata_version = {};
  std::string_view content_type = {};
  std::string_view accept = {};
  std::string_view authorization = {};
  std::string_view auth_token = {};
};

// The header lines that every response of a service has.
inline constexpr std::string_view kProtocolLines =
    "OData-Version: 4.0\r\nCache-Control: no-cache\r\n";

struct Response {
  int status = 200;
  // The body as serialised JSON. It is null when there is no body (204, 304), and for a changed
  // resource where InstanceOptions::writes_texts is off. A response to HEAD has the body of GET,
  // for its length. The same text object is returned until the resource changes, and is shared by
  // all instances that have not changed it, so its address is a cache key for as long as the
  // pointer is held.
  std::shared_ptr<const std::string> body = {};
  // The parsed body. It is null when there is no body or when a fault has malformed it.
  std::shared_ptr<const Json> json = {};
  std::string_view content_type = "application/json";
  // Header values. A value is empty when the header is absent. `allow` is static text; `link` lives
  // as long as the world.
  std::string etag = {};
  std::string location = {};
  std::string_view allow = {};
  std::string_view link = {};
  // Less common headers.
  std::vector<std::pair<std::string, std::string>> headers = {};
  // When set, this is not yet the answer: the external handler must be asked, and its reply passed
  // to Instance::Complete. A caller that does not ask handlers returns the rest of this response, a
  // 501.
  std::shared_ptr<const ExternalCall> external = {};
  // When not 0, the body is this event stream of the instance (Instance::TakeStreamText), which has
  // no end.
  std::uint64_t event_stream = 0;
  // What faults do to the answer on its way (fault.h): a dropped answer reaches nobody, and a
  // delayed one arrives after `latency`. With a virtual clock that time has already passed.
  bool dropped = false;
  std::chrono::milliseconds latency{0};

  // Returns the value of one of `headers`, or an empty text when it is absent.
  std::string Header(std::string_view name) const;
};

}  // namespace shoal::mockserver
