# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What HTML pages need that programs carry inside.
include_guard(GLOBAL)

# page_hash(OUT TEXT): the SHA-256 of TEXT in base64, as a content security policy names it.
function(page_hash out text)
  string(SHA256 hex "${text}")
  set(digits "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  set(hash "")
  # Three hexadecimal digits are two of base64; 64 and two of padding make 22 times three.
  foreach(group RANGE 0 21)
    math(EXPR at "${group} * 3")
    string(SUBSTRING "${hex}00" ${at} 3 three)
    math(EXPR high "0x${three} >> 6")
    math(EXPR low "0x${three} & 63")
    string(SUBSTRING "${digits}" ${high} 1 first)
    string(SUBSTRING "${digits}" ${low} 1 second)
    string(APPEND hash "${first}${second}")
  endforeach()
  string(SUBSTRING "${hash}" 0 43 hash) # the last digit is padding alone
  set(${out} "${hash}=" PARENT_SCOPE)
endfunction()
