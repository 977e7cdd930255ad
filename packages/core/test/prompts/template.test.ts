import { expect, test } from 'vitest';
import { parseTemplate } from '../../src/prompts/template.ts';

test('each heading is a tag, followed by its text', () => {
  expect(parseTemplate('x', '# role\n\nYou.\n\n## More\n\nof it\n\n# task\n\n# rules\n- one\n')).toEqual([
    { tag: 'role', text: 'You.\n\n## More\n\nof it' },
    { tag: 'task', text: '' },
    { tag: 'rules', text: '- one' },
  ]);
});

test('a comment in a code block is not a heading', () => {
  expect(parseTemplate('x', '# role\n```\n# task\n```\n')).toEqual([{ tag: 'role', text: '```\n# task\n```' }]);
});

test.each([
  ['text before', 'hello\n# role\n', 'before its first tag'],
  ['a tag twice', '# role\na\n# role\nb\n', 'role twice'],
  ['a heading that is no tag', '# The Role\n', 'no tag: # The Role'],
])('%s is an error', (_, text, reason) => {
  expect(() => parseTemplate('x', text)).toThrow(reason);
});
