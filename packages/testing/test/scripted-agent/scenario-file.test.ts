import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PawlError } from '@pawl/schema/error';
import { expect, test } from 'vitest';
import { scriptedLimits } from '../../src/scripted-agent/limit.ts';
import { readScenarioFile } from '../../src/scripted-agent/scenario-file.ts';
import { temporaryDirectory } from '../../src/temporary.ts';

async function read(text: string, name = 'scenario.yaml') {
  await using temporary = await temporaryDirectory();
  const path = join(temporary.path, name);
  await writeFile(path, text);
  return await readScenarioFile(path);
}

async function refusal(text: string, name?: string): Promise<string> {
  const error = await read(text, name).then(
    () => new Error('it was accepted'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(PawlError);
  expect((error as PawlError).code).toBe('invalid_input');
  return (error as PawlError).message;
}

test('a bare word, an empty value and true all mean a step without fields', async () => {
  const { steps, name } = await read('name: small\nsteps: [hang, {hang: }, {hang: true}, {hang: {once: true}}]');
  expect(name).toBe('small');
  const plain = { kind: 'hang', value: { ignore_term: false, once: false } };
  expect(steps).toEqual([plain, plain, plain, { kind: 'hang', value: { ignore_term: false, once: true } }]);
});

test('repeat is unrolled, and n counts the innermost rounds', async () => {
  const text = `
steps:
  - say: before
  - repeat:
      times: 2
      steps:
        - say: outer
        - repeat: { times: 2, steps: [{ say: inner }] }
`;
  const { steps } = await read(text);
  expect(steps.map((step) => [step.value, step.n])).toEqual([
    ['before', undefined],
    ['outer', 1],
    ['inner', 1],
    ['inner', 2],
    ['outer', 2],
    ['inner', 1],
    ['inner', 2],
  ]);
});

test.each([
  ['steps: 3', 'steps: Invalid input: expected array'],
  ['', 'the file: Invalid input: expected object'],
  ['{stepz: []}', 'Unrecognized key: "stepz"'],
  ['steps: [{wrte: x}]', 'steps[0]: unknown step "wrte"; the steps are say, think, write'],
  ['steps: [{__proto__: x}]', 'steps[0]: '],
  ['steps: [{say: a, think: b}]', 'steps[0]: expected a step with exactly one key'],
  ['steps: [3]', 'steps[0]: expected a step with exactly one key'],
  ['steps: [{say: a}, {write: {path: x}}]', 'steps[1].write.content: Invalid input: expected string'],
  ['steps: [{say: {turns}}]', 'steps[0].say: Invalid input: expected string'],
  ['steps: [{sleep: 5}]', 'steps[0].sleep: Invalid input: expected string'],
  ['steps: [{sleep: 5 parsecs}]', 'steps[0].sleep: expected a duration'],
  ['steps: [{sleep: 25h}]', 'steps[0].sleep: expected a duration of at most 24h'],
  ['steps: [{crash: {code: 1, signal: SIGKILL}}]', 'steps[0].crash: takes code or signal, not both'],
  ['steps: [{crash: {code: 256}}]', 'steps[0].crash.code: '],
  ['steps: [{signal: maybe}]', 'steps[0].signal.status: '],
  ['steps: [{limit: {until: tomorrow}}]', 'steps[0].limit.until: expected a time such as'],
  ['steps: [{repeat: {times: 2, steps: [{say: 1}]}}]', 'steps[0].repeat.steps[0].say: Invalid input: expected string'],
  ['steps: [{repeat: {times: 100000, steps: [{say: a}, {say: b}]}}]', 'more than 100000 steps'],
  ['steps: [&a {repeat: {times: 1, steps: [*a]}}]', 'repeat is nested more than 8 deep'],
  ['steps: [', 'is not valid'],
])('the scenario %j is refused', async (text, message) => {
  expect(await refusal(text)).toContain(message);
});

test('broken JSON, a huge file and a bomb of aliases are refused', async () => {
  expect(await refusal('{"steps":', 'scenario.json')).toContain('JSON');
  expect(await refusal('#'.repeat(scriptedLimits.scenarioBytes + 1))).toContain('larger than');
  const bomb = [
    'a: &a [x, x]',
    ...Array.from('bcdefghi').map((name, index) => `${name}: &${name} [${`*${'abcdefgh'[index]},`.repeat(20)}]`),
  ];
  expect(await refusal(bomb.join('\n'))).toContain('alias');
});

test('many faults are told together, within a limit', async () => {
  const message = await refusal(`steps: [${'{say: 1},'.repeat(30)}]`);
  expect(message.match(/steps\[\d+\]/g)).toHaveLength(scriptedLimits.scenarioFaults);
  expect(message).toContain('and 20 more');
});
