# Fish completion for cprof's commands. Options, their texts and values come from the command's own --help, so
# they always match the installed command. `make install` puts this file once for each command into
# vendor_completions.d, under the command's name; under another name it serves all of them.

# Registers one option. Arguments: letter, name, argument, text, and for which command, as complete takes it
function __cprof_option
    set -l more
    test -z "$argv[1]"; or set -a more -s $argv[1]
    switch "$argv[3]"
        case ''
        case DIR
            set -a more -xa '(__fish_complete_directories)'
        case 'FILE*' PATH
            set -a more -rF
        case COMMAND
            set -a more -xa '(__fish_complete_command)'
        case '*|FILE'
            set -a more -ra (string replace '|FILE' '' -- $argv[3] | string replace -a '|' ' ')
        case '*'
            set -a more -x
            if string match -qr '[a-z]\|' -- $argv[3]
                set -a more -a (string replace -r '\[.*' '' -- $argv[3] | string replace -a '|' ' ')
            end
    end
    complete $argv[5..] -l $argv[2] $more -d "$argv[4]"
end

# Registers the options of a program. Arguments: program, and for which command
function __cprof_options
    set -l name
    set -l letter
    set -l argument
    $argv[1] --help 2>/dev/null | while read -l line
        set -l m (string match -r '^ +-?([A-Za-z]?),? *--([a-z][a-z-]*)(\[=| |)([^\] ]*)\]?(?: +(.*))?$' -- $line)
        if test -n "$m[1]"
            set name $m[3]
            set letter $m[2]
            set argument $m[5]
            test "$m[4]" != '[='; or set argument ''
            test -n "$m[6]"; or continue
            __cprof_option "$letter" $name "$argument" "$m[6]" $argv[2..]
            set name
        else if test -n "$name"
            __cprof_option "$letter" $name "$argument" (string trim -- $line) $argv[2..]
            set name
        end
    end
end

set -l commands cprof-record cprof-sym cprof-archive cprof-flame cprof-top cprof-diff cprof-fold
set -a commands cprof-convert cprof-dump cprof-annotate cprof-run
set -l own (string replace -r '.*/' '' -- (status filename) | string replace -r '\\.fish$' '')
contains -- $own $commands; and set commands $own
for command in $commands
    if command -q $command
        __cprof_options $command -c $command
    end
end

# "cprof top" is cprof-top.
if not contains -- $own $commands; and command -q cprof
    __cprof_options cprof -c cprof -n __fish_use_subcommand
    for line in (cprof help | string match -r '^  [a-z]+ .*')
        set -l m (string match -r '^  ([a-z]+) +(.*)' -- $line)
        complete -c cprof -fn __fish_use_subcommand -a $m[2] -d "$m[3]"
        complete -c cprof -fn '__fish_seen_subcommand_from help' -a $m[2] -d "$m[3]"
        if command -q cprof-$m[2]
            __cprof_options cprof-$m[2] -c cprof -n "__fish_seen_subcommand_from $m[2]"
        end
    end
    complete -c cprof -fn __fish_use_subcommand -a help -d 'list options'
end
