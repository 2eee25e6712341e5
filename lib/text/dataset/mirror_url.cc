// SPDX-License-Identifier: Apache-2.0
#include "text/dataset/mirror_url.h"

#include <algorithm>
#include <utility>

#include "platform/http/address.h"

namespace shoal::dataset {
namespace {

constexpr std::string_view kSchemeEnd = "://";

}  // namespace

bool IsUrl(std::string_view text) { return text.find(kSchemeEnd) != std::string_view::npos; }

absl::StatusOr<MirrorUrl> ParseMirrorUrl(std::string_view text) {
  const auto wrong = [&](const std::string& why) {
    return runtime::InvalidArgument("URL \"" + std::string(text) + "\": " + why);
  };
  const std::size_t scheme_end = text.find(kSchemeEnd);
  const std::string_view scheme = text.substr(0, scheme_end);
  if (scheme != "http" && scheme != "https") return wrong("the scheme is neither http nor https");
  if (std::any_of(text.begin(), text.end(), [](char c) { return c <= ' ' || c > '~'; })) {
    return wrong("has a character that is none of a URL");
  }
  if (text.find_first_of("?#") != std::string_view::npos) return wrong("has a query or a fragment");
  MirrorUrl url;
  url.secure = scheme == "https";
  const std::string_view rest = text.substr(scheme_end + kSchemeEnd.size());
  const std::size_t slash = rest.find('/');
  url.path = slash == std::string_view::npos ? "/" : std::string(rest.substr(slash));
  if (!url.path.ends_with('/')) url.path += '/';
  auto address = http::AddressOf(rest.substr(0, slash), url.secure);
  if (!address.ok()) return wrong(runtime::Message(address.status()));
  url.address = *std::move(address);
  return url;
}

}  // namespace shoal::dataset
