import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPieceMask } from '../../src/output/piece-mask.ts';

const secret = 'sk-secret-0123456789';

function shown(pieces: string[], secrets = [secret]): string {
  const mask = createPieceMask(secrets);
  return pieces.map((piece) => mask.push(piece)).join('') + mask.end();
}

test('a secret is masked wherever it is cut, and nothing else is [7.23]', () => {
  const text = `the key is ${secret}, sk-se is not, ä`;
  fc.assert(
    fc.property(fc.array(fc.nat(text.length), { maxLength: 12 }), (cuts) => {
      const at = [0, ...cuts.toSorted((a, b) => a - b), text.length];
      const pieces = at.slice(1).map((to, index) => text.slice(at[index], to));
      expect(shown(pieces)).toBe(text.replace(secret, '*'.repeat(secret.length)));
    }),
  );
});

test('a prefix without its rest is shown only if it reveals nothing', () => {
  expect(shown(['so it begins: sk-se'])).toBe('so it begins: sk-se');
  expect(shown(['sk-secret-01', '2345'])).toBe('*'.repeat(16));
});

test('without secrets every piece is shown at once', () => {
  expect(createPieceMask([]).push('sk-')).toBe('sk-');
});
