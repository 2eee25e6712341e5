// SPDX-License-Identifier: Apache-2.0
#include "redfish/discovery/assembly.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/time/clock.h>
#include <absl/time/time.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "platform/content/content_key.h"
#include "redfish/capture/capture_writer.h"
#include "redfish/capture/paged_collection.h"
#include "redfish/capture/uri.h"
#include "redfish/discovery/answer.h"

namespace shoal::discovery {

namespace {

using Json = nlohmann::json;

struct Kept {
  Journal::Position position = {};
  redfish::ManifestEntry entry = {};
  // The body's own "@odata.id", and a digest of the body for comparisons; empty without a body.
  std::string own_uri = {};
  std::string digest = {};
};

// Resources by canonical URI, and pages by PageTarget (links.h).
struct Contents {
  std::map<std::string, Kept, std::less<>> resources;
  std::map<std::string, Json, std::less<>> pages;
  std::int64_t redacted = 0;
};

absl::StatusOr<Contents> ReadContents(const Journal& journal) {
  Contents contents;
  SHOAL_RETURN_IF_ERROR(journal.ForEach([&](const Json& record, Journal::Position position) {
    if (record.contains(kAside)) return absl::OkStatus();
    SHOAL_ASSIGN_OR_RETURN(Answer answer, Answer::FromJson(record));
    contents.redacted += answer.redacted;
    if (answer.link.target != answer.link.uri) {
      if (!answer.body.is_null()) {
        contents.pages.insert_or_assign(answer.link.target, std::move(answer.body));
      }
      return absl::OkStatus();
    }
    Kept kept{.position = position, .entry = std::move(answer.entry)};
    if (!answer.body.is_null()) {
      kept.own_uri = redfish::LinkTarget(answer.body);
      kept.digest =
          content::Sha256Hex(answer.body.dump(-1, ' ', false, Json::error_handler_t::replace));
    }
    contents.resources.insert_or_assign(answer.link.uri, std::move(kept));
    return absl::OkStatus();
  }));
  return contents;
}

void Respell(std::map<std::string, Kept, std::less<>>& resources) {
  std::vector<std::string> uris;
  for (const auto& [uri, kept] : resources) {
    if (!kept.digest.empty()) uris.push_back(uri);
  }
  const Spelling spelling(uris);
  for (const std::string& uri : uris) {
    const std::string better = spelling.Of(uri);
    const auto at = resources.find(uri);
    if (better == uri || !absl::EqualsIgnoreCase(at->second.own_uri, uri)) continue;
    const auto other = resources.find(better);
    const bool taken = other != resources.end() && !other->second.digest.empty();
    if (taken && other->second.digest != at->second.digest) continue;
    auto moved = resources.extract(at);
    if (taken) continue;
    moved.key() = better;
    resources.erase(better);
    resources.insert(std::move(moved));
  }
}

absl::StatusOr<Json> BodyOf(const Journal& journal, const Contents& contents, const Kept& kept,
                            const std::string& address) {
  SHOAL_ASSIGN_OR_RETURN(Json record, journal.Read(kept.position));
  Json body = std::move(record.at("body"));
  redfish::AppendPages(body, [&](std::string_view uri) -> const Json* {
    const auto page = contents.pages.find(PageTarget(uri, address));
    return page == contents.pages.end() ? nullptr : &page->second;
  });
  return body;
}

}  // namespace

std::string DateOf(const runtime::Clock& clock) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ",
                          absl::FromUnixNanos(static_cast<std::int64_t>(clock.UnixNanos())),
                          absl::UTCTimeZone());
}

absl::StatusOr<Assembled> Assemble(const Journal& journal, const std::string& folder,
                                   const std::string& address, redfish::Manifest manifest) {
  SHOAL_ASSIGN_OR_RETURN(Contents contents, ReadContents(journal));
  Respell(contents.resources);
  SHOAL_ASSIGN_OR_RETURN(const auto writer, redfish::CaptureWriter::Create(folder));
  Assembled assembled{.redacted = contents.redacted};
  manifest.redacted = contents.redacted;
  for (const auto& [uri, kept] : contents.resources) {
    manifest.resources.emplace(uri, kept.entry);
    if (kept.digest.empty()) {
      ++assembled.absent;
      continue;
    }
    SHOAL_ASSIGN_OR_RETURN(const Json body, BodyOf(journal, contents, kept, address));
    SHOAL_RETURN_IF_ERROR(writer->Add(uri, body));
    ++assembled.resources;
  }
  SHOAL_RETURN_IF_ERROR(writer->Commit(std::move(manifest)));
  return assembled;
}

namespace {

// Calls `visit` with the end of each segment, first to last.
template <typename Visit>
void ForEachSegment(std::string_view uri, const Visit& visit) {
  for (std::size_t begin = 0; begin < uri.size();) {
    const std::size_t end = std::min(uri.find('/', begin + 1), uri.size());
    visit(uri.substr(begin, end - begin), end);
    begin = end;
  }
}

}  // namespace

Spelling::Spelling(const std::vector<std::string>& uris) {
  std::map<std::string, std::map<std::string, int, std::less<>>> counts;
  for (const std::string& uri : uris) {
    const std::string lower = absl::AsciiStrToLower(uri);
    ForEachSegment(uri, [&](std::string_view segment, std::size_t end) {
      ++counts[lower.substr(0, end)][std::string(segment)];
    });
  }
  for (const auto& [prefix, spellings] : counts) {
    const auto most =
        std::max_element(spellings.begin(), spellings.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    segments_.emplace(prefix, most->first);
  }
}

std::string Spelling::Of(std::string_view uri) const {
  const std::string lower = absl::AsciiStrToLower(std::string(uri));
  std::string spelled;
  ForEachSegment(uri, [&](std::string_view segment, std::size_t end) {
    const auto found = segments_.find(std::string_view(lower).substr(0, end));
    spelled += found == segments_.end() ? segment : std::string_view(found->second);
  });
  return spelled;
}

}  // namespace shoal::discovery
