# SPDX-License-Identifier: MIT
# Completion of `flynn` in fish. The words come from the command's own tables: `flynn help --words`.

function __flynn_words
    set -l words (commandline -opc)
    if test (count $words) -eq 1
        $words[1] help --words 2>/dev/null
        return
    end
    if string match -q -- '-*' (commandline -ct)
        $words[1] help --words $words[2] 2>/dev/null
        return
    end
    switch $words[2]
        case compare sweep laws taxonomy
            $words[1] --exercises 2>/dev/null
        case help
            $words[1] help --words 2>/dev/null
    end
end

complete -c flynn -n 'test (count (commandline -opc)) -eq 1' -f -a '(__flynn_words)'
complete -c flynn -n 'test (count (commandline -opc)) -gt 1' -a '(__flynn_words)'
