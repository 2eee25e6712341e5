// SPDX-License-Identifier: Apache-2.0
// A peer that writes any bytes and reads the answers to them.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <string>
#include <utility>

#include "platform/http/address.h"

namespace shoal::http {

class RawPeer {
 public:
  explicit RawPeer(const std::string& text) {
    const Address address = ParseAddress(text).value();
    socket_.connect({boost::asio::ip::make_address(address.host), address.port});
    socket_.set_option(boost::asio::ip::tcp::no_delay(true));
  }
  void Write(const std::string& bytes) { boost::asio::write(socket_, boost::asio::buffer(bytes)); }
  // Returns false once the server has closed the connection.
  bool TryWrite(const std::string& bytes) {
    boost::system::error_code error;
    boost::asio::write(socket_, boost::asio::buffer(bytes), error);
    return !error;
  }
  std::string ReadSome() {
    std::string bytes(65536, '\0');
    boost::system::error_code ignored;
    bytes.resize(socket_.read_some(boost::asio::buffer(bytes), ignored));
    return bytes;
  }
  // Reads up to and including `end`, or until the server closes.
  std::string ReadUntil(const std::string& end) {
    boost::system::error_code ignored;
    const std::size_t size =
        boost::asio::read_until(socket_, boost::asio::dynamic_buffer(ahead_), end, ignored);
    const std::string bytes = ahead_.substr(0, size);
    ahead_.erase(0, size);
    return bytes;
  }
  // Reads until the server closes.
  std::string ReadAll() {
    std::string bytes = std::exchange(ahead_, {});
    boost::system::error_code ignored;
    boost::asio::read(socket_, boost::asio::dynamic_buffer(bytes), ignored);
    return bytes;
  }
  void Shutdown() { socket_.shutdown(boost::asio::ip::tcp::socket::shutdown_send); }
  void Close() { socket_.close(); }

 private:
  boost::asio::io_context context_;
  boost::asio::ip::tcp::socket socket_{context_};
  // Bytes that were read beyond the end that ReadUntil was asked for.
  std::string ahead_;
};

inline std::size_t CountOf(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

}  // namespace shoal::http
