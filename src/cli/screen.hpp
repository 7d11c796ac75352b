// What the terminal, or the environment in its place, takes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace oomplan::cli {

/// Whether text gets colour: `when` is auto, always or never; auto is a terminal that has colours, without NO_COLOR.
bool wants_colour(const std::string& when);

/// COLUMNS, else the terminal's columns, from 60 to 200; 100 where standard output is no terminal.
std::size_t columns();

/// Whether COLUMNS or a terminal says so; else a program may read the output line by line.
bool has_columns();

/// Whether the locale has characters beyond ASCII. Where nothing names one it is taken to, as Python does.
bool has_utf8();

/// Messages as a screen so wide shows them: broken at blanks, but for the lines of a config that they quote.
std::string in_columns(std::string_view text, std::size_t width);

/// `text` with what this program prints beyond ASCII ("×", "→") replaced by what stands for it. What else there is, of
/// a name in a file, is left alone.
std::string in_ascii(std::string text);

}  // namespace oomplan::cli
