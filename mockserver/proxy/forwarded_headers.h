// SPDX-License-Identifier: Apache-2.0
// Selects the header fields that pass a proxy (RFC 9110, section 7.6): neither those of a single
// connection nor those that Connection names.
#pragma once

#include <string>
#include <string_view>

#include "platform/http/message.h"

namespace shoal::mockserver {

// Whether fields with credentials, such as a session's token, may pass.
enum class Credentials { kPass, kStop };

// Returns the fields of a client's request for the real host, with Via. Only fields that Redfish
// defines pass, so that no other field that a host understands (X-HTTP-Method-Override) turns a
// read into a change. Accept-Encoding does not pass, so that answers can be recorded.
http::Headers RequestHeaders(const http::ServerRequest& request, Credentials credentials);

// Returns the fields of the real host's answer for the client, as ServerResponse::header_lines: all
// except those that a server writes itself (Content-Type and Content-Length among them) and
// Alt-Svc, which would lead the client past the proxy. A Location on the host itself, `address`
// ("host:port"), loses its scheme and host.
std::string AnswerLines(const http::Headers& headers, std::string_view address,
                        Credentials credentials);

// Returns Content-Type and Content-Length, which AnswerLines leaves to the server, for an answer to
// HEAD.
std::string DescriptionLines(const http::Headers& headers);

}  // namespace shoal::mockserver
