// The opcodes that are known, and the names of those that are refused.
#pragma once

#include <cstdint>
#include <string>

namespace oomplan::read {

enum PickleOp : std::uint8_t {
  op_mark = '(',
  op_stop = '.',
  op_pop = '0',
  op_pop_mark = '1',
  op_binbytes = 'B',
  op_short_binbytes = 'C',
  op_binfloat = 'G',
  op_binint = 'J',
  op_binint1 = 'K',
  op_binint2 = 'M',
  op_none = 'N',
  op_binstring = 'T',
  op_short_binstring = 'U',
  op_binunicode = 'X',
  op_empty_list = ']',
  op_append = 'a',
  op_dict = 'd',
  op_appends = 'e',
  op_binget = 'h',
  op_long_binget = 'j',
  op_list = 'l',
  op_binput = 'q',
  op_long_binput = 'r',
  op_setitem = 's',
  op_tuple = 't',
  op_empty_tuple = ')',
  op_setitems = 'u',
  op_empty_dict = '}',
  op_proto = 0x80,
  op_tuple1 = 0x85,
  op_tuple2 = 0x86,
  op_tuple3 = 0x87,
  op_newtrue = 0x88,
  op_newfalse = 0x89,
  op_long1 = 0x8a,
  op_short_binunicode = 0x8c,
  op_binunicode8 = 0x8d,
  op_memoize = 0x94,
  op_frame = 0x95,
};

/// "GLOBAL, which imports a name"; "0xff, which is no opcode of this reader's" for others.
std::string why_forbidden(std::uint8_t op);

}  // namespace oomplan::read
