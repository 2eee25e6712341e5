// SPDX-License-Identifier: Apache-2.0
// Which requests something that was taught is for, and which of several that fit comes first.
//
// As JSON: "name" (1 to 64 letters, digits, '-', '_' and '.'), "method" (GET, which HEAD goes with,
// PATCH, POST, PUT or DELETE) and "path" (a glob, glob.h). The order in which things were taught
// does not matter: of those that fit, the one that says most closely what it is for acts. That is
// the one with the most literal characters in its path; then with the most conditions on the body;
// then with a condition on the state; then the one whose name is first.
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
  // Reads the three members of `object` and ignores its others. INVALID_ARGUMENT naming the member.
  static absl::StatusOr<Route> Parse(const Json& object);

  // What the wildcards of the path stand for; nothing when the request is not for this. `path` is
  // canonical.
  std::optional<std::vector<std::string_view>> Match(Method method, std::string_view path) const;

  // Conditions beyond method and path, for ActsBefore.
  void Narrow(std::size_t body_members, bool on_state);

  const std::string& name() const { return name_; }
  Method method() const { return method_; }
  const Glob& path() const { return path_; }
  bool reads() const { return method_ == Method::kGet; }

  // A strict order of all routes with different names.
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
