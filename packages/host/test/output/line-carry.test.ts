import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { rebuildCarry } from '../../src/output/line-carry.ts';
import { createLineSplitter } from '../../src/output/lines.ts';
import { useWorkspace } from '../support/workspace.ts';

const workspace = useWorkspace();

test('a splitter resumed at any offset after a restart gives the remaining lines', async () => {
  const path = join(workspace.root, 'out');
  const bytes = Buffer.from('\uFEFFfirst é€😀\r\n\nthird\r\nthis one is longer than the limit of bytes\nlast');
  writeFileSync(path, bytes);
  const maxLineBytes = 24;
  const whole = createLineSplitter({ maxLineBytes });
  const all = [...whole.push(bytes), ...whole.end()];
  for (let offset = 0; offset <= bytes.length; offset += 1) {
    const seen = createLineSplitter({ maxLineBytes }).push(bytes.subarray(0, offset)).length;
    const carry = rebuildCarry({ path, offset, maxLineBytes });
    expect(carry.bytes.length).toBeLessThanOrEqual(maxLineBytes + 1);
    const splitter = createLineSplitter({ maxLineBytes, carry });
    const rest = [...splitter.push(bytes.subarray(offset)), ...splitter.end()];
    // Only the fact of an oversized line is certain; its text starts where reading back ended.
    const comparable = (lines: typeof all) => lines.map((line) => (line.oversized ? 'oversized' : line.text));
    expect(comparable(rest)).toEqual(comparable(all.slice(seen)));
  }
});

test('an offset beyond the end of a file gives what exists', async () => {
  const path = join(workspace.root, 'out');
  writeFileSync(path, 'a\nbc');
  const carry = rebuildCarry({ path, offset: 100, maxLineBytes: 1_000 });
  expect(Buffer.from(carry.bytes).toString()).toBe('bc');
});
