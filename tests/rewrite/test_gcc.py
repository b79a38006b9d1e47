# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What gcc compiles wrongly in transactions is none, and what is written out gcc accepts."""

from __future__ import annotations

import pytest
from conftest import Rewriter

DATA = """\
#include <stdio.h>
#include <string.h>
struct bits { int a : 1; unsigned b : 20; unsigned c : 15; unsigned d : 1; };
struct flags { _Bool a : 1, b : 1; unsigned char c : 3; long d : 40; };
struct __attribute__((packed)) tight { unsigned char a : 4; unsigned b : 27; short c; };
struct mixed { int n; struct { unsigned low : 3, high : 9; } in; struct bits list[2]; char text[3];
};
union both { unsigned whole; struct { unsigned low : 12, high : 20; } parts; };
struct plain { unsigned char a, b; _Bool c; float d; long double e; };
static struct bits bits[3];
static struct flags flags;
static struct tight tight;
static struct mixed mixed, other;
static union both both;
static struct plain plain, second;
static unsigned m;
"""
MAIN = """
int main(void) {
  unsigned r = 0;
  for (unsigned i = 0; i < 50; i++) {
    step(i);
    r = r * 31 + bits[0].b + bits[1].c * 3 + bits[2].d * 5 + (unsigned)bits[0].a + flags.b;
    r = r * 31 + (unsigned)flags.d + flags.c + tight.b + tight.a + (unsigned)tight.c + both.whole;
    r = r * 31 + mixed.in.high + mixed.list[1].b + (unsigned)mixed.text[1] + (unsigned)other.n;
    r = r * 31 + other.in.low + plain.a + plain.c + (unsigned)plain.d + second.b + m;
  }
  printf("%u\\n", r);
  return 0;
}
"""
# Of a section with the parameter k.
BITS = {
    "assignment": "bits[0].b += k; bits[0].c ^= bits[0].b; bits[0].d = k; m += bits[0].c;",
    "read": "if (bits[1].c == 0) m += bits[1].d + k; bits[1].c++;",
    "truth": "flags.b = k & 1; flags.a = !flags.b; m += flags.a;",
    "wide": "flags.d += k * 77L; flags.c = k;",
    "packed": "tight.b += k; tight.a = m; m += tight.b;",
    "nested": "mixed.in.high += k; mixed.in.low = mixed.in.high;",
    "through a pointer": "struct bits *p = &mixed.list[k % 2]; p->b += k; p->a = 0;",
    "in a union": "both.parts.high += k; m ^= both.parts.low;",
    "of a local copy": "struct bits copy = bits[2]; copy.c += k; copy.d = 1; bits[2] = copy;",
    "in a list": "bits[2] = (struct bits){.b = k, .c = m};",
    "a list of parts": "struct mixed copy = {k, {k, m}, {{0}}, {1}}; mixed = copy;",
    "in a function": "raise_b(k);",
}
WHOLE = {
    "copy": "other = mixed; mixed.n += k;",
    "copy of bits": "bits[k % 3] = bits[(k + 1) % 3]; m += k;",
    "bytes": "memcpy(&other, &mixed, sizeof mixed); mixed.text[k % 3] = k;",
    "member beside": "mixed.n += k; tight.c += k; m += mixed.n;",
    "the union's other member": "both.whole += k; m ^= both.whole;",
    "no bits": "plain.a += k; plain.c = k & 1; plain.d *= 1.5f; second = plain; m += second.b;",
}


def source(body: str) -> str:
    return (
        f"{DATA}static void raise_b(unsigned k) {{ bits[0].b += k; }}\n"
        f"MARK static void step(unsigned k) {{ {body} }}\n"
        f"{MAIN.replace('int main(void) {', 'int main(void) { raise_b(1);')}"
    )


def printed(rewriter: Rewriter, level: str, name: str, *flags: str, transactions: bool) -> str:
    words = ("-Wno-sign-compare", level, "-DMARK=", *flags, name)
    program = rewriter.compile(f"{name}{level}", *words, transactions=transactions)
    return rewriter.run(program, environment={"ITM_DEFAULT_METHOD": "ml_wt"})


@pytest.mark.parametrize("kind", BITS)
def test_bit_fields_are_in_no_transaction(rewriter: Rewriter, kind: str) -> None:
    name = rewriter.write("bits.c", source(BITS[kind]))
    mark = ("--", "-DMARK=__attribute__((atomic))")
    done = rewriter.rewrite(name, *mark)
    assert done.returncode == 0, done.stderr
    assert "becomes non-revocable: gcc compiles a bit-field in a transaction wrongly" in done.stderr
    assert "__transaction_atomic" not in done.stdout
    out = rewriter.write("out.c", done.stdout)
    for level in ("-O0", "-O2"):
        wanted = printed(rewriter, level, name, transactions=False)
        assert printed(rewriter, level, out, transactions=True) == wanted
    assert "gcc compiles a bit-field in a transaction wrongly; use --mode hybrid" in (
        rewriter.mistake("--mode", "stm", name, *mark)
    )


@pytest.mark.parametrize("kind", WHOLE)
def test_what_gcc_compiles_right_is(rewriter: Rewriter, kind: str) -> None:
    name = rewriter.write("whole.c", source(WHOLE[kind]))
    done = rewriter.rewrite(name, "--", "-DMARK=__attribute__((atomic))")
    assert (done.returncode, done.stderr) == (0, "")
    assert "__transaction_atomic" in done.stdout
    out = rewriter.write("out.c", done.stdout)
    for level in ("-O0", "-O2"):
        wanted = printed(rewriter, level, name, transactions=False)
        assert printed(rewriter, level, out, transactions=True) == wanted


def test_gcc_is_wrong_about_bit_fields(rewriter: Rewriter) -> None:
    """Which the refusals above are for: with a gcc that is right they may go."""
    differ = 0
    for body in ("assignment", "truth", "nested"):
        text = source("__transaction_atomic { " + BITS[body] + " }")
        name = rewriter.write("bits.c", text)
        plain = rewriter.write("plain.c", source(BITS[body]))
        wanted = printed(rewriter, "-O0", plain, transactions=False)
        differ += printed(rewriter, "-O0", name, transactions=True) != wanted
    assert differ > 0


# The declaration of a function, what it returns, and how that becomes a number.
RETURNED = {
    "union with a const member": (
        "union u { const int a; unsigned b; }; static union u f(int k)",
        "(union u){.b = total + k}",
        ".b",
    ),
    "structure with a const member": (
        "struct s { const int a; int b; }; static struct s f(int k)",
        "(struct s){1, total + k}",
        ".b",
    ),
    "structure with a const list in a structure": (
        "struct i { const char c[3]; }; struct s { struct i i[2]; int b; }; "
        "static struct s f(int k)",
        "(struct s){.b = total + k}",
        ".b",
    ),
    "const structure": (
        "struct s { int a, b; }; static const struct s f(int k)",
        "(struct s){1, total + k}",
        ".b",
    ),
    "structure without a name": (
        "static struct { int a, b; } value; static __typeof__(value) f(int k)",
        "(value.b = total + k, value)",
        ".b",
    ),
    "typedef of one": (
        "typedef struct { int a, b; } s; static s f(int k)",
        "(s){1, total + k}",
        ".b",
    ),
    "_Bool": ("static _Bool f(int k)", "total + k > 3", ""),
    "enumeration": ("enum e { one, two }; static enum e f(int k)", "total + k > 3 ? one : two", ""),
    "pointer to a function": ("static int (*f(int k))(int)", "total + k > 3 ? id : 0", " != 0"),
    "pointer to a list": (
        "static int list[2][3]; static int (*f(int k))[3]",
        "&list[(total + k) & 1]",
        " == &list[1]",
    ),
    "vector": (
        "typedef int v __attribute__((vector_size(16))); static v f(int k)",
        "(v){total + k}",
        "[0]",
    ),
    "complex number": ("static _Complex double f(int k)", "total + k + 2.0i", " == 3"),
}


@pytest.mark.parametrize("mode", ["locks", "hybrid", "stm"])
@pytest.mark.parametrize("returns", ["one", "two"])
@pytest.mark.parametrize("kind", RETURNED)
def test_any_type_can_be_returned(rewriter: Rewriter, kind: str, returns: str, mode: str) -> None:
    declaration, value, part = RETURNED[kind]
    types, _, function = declaration.rpartition("static ")
    early = f"if (k == 7) return {value};" if returns == "two" else ""
    shows = "" if mode == "stm" else 'printf("%d ", total);'
    text = (
        "#include <stdio.h>\nstatic int total;\nstatic int id(int n) { return n; }\n"
        f"{types}MARK static {function} {{ total += k; {early} return {value}; }}\n"
        f"MARK static void show(void) {{ {shows} total++; }}\n"
        "int main(void) {\n  for (int k = 0; k < 9; k++) { show(); "
        f'printf("%d ", (int)(f(k){part})); }}\n  return id(0);\n}}\n'
    )
    name = rewriter.write("returned.c", text)
    text = rewriter.text("--mode", mode, name, "--", "-w", "-DMARK=__attribute__((atomic))")
    out = rewriter.write("out.c", text)
    flags = ("-Wno-ignored-qualifiers", "-DMARK=")
    wanted = rewriter.run(rewriter.compile("plain", *flags, name, transactions=False))
    assert ("__transaction_atomic" in text) == (mode != "locks")
    for level in ("-O0", "-O2"):
        words = (level, *flags, out)
        program = rewriter.compile("rewritten", *words, transactions=mode != "locks")
        for method in ("ml_wt", "gl_wt"):
            assert rewriter.run(program, environment={"ITM_DEFAULT_METHOD": method}) == wanted
