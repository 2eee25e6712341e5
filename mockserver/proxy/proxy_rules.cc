// SPDX-License-Identifier: Apache-2.0
#include "mockserver/proxy/proxy_rules.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "redfish/capture/percent_encoding.h"
#include "redfish/capture/uri.h"

namespace shoal::mockserver {
namespace {

constexpr std::string_view kRedfish = "/redfish";

bool IsBelowRedfish(std::string_view path) {
  return path == kRedfish || path.starts_with(std::string(kRedfish) + "/");
}

// Returns "/path?query" of a target in absolute form (RFC 9112, section 3.2.2).
std::string_view OriginForm(std::string_view target) {
  const std::size_t scheme = target.find("://");
  if (target.starts_with('/') || scheme == std::string_view::npos) return target;
  const std::size_t slash = target.find('/', scheme + 3);
  return slash == std::string_view::npos ? std::string_view("/") : target.substr(slash);
}

// Returns whether the path has a single reading: no dot segments, no extra slash, nothing escaped
// twice.
bool IsUnambiguous(std::string_view path) {
  const std::string decoded = redfish::PercentDecoded(path);
  if (std::count(decoded.begin(), decoded.end(), '/') !=
      std::count(path.begin(), path.end(), '/')) {
    return false;
  }
  const bool strange = std::any_of(decoded.begin(), decoded.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '\\' || c == '%';
  });
  if (strange || decoded.find("://") != std::string::npos) return false;
  for (std::string_view rest = decoded; !rest.empty();) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    // This catches "..;x" as well: for some hosts path parameters are not part of a segment's name.
    const std::string_view segment = rest.substr(0, std::min(end, rest.find(';')));
    if (segment == "." || segment == "..") return false;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return true;
}

}  // namespace

absl::StatusOr<ProxyRules> ProxyRules::Parse(const std::vector<std::string>& allowed) {
  ProxyRules rules;
  for (const std::string& text : allowed) {
    const auto wrong = [&](const std::string& why) {
      return runtime::InvalidArgument("mutation \"" + text + "\": " + why);
    };
    const std::size_t blank = std::min(text.find(' '), text.size());
    const Method method = ParseMethod(std::string_view(text).substr(0, blank));
    if (IsSafe(method) || method == Method::kOther) {
      return wrong("it begins with POST, PATCH, PUT or DELETE, and a blank");
    }
    const std::string pattern = text.substr(std::min(blank + 1, text.size()));
    if (!IsBelowRedfish(pattern) || redfish::CanonicalUri(pattern) != pattern) {
      return wrong("its path is not one below /redfish");
    }
    if (pattern.find("**") != std::string::npos) {
      return wrong("mutations are named one by one, and ** stands for many");
    }
    absl::StatusOr<Glob> glob = Glob::Parse(pattern);
    if (!glob.ok()) return wrong(runtime::Message(glob.status()));
    rules.allowed_.push_back({method, *std::move(glob)});
  }
  return rules;
}

absl::StatusOr<std::string> ProxyRules::TargetOf(Method method, std::string_view target) const {
  target = OriginForm(target);
  const std::string_view path = target.substr(0, target.find_first_of("?#"));
  if (!IsUnambiguous(path)) {
    return runtime::InvalidArgument("the path can be read in more than one way");
  }
  if (!IsBelowRedfish(redfish::CanonicalUri(path))) {
    return runtime::NotFound("nothing outside /redfish is passed on");
  }
  if (method == Method::kOther) return absl::UnimplementedError("no method of Redfish");
  if (IsSafe(method)) return std::string(target.substr(0, target.find('#')));
  const std::string canonical = redfish::CanonicalUri(path);
  const bool plain =
      path.size() == target.size() && target.find_first_of("%;") == std::string_view::npos;
  const bool named =
      plain && std::any_of(allowed_.begin(), allowed_.end(), [&](const Mutation& mutation) {
        return mutation.method == method && mutation.path.Match(canonical).has_value();
      });
  if (named) return canonical;
  return absl::PermissionDeniedError(std::string(Name(method)) + " " + canonical);
}

}  // namespace shoal::mockserver
