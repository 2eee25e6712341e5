// SPDX-License-Identifier: Apache-2.0
// The server's end of one connection: reads a request, calls the handler, writes the response, and
// again until one side has had enough.
//
// Used from its worker's thread alone. Lives as long as an operation is pending or its owner holds
// it, as while an answer is deferred; tells its owner once when it has closed.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "platform/http/mailbox.h"
#include "platform/http/request_parser.h"
#include "platform/http/server.h"
#include "platform/http/server_stream.h"
#include "platform/http/stream_channel.h"

namespace shoal::http {

// "Date: ...\r\n", made anew once a second. Not thread-safe.
class DateLine {
 public:
  std::string_view Now();

 private:
  std::time_t second_ = -1;
  std::string line_;
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  // What sessions of one worker share; outlives them.
  struct Owner {
    virtual ~Owner() = default;
    virtual void Closed(Session& session) = 0;
    virtual void Rejected() = 0;
    const ServerOptions* options = nullptr;
    const Server::Handler* handler = nullptr;
    // Null without TLS.
    boost::asio::ssl::context* tls = nullptr;
    std::shared_ptr<Mailbox> mailbox;
    DateLine date;
    bool draining = false;
  };

  Session(boost::asio::ip::tcp::socket socket, Owner& owner);

  // Answers 503 and closes; with TLS it only closes.
  void Refuse();
  void Start();
  // Closes after the response to a request that is whole, a stream being ended; else now.
  void Drain();
  void Close();

 private:
  using Error = ServerStream::Error;

  // With TLS, by what the peer's first byte is.
  void Handshake();
  void GoOnPlain();
  void Fail();

  void NextRequest();
  void Read();
  void OnRead(Error error, std::size_t bytes);
  // Parses what is buffered, then answers or reads on.
  void Parse();
  void Continue();

  void Answer();
  void Respond(const ServerResponse& response);
  void Defer(const ServerResponse& response);
  // While an answer is deferred: reads once, so that a peer that goes is noticed.
  void LookAhead();
  void OnAhead(Error error, std::size_t bytes);
  // Reads into the parser's room. A LookAhead under way becomes this read.
  void ReadSome(std::function<void(Error, std::size_t)> callback);
  // Takes a deferred answer; nullopt means that there will be none.
  void Deliver(const std::optional<ServerResponse>& response);
  void Reject(const Rejection& rejection);
  // To the same URI by TLS.
  void Redirect();

  void BeginHead(const ServerResponse& response);
  void EndHead();
  void Write(const ServerResponse& response);
  void OnWritten(Error error);

  void Stream(const ServerResponse& response);
  // Reads and forgets what the peer sends meanwhile, so that its close is noticed.
  void Watch();
  // Sends what waits in the channel, unless it is sending.
  void Flush();
  void SendPiece(std::string bytes);
  void OnPieceSent(Error error);
  void EndStream();

  // Reads what the peer still sends, for a while: closing before it has read the answer would
  // reset the connection and lose it.
  void Linger();
  void StopSending();
  void Discard();

  ServerStream stream_;
  Owner& owner_;
  RequestParser parser_;
  std::string head_;
  std::shared_ptr<const std::string> body_;
  // While an answer is streamed.
  std::shared_ptr<StreamChannel> channel_;
  std::string piece_;
  // What LookAhead reads into; empty when it has not yet.
  std::string ahead_;
  // Who else waits for what it reads.
  std::function<void(Error, std::size_t)> instead_;
  char first_byte_ = 0;
  // Plain text on a port for TLS.
  bool redirects_ = false;
  bool idle_ = true;
  // Since the first byte of the request that is being read.
  bool has_deadline_ = false;
  // A request is whole, or what was read may hold one, and its response is not written yet.
  bool answering_ = false;
  bool deferred_ = false;
  bool looks_ahead_ = false;
  bool closed_ = false;
  bool keep_alive_ = true;
  bool linger_ = false;
  bool sending_piece_ = false;
  bool last_piece_ = false;
};

}  // namespace shoal::http
