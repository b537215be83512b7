-module(hot).
-export([main/0, middle/1]).
leaf(0, S) -> S;
leaf(N, S) -> leaf(N - 1, (S * 31 + N) band 16#ffff).
middle(N) -> leaf(N, 1) + leaf(N, 2).
outer(0) -> 0;
outer(K) -> middle(20000), outer(K - 1).
main() -> file:write_file("pid", os:getpid()), outer(12000).
