// SPDX-License-Identifier: Apache-2.0
// Which requests a rule or an external handler is for, and which of several that match acts.
//
// As JSON, a route has a "name" (1 to 64 letters, digits, '-', '_' and '.'), a "method" (GET, which
// includes HEAD, PATCH, POST, PUT or DELETE) and a "path" (a glob, glob.h). The order in which
// rules and handlers were taught does not matter: the most specific match acts. That is the one
// with the most literal characters in its path; then the one with the most conditions on the body;
// then one with a condition on the state; then the one whose name is first.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mockserver/messages/glob.h"
#include "mockserver/messages/message.h"
#include "platform/runtime/status.h"

namespace shoal::mockserver {

class Route {
 public:
  // Reads the three members of `object` and ignores all others. INVALID_ARGUMENT naming the member.
  static absl::StatusOr<Route> Parse(const Json& object);

  // Returns what the wildcards of the path stand for, or nothing when the request does not match.
  // REQUIRES: `path` is canonical.
  std::optional<std::vector<std::string_view>> Match(Method method, std::string_view path) const;

  // Sets the conditions beyond method and path, for ActsBefore.
  void Narrow(std::size_t body_members, bool on_state);

  const std::string& name() const { return name_; }
  Method method() const { return method_; }
  const Glob& path() const { return path_; }
  bool reads() const { return method_ == Method::kGet; }

  // Returns whether `a` precedes `b` in a strict order of all routes with different names.
  friend bool ActsBefore(const Route& a, const Route& b);

 private:
  Route(std::string name, Method method, Glob path);

  std::string name_;
  Method method_;
  Glob path_;
  std::size_t body_members_ = 0;
  bool on_state_ = false;
};

bool ActsBefore(const Route& a, const Route& b);

}  // namespace shoal::mockserver
