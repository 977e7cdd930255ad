import { expect, test } from 'vitest';
import { providerVariables } from '../src/shell-environment.ts';

test('only what coding CLIs read goes along, and nothing that no process could be given', () => {
  const environment = {
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:1',
    OPENAI_API_KEY: 'sk-x',
    GEMINI_API_KEY: '',
    CODEX_HOME: 'a\0b',
    QWEN_HOME: 'x'.repeat(10_000),
    HOME: '/home/somebody',
    DATABASE_PASSWORD: 'secret',
    MY_ANTHROPIC_KEY: 'secret',
  };
  expect(providerVariables(environment)).toEqual({
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:1',
    OPENAI_API_KEY: 'sk-x',
  });
});

test('there is an end to how many', () => {
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`CLAUDE_${index}`, 'x']));
  expect(Object.keys(providerVariables(many))).toHaveLength(100);
});
