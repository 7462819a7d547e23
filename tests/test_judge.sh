#!/bin/bash
# precfuzz judge and export from outside: verdicts on results in files, and what is refused.
#
# Prints "ok NAME" or "not ok NAME" for each test; exit status 1 if one is not ok.
# PRECFUZZ names the program (build/precfuzz).
# shellcheck disable=SC2016,SC2317,SC2238  # conditions are evaluated by expect; dot is a file
# shellcheck source=tests/tensor_files.sh
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

. tests/tensor_files.sh
subject=
. tests/expect.sh
export LC_ALL=C

reproducer() { sed -n 's/^ *reproduce //p' "$1" | head -n 1; }

one() { tensors "$1" '' "$2" BF16 1,1 "$3"; }  # file name hex

# --- arrays of NumPy's ----------------------------------------------------------------------------

# 1 + 2^-8 is a tie in bf16, and so are it and the bias: eager gives 1, inductor 1 + 2^-7
echo 'matmul_add x=bf16[1,2] y=bf16[2,1] bias=bf16[1] x.bits=3f80,3f80 y.bits=3f80,3b80' \
  'bias.bits=3b80' >tie
# 11
echo 'matmul x=f32[1,2] y=f32[2] x.bits=3f800000,40000000 y.bits=40400000,40800000' >dot
# [[1,1],[2,2]]
echo 'matmul x=f32[2,1] y=f32[1,2] x.bits=3f800000,40000000 y.bits=3f800000,3f800000' >square

npy dot.npy '<f4' '1,' 00003041
run judge dot --got dot.npy
expect 'a right result' 0 "prints '^OK +given +fits eager, inductor, aot_eager'" \
  "prints '^    inductor  +fits'" "prints '^1 case, 1 result, 0 findings: OK 1'"
npy off.npy '<f4' '1,' 01003041
run judge dot --got off.npy
expect 'a wrong one' 1 "prints '^IMPOSSIBLE +given +fits no row'" \
  "prints '^    eager +does not: 1 of 1 elements, worst out.0.: 9.5.*e-07 = 1 ulp'" \
  "prints '^    closest +[a-z]'" "prints '^    got +11.000001'" \
  "prints '^    signature given matmul any x=f32,y=f32 contract IMPOSSIBLE'"
cp out before
eval "$(reproducer before)" >out 2>err
status=$?
expect 'the command that it prints reproduces it' 1 'cmp before out'
run judge -q dot --got off.npy --rule abs:1e-3
expect 'a familiar rule takes it' 0 "prints 'OK 1$'" "prints '^rule abs:0.001:'"
run judge dot --got dot.npy -q
expect '-q is quiet' 0 '[ "$(wc -l <out)" = 1 ]'
npy fortran.npy '<f4' '2,2' 0000803f000000400000803f00000040 True
run judge square --got fortran.npy
expect 'Fortran order' 0 "prints '^OK'"
npy c.npy '<f4' '2,2' 0000803f000000400000803f00000040
run judge square --got c.npy
expect 'is not C order' 1 "prints '2 of 4 elements'"

for descr in '|V2' '<u2' '<i2'; do
  npy tie.npy "$descr" '1,1' 803f
  run judge tie --got tie.npy
  expect "bf16 as $descr" 0 \
    "prints '^OK +given +fits eager, aot_eager, inductor_graph, aot_eager_bf16acc$'" \
    "prints '^    inductor +does not: 1 of 1'"
done
echo 'scaled_matmul x=f8_e4m3fn[1,1] y=f8_e4m3fn[1,1] out=f8_e4m3fn x.bits=38 y.bits=40' >eight
for descr in '|V1' '|u1' '|i1' '<f1'; do
  npy eight.npy "$descr" '1,1' 40
  run judge eight --got eight.npy -s eager
  expect "f8 as $descr" 0 "prints '^OK +given +eager'"
done
npy tie.npy '|V2' '1,1' 813f
run judge tie --got tie.npy
expect 'what fits one row only' 0 "prints '^OK +given +fits inductor$'"
run judge tie --got tie.npy -s eager
expect 'a claim' 1 "prints '^IMPOSSIBLE +given +eager'" "prints '^    fits +inductor$'" \
  "prints '^    model +'" "prints 'signature given matmul_add eager '"
cp out before
eval "$(reproducer before)" >out 2>err
status=$?
expect 'the command that it prints names the row' 1 'cmp before out'
mkdir known
{ echo '[tie]'; sed -n 's/^ *signature /signature = /p' before; echo 'reason = a test'; } >known/known.txt
precfuzz encode @tie -f archive -o known/tie.case
npy even.npy '|V2' '1,1' 803f
run judge tie --got even.npy -s inductor
expect 'other rows that fit are told' 1 \
  "prints '^    fits +eager, aot_eager, inductor_graph, aot_eager_bf16acc$'"
run judge tie --got tie.npy -s eager --known known
expect 'known findings do not count' 0 "prints '^    known     tie: a test$'" "prints '0 findings, 1 known'"
run regress known
expect 'nor can they be computed again' 0 "prints '^SKIPPED +tie +given: computed elsewhere'"
run judge tie --got tie.npy -s eager,inductor
expect 'one of two rows' 0 "prints '^OK +given +fits inductor$'" "! grep -q aot_eager out"
run judge tie --got tie.npy --strategy \
  'mine: t0 = MATMUL(x, y; acc f32) t1 = ADD(t0, bias; f32) out = CAST(t1; bf16)'
expect 'a row as text' 0 "prints '^OK +given +mine'"
run judge --table tie --got tie.npy
expect 'a table' 0 "prints '^eager +1 +1 +100%'" "prints '^inductor +1 +1 +0%'"
npy tf32.npy '<f4' '1,' 0000803f
echo 'matmul x=f32[1,1] y=f32[1] x.bits=3f800001 y.bits=3f800000' >fine
run judge fine --got tf32.npy
expect 'rows that are taken by name only are told' 1 "prints '^    fits +eager_tf32, '"
run judge fine --got tf32.npy -s eager_tf32
expect 'and taken by name' 0

npy half.npy '<f2' '1,' 0049
run judge dot --got half.npy
expect 'a dtype that no row gives' 2 "prints '^UNSUPPORTED +given +no row of this dtype'" \
  "prints '^    eager +cannot: the result is f16, the row gives f32'" \
  'says "half.npy: given: not judged: the result is f16, the row gives f32"'
run judge dot --got half.npy -s eager
expect 'a dtype that the claimed row does not give' 2 \
  "prints '^UNSUPPORTED +given +eager +the result'"
npy shape.npy '<f4' '1,1' 00003041
run judge dot --got shape.npy
expect 'another shape' 2 "says \"shape.npy: shape [1,1], but the case's result is [1]\"" \
  "prints '^0 cases, 0 results'"
npy raw.npy '|V2' '1,' 3041
run judge dot --got raw.npy
expect 'raw words that no row explains' 2 'says "raw.npy: |V2: no dtype that a row of matmul gives"'
npy cut.npy '<f4' '2,' 00003041
run judge dot --got cut.npy
expect 'a file that is cut off' 2 'says "precfuzz: cut.npy: offset "'
run judge dot --got nowhere.npy
expect 'no such file' 2 'says "precfuzz: cannot open nowhere.npy"'
run judge nowhere --got dot.npy
expect 'no such case' 2 'says "precfuzz: nowhere: No such file"'
run judge dot
expect 'no results' 2 'says "precfuzz: dot: holds no results: --got"'
run judge dot --got dot.npy -s nobody
expect 'no such row' 2 'says "precfuzz: --strategy: "'
run judge dot --got dot.npy --rule agree
expect 'rule agree' 2 'says "precfuzz: --rule agree: "'
run judge dot --got dot.npy --engine reference
expect 'no engine computes' 2 '[ -s err ]'
run judge
expect 'nothing to judge' 2 'says "FILE is missing"'

# --- tensors --------------------------------------------------------------------------------------

one out.safetensors out 803f
run judge tie --got out.safetensors
expect 'a tensor called out' 0 "prints '^OK +given:out +fits eager, '"
one eager.safetensors eager 813f
run judge tie --got eager.safetensors
expect 'one called by a row' 1 "prints '^IMPOSSIBLE +given:eager +eager '" \
  "prints 'signature given:eager matmul_add eager '" "prints '^    fits +inductor$'"
run judge tie --got eager.safetensors -s inductor
expect '--strategy goes before the name' 0 "prints '^OK +given:eager +inductor'"
one graph.safetensors matmul_add.inductor 813f
run judge tie --got graph.safetensors
expect 'one called by graph and row' 0 "prints '^OK +given:inductor +inductor'"
tensors two.safetensors '' out BF16 1,1 803f eager BF16 1,1 813f inductor BF16 1,1 813f \
  eager_tf32 BF16 1,1 803f
run judge tie --got two.safetensors
expect 'several, each by its name' 1 "prints '^IMPOSSIBLE +given:eager +eager '" \
  "prints '^OK +given:inductor +inductor '" "prints '^OK +given:eager_tf32 +eager_tf32 '" \
  "prints '^OK +given:out +fits eager, aot_eager, inductor_graph, aot_eager_bf16acc$'" \
  "prints '^1 case, 4 results, 1 finding: OK 3, IMPOSSIBLE 1$'"
tensors other.safetensors '' matmul_cast_f32_add.eager F32 1,1 0000803f
run judge tie --got other.safetensors
expect 'another graph: its exact result is another' 1 "prints '^tie: matmul_cast_f32_add '" \
  "prints '^    got +1 '" "prints '^    exact +1.00781'"
one linear.safetensors linear.eager 803f
run judge tie --got linear.safetensors
expect 'a graph that the operands do not make' 2 \
  "says \"tensor 'linear.eager': the case is none of linear: x and y: K is\""
one name.safetensors result 803f
run judge tie --got name.safetensors
expect 'a tensor that says nothing' 2 \
  "says \"name.safetensors: tensor 'result': neither an operand\""
run judge tie --got name.safetensors --tensor result
expect '--tensor takes it' 0 "prints '^OK +given:result +fits'"
run judge tie --got name.safetensors --tensor other
expect 'no such tensor' 2 'says "name.safetensors: --tensor: there is no '\''other'\''"'
one name.safetensors matmul_add.cuda 803f
run judge tie --got name.safetensors
expect 'no such row' 2 "says \"tensor 'matmul_add.cuda': matmul_add has no strategy 'cuda'\""
tensors y.safetensors '' out BF16 1,1 803f y BF16 2,1 803f803b
run judge tie --got y.safetensors
expect 'the operands beside it' 0 "prints '^OK'"
poke y.safetensors y 2 1
run judge tie --got y.safetensors
expect 'must be the case'\''s' 2 "says \"y.safetensors: tensor 'y': element 1 is not the case's\""
tensors y.safetensors '' y BF16 2,1 803f803b
run judge tie --got y.safetensors
expect 'operands only' 2 'says "y.safetensors: no result to judge"'
tensors long.safetensors '' out I64 1,1 0000000000000000
run judge tie --got long.safetensors
expect 'a dtype of others' 2 "says \"tensor 'out': I64: no dtype that a row\""
head -c 60 out.safetensors >cut.safetensors
run judge tie --got cut.safetensors
expect 'a safetensors file that is cut off' 2 'says "precfuzz: cut.safetensors: offset "'
run show cut.safetensors
expect 'is not taken for bytes of a fuzzer' 2 'says "precfuzz: cut.safetensors: "'

# --- folders --------------------------------------------------------------------------------------

mkdir cases got
cp tie cases/tie.case
cp dot cases/dot.case
one got/tie.safetensors out 803f
npy got/dot.npy '<f4' '1,' 00003041
run judge cases --got got
expect 'a folder for a folder' 0 "prints '^2 cases, 2 results, 0 findings: OK 2'"
run judge cases --got dot.npy
expect 'a file for a folder' 2 'says "precfuzz: --got: for 2 cases it takes a folder"'
cp got/dot.npy got/tie.npy
run judge cases --got got
expect 'two files for a case' 2 'says "cases/tie.case: there is both got/tie.safetensors and "'
rm got/tie.*
run judge cases --got got
expect 'no file for a case' 2 'says "cases/tie.case: there is neither got/tie.safetensors nor "'

mkdir index
cp tie index/tie.case
one index/tie.safetensors recorded 803f
index() { echo "{\"cases\": [$1]}" >index/index.json; }  # entries
entry() { echo "{\"file\": \"tie.case\", \"got\": \"tie.safetensors\", \"claims\": $1}"; }
index "$(entry '{"recorded": "eager"}')"
run judge index
expect 'an index says what follows which row' 0 "prints '^OK +given:recorded +eager'"

bad_index() # name entries message
{
  index "$2"
  run judge index
  expect "$1" 2 "says \"$3\""
}
bad_index 'an index that is no JSON' '{' 'precfuzz: index/index.json: offset '
bad_index 'an index without cases' '' 'index/index.json: \"cases\" is no list'
bad_index 'an index of no files' '{"got": "x"}' 'index/index.json: case 0: \"file\" is no name'
bad_index 'an index of other folders' '{"file": "../tie"}' 'case 0: \"file\" is no name'
bad_index 'results in other folders' '{"file": "tie.case", "got": "a/b"}' '\"got\" is no name'
bad_index 'claims that are no names' "$(entry '{"a": 1}')" 'case 0: \"claims\"'
bad_index 'a claim behind another' "$(entry '{"recorded": "eager", "a": null}')" 'case 0: \"claims\"'
bad_index 'claims that are no object' "$(entry 1)" 'case 0: \"claims\"'
bad_index 'claims of a missing tensor' "$(entry '{"a": "eager"}')" "no tensor 'a'"
bad_index 'claims of a missing row' "$(entry '{"recorded": "cuda"}')" \
  "matmul_add has no strategy 'cuda'"
bad_index 'a case that is not there' '{"file": "gone.case"}' 'precfuzz: index/gone.case: '

# --- export ---------------------------------------------------------------------------------------

run export --count 60 --seed 3 --with-outputs exported
expect 'export' 0 "prints '^60 cases in exported, seed 3$'" '[ "$(ls exported | wc -l)" = 61 ]' \
  '[ "$(grep -c "\"file\":\"case" exported/index.json)" = 60 ]' '! ls exported | grep -q tmp'
run judge -q exported
expect 'what is right goes round' 0 "prints '^60 cases, [0-9]+ results, 0 findings'" '[ ! -s err ]'
cp out before
run check -q -e reference:forward exported
expect 'exported cases are cases' 0 "prints '^60 cases, [0-9]+ results, 0 findings'"
# of a case where nothing is vacuous: every row's result, and its first element changed by much
rows='eager inductor aot_eager inductor_graph aot_eager_bf16acc'
for graph in matmul_out_f32_add matmul_add matmul_cast_f32_add matmul linear addmm; do
  for seed in {1..30}; do
    rm -rf poked
    run export --count 1 --seed "$seed" --graph $graph --dtype bf16 --values normal \
      --layout strided --with-outputs poked
    run judge -q poked
    prints 'OK 5$' && break
  done
  file=$(echo poked/*.safetensors)
  for row in $rows; do
    poke "$file" "$row" 1 64
    run judge poked --tensor "$row"
    expect "$graph: a changed element of $row is found" 1 \
      "prints '^(IMPOSSIBLE|SPECIAL) +given:$row +$row'"
    poke "$file" "$row" 1 64
  done
  run judge poked
  expect "$graph: changed back it is not" 0 "prints '5 results, 0 findings: OK 5'"
done
run export --count 60 --seed 3 --with-outputs again
expect 'the same seed, the same files' 0 'diff -r exported again'
run export --count 8 --seed 4 --dtype f32 --graph matmul --layout dense --max-work 64 few
expect 'filters' 0 \
  '[ "$(grep -c "\"case\":\"matmul x=f32.*\"graph\":\"matmul\"" few/index.json)" = 8 ]'
run export --count 5 --graph addmm --dtype s32 integers
expect 'cases that no row runs are left out' 0 '[ "$(ls integers | wc -l)" = 6 ]' \
  '! grep -q "\"outputs\":{}" integers/index.json' '[ -e integers/case000015.safetensors ]'
run export --count 5 --graph matmul_out_f32_add --dtype s32 vain
expect 'no case that a row runs' 2 'says "precfuzz: no strategy runs any of 1000 cases"' \
  '[ ! -e vain/index.json ]'
run judge few
expect 'without results' 2 'says "few/case000000.safetensors: no result to judge"'
run export --count 20 --with-outputs=fault:M13 --values integer --dtype f32 faulty
run judge -q faulty
expect 'a fault is found' 1 "prints '^IMPOSSIBLE +given:eager'" \
  "prints 'model +drop-tail-8 matches'"
run export --count 3 exported
expect 'a folder with files is left alone' 2 'says "precfuzz: exported: not empty"' \
  'diff -r exported again'
run export --count 3 dot
expect 'a file is no folder' 2 'says "precfuzz: dot: "'
run export --count 3 nowhere/deep
expect 'a folder that cannot be made' 3 'says "precfuzz: nowhere/deep: cannot be made"'
run export --count 0 none
expect 'no cases' 2 'says "--count"' '[ ! -e none ]'
run export --with-outputs=nobody none
expect 'no such engine' 2 'says "--with-outputs: no engine is called"' '[ ! -e none ]'
run export
expect 'no folder' 2 'says "FOLDER is missing"'

# --- forms ----------------------------------------------------------------------------------------

text='addmm x=bf16[3,4](1,3)+1 y=bf16[4,2] c=bf16[2] alpha=0.5 beta=-2 out=(3,1) x.values=cancel:5'
run encode "$text" --form safetensors -o a.safetensors
expect 'encode writes safetensors' 0 '[ ! -s out ]'
run encode @a.safetensors --form archive -o a.case
expect 'and reads it' 0
run encode @a.case --form text -o a.txt
expect 'as an archive, too' 0 '[ "$(cat a.txt)" = "$text" ]'
run check -e reference:forward a.safetensors
expect 'check takes safetensors' 0 "prints '^OK'"
run encode "$text" --form safetensors -o -
expect 'not to a pipe' 2 'says "precfuzz: --output: "'
run encode "$text" --graph matmul -o x
expect '--graph is for files of tensors' 2 \
  'says "precfuzz: TEXT: no safetensors file, which --graph"'
run encode @a.safetensors --graph matmul -o x
expect 'and for those that say nothing' 2 'says "precfuzz: a.safetensors: says itself"'
run encode @tie.npy -o x
expect 'encode takes no bytes of a fuzzer' 2 '[ -s err ]'
tensors recorded.safetensors '{"by":"hand"}' r F32 1 00003041 x F32 2 0000803f00000040 \
  y F32 2,1 0000404000008040
run check recorded.safetensors
expect 'a file that does not say which case it is' 2 'says "its metadata has no precfuzz.case"'
run encode @recorded.safetensors --graph matmul --form text -o r.txt --rest r.safetensors
text='matmul x=f32[2] y=f32[2,1] x.bits=3f800000,40000000 y.bits=40400000,40800000'
expect 'a recording taken apart' 0 '[ "$(cat r.txt)" = "$text" ]' \
  'head -n 1 r.safetensors | grep -aq "{\"__metadata__\":{\"by\":\"hand\"},\"r\":{[^}]*}}"'
run judge r.txt --got r.safetensors --tensor r
expect 'and judged' 0 "prints '^OK +given:r'"

exit "$failed"
