// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/expanded_answer.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "redfish/capture/uri.h"

namespace shoal::actor {
namespace {

using Json = nlohmann::json;

// Returns the ETag of a body as a header has it, in quotes; empty when there is none.
std::string QuotedEtag(const Json& body) {
  std::string etag = redfish::TextAt(body, "@odata.etag");
  if (etag.empty() || etag.starts_with('"') || etag.starts_with("W/\"")) return etag;
  return '"' + etag + '"';
}

ReadAnswer AnswerOf(const std::string& uri, Json body, BodyTexts& texts) {
  ReadAnswer answer;
  answer.request.method = "GET";
  answer.request.uri = uri;
  answer.request.resource = uri;
  answer.text = texts.ReadParsed(body);
  answer.response.status = 200;
  answer.response.etag = QuotedEtag(body);
  answer.response.json = std::make_shared<const Json>(std::move(body));
  return answer;
}

}  // namespace

std::vector<ReadAnswer> TakeApart(const redfish::Candidate& request,
                                  const ServiceResponse& response, BodyTexts& texts) {
  std::vector<ReadAnswer> answers;
  if (!request.expands() || response.status != 200) return answers;
  Json collection = *JsonOf(response);
  const auto members = collection.find("Members");
  if (members == collection.end() || !members->is_array()) return answers;
  for (Json& member : *members) {
    const std::string uri = redfish::LinkTarget(member);
    if (uri.empty()) continue;
    Json body = std::exchange(member, Json{{"@odata.id", uri}});
    if (body.size() < 2 || answers.size() >= kMaximumExpandedMembers) continue;
    answers.push_back(AnswerOf(uri, std::move(body), texts));
  }
  answers.insert(answers.begin(), AnswerOf(request.resource, std::move(collection), texts));
  return answers;
}

}  // namespace shoal::actor
