import type { Language } from './test-files.ts';

/** The first line of a test. */
export const testBeginnings: Record<Language, RegExp> = {
  script: /(?<![\w.])(?:it|test|specify|Deno\.test)(?:\.\w+)*\s*[(`]/,
  python: /^\s*(?:async\s+)?def\s+test\w*\s*\(/,
  go: /^func\s+(?:Test|Fuzz|Example)\w*\(|\bt\.Run\(/,
  rust: /#\[(?:\w+::)*(?:test|rstest|test_case|quickcheck)\b/,
  jvm: /@(?:Test|ParameterizedTest|RepeatedTest|TestFactory)\b|^\s*(?:test|it)\s*\(\s*"/,
  dotnet: /\[(?:Fact|Theory|Test|TestCase|TestMethod|DataTestMethod)\b/,
  php: /\bfunction\s+test\w*\s*\(|#\[Test\b|^\s*(?:it|test)\s*\(/,
  ruby: /^\s*(?:it|specify|scenario|test|should)\b(?!\s*[=.])|^\s*def\s+test_/,
  elixir: /^\s*(?:test|property|doctest)\b/,
  shell: /^\s*@test\b|^\s*(?:function\s+)?test_\w+\s*\(\)/,
  native: /^\s*(?:TEST|TEST_F|TEST_P|TYPED_TEST|TEST_CASE|SCENARIO)\s*\(/,
};

/** Assertions, including expected failures. */
export const assertions: Record<Language, RegExp> = {
  script:
    /(?<![\w$])(?<!function\s)(?:expect|assert)\w*(?:\.\w+)*\s*\(|\.should\b|(?<![\w.$])t\.(?:is|not|ok|notOk|true|false|truthy|falsy|equal|equals|notEqual|same|deepEqual|notDeepEqual|strictEqual|like|throws|throwsAsync|notThrows|rejects|doesNotThrow|regex|match|snapshot|fail|assert)\(/,
  python: /^\s*assert\b|\bself\.(?:assert|fail)\w*\(|\bassert_\w+\(|\bpytest\.(?:raises|warns|fail)\(/,
  go: /\b(?:t|b|tb)\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|\b(?:assert|require)\.\w+\(/,
  rust: /\b(?:debug_)?assert\w*!|\bpanic!|#\[should_panic\b/,
  jvm: /(?<![\w$])(?:assert\w*|verify\w*|expect\w*|fail)\s*\(|\bAssert\w*\.\w+\(|\.should\w*\b|\bshouldBe\b/,
  dotnet: /\b\w*Assert\.\w+|\.Should\w*\(|\bVerify\w*\(/,
  php: /(?:->|::)(?:assert|expect)\w*\(|(?<![\w>:])expect\(/,
  ruby: /(?<![\w.])(?:assert|refute)\w*\b|(?<![\w.])expect\s*[({]|\.should(?:_not)?\b|\.(?:must|wont)_\w+/,
  elixir: /(?<![\w.])(?:assert|refute)\w*\b/,
  shell: /^\s*(?:\[\[?\s|test\s|!\s|assert\w*\b|refute\w*\b|run\s)/,
  native: /\b(?:EXPECT|ASSERT|CHECK|REQUIRE)\w*\s*\(|\bassert\s*\(/,
};
