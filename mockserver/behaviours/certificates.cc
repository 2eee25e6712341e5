// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/certificates.h"

#include <optional>
#include <string>
#include <utility>

#include "mockserver/behaviours/x509.h"
#include "mockserver/messages/extended_info.h"
#include "mockserver/resources/members.h"
#include "redfish/capture/uri.h"
#include "redfish/schema/schema.h"

namespace shoal::mockserver {
namespace {

constexpr const char* kString = "CertificateString";
constexpr const char* kType = "CertificateType";

void Show(Editor& editor, ResourceId certificate, const Json& described) {
  const redfish::Schema& schema = editor.world().schema();
  const std::string type = editor.resource(certificate).odata_type;
  for (const auto& [name, value] : described.items()) {
    const std::string pointer = redfish::AppendPointer("", name);
    if (schema.Find(type, pointer) != nullptr) editor.Set(certificate, pointer, value);
  }
}

Response PostCertificate(Editor& editor, const Call& call) {
  const auto text = call.body.find(kString);
  if (text == call.body.end() || !text->is_string()) {
    return PostMember(editor, call.resource, call.body);
  }
  const auto described =
      DescribeCertificate(text->get<std::string>(), redfish::TextAt(call.body, kType));
  if (!described) {
    return ErrorResponse(
        400, {ExtendedInfo("PropertyValueFormatError", {Excerpt(*text, kString), kString},
                           redfish::AppendPointer("", kString))});
  }
  Json body = call.body;
  body[kString] = described->at(kString);
  Response response = PostMember(editor, call.resource, body);
  const auto made = response.status == 201 ? editor.Find(response.location) : std::nullopt;
  if (!made) return response;
  Show(editor, *made, *described);
  return Created(editor, *made);
}

Response WrongParameter(const Call& call, const std::string& name) {
  const Json value = call.body.value(name, Json());
  return ErrorResponse(400, "ActionParameterValueFormatError",
                       {Excerpt(value, name), name, call.action->name});
}

// Returns the resource of `type` that the parameter `name` links, or nothing.
std::optional<ResourceId> Given(const Editor& editor, const Call& call, const char* name,
                                const char* type) {
  const auto link = call.body.find(name);
  const auto id = link == call.body.end() ? std::nullopt : editor.Find(redfish::LinkTarget(*link));
  return id && editor.IsA(*id, type) ? id : std::nullopt;
}

Response Requested(const Call& call, const Json& parameters, const char* name, const Json& link) {
  SigningRequest request = MakeSigningRequest(parameters);
  if (!request.wrong_parameter.empty()) return WrongParameter(call, request.wrong_parameter);
  return JsonResponse(200, {{"CSRString", std::move(request.text)}, {name, link}});
}

Response GenerateCsr(Editor& editor, const Call& call) {
  const auto collection = Given(editor, call, "CertificateCollection", "CertificateCollection");
  if (!collection) return WrongParameter(call, "CertificateCollection");
  return Requested(call, call.body, "CertificateCollection",
                   {{"@odata.id", editor.Uri(*collection)}});
}

Response RequestAnew(Editor& editor, const Call& call) {
  Json parameters = call.body;
  const Json* const subject = editor.Read(call.resource, "/Subject");
  if (subject != nullptr && subject->is_object()) parameters.update(*subject);
  return Requested(call, parameters, "Certificate", {{"@odata.id", editor.Uri(call.resource)}});
}

Response ReplaceCertificate(Editor& editor, const Call& call) {
  const auto certificate = Given(editor, call, "CertificateUri", "Certificate");
  if (!certificate) return WrongParameter(call, "CertificateUri");
  const std::string type = redfish::TextAt(call.body, kType);
  const auto described = DescribeCertificate(redfish::TextAt(call.body, kString), type);
  if (!described) return WrongParameter(call, kString);
  Show(editor, *certificate, *described);
  editor.Set(*certificate, redfish::AppendPointer("", kType), type);
  Response response = Done(editor);
  response.location = editor.Uri(*certificate);
  return response;
}

}  // namespace

void AddCertificates(HandlerTable& handlers) {
  handlers.OnAction("CertificateService.GenerateCSR", &GenerateCsr);
  handlers.OnAction("CertificateService.ReplaceCertificate", &ReplaceCertificate);
  handlers.OnAction("Certificate.Rekey", &RequestAnew);
  handlers.OnAction("Certificate.Renew", &RequestAnew);
  handlers.On(Method::kPost, "CertificateCollection", &PostCertificate);
}

}  // namespace shoal::mockserver
