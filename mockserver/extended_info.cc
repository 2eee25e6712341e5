// SPDX-License-Identifier: Apache-2.0
#include "mockserver/extended_info.h"

#include <array>
#include <utility>

namespace shoal::mockserver {
namespace {

constexpr std::string_view kRegistry = "Base.1.22.";

struct Definition {
  std::string_view id;
  std::string_view severity;
  std::string_view text;
  std::string_view resolution;
};

// Base 1.22.1, the messages that handlers use.
constexpr std::array kDefinitions = {
    Definition{"Success", "OK", "The request completed successfully.", "None."},
    Definition{"GeneralError", "Critical",
               "A general error has occurred.  See Resolution for information on how to resolve "
               "the error, or @Message.ExtendedInfo if Resolution is not provided.",
               "None."},
    Definition{"PropertyUnknown", "Warning",
               "The property %1 is not in the list of valid properties for the resource.",
               "Remove the unknown property from the request body and resubmit the request if the "
               "operation failed."},
    Definition{"PropertyNotWritable", "Warning",
               "The property %1 is a read-only property and cannot be assigned a value.",
               "Remove the property from the request body and resubmit the request if the "
               "operation failed."},
    Definition{"PropertyValueTypeError", "Warning",
               "The value '%1' for the property %2 is not a type that the property can accept.",
               "Correct the value for the property in the request body and resubmit the request if "
               "the operation failed."},
    Definition{"PropertyValueNotInList", "Warning",
               "The value '%1' for the property %2 is not in the list of acceptable values.",
               "Choose a value from the enumeration list that the implementation can support and "
               "resubmit the request if the operation failed."},
    Definition{"PropertyValueOutOfRange", "Warning",
               "The value '%1' for the property %2 is not in the supported range of acceptable "
               "values.",
               "Correct the value for the property in the request body and resubmit the request if "
               "the operation failed."},
    Definition{"PropertyValueFormatError", "Warning",
               "The value '%1' for the property %2 is not a format that the property can accept.",
               "Correct the value for the property in the request body and resubmit the request if "
               "the operation failed."},
    Definition{"MalformedJSON", "Critical",
               "The request body submitted was malformed JSON and could not be parsed by the "
               "receiving service.",
               "Ensure that the request body is valid JSON and resubmit the request."},
    Definition{"UnrecognizedRequestBody", "Warning",
               "The service detected a malformed request body that it was unable to interpret.",
               "Correct the request body and resubmit the request if it failed."},
    Definition{"NoOperation", "Warning",
               "The request body submitted contain no data to act upon and no changes to the "
               "resource took place.",
               "Add properties in the JSON object and resubmit the request."},
    Definition{"ActionParameterMissing", "Critical",
               "The action %1 requires the parameter %2 to be present in the request body.",
               "Supply the action with the required parameter in the request body when the request "
               "is resubmitted."},
    Definition{"ActionParameterUnknown", "Warning",
               "The action %1 was submitted with the invalid parameter %2.",
               "Correct the invalid action parameter and resubmit the request if the operation "
               "failed."},
    Definition{"ActionParameterValueTypeError", "Warning",
               "The value '%1' for the parameter %2 in the action %3 is not a type that the "
               "parameter can accept.",
               "Correct the value for the parameter in the request body and resubmit the request "
               "if the operation failed."},
    Definition{"ActionParameterValueNotInList", "Warning",
               "The value '%1' for the parameter %2 in the action %3 is not in the list of "
               "acceptable values.",
               "Choose a value from the enumeration list that the implementation can support and "
               "resubmit the request if the operation failed."},
    Definition{"ActionParameterValueFormatError", "Warning",
               "The value '%1' for the parameter %2 in the action %3 is not a format that the "
               "parameter can accept.",
               "Correct the value for the parameter in the request body and resubmit the request "
               "if the operation failed."},
    Definition{"PropertyValueConflict", "Warning",
               "The property '%1' could not be written because its value would conflict with the "
               "value of the '%2' property.",
               "None."},
    Definition{"ResourceInUse", "Warning",
               "The change to the requested resource failed because the resource is in use or in "
               "transition.",
               "Remove the condition and resubmit the request if the operation failed."},
    Definition{"ActionNotSupported", "Critical", "The action %1 is not supported by the resource.",
               "Check the Actions property in the resource for the supported actions."},
    Definition{"ServiceTemporarilyUnavailable", "Critical",
               "The service is temporarily unavailable.  Retry in %1 seconds.",
               "Wait for the indicated retry duration and retry the operation."},
    Definition{"ResourceMissingAtURI", "Critical", "The resource at the URI '%1' was not found.",
               "Place a valid resource at the URI or correct the URI and resubmit the request."},
    Definition{"ResourceInStandby", "Critical",
               "The request could not be performed because the resource is in standby.",
               "Ensure that the resource is in the correct power state and resubmit the request."},
    Definition{"OperationNotAllowed", "Critical",
               "The HTTP method is not allowed on this resource.", "None."},
    Definition{"PreconditionFailed", "Critical",
               "The ETag supplied did not match the ETag required to change this resource.",
               "Try the operation again using the appropriate ETag."},
    Definition{"HeaderInvalid", "Critical", "Header '%1' is invalid.",
               "Resubmit the request with a valid request header."},
    Definition{"QueryNotSupportedOnResource", "Warning",
               "Querying is not supported on the requested resource.",
               "Remove the query parameters and resubmit the request if the operation failed."},
    Definition{"QueryNotSupportedOnOperation", "Warning",
               "Querying is not supported with the requested operation.",
               "Remove the query parameters and resubmit the request if the operation failed."},
    Definition{"QueryCombinationInvalid", "Warning",
               "Two or more query parameters in the request cannot be used together.",
               "Remove one or more of the query parameters and resubmit the request if the "
               "operation failed."},
    Definition{"QueryParameterUnsupported", "Warning", "Query parameter '%1' is not supported.",
               "Correct or remove the query parameter and resubmit the request."},
    Definition{"QueryParameterValueFormatError", "Warning",
               "The value '%1' for the parameter %2 is not a format that the parameter can accept.",
               "Correct the value for the query parameter in the request and resubmit the request "
               "if the operation failed."},
    Definition{"QueryParameterOutOfRange", "Warning",
               "The value '%1' for the query parameter %2 is out of range %3.",
               "Reduce the value for the query parameter to a value that is within range, such as "
               "a start or count value that is within bounds of the number of resources in a "
               "collection or a page number that is within the range of valid pages."},
};

const Definition& Find(std::string_view id) {
  for (const Definition& definition : kDefinitions) {
    if (definition.id == id) return definition;
  }
  return kDefinitions[1];
}

std::string Fill(std::string_view text, std::initializer_list<std::string> args) {
  std::string filled;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool place = text[i] == '%' && i + 1 < text.size() && text[i + 1] >= '1' &&
                       static_cast<std::size_t>(text[i + 1] - '1') < args.size();
    if (place) {
      filled += *(args.begin() + (text[++i] - '1'));
    } else {
      filled += text[i];
    }
  }
  return filled;
}

}  // namespace

Json ExtendedInfo(std::string_view id, std::initializer_list<std::string> args,
                  std::string_view property) {
  const Definition& definition = Find(id);
  Json info = {{"@odata.type", "#Message.v1_1_2.Message"},
               {"MessageId", std::string(kRegistry) + std::string(definition.id)},
               {"Message", Fill(definition.text, args)},
               {"MessageSeverity", std::string(definition.severity)},
               {"Resolution", std::string(definition.resolution)}};
  if (args.size() > 0) info["MessageArgs"] = Json(std::vector<std::string>(args));
  if (!property.empty()) info["RelatedProperties"] = Json::array({std::string(property)});
  return info;
}

Response ErrorResponse(int status, std::vector<Json> messages) {
  const Json general = ExtendedInfo("GeneralError");
  const Json& head = messages.size() == 1 ? messages.front() : general;
  Json error = {{"code", head["MessageId"]}, {"message", head["Message"]}};
  error["@Message.ExtendedInfo"] = std::move(messages);
  Json body = Json::object();
  body["error"] = std::move(error);
  return JsonResponse(status, std::move(body));
}

Response ErrorResponse(int status, std::string_view id, std::initializer_list<std::string> args) {
  std::vector<Json> messages;
  messages.push_back(ExtendedInfo(id, args));
  return ErrorResponse(status, std::move(messages));
}

Response SuccessResponse() {
  static const Response kSuccess = [] {
    Json body = Json::object();
    body["@Message.ExtendedInfo"] = Json::array({ExtendedInfo("Success")});
    return JsonResponse(200, std::move(body));
  }();
  return kSuccess;
}

Response JsonResponse(int status, Json json) {
  Response response;
  response.status = status;
  response.body = std::make_shared<const std::string>(Serialise(json));
  response.json = std::make_shared<const Json>(std::move(json));
  return response;
}

std::string Excerpt(const Json& value) {
  constexpr std::size_t kMaximum = 100;
  std::string text = value.is_string() ? value.get<std::string>() : Serialise(value);
  if (text.size() > kMaximum) text = text.substr(0, kMaximum) + "...";
  return text;
}

std::string Serialise(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace shoal::mockserver
