import { expect, test } from 'vitest';
import { providerRegistry } from '../src/registry.ts';
import { scriptedPreset } from '../src/scripted.ts';

const scripted = scriptedPreset(['node', 'agent.ts'], '/state');
const other = { ...scripted, name: 'other' };
const providers = providerRegistry([scripted, other]);

test('a provider is found by its name; an unknown one is null', () => {
  expect(providers.get('other')).toBe(other);
  expect(providers.find('other')).toBe(other);
  expect(providers.find('gone')).toBeNull();
  expect(providers.find(null)).toBeNull();
});

test.each(['Scripted', 'constructor', '__proto__', ''])('the name %j is answered with the ones there are', (name) => {
  expect(() => providers.get(name)).toThrow(
    expect.objectContaining({ code: 'unknown_provider', hint: 'Known providers: scripted, other.' }),
  );
});

test('only the start of a long name is repeated', () => {
  expect(() => providers.get('x'.repeat(10_000))).toThrow(/^.{1,150}$/);
});

test('the scripted preset starts the given program with the given state directory', () => {
  expect(scripted.command.slice(0, 2)).toEqual(['node', 'agent.ts']);
  expect(Object.values(scripted.env)).toEqual(['/state']);
});
