# Removes the folder $1, with the servers in it that have a .pid file, when standard input ends.
cat >/dev/null
folder=${1%.ending}.ending
# It takes another name first: a server that is just being started finds no place for its .pid file then, and ends.
[ "$1" = "$folder" ] || mv "$1" "$folder" || exit
real=$(cd "$folder" && pwd -P) || exit

# Whether this number is still a server's of this folder: it may be another process's by now. One that has ended
# counts as gone although its new parent may never ask for it, as in many containers.
runs() {
    kill -0 "$1" 2>/dev/null || return
    [ -e /proc/self/cwd ] || return 0
    case $(readlink "/proc/$1/cwd") in
    "$real" | "$real"/*) ;;
    *) return 1 ;;
    esac
}

# One that was stopped, and its children, cannot end before they go on.
go_on() {
    kill -CONT "$1"
    for status in $(grep -ls "^PPid:[[:space:]]*$1\$" /proc/[0-9]*/status); do
        status=${status#/proc/}
        kill -CONT "${status%/status}" 2>/dev/null
    done
}

# QUIT is the quick end without a loss of shared memory; KILL comes after five seconds.
end() {
    looks=0
    while runs "$1" && [ "$looks" -lt 200 ]; do
        [ "$looks" -ne 0 ] || kill -QUIT "$1"
        [ "$looks" -ne 0 ] || go_on "$1"
        [ "$looks" -ne 100 ] || kill -KILL "$1"
        looks=$((looks + 1))
        sleep 0.05
    done
}

for file in "$folder"/*.pid; do
    [ ! -e "$file" ] || end "$(cat "$file")"
done
# What is not a server yet may still be writing.
looks=0
until rm -rf "$folder" 2>/dev/null || [ "$looks" -eq 100 ]; do
    looks=$((looks + 1))
    sleep 0.05
done
