import { markdownOf, tiptapOf } from '@pawl/present/plan/tiptap';
import { tiptapSchema } from '@pawl/schema/plan/tiptap';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

const page = `# Cancel orders

Customers *want* to **cancel** with \`POST /cancel\`, see [the rules](https://example.org/rules).

- one
- two
  - inside
    - deeper
- three

3. third
4. fourth

> A quote
>
> with two paragraphs

---

\`\`\`ts
const a = '**not bold**';

// # not a heading
\`\`\`

The ~~old~~ end.
`;

test('a page survives the way to Tiptap and back, letter for letter [S3-10, S3-11]', () => {
  expect(markdownOf(tiptapOf(page))).toBe(page);
  expect(tiptapSchema.parse(tiptapOf(page))).toEqual(tiptapOf(page));
});

test('markdown becomes the nodes and marks of Tiptap [S3-11]', () => {
  expect(tiptapOf('## A **b `c`**\n\n1. x')).toEqual({
    type: 'doc',
    content: [
      {
        type: 'heading',
        attrs: { level: 2 },
        content: [
          { type: 'text', text: 'A ' },
          { type: 'text', marks: [{ type: 'bold' }], text: 'b ' },
          { type: 'text', marks: [{ type: 'bold' }, { type: 'code' }], text: 'c' },
        ],
      },
      {
        type: 'orderedList',
        attrs: { start: 1 },
        content: [{ type: 'listItem', content: [{ type: 'paragraph', content: [{ type: 'text', text: 'x' }] }] }],
      },
    ],
  });
});

test('unknown nodes of a document are read by their content, at any depth', () => {
  const strange = {
    type: 'doc',
    content: [{ type: 'callout', content: [{ type: 'paragraph', content: [{ type: 'text', text: 'kept' }] }] }],
  };
  expect(markdownOf(strange)).toBe('kept\n');
  expect(() => markdownOf(tiptapOf('> '.repeat(5_000) + 'x'))).not.toThrow();
  expect(() => tiptapSchema.parse({ type: 3 })).toThrow();
});

test('any text converts to a document that is valid and stable', () => {
  const words = fc.array(
    fc.constantFrom('# a', '- b', '  - c', '> d', '```', '1. e', '**f**', '', 'g `h` *i*', '---'),
    {
      maxLength: 12,
    },
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        words.map((lines) => lines.join('\n')),
      ),
      (text) => {
        const document = tiptapOf(text);
        expect(() => tiptapSchema.parse(document)).not.toThrow();
        const again = markdownOf(tiptapOf(markdownOf(document)));
        expect(markdownOf(tiptapOf(again))).toBe(again);
      },
    ),
  );
});
