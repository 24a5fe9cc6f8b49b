# SPDX-License-Identifier: MIT
# Completion of `flynn` in fish. The words come from the command's own tables: `flynn help --words`.

# The values of an option such as `--backend=` or `-b=`, after what stands before the last comma of the token.
function __flynn_values -a flynn command operation option token
    set -l value (string replace -- $option '' $token)
    set -l before (string match -r -- '^.*,' $value)
    if test $option = --variant=
        for word in ($flynn help --variants $operation 2>/dev/null)
            echo "$before$word"
        end
        return
    end
    for word in ($flynn help --words $command 2>/dev/null | string replace -r '\t.*' '')
        string match -q -- "$option?*" $word; and echo "$before"(string replace -- $option '' $word)
    end
end

function __flynn_words
    set -l words (commandline -opc)
    set -l token (commandline -ct)
    if test (count $words) -eq 1
        $words[1] help --words 2>/dev/null
        return
    end
    set -l operation $words[2]
    if contains -- $operation compare sweep laws taxonomy; and test (count $words) -gt 2
        set operation $words[3]
    end
    if string match -qr -- '^-[a-z]$' $words[-1]; and not string match -q -- '-*' $token
        __flynn_values $words[1] $words[2] $operation "$words[-1]=" $token
        return
    end
    if string match -q -- '--*=*' $token
        set -l option (string match -r -- '^--[^=]*=' $token)
        for value in (__flynn_values $words[1] $words[2] $operation $option $token)
            echo "$option$value"
        end
        return
    end
    if string match -q -- '-*' $token
        $words[1] help --words $words[2] 2>/dev/null | string match -v -r -- '=[^\t]'
        return
    end
    switch $words[2]
        case compare sweep laws taxonomy
            $words[1] --exercises 2>/dev/null
        case help
            $words[1] help --words 2>/dev/null
            $words[1] help --glossary 2>/dev/null | string replace -r '\t.*' '' | string replace -a ' ' -
    end
end

complete -c flynn -n 'test (count (commandline -opc)) -eq 1' -f -a '(__flynn_words)'
complete -c flynn -n 'test (count (commandline -opc)) -gt 1' -a '(__flynn_words)'
