#include "diagnose/python_call.h"

#include <algorithm>
#include <cctype>

namespace fullbore::diagnose {
namespace {

enum class TokenKind { kName, kString, kSymbol };

struct Token {
  TokenKind kind;
  std::size_t begin;
  std::size_t end;
};

bool is_name_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80);
}
bool is_name_char(char c) {
  return is_name_start(c) || std::isdigit(static_cast<unsigned char>(c));
}

// End of the string literal whose quotes begin at `quote`, or npos if it is not closed.
std::size_t string_end(std::string_view source, std::size_t quote) {
  const char mark = source[quote];
  const std::string triple(3, mark);
  const bool is_triple = source.substr(quote, 3) == triple;
  for (std::size_t at = quote + (is_triple ? 3 : 1); at < source.size(); ++at) {
    if (source[at] == '\\') {
      ++at;
    } else if (is_triple ? source.substr(at, 3) == triple : source[at] == mark) {
      return at + (is_triple ? 3 : 1);
    } else if (!is_triple && source[at] == '\n') {
      break;
    }
  }
  return std::string_view::npos;
}

bool is_string_prefix(std::string_view name) {
  return name.size() <= 2 && name.find_first_not_of("rRbBuUfFtT") == std::string_view::npos;
}

// Since Python 3.12 an f-string may hold its own quote character inside braces; then the literal seems to end early,
// with a brace left open.
bool is_doubtful(std::string_view prefix, std::string_view literal) {
  return prefix.find_first_of("fFtT") != std::string_view::npos &&
         std::ranges::count(literal, '{') != std::ranges::count(literal, '}');
}

// Names, strings and single characters, without white space and comments; nothing for text that cannot be read safely.
std::optional<std::vector<Token>> tokens_of(std::string_view source) {
  std::vector<Token> tokens;
  std::size_t at = 0;
  while (at < source.size()) {
    const char c = source[at];
    if (c == '#') {
      at = std::min(source.find('\n', at), source.size());
    } else if (std::isspace(static_cast<unsigned char>(c)) || c == '\\') {
      ++at;
    } else if (is_name_char(c)) {
      const std::size_t begin = at;
      while (at < source.size() && is_name_char(source[at])) ++at;
      tokens.push_back({TokenKind::kName, begin, at});
    } else if (c == '"' || c == '\'') {
      const std::size_t end = string_end(source, at);
      if (end == std::string_view::npos) return std::nullopt;
      std::size_t begin = at;
      if (!tokens.empty() && tokens.back().kind == TokenKind::kName && tokens.back().end == at) {
        const std::string_view prefix = source.substr(tokens.back().begin, at - tokens.back().begin);
        if (is_string_prefix(prefix)) {
          if (is_doubtful(prefix, source.substr(at, end - at))) return std::nullopt;
          begin = tokens.back().begin;
          tokens.pop_back();
        }
      }
      tokens.push_back({TokenKind::kString, begin, end});
      at = end;
    } else {
      tokens.push_back({TokenKind::kSymbol, at, at + 1});
      ++at;
    }
  }
  return tokens;
}

class Splitter {
 public:
  Splitter(std::string_view source, const std::vector<Token>& tokens) : source_(source), tokens_(tokens) {}

  // `open` is the index of the token "(".
  std::optional<PythonCall> split(std::size_t open) const {
    PythonCall call;
    call.open = tokens_[open].begin;
    int depth = 0;
    int lambdas = 0;  // commas before a lambda's colon are its parameters
    std::size_t first = open + 1;
    for (std::size_t i = open; i < tokens_.size(); ++i) {
      const std::string_view token = text(i);
      if (token == "(" || token == "[" || token == "{") {
        ++depth;
      } else if (token == ")" || token == "]" || token == "}") {
        if (--depth > 0) continue;
        if (token != ")") return std::nullopt;
        call.close = tokens_[i].begin;
        if (first < i) {
          call.arguments.push_back(argument(first, i));
        } else if (!call.arguments.empty()) {
          call.trailing_comma = tokens_[i - 1].begin;
        }
        return call;
      } else if (depth == 1 && token == "lambda") {
        ++lambdas;
      } else if (depth == 1 && token == ":" && lambdas > 0) {
        --lambdas;
      } else if (depth == 1 && token == "," && lambdas == 0) {
        if (first == i) return std::nullopt;
        call.arguments.push_back(argument(first, i));
        first = i + 1;
      }
    }
    return std::nullopt;
  }

  std::string_view text(std::size_t i) const {
    return source_.substr(tokens_[i].begin, tokens_[i].end - tokens_[i].begin);
  }

 private:
  // Tokens [first, last), at least one.
  CallArgument argument(std::size_t first, std::size_t last) const {
    CallArgument result;
    result.begin = result.value = tokens_[first].begin;
    result.end = tokens_[last - 1].end;
    if (text(first) == "*") result.stars = first + 1 < last && text(first + 1) == "*" ? 2 : 1;
    const bool is_keyword = last - first >= 3 && tokens_[first].kind == TokenKind::kName && text(first + 1) == "=" &&
                            text(first + 2) != "=";
    if (is_keyword) {
      result.keyword = text(first);
      result.value = tokens_[first + 2].begin;
    }
    return result;
  }

  std::string_view source_;
  const std::vector<Token>& tokens_;
};

}  // namespace

std::optional<PythonCall> find_call(std::string_view source, std::string_view suffix) {
  const auto tokens = tokens_of(source);
  if (!tokens) return std::nullopt;
  const Splitter splitter(source, *tokens);
  std::optional<PythonCall> found;
  for (std::size_t i = 0; i + 1 < tokens->size(); ++i) {
    if ((*tokens)[i].kind != TokenKind::kName || !splitter.text(i).ends_with(suffix) || splitter.text(i + 1) != "(")
      continue;
    const bool is_definition = i > 0 && (splitter.text(i - 1) == "class" || splitter.text(i - 1) == "def");
    if (is_definition || found) return std::nullopt;
    found = splitter.split(i + 1);
    if (!found) return std::nullopt;
    found->callee = splitter.text(i);
  }
  return found;
}

}  // namespace fullbore::diagnose
