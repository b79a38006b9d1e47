# Global variables of tcc, which is made for one compilation at a time, become each thread's own.
s/^# *define ST_DATA static$/#define ST_DATA static __thread/
s/^#define CONFIG_TCC_SEMLOCK$//
/const /!{
  s/^static ([^()]*;)/static __thread \1/
  s/^static (struct [a-z_]*( ?\{)?)$/static __thread \1/
}
s/^    static (TokenSym|Sym) label/    static __thread \1 label/
s/^short nb_temp_local_vars/static __thread &/
