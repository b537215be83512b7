# Adapts the unit of `make install` for packages: a permanent user, so that the captures' owner keeps a name.
s/^DynamicUser=yes/DynamicUser=no/
s/^User=cprof/&\nGroup=cprof/
s/^# `make install` puts .*/# To begin:/
