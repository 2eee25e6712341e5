// SPDX-License-Identifier: Apache-2.0
#include "redfish/discovery/answer.h"

#include <string_view>
#include <utility>

#include "platform/content/nesting.h"
#include "platform/content/parse_json.h"
#include "redfish/capture/uri.h"

namespace shoal::discovery {
namespace {

using Json = nlohmann::json;

bool BeginsAsObject(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

void ReadBody(const http::ClientResponse& response, Answer& answer) {
  if (response.status != 200) return;
  Json body = content::ParseJson(response.body);
  if (body.is_object()) {
    answer.body = std::move(body);
    return;
  }
  if (body.is_discarded() && content::NestsDeeperThan(response.body, content::kMaximumNesting)) {
    answer.entry.note = "nests too deep";
    return;
  }
  answer.entry.note = "no JSON object";
  answer.is_damaged = body.is_discarded() && BeginsAsObject(response.body);
}

}  // namespace

Json Answer::ToJson() const {
  Json json = entry.ToJson();
  json["uri"] = link.uri;
  json["target"] = link.target;
  json["depth"] = depth;
  if (redacted > 0) json["redacted"] = redacted;
  if (!body.is_null()) json["body"] = body;
  return json;
}

absl::StatusOr<Answer> Answer::FromJson(Json json) {
  Answer answer;
  answer.link = {redfish::TextAt(json, "uri"), redfish::TextAt(json, "target")};
  if (answer.link.uri.empty() || answer.link.target.empty()) {
    return runtime::DataLoss("the record names no URI");
  }
  answer.entry = redfish::ManifestEntry::From(json);
  answer.depth = redfish::IntegerAt(json, "depth");
  answer.redacted = redfish::IntegerAt(json, "redacted");
  if (const auto body = json.find("body"); body != json.end()) answer.body = std::move(*body);
  return answer;
}

Answer AnswerFrom(const Link& link, std::int64_t depth, const http::ClientResponse& response,
                  double milliseconds, const redfish::RedactionOptions* redaction) {
  Answer answer{.link = link, .depth = depth};
  answer.entry.status = response.status;
  answer.entry.milliseconds = milliseconds;
  answer.entry.methods = redfish::MethodsIn(response.headers.Find("Allow"));
  for (const auto& [name, value] : response.headers) {
    if (!redfish::IsCredentialHeader(name)) answer.entry.headers.emplace(name, value);
  }
  ReadBody(response, answer);
  if (redaction != nullptr) answer.redacted = redfish::Redact(answer.body, *redaction);
  return answer;
}

}  // namespace shoal::discovery
