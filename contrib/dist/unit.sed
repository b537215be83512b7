# The unit of `make install` as packages have it: with a user that stays, so that the owner of the captures keeps a name.
s/^DynamicUser=yes/DynamicUser=no/
s/^User=cprof/&\nGroup=cprof/
1s/ `make install` .*//
2s/.*/# To begin:/
