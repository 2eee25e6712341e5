// SPDX-License-Identifier: Apache-2.0
// The server's end of one connection: reads a request, calls the handler, writes the response, and
// again until one side has had enough.
//
// Used from its worker's thread alone. Lives as long as an operation is pending; tells its owner
// once when it has closed.
#pragma once

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <ctime>
#include <memory>
#include <optional>
#include <string>

#include "http/server.h"

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
    DateLine date;
    bool draining = false;
  };

  Session(boost::asio::ip::tcp::socket socket, Owner& owner);

  // Answers 503 and closes.
  void Refuse();
  void Start();
  // Closes after the response to a request that is whole, else now.
  void Drain();
  void Close();

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

  void NextRequest();
  void Read();
  void OnRead(boost::beast::error_code error, std::size_t bytes);
  // Parses what is buffered, then answers or reads on.
  void Parse();
  void Continue();
  void Answer();
  void Reject(boost::beast::error_code error);
  void RejectWith(int status, std::string_view message);
  // Reads what the peer still sends, for a while: closing before it has read the answer would
  // reset the connection and lose it.
  void Linger();
  void Discard();
  void Write(const ServerResponse& response, bool with_body);

  boost::beast::tcp_stream stream_;
  Owner& owner_;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  std::string head_;
  std::shared_ptr<const std::string> body_;
  bool idle_ = true;
  // A request is whole and its response is not written yet.
  bool answering_ = false;
  bool closed_ = false;
  bool keep_alive_ = true;
  bool continued_ = false;
  bool linger_ = false;
};

}  // namespace shoal::http
