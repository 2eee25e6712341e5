// SPDX-License-Identifier: Apache-2.0
// Which header fields pass a proxy (RFC 9110, section 7.6): not those of one connection alone, nor
// those that Connection names.
#pragma once

#include <string>
#include <string_view>

#include "platform/http/message.h"

namespace shoal::mockserver {

// Whether what lets its bearer in, a session's token say, may pass.
enum class Credentials { kPass, kStop };

// Of a client's request, for the real host, with Via. The fields that Redfish knows and no other,
// so that none that a host knows beyond it (X-HTTP-Method-Override) makes a change of a read; no
// Accept-Encoding, so that answers can be recorded.
http::Headers RequestHeaders(const http::ServerRequest& request, Credentials credentials);

// Of the real host's answer, for the client, as ServerResponse::header_lines; all but those that a
// server writes itself (Content-Type and Content-Length among them) and Alt-Svc, which would lead
// the client past the proxy. A Location on `address` ("host:port"), the host itself, is without it.
std::string AnswerLines(const http::Headers& headers, std::string_view address,
                        Credentials credentials);

// What AnswerLines leaves to the server of a body's description, of an answer to HEAD.
std::string DescriptionLines(const http::Headers& headers);

}  // namespace shoal::mockserver
