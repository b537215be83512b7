# Fish completion for cprof's commands. Options, their texts and values come from the command's own --help, so
# they always match the installed command. `make install` puts this file once for each command into
# vendor_completions.d, under the command's name; under another name it serves all of them.

# Registers one option. Arguments: command, letter, name, argument, text
function __cprof_option
    set -l more
    test -z "$argv[2]"; or set -a more -s $argv[2]
    switch "$argv[4]"
        case ''
        case DIR
            set -a more -xa '(__fish_complete_directories)'
        case 'FILE*' PATH
            set -a more -rF
        case COMMAND
            set -a more -xa '(__fish_complete_command)'
        case '*|FILE'
            set -a more -ra (string replace '|FILE' '' -- $argv[4] | string replace -a '|' ' ')
        case '*'
            set -a more -x
            if string match -qr '[a-z]\|' -- $argv[4]
                set -a more -a (string replace -r '\[.*' '' -- $argv[4] | string replace -a '|' ' ')
            end
    end
    complete -c $argv[1] -l $argv[3] $more -d "$argv[5]"
end

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
            __cprof_option $argv[1] "$letter" $name "$argument" "$m[6]"
            set name
        else if test -n "$name"
            __cprof_option $argv[1] "$letter" $name "$argument" (string trim -- $line)
            set name
        end
    end
end

set -l commands cprof-record cprof-sym cprof-archive cprof-flame cprof-top cprof-diff cprof-fold
set -a commands cprof-convert cprof-dump cprof-annotate
set -l own (string replace -r '.*/' '' -- (status filename) | string replace -r '\\.fish$' '')
contains -- $own $commands; and set commands $own
for command in $commands
    if command -q $command
        __cprof_options $command
    end
end
