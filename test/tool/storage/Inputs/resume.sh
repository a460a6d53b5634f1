# resume.sh PROGRAM FOLDER: 40 steps at once and 20 twice print the same, with
# the state and not without it.
set -e
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive
export AMP_MIN_MNK=1
cd "$2"
rm -f once once.amp twice twice.amp anew anew.amp
"$1" 40 once > once.txt
{ "$1" 20 twice; "$1" 20 twice; } > twice.txt
cmp once.txt twice.txt
cmp once twice
cmp once.amp twice.amp
"$1" 20 anew > anew.txt
rm anew.amp
"$1" 20 anew >> anew.txt 2> anew.err
grep "no state in 'anew.amp'" anew.err
if cmp -s once.txt anew.txt; then
    echo "the scale plays no part" >&2
    exit 1
fi
