// SPDX-License-Identifier: Apache-2.0
#include "mockserver/rules/route.h"

#include <tuple>
#include <utility>

#include "mockserver/messages/json_object.h"

namespace shoal::mockserver {
namespace {

bool IsTaught(Method method) {
  return method == Method::kGet || method == Method::kPatch || method == Method::kPost ||
         method == Method::kPut || method == Method::kDelete;
}

}  // namespace

Route::Route(std::string name, Method method, Glob path)
    : name_(std::move(name)), method_(method), path_(std::move(path)) {}

absl::StatusOr<Route> Route::Parse(const Json& object) {
  SHOAL_ASSIGN_OR_RETURN(std::string name, NameMember(object, "name"));
  SHOAL_ASSIGN_OR_RETURN(const std::string method, NeededText(object, "method"));
  if (!IsTaught(ParseMethod(method))) {
    return runtime::InvalidArgument("\"method\" is GET, PATCH, POST, PUT or DELETE");
  }
  SHOAL_ASSIGN_OR_RETURN(std::string path, NeededText(object, "path"));
  absl::StatusOr<Glob> glob = Glob::Parse(std::move(path));
  if (!glob.ok()) return runtime::Annotate(glob.status(), "\"path\"");
  return Route(std::move(name), ParseMethod(method), *std::move(glob));
}

std::optional<std::vector<std::string_view>> Route::Match(Method method,
                                                          std::string_view path) const {
  const bool fits = method == method_ || (reads() && method == Method::kHead);
  return fits ? path_.Match(path) : std::nullopt;
}

void Route::Narrow(std::size_t body_members, bool on_state) {
  body_members_ = body_members;
  on_state_ = on_state;
}

bool ActsBefore(const Route& a, const Route& b) {
  const auto rank = [](const Route& route) {
    return std::tuple(route.path_.literal_length(), route.body_members_, route.on_state_);
  };
  return rank(a) != rank(b) ? rank(a) > rank(b) : a.name_ < b.name_;
}

}  // namespace shoal::mockserver
