/**
 * Regular expressions for patterns that people write and text that anybody writes: at most one step per character and
 * instruction, so that no text can make a pattern slow. Supports characters, `.`, classes, `\d \w \s \b`, `^ $` at line
 * ends, groups, `|` and repetitions; case-insensitive. No captures, lookaround or backreferences.
 */
export type Pattern = {
  isIn(text: string): boolean;
  /** The end of every match, in order. */
  endsIn(text: string): number[];
};

/** Bounds of one pattern. */
const patternLimits = { characters: 300, repetitions: 200, instructions: 2_000, depth: 20 } as const;

/** Compiles a pattern, or says why it is invalid. */
export function compilePattern(source: string): Pattern | { refused: string } {
  if (source.length > patternLimits.characters)
    return { refused: `is longer than ${patternLimits.characters} characters` };
  try {
    const program: Instruction[] = [];
    emit(parse(source), program);
    program.push({ kind: 'match' });
    return { isIn: (text) => runs(program, text, 1).length > 0, endsIn: (text) => runs(program, text, Infinity) };
  } catch (error) {
    if (error instanceof Refusal) return { refused: error.message };
    throw error;
  }
}

class Refusal extends Error {}

type Test = (character: string) => boolean;
type Assertion = 'start' | 'end' | 'edge' | 'inside';

type Node =
  | { kind: 'character'; test: Test }
  | { kind: 'assert'; assertion: Assertion }
  | { kind: 'sequence'; nodes: Node[] }
  | { kind: 'choice'; nodes: Node[] }
  | { kind: 'repeat'; node: Node; least: number; most: number };

function parse(source: string): Node {
  let at = 0;

  function choice(depth: number): Node {
    if (depth > patternLimits.depth) throw new Refusal('has too deeply nested groups');
    const nodes = [sequence(depth)];
    while (source[at] === '|') {
      at++;
      nodes.push(sequence(depth));
    }
    return nodes.length === 1 && nodes[0] !== undefined ? nodes[0] : { kind: 'choice', nodes };
  }

  function sequence(depth: number): Node {
    const nodes: Node[] = [];
    while (at < source.length && source[at] !== '|' && source[at] !== ')') nodes.push(repeated(atom(depth)));
    return { kind: 'sequence', nodes };
  }

  function atom(depth: number): Node {
    const character = source[at] ?? '';
    if (character === '(') return group(depth);
    if (character === '[') return one(/^\[(?:\\.|[^\]\\])*\]/s.exec(source.slice(at))?.[0] ?? '');
    if (character === '\\') return escape(source.slice(at, at + 2));
    if ('*+?{'.includes(character)) throw new Refusal('repeats nothing');
    if (character === '^' || character === '$') {
      at++;
      return { kind: 'assert', assertion: character === '^' ? 'start' : 'end' };
    }
    return one(character);
  }

  function group(depth: number): Node {
    at += source.startsWith('(?:', at) ? 3 : 1;
    if (source[at] === '?') throw new Refusal('uses lookaround or a named group');
    const inner = choice(depth + 1);
    if (source[at] !== ')') throw new Refusal('has an unterminated group');
    at++;
    return inner;
  }

  function escape(pair: string): Node {
    if (pair === String.raw`\b` || pair === String.raw`\B`) {
      at += 2;
      return { kind: 'assert', assertion: pair === String.raw`\b` ? 'edge' : 'inside' };
    }
    if (!/^\\[dDwWsSnrtfv\W_]$/s.test(pair)) throw new Refusal(`uses ${pair}, which is not supported`);
    return one(pair);
  }

  /** Matches one character, delegated to the language's own expressions. */
  function one(written: string): Node {
    if (written === '') throw new Refusal('has an unterminated class');
    at += written.length;
    return { kind: 'character', test: testOf(written) };
  }

  function repeated(node: Node): Node {
    const written = /^(?:[*+?]|\{\d{1,4}(?:,\d{0,4})?\})/.exec(source.slice(at))?.[0];
    if (written === undefined) return node;
    at += written.length;
    // A lazy repetition finds the same.
    if (source[at] === '?') at++;
    const [least, most] = bounds(written);
    if (least > most || least > patternLimits.repetitions || (most !== Infinity && most > patternLimits.repetitions))
      throw new Refusal(`repeats more than ${patternLimits.repetitions} times`);
    return { kind: 'repeat', node, least, most };
  }

  const node = choice(0);
  if (at < source.length) throw new Refusal('has an unmatched )');
  return node;
}

function bounds(written: string): [number, number] {
  if (written === '*') return [0, Infinity];
  if (written === '+') return [1, Infinity];
  if (written === '?') return [0, 1];
  const [least = '0', most] = written.slice(1, -1).split(',');
  if (most === undefined) return [Number(least), Number(least)];
  return [Number(least), most === '' ? Infinity : Number(most)];
}

const asciiCount = 128;

function testOf(written: string): Test {
  if (written.length === 1 && written !== '.') {
    const folded = written.toLowerCase();
    return (character) => character === written || character.toLowerCase() === folded;
  }
  const expression = singleCharacter(written);
  const ascii = Array.from({ length: asciiCount }, (_, code) => expression.test(String.fromCharCode(code)));
  return (character) => ascii[character.charCodeAt(0)] ?? expression.test(character);
}

function singleCharacter(written: string): RegExp {
  try {
    return new RegExp(`^${written}$`, 'i');
  } catch {
    throw new Refusal('has an invalid class');
  }
}

type Instruction =
  | { kind: 'character'; test: Test }
  | { kind: 'assert'; assertion: Assertion }
  /** Continues at each of these. */
  | { kind: 'fork'; targets: number[] }
  | { kind: 'match' };

function emit(node: Node, program: Instruction[]): void {
  if (program.length > patternLimits.instructions) throw new Refusal('is too large after expanding its repetitions');
  switch (node.kind) {
    case 'character':
    case 'assert':
      program.push(node);
      return;
    case 'sequence':
      for (const part of node.nodes) emit(part, program);
      return;
    case 'choice':
      emitChoice(node.nodes, program);
      return;
    case 'repeat':
      emitRepeat(node, program);
      return;
  }
}

function emitChoice(nodes: Node[], program: Instruction[]): void {
  const start = { kind: 'fork' as const, targets: [] as number[] };
  program.push(start);
  const ends: { targets: number[] }[] = [];
  for (const node of nodes) {
    start.targets.push(program.length);
    emit(node, program);
    const end = { kind: 'fork' as const, targets: [] };
    program.push(end);
    ends.push(end);
  }
  for (const end of ends) end.targets.push(program.length);
}

function emitRepeat(node: Extract<Node, { kind: 'repeat' }>, program: Instruction[]): void {
  for (let times = 0; times < node.least; times++) emit(node.node, program);
  if (node.most === Infinity) {
    const loop = { kind: 'fork' as const, targets: [program.length + 1] };
    const start = program.length;
    program.push(loop);
    emit(node.node, program);
    program.push({ kind: 'fork', targets: [start] });
    loop.targets.push(program.length);
    return;
  }
  const skips: { targets: number[] }[] = [];
  for (let times = node.least; times < node.most; times++) {
    const skip = { kind: 'fork' as const, targets: [program.length + 1] };
    program.push(skip);
    skips.push(skip);
    emit(node.node, program);
  }
  for (const skip of skips) skip.targets.push(program.length);
}

/** Runs all threads of the program at once, one character at a time. Returns up to `wanted` match ends. */
function runs(program: Instruction[], text: string, wanted: number): number[] {
  const ends: number[] = [];
  let waiting: number[] = [];
  const seenAt = new Int32Array(program.length).fill(-1);
  for (let at = 0; at <= text.length; at++) {
    const ready = [...waiting, 0];
    waiting = [];
    while (ready.length > 0) {
      const next = ready.pop() ?? 0;
      if (seenAt[next] === at) continue;
      seenAt[next] = at;
      const instruction = program[next];
      if (instruction === undefined) continue;
      if (instruction.kind === 'match') {
        if (ends.push(at) >= wanted) return ends;
      } else if (instruction.kind === 'fork') ready.push(...instruction.targets);
      else if (instruction.kind === 'assert') {
        if (holds(instruction.assertion, text, at)) ready.push(next + 1);
      } else if (at < text.length && instruction.test(text[at] ?? '')) waiting.push(next + 1);
    }
  }
  return ends;
}

const wordCharacter = /^\w$/;

function holds(assertion: Assertion, text: string, at: number): boolean {
  const before = text[at - 1];
  const after = text[at];
  if (assertion === 'start') return before === undefined || before === '\n';
  if (assertion === 'end') return after === undefined || after === '\n';
  const isEdge = wordCharacter.test(before ?? '') !== wordCharacter.test(after ?? '');
  return assertion === 'edge' ? isEdge : !isEdge;
}
