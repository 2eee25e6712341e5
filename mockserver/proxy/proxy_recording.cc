// SPDX-License-Identifier: Apache-2.0
#include "mockserver/proxy/proxy_recording.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "platform/content/parse_json.h"
#include "redfish/capture/capture_writer.h"
#include "redfish/capture/manifest.h"
#include "redfish/capture/percent_encoding.h"
#include "redfish/capture/uri.h"
#include "redfish/discovery/answer.h"
#include "redfish/discovery/links.h"

namespace shoal::mockserver {
namespace {

namespace fs = std::filesystem;

constexpr const char* kJournal = ".proxy/journal";
constexpr const char* kOthers[] = {"redfish", "manifest.json", ".crawl"};

Json HeaderOf(const RecordingOptions& options) {
  Json redaction = nullptr;
  if (options.redaction) redaction = {{"serial_numbers", options.redaction->serial_numbers}};
  return {
      {"format", "shoal-proxy/1"}, {"source", options.source}, {"redaction", std::move(redaction)}};
}

absl::Status CheckFolder(const RecordingOptions& options) {
  SHOAL_RETURN_IF_ERROR(redfish::CaptureWriter::Check(options.folder));
  const fs::path folder(options.folder);
  std::error_code error;
  if (fs::exists(folder / kJournal, error)) return absl::OkStatus();
  for (const char* const other : kOthers) {
    if (!fs::exists(folder / other, error)) continue;
    return runtime::FailedPrecondition((folder / other).string() +
                                       " is not of a proxy's recording: that needs a folder of "
                                       "its own");
  }
  return absl::OkStatus();
}

// Returns null when `text` is not a JSON object.
Json ObjectIn(const std::string& text) {
  Json json = content::ParseJson(text);
  return json.is_object() ? json : Json();
}

// Returns the URI of the resource that `path` addresses, as the resource itself writes it where the
// two differ only in escapes.
std::string UriOf(const std::string& path, const Json& body) {
  std::string uri = redfish::CanonicalUri(path);
  std::string own = redfish::LinkTarget(body);
  return own != uri && redfish::PercentDecoded(own) == redfish::PercentDecoded(uri) ? own : uri;
}

bool SaysWhatIsThere(const RecordedRequest& request, const discovery::Answer& answer) {
  const int status = answer.entry.status;
  // A host that is starting may lack its root for a while.
  const bool is_gone = (status == 404 || status == 410) && answer.link.uri != redfish::kServiceRoot;
  return request.method == Method::kGet && !answer.is_damaged && (status == 200 || is_gone) &&
         redfish::CaptureFileOf(answer.link.uri).has_value();
}

}  // namespace

ProxyRecording::ProxyRecording(RecordingOptions options, const runtime::Clock& clock,
                               std::string path, std::unique_ptr<discovery::Journal> journal)
    : options_(std::move(options)),
      clock_(clock),
      path_(std::move(path)),
      journal_(std::move(journal)) {}

absl::StatusOr<std::unique_ptr<ProxyRecording>> ProxyRecording::Open(RecordingOptions options,
                                                                     const runtime::Clock& clock) {
  SHOAL_RETURN_IF_ERROR(CheckFolder(options));
  std::string path = (fs::path(options.folder) / kJournal).string();
  SHOAL_ASSIGN_OR_RETURN(auto journal, discovery::Journal::Open(path, HeaderOf(options)));
  std::unique_ptr<ProxyRecording> recording(
      new ProxyRecording(std::move(options), clock, std::move(path), std::move(journal)));
  if (recording->exchanges() == 0) return recording;
  const auto written = recording->Write();
  if (!written.ok() && !absl::IsNotFound(written.status())) return written.status();
  return recording;
}

absl::Status ProxyRecording::Add(const RecordedRequest& request,
                                 const http::ClientResponse& response, double milliseconds) {
  std::error_code error;
  const auto bytes = fs::file_size(path_, error);
  if (!error && bytes >= static_cast<std::uintmax_t>(options_.max_bytes)) {
    return runtime::ResourceExhausted(path_ + " has " + std::to_string(options_.max_bytes) +
                                      " bytes, the limit");
  }
  const redfish::RedactionOptions* const redaction =
      options_.redaction ? &*options_.redaction : nullptr;
  Json said = ObjectIn(response.body);
  const std::string uri = UriOf(request.target, said);
  const bool has_query = request.target.find('?') != std::string::npos;
  const discovery::Link link{
      uri, has_query ? discovery::PageTarget(request.target, options_.address) : uri};
  const discovery::Answer answer =
      discovery::AnswerFrom(link, 0, response, milliseconds, redaction);
  Json record = answer.ToJson();
  record["method"] = std::string(Name(request.method));
  if (!SaysWhatIsThere(request, answer)) record[discovery::kAside] = true;
  if (Json sent = ObjectIn(request.body); sent.is_object()) {
    if (redaction != nullptr) redfish::Redact(sent, *redaction);
    record["request"] = std::move(sent);
  }
  if (answer.body.is_null() && said.is_object()) {
    if (redaction != nullptr) redfish::Redact(said, *redaction);
    record["said"] = std::move(said);
  }
  return journal_->Append(record);
}

absl::StatusOr<discovery::Assembled> ProxyRecording::Write() {
  SHOAL_RETURN_IF_ERROR(journal_->Sync());
  auto assembled =
      discovery::Assemble(*journal_, options_.folder, options_.address,
                          {.source = options_.source, .finished = discovery::DateOf(clock_)});
  if (!absl::IsDataLoss(assembled.status())) return assembled;
  return runtime::NotFound(options_.folder +
                           " is no capture yet: " + runtime::Message(assembled.status()));
}

}  // namespace shoal::mockserver
