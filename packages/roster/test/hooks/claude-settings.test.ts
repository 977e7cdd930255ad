import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { withoutParagraph, withParagraph } from '../../src/hooks/agents-paragraph.ts';
import { hasHooks, withHooks, withoutHooks } from '../../src/hooks/claude-settings.ts';

const program = "'/home/me/.pawl/bin/pawl'";

describe('the settings of Claude Code', () => {
  test('get a hook for each event, beside existing ones', () => {
    const own = { type: 'command', command: 'make format' };
    const text = JSON.stringify({ model: 'opus', hooks: { Stop: [{ hooks: [own] }], PreToolUse: [] } }, null, 4);
    const installed = withHooks(text, program);
    expect(JSON.parse(installed)).toEqual({
      model: 'opus',
      hooks: {
        Stop: [{ hooks: [own] }, { hooks: [hook('stop')] }],
        PreToolUse: [],
        SessionStart: [{ hooks: [hook('session-start')] }],
        UserPromptSubmit: [{ hooks: [hook('user-prompt')] }],
      },
    });
    expect(installed).toContain('\n    "model"');
    expect(withHooks(installed, program)).toBe(installed);
    expect(hasHooks(installed, program)).toBe(true);
    expect(hasHooks(text, program)).toBe(false);
    expect(JSON.parse(withoutHooks(installed) ?? '')).toEqual(JSON.parse(text));
  });

  test('of another home are replaced, not doubled', () => {
    const installed = withHooks(withHooks(null, "'/old/bin/pawl'"), `PAWL_HOME='/new' '/new/bin/pawl'`);
    expect(installed).not.toContain('/old/');
    expect(JSON.parse(installed).hooks.Stop).toHaveLength(1);
  });

  test('without anything else are removed', () => {
    expect(withoutHooks(withHooks(null, program))).toBeNull();
  });

  test.each(['[]', '{', 'null', '7'])('that are no JSON object are refused: %s', (text) => {
    expect(() => withHooks(text, program)).toThrow(expect.objectContaining({ code: 'invalid_input' }));
  });
});

describe('the paragraph for other agents', () => {
  test('is added once and removed again, whatever else the file contains', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        fc.pre(!text.includes('pawl:'));
        const added = withParagraph(text);
        expect(withParagraph(added)).toBe(added);
        expect(withoutParagraph(added).trimEnd()).toBe(text.trimEnd());
      }),
    );
    expect(withoutParagraph('as it was\n\n\n')).toBe('as it was\n\n\n');
    expect(withoutParagraph(`# Top\n\n${withParagraph(null)}\nBelow.\n`)).toBe('# Top\n\nBelow.\n');
  });
});

function hook(word: string) {
  return { type: 'command', command: `${program} hook ${word}`, timeout: 30 };
}
