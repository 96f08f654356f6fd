#!/bin/sh
# Install mkdssp from Debian where that is permitted; otherwise say exactly what to do.
say() {
    echo "mkdssp is missing and could not be installed here ($1)." >&2
    echo "Install version 4 and run again:" >&2
    echo "  Debian, Ubuntu:  sudo apt-get install dssp" >&2
    echo "  conda:           conda install -c conda-forge -c bioconda dssp" >&2
    exit 1
}
command -v apt-get > /dev/null || say "no apt-get"
if [ "$(id -u)" = 0 ]; then
    sudo=""
elif sudo -n true 2> /dev/null; then
    sudo="sudo -n"
else
    say "no permission to install packages"
fi
echo "mkdssp is missing; installing the package dssp"
$sudo apt-get install -y -qq dssp > /dev/null 2>&1 ||
    { $sudo apt-get update -qq && $sudo apt-get install -y -qq dssp > /dev/null; } || say "apt-get failed"
