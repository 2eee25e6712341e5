// SPDX-License-Identifier: Apache-2.0
// The server's end of one connection: it reads a request, calls the handler, writes the response,
// and repeats until one side closes.
//
// A session is used from its worker's thread alone. It lives as long as an operation is pending or
// its owner holds it, as while an answer is deferred. It tells its owner once that it has closed.
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

// The header line "Date: ...\r\n", made anew once a second. Not thread-safe.
class DateLine {
 public:
  std::string_view Now();

 private:
  std::time_t second_ = -1;
  std::string line_;
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  // State that the sessions of one worker share. It must outlive them.
  struct Owner {
    virtual ~Owner() = default;
    virtual void Closed(Session& session) = 0;
    virtual void Rejected() = 0;
    const ServerOptions* options = nullptr;
    const Server::Handler* handler = nullptr;
    // Null means no TLS.
    boost::asio::ssl::context* tls = nullptr;
    std::shared_ptr<Mailbox> mailbox;
    DateLine date;
    bool draining = false;
  };

  Session(boost::asio::ip::tcp::socket socket, Owner& owner);

  // Answers 503 and closes; with TLS it only closes.
  void Refuse();
  void Start();
  // Closes now, or after the response when a request is complete; a stream is ended.
  void Drain();
  void Close();

 private:
  using Error = ServerStream::Error;

  // The peer's first byte decides between Handshake and GoOnPlain on a TLS port.
  void Handshake();
  void GoOnPlain();
  void Fail();

  void NextRequest();
  void Read();
  void OnRead(Error error, std::size_t bytes);
  // Parses the buffered bytes, then answers or reads on.
  void Parse();
  void Continue();

  void Answer();
  void Respond(const ServerResponse& response);
  void Defer(const ServerResponse& response);
  // Reads once while an answer is deferred, to notice a peer that closes.
  void LookAhead();
  void OnAhead(Error error, std::size_t bytes);
  // Reads into the parser's room. A pending LookAhead becomes this read.
  void ReadSome(std::function<void(Error, std::size_t)> callback);
  // Handles a deferred answer; nullopt means that there will be none.
  void Deliver(const std::optional<ServerResponse>& response);
  void Reject(const Rejection& rejection);
  // Redirects to the same URI by https.
  void Redirect();

  void BeginHead(const ServerResponse& response);
  void EndHead();
  void Write(const ServerResponse& response);
  void OnWritten(Error error);

  void Stream(const ServerResponse& response);
  // Reads and discards the peer's bytes while an answer is streamed, to notice that it closes.
  void Watch();
  // Sends the bytes that wait in the channel, unless a piece is being sent.
  void Flush();
  void SendPiece(std::string bytes);
  void OnPieceSent(Error error);
  void EndStream();

  // Reads on for a while: closing before the peer has read the answer would reset the connection
  // and lose the answer.
  void Linger();
  void StopSending();
  void Discard();

  ServerStream stream_;
  Owner& owner_;
  RequestParser parser_;
  std::string head_;
  std::shared_ptr<const std::string> body_;
  // The channel of an answer that is streamed.
  std::shared_ptr<StreamChannel> channel_;
  std::string piece_;
  // The buffer of LookAhead; empty before its first read.
  std::string ahead_;
  // The callback that receives LookAhead's result in place of it (ReadSome).
  std::function<void(Error, std::size_t)> instead_;
  char first_byte_ = 0;
  // Whether the request came as plain text on a TLS port.
  bool redirects_ = false;
  bool idle_ = true;
  // Whether the deadline runs since the first byte of the current request.
  bool has_deadline_ = false;
  // Whether a request is complete, or the buffered bytes may hold one, and its response is not
  // written.
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
