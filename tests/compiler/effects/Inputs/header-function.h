extern int shared;
inline void in_header(int n) { shared += n; }
