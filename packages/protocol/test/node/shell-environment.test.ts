import { expect, test } from 'vitest';
import { providerVariables } from '../../src/node/shell-environment.ts';

test('only variables that coding CLIs read are sent, and none that no process could be given', () => {
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

test('a variable that a custom provider reads is sent', () => {
  const environment = { MY_MODEL_KEY: 'sk-mine', MY_OTHER: 'x', OPENAI_API_KEY: 'sk-x' };
  expect(providerVariables(environment, ['MY_MODEL_KEY', 'MY_MISSING'])).toEqual({
    MY_MODEL_KEY: 'sk-mine',
    OPENAI_API_KEY: 'sk-x',
  });
});

test('their number is limited', () => {
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`CLAUDE_${index}`, 'x']));
  expect(Object.keys(providerVariables(many))).toHaveLength(100);
});
