import { bracketEnd } from './code-text.ts';
import { gateLimits } from './gate-limit.ts';
import type { Language } from './test-files.ts';
import { testBeginnings } from './test-words.ts';

/** A test in a file: its name, and its body as code. */
export type TestBody = { name: string; body: string };

/** Languages whose blocks are recognised by indentation. */
const indented: ReadonlySet<Language> = new Set(['python', 'ruby', 'elixir', 'shell']);

/** The tests of a file, in order. `code` is the text without comments and string contents (`codeOnly`). */
export function testBodies(text: string, code: string, language: Language): TestBody[] {
  const bodies: TestBody[] = [];
  const lines = code.split('\n');
  // Tests may nest; this bounds the total work.
  let room = 4 * code.length;
  for (let no = 0, at = 0; no < lines.length && bodies.length < gateLimits.testsInFile && room > 0; no += 1) {
    const line = lines[no] ?? '';
    const found = testBeginnings[language].exec(line.slice(0, gateLimits.lineCharacters));
    if (found !== null && !/\bfunction\s+(?:it|test|specify)\b/.test(line)) {
      const start = at + found.index;
      if (indented.has(language))
        bodies.push({ name: text.slice(at, at + line.length).trim(), body: blockBelow(lines, no) });
      else bodies.push(language === 'script' ? calledBody(text, code, start) : bracedBody(text, code, start));
      room -= (bodies.at(-1)?.body.length ?? 0) + line.length;
    }
    at += line.length + 1;
  }
  return bodies;
}

/** The lines below that are indented further, and any text after the colon of the first line. */
export function blockBelow(lines: readonly string[], no: number): string {
  const depth = indentOf(lines[no] ?? '');
  const block: string[] = [/:\s*(\S.*)$/.exec(lines[no] ?? '')?.[1] ?? ''];
  // A function head may span lines, and its last line may be indented like the first.
  for (let at = no + 1; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (line.trim() === '' || /^\s*\).*:\s*$/.test(line)) continue;
    if (indentOf(line) <= depth) break;
    block.push(line);
  }
  return block.join('\n');
}

export function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

/** A test that is a call with a function: `test('name', () => { … })`, also after `test.each(…)`. */
function calledBody(text: string, code: string, start: number): TestBody {
  let open = start + (/^[^(`]*/.exec(code.slice(start, start + gateLimits.lineCharacters))?.[0].length ?? 0);
  let end = open;
  for (let calls = 0; calls < 3; calls += 1) {
    const next = end + (/^\s*/.exec(code.slice(end, end + 200))?.[0].length ?? 0);
    if (code[next] === '`') end = code.indexOf('`', next + 1) + 1 || code.length;
    else if (code[next] === '(') {
      open = next;
      end = bracketEnd(code, next);
    } else break;
  }
  const inner = code.slice(open + 1, Math.max(open + 1, end - 1));
  const [, , name = ''] = /^\s*(["'`])((?:(?!\1)[^\\]|\\.){0,200})/.exec(text.slice(open + 1, open + 500)) ?? [];
  const [head = ''] = /^(?:.*?=>\s*|.*?\bfunction\b[^{]*)/s.exec(inner) ?? [];
  const body = head === '' ? '' : inner.slice(head.length);
  return { name, body: body.startsWith('{') ? body.slice(1, bracketEnd(body, 0) - 1) : body.replace(/[\s,]*$/, '') };
}

/** A test that is a function or a block: everything up to the first brace is its name. */
function bracedBody(text: string, code: string, start: number): TestBody {
  const open = code.indexOf('{', start);
  if (open === -1) return { name: '', body: '' };
  const name = text.slice(start, open).replaceAll(/\s+/g, ' ').trim().slice(0, 300);
  return { name, body: code.slice(open + 1, bracketEnd(code, open) - 1) };
}
